"""Invented programs, believable in size and shape, made from a seed: for trials and benchmarks.

Nothing but records is made here, and no app is known: a format writes them, the importer reads them.
"""
