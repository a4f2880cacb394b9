"""Synthetic programs as records, generated from a seed. `bench/generate.py` writes and imports them."""
