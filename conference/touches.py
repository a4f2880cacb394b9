"""Small changes: those of some things' words. Of the pages kept so far, those that name none still stand.

They are noted beside the stamp, in the statement that advances it: "17:papers/5 18:in:papers/9,in:papers/12".
A change that is not noted touches everything: what nobody thought of makes all pages of its edition anew.
"""

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Set
from functools import lru_cache

from django.db.models import Expression, F, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Concat, Right

# Edits of some minutes, or an import: a page that nobody asked for meanwhile is made anew.
LONGEST = 16_000
# A change of more things touches everything.
MOST = 600
# Of so many editions what was noted is remembered: few have changed in words alone of late.
KEPT = 16
# The pages of an edition on which a thing's words stand only beside its address: its home page, papers,
# sessions, days, a talk's calendar. Not lists, which words put in order, nor what counts or finds words.
HOLDING = re.compile(r"|(papers|sessions)/[^/]+/[^/]+/|schedule/[^/]+/|presentations/[^/]+\.ics")
# Long lines of calendars go on in the next one.
FOLD = b"\r\n "
OF_PEOPLE = re.compile(r"/people/[^/]+/[^/]+/")
# What stands under the title of a thing, such as its abstract, has its name with this in front.
INSIDE = "in:"
# Pages that show more of papers they lead to than title and authors have this mark, also where there is none.
MARK = b" data-abstract"
CALENDAR = ".ics"

# By revision the names of what that change touched.
type Touches = Mapping[int, Set[str]]


def written(names: Collection[str]) -> str:
    """Return what is noted of a change of these things (":papers/5"); empty if it touches everything."""
    return f":{','.join(sorted(names))}" if "" not in names and 0 < len(names) <= MOST else ""


def noted(note: Expression) -> Combinable:
    """Return the notes of an edition with one more, to be written with its next revision."""
    number = Cast(F("revision") + 1, TextField())
    return Right(Concat(F("touched"), Value(" ", TextField()), number, note), LONGEST)


@lru_cache(maxsize=KEPT)
def read(notes: str) -> Touches:
    """Return what was noted."""
    # The first note may have been cut.
    whole = notes.partition(" ")[2] if len(notes) >= LONGEST else notes
    parts = (note.partition(":") for note in whole.split())
    return {int(number): frozenset(names.split(",")) for number, _, names in parts}


def since(notes: Touches, old: int, new: int) -> Set[str] | None:
    """Return the names of all that was touched between two revisions; `None` if that may be anything."""
    return together(map(notes.get, range(old + 1, new + 1))) if new - old <= len(notes) else None


def together(changes: Iterable[Set[str] | None]) -> Set[str] | None:
    """Return the names of several changes; `None` if one of them touched everything."""
    names: set[str] = set()
    for change in changes:
        if change is None:
            return None
        names |= change
    return names


def holds(path: str, slugs: Container[str]) -> bool:
    """Whether words stand on the page at this address only beside the address of the thing they belong to."""
    slug, _, rest = path.removeprefix("/").partition("/")
    is_of_edition = slug in slugs and path != f"/{slug}" and HOLDING.fullmatch(rest)
    return bool(is_of_edition or OF_PEOPLE.fullmatch(path))


def touches(page: bytes, path: str, names: Set[str]) -> bool:
    """Whether a page is that of one of these things, or leads to it and shows what changed of it."""
    is_calendar, things = path.endswith(CALENDAR), {name.removeprefix(INSIDE) for name in names}
    shown = things if is_calendar or MARK in page else {name for name in names if name in things}
    return _leads_to(path.encode(), things) or _leads_to(
        page.replace(FOLD, b"") if is_calendar else page, shown
    )


def _leads_to(whole: bytes, things: Set[str]) -> bool:
    kinds = {thing.partition("/")[0] for thing in things}
    return any(not things.isdisjoint(_named(whole, kind)) for kind in kinds)


def _named(whole: bytes, kind: str) -> Iterator[str]:
    """Yield the things of a kind that a page leads to: however many are looked for, it is read once."""
    for part in whole.split(f"/{kind}/".encode())[1:]:
        yield f"{kind}/{part.partition(b'/')[0].decode(errors='replace')}"
