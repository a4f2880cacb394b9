"""The comparison with pretalx. Only `measure.py`, which pretalx's own Python runs, imports pretalx."""
