"""Synthetic programs as records, made from a seed. `bench/generate.py` writes and imports them."""
