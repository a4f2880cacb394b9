"""Small changes: those of one thing's words. Of the pages kept so far, those that do not name it still stand.

They are noted beside the stamp, in the statement that advances it: "17:papers/5 18:papers/9". A change that
is not noted touches everything: what nobody thought of makes all pages of its edition anew.
"""

import re
from collections.abc import Container, Mapping
from functools import lru_cache

from django.db.models import Expression, F, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Concat, Right

# Edits of some minutes: a page that nobody asked for meanwhile is made anew.
LONGEST = 600
# The pages of an edition on which a thing's words stand only beside its address: its home page, papers,
# sessions, days, a talk's calendar. Not lists, which words put in order, nor what counts or finds words.
HOLDING = re.compile(r"|(papers|sessions)/[^/]+/[^/]+/|schedule/[^/]+/|presentations/[^/]+\.ics")
# Long lines of calendars go on in the next one.
FOLD = b"\r\n "
OF_PEOPLE = re.compile(r"/people/[^/]+/[^/]+/")

type Touches = Mapping[int, str]


def noted(name: Expression) -> Combinable:
    """Return the notes of an edition with one more (":papers/5"), to be written with its next revision."""
    number = Cast(F("revision") + 1, TextField())
    return Right(Concat(F("touched"), Value(" ", TextField()), number, name), LONGEST)


@lru_cache(maxsize=200)
def read(notes: str) -> Touches:
    """Return by revision the name of what that change touched."""
    # The first note may have been cut.
    whole = notes.partition(" ")[2] if len(notes) >= LONGEST else notes
    parts = (note.partition(":") for note in whole.split())
    return {int(number): name for number, _, name in parts}


def holds(path: str, slugs: Container[str]) -> bool:
    """Whether words stand on the page at this address only beside the address of the thing they belong to."""
    slug, _, rest = path.removeprefix("/").partition("/")
    is_of_edition = slug in slugs and path != f"/{slug}" and HOLDING.fullmatch(rest)
    return bool(is_of_edition or OF_PEOPLE.fullmatch(path))


def touches(page: bytes, path: str, name: str) -> bool:
    """Whether a page is that of the thing, or leads to it."""
    address = f"/{name}/"
    whole = page.replace(FOLD, b"") if path.endswith(".ics") else page
    return address in path or address.encode() in whole
