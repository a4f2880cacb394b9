"""How OpenReview gives its notes in pages: by offset and limit. Addresses and counts only, no network."""

import json
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from exchange.files import Page, Pages

LIMIT = 1000
TOKEN = "OPENREVIEW_TOKEN"  # noqa: S105 - the name of a variable


def address(url: str, offset: int) -> str:
    """Return the address of the page that begins at this note."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    limit = query.get("limit", "")
    size = min(int(limit), LIMIT) if limit.isdecimal() and len(limit) < 6 and int(limit) else LIMIT
    return urlunsplit(
        parts._replace(query=urlencode({**query, "limit": size, "offset": offset}), fragment="")
    )


def page(content: bytes) -> Page:
    """Say how many notes a page holds, and how many there are. Raises `ValueError` for what is no page."""
    try:
        found = json.loads(content)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    notes = found.get("notes") if isinstance(found, dict) else None
    if not isinstance(notes, list):
        raise ValueError('it holds no "notes"')
    count = found.get("count")
    return Page(len(notes), count if type(count) is int and count >= 0 else None)


PAGES = Pages(address, page, TOKEN)
