"""Likely duplicates: people who may be one person, institutions that may be one.

`spelling` knows names, `evidence` weighs, `finder` compares people and `institutions` institutions, `reasons`
says why, `namesakes` finds people who may be two (all pure); `storage` reads what is compared and stores what
was found. What becomes of it is decided by a chair: `people.merging`.
"""
