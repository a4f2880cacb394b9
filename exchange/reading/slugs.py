"""Keys made from words, the same on every run: for files that name things but do not number them."""

import re
from hashlib import sha256

from anyascii import anyascii

NOT_IN_SLUGS = re.compile(r"[^a-z0-9]+")
MAX_SLUG_CHARS = 64
DIGEST = 8


def slug(text: str, limit: int = MAX_SLUG_CHARS) -> str:
    """Return lower-case ASCII words joined by hyphens; too long, or without letters, it ends in a digest."""
    return shortened(NOT_IN_SLUGS.sub("-", anyascii(text).lower()).strip("-"), text, limit)


def shortened(key: str, text: str, limit: int = MAX_SLUG_CHARS) -> str:
    """Return the key, or its beginning and a digest of its text."""
    if key and len(key) <= limit:
        return key
    begin = key[: limit - DIGEST - 1].rstrip("-")
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST]
    return f"{begin}-{digest}" if begin else digest
