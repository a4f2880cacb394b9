"""Likely duplicates: people who may be one person, institutions that may be one.

spelling, people, institutions compare (pure); reading asks the database, keeping stores what was found.
What becomes of a pair is decided by a chair: `people.merging`, `people.distinctions`.
"""
