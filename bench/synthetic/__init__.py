"""Synthetic programs, believable in size and shape, made from a seed.

Only records are made here: a format writes them, the importer reads them. `bench/generate.py` does both.
"""
