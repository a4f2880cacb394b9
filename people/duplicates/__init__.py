"""Likely duplicates among people and institutions.

`spelling` compares names, `finder` people, and `institutions` institutions. `evidence` weighs the evidence,
and `reasons` describes it. `namesakes` finds people who may be two people. These modules are pure. `storage`
queries the rows and stores the results. Chairs merge duplicates with `people.merging`.
"""
