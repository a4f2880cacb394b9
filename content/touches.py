"""What changes touched, noted beside the stamp in the statement that advances it.

"17:@x7,papers/5 18:@Qe,in:papers/9 -19:@k2,*schedule.session 20:@i0,*papers.paper/31": of some things only
words changed, so that of the pages kept so far those that name none still stand; then sessions changed, which
touches every page, yet nothing that hangs on other kinds of rows alone; then one paper, by its key, so that
what was worked out of all papers can be mended. A change that is not noted touches everything.

With a revision goes a mark of its own: a database that was restored counts on from an earlier one. The minus
is for versions of this program that know of words alone, to which a note of anything else is none.
"""

import re
import secrets
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Set
from functools import lru_cache

from django.db.models import Case, Expression, F, TextField, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Concat, Length, Right
from django.db.models.lookups import GreaterThan

# A mark has this before it, and so many bytes of chance.
AT, MARKED = "@", 4
# Edits of some minutes, or an import: a page that nobody asked for meanwhile is made anew.
LONGEST = 16_000
# Rows and kinds need only reach back between two visits, and an edition is read with much that is in it.
SHORT = 1_500
# Stands before notes the oldest of which were cut off, so that what is left of the first is of no revision.
CUT = f"-0:{AT},"
# A change of more things touches everything; of rows that are written together it is noted as their kind.
MOST = 600
# So many rows are named, of more their kinds alone.
FEW = 40
# Of so many editions what was noted is remembered: few have changed of late.
KEPT = 16
# The pages of an edition on which a thing's words stand only beside its address: its home page, papers,
# sessions, days, a talk's calendar. Not lists, which words put in order, nor what counts or finds words.
HOLDING = re.compile(r"|(papers|sessions)/[^/]+/[^/]+/|schedule/[^/]+/|presentations/[^/]+\.ics")
# Long lines of calendars go on in the next one.
FOLD = b"\r\n "
OF_PEOPLE = re.compile(r"/people/[^/]+/[^/]+/")
# A kind of rows has its model's label behind this; alone it stands for everything.
KIND = "*"
# What stands under the title of a thing, such as its abstract, has its name with this in front.
INSIDE = "in:"
# Pages that show more of papers they lead to than title and authors have this mark, also where there is none.
MARK = b" data-abstract"
CALENDAR = ".ics"

NEXT = F("revision") + 1

# By revision the names of what that change touched.
type Touches = Mapping[int, Set[str]]


def written(names: Collection[str]) -> str:
    """Return what is noted of a change of these things and kinds (":@x7,papers/5"), or of everything."""
    known = _in_short(names)
    is_known = KIND not in known and 0 < len(known) <= MOST
    return f":{AT}{secrets.token_urlsafe(MARKED)},{','.join(sorted(known)) if is_known else KIND}"


def _in_short(names: Collection[str]) -> Set[str]:
    """Return the names, without rows of a kind that is named itself, and of many rows their kinds."""
    kinds = {name for name in names if name.startswith(KIND) and "/" not in name}
    rows = {name for name in names if name.startswith(KIND) and _kind(name) not in kinds}
    words = {name for name in names if not name.startswith(KIND)}
    return words | kinds | (rows if len(rows) <= FEW else set(map(_kind, rows)))


def is_of_everything(note: str) -> bool:
    return note.endswith(f",{KIND}")


def is_of_words(note: str) -> bool:
    return f",{KIND}" not in note


def with_words(note: Expression) -> Combinable:
    """Return the notes of an edition with one more of words, to be written with its next revision."""
    return Right(Concat(F("touched"), Value(" ", TextField()), Cast(NEXT, TextField()), note), LONGEST)


def with_kinds(note: Expression) -> Combinable:
    """Return the notes with one more of rows or kinds of rows; if they have become many, the last of them."""
    more = Concat(F("touched"), Value(" ", TextField()), alone(note))
    last = Concat(Value(CUT, TextField()), Right(more, Length(note) + SHORT, output_field=TextField()))
    return Case(When(GreaterThan(Length("touched"), SHORT), then=last), default=more)


def alone(note: Expression) -> Combinable:
    """Return this note as the only one: what was noted before a change of everything is over."""
    return Concat(Value("-", TextField()), Cast(NEXT, TextField()), note)


@lru_cache(maxsize=KEPT)
def read(notes: str) -> Touches:
    """Return what was noted."""
    # The first note may have been cut.
    whole = notes.partition(" ")[2] if len(notes) >= LONGEST else notes
    parts = (note.partition(":") for note in whole.split())
    return {abs(int(number)): frozenset(_unmarked(names)) for number, _, names in parts}


def _unmarked(names: str) -> Iterator[str]:
    return (name for name in names.split(",") if not name.startswith(AT))


def mark(notes: str) -> str:
    """Return the last revision with its mark, as it stands in all notes that go on from there."""
    last = notes.rpartition(" ")[2].partition(",")[0]
    return f"{last}," if AT in last and not last.startswith(CUT[:-1]) else ""


def go_on(notes: str, from_mark: str) -> bool:
    """Whether notes, as long as they reach back, go on from those with this mark."""
    return bool(from_mark) and f" {from_mark}" in f" {notes}"


def since(notes: Touches, old: int, new: int) -> Set[str] | None:
    """Return the things whose words changed between two revisions; `None` if anything else may have, too."""
    return together(map(notes.get, range(old + 1, new + 1))) if new - old <= len(notes) else None


def last(notes: Touches, old: int, new: int, kinds: Set[str]) -> int:
    """Return the last revision, of those after `old`, at which one of these kinds changed; else `old`.

    Kinds are such as "*papers.paper", and "papers" or "in:papers" for words of things.
    """
    if new - old > len(notes):
        return new
    for number in range(new, old, -1):
        names = notes.get(number)
        if names is None or KIND in names or not kinds.isdisjoint(map(_kind, names)):
            return number
    return old


def changed(notes: Touches, old: int, new: int, kinds: Set[str]) -> Set[str] | None:
    """Return the names of what changed of these kinds between two revisions; `None` if that is not known.

    Such are "*papers.paper/31", a row by its key, and "papers/5", words of a thing.
    """
    if new - old > len(notes):
        return None
    names: set[str] = set()
    for number in range(old + 1, new + 1):
        noted = notes.get(number)
        if noted is None or KIND in noted:
            return None
        names.update(name for name in noted if _kind(name) in kinds)
    return names if all("/" in name for name in names) else None


def keys(names: Iterable[str], kind: str) -> set[str]:
    """Return what stands behind the kind in names: keys of rows, or parts of addresses of things."""
    return {name.removeprefix(f"{kind}/") for name in names if _kind(name) == kind}


def _kind(name: str) -> str:
    return name.partition("/")[0]


def together(changes: Iterable[Set[str] | None]) -> Set[str] | None:
    """Return the things of several changes; `None` if one of them touched more."""
    names: set[str] = set()
    for change in changes:
        if change is None or any(name.startswith(KIND) for name in change):
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
    kinds = set(map(_kind, things))
    return any(not things.isdisjoint(_named(whole, kind)) for kind in kinds)


def _named(whole: bytes, kind: str) -> Iterator[str]:
    """Yield the things of a kind that a page leads to: however many are looked for, it is read once."""
    for part in whole.split(f"/{kind}/".encode())[1:]:
        yield f"{kind}/{part.partition(b'/')[0].decode(errors='replace')}"
