"""The labels of poster boards in the order in which one walks along them (pure)."""

import re


def natural(label: str) -> list[tuple[int, str]]:
    """Return a key that sorts "Position 9" before "Position 10"."""
    parts = re.split(r"([0-9]+)", label.casefold())
    return [(int(part), "") if part.isdecimal() else (-1, part.strip()) for part in parts if part]
