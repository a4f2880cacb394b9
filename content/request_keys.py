"""Parsing of the primary keys in query parameters, forms and paths."""

import re

# It fits into a 64-bit column, and into the number of digits that `int` accepts.
KEY = r"[1-9][0-9]{0,17}"


def parse_key(text: object) -> int:
    """Return the primary key in a text; 0, which no row has, if it is invalid."""
    return int(text) if isinstance(text, str) and re.fullmatch(KEY, text) else 0
