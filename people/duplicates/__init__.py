"""Likely duplicates: people who may be one person, institutions that may be one.

`spelling` and `frequent` know names, `evidence` weighs, `finding` compares people and `places` institutions,
`reasons` says why (all pure); `reading` asks the database, `keeping` stores what was found. What becomes of a
pair is decided by a chair: `people.merging.merge`.
"""
