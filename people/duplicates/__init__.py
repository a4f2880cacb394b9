"""Likely duplicates: people who may be one person, institutions that may be one.

`spelling` compares names, `finder` people and `institutions` institutions; `evidence` weighs, `reasons` words
evidence; `namesakes` finds people who may be two (all pure). `storage` reads the rows and stores the
results. Chairs decide: `people.merging`.
"""
