"""Likely duplicates: people who may be one person, institutions that may be one.

`spelling` knows names, `evidence` weighs, `finder` compares people and `institutions` institutions, `reasons`
says why (all pure); `storage` reads what is compared and stores what was found. What becomes of a pair is
decided by a chair: `people.merging.merge`.
"""
