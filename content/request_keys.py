"""Keys of rows as requests name them: in parameters, forms and addresses."""

import re

# As large as a database can hold, and no longer than Python converts.
KEY = r"[1-9][0-9]{0,17}"


def parse_key(text: object) -> int:
    """Return the key that a request names; 0, which no row has, if it is none."""
    return int(text) if isinstance(text, str) and re.fullmatch(KEY, text) else 0
