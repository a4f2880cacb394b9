"""Merging people or institutions, and splitting a person in two."""
