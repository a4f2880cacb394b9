"""The comparison with pretalx. Only `fill.py`, which pretalx's own Python runs, imports pretalx."""
