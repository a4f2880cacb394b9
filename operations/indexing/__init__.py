"""The documents of the search index, and its updates."""
