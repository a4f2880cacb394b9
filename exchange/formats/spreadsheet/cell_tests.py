"""Tests of the cells of a column: whether a field can hold them."""

import re
from collections.abc import Callable, Sequence

from exchange.formats.spreadsheet.fields import Field, fold_heading
from exchange.reading.papers import E_MAIL, ORCID, WEB_ADDRESS
from exchange.reading.written_times import looks_like_date, looks_like_time

DOI = re.compile(r"(?:(?:https?://)?(?:dx\.)?doi\.org/|doi:\s*)?10\.\d{4,9}/\S+\Z", re.IGNORECASE)
LETTER = re.compile(r"[^\W\d_]")
# A count, an average, a percentage, a number of a section. Dates and times have other separators.
BARE_NUMBER = re.compile(r"[-+#]?\s*\d+(?:[.,]\d+)*\s*%?\Z")
MINUTES = re.compile(r"(\d{1,4})(?:\.0)?\s*(?:min(?:ute)?s?\.?|')?\Z", re.IGNORECASE)
HOURS = re.compile(r"(\d{1,2}):(\d\d)(?::\d\d)?\Z")
# Programs write whole numbers of a column with empty cells as 2.0.
POSITION = re.compile(r"(\d{1,5})(?:\.0+)?\Z")
STATUSES = frozenset(("draft", "published", "withdrawn"))
FLAGS = frozenset("01")
# Rooms are often numbered, other places are not.
ROOM_HEADING = re.compile(r"room|hall")
# Longer cells are prose, and no name of a decision, a kind or a track.
MAX_LABEL_CHARS = 100
MAX_TITLE_CHARS = 300
MAX_BOARD_CHARS = 60
MAX_PAGES_CHARS = 30
MAX_KEY_CHARS = 64
MAX_KEY_WORDS = 2
# The share of the cells that must pass. The others are left to the person who wrote them.
MIN_SHARE = 0.5


def is_bare_number(cell: str) -> bool:
    return bool(BARE_NUMBER.match(cell))


def has_letter(cell: str) -> bool:
    return bool(LETTER.search(cell))


def _is_label(cell: str) -> bool:
    return has_letter(cell) and len(cell) <= MAX_LABEL_CHARS


def _is_key(cell: str) -> bool:
    is_short = len(cell) <= MAX_KEY_CHARS and len(cell.split()) <= MAX_KEY_WORDS
    return bool(WEB_ADDRESS.match(cell)) or (is_short and not E_MAIL.fullmatch(cell))


# By `Field.holds`.
CELL_TESTS: dict[str, Callable[[str], object]] = {
    "": lambda cell: True,
    "text": has_letter,
    # Who has one name has a sign for the other.
    "part": lambda cell: has_letter(cell) or not any(map(str.isdigit, cell)),
    "label": _is_label,
    "short": lambda cell: len(cell) <= MAX_LABEL_CHARS,
    "title": lambda cell: len(cell) <= MAX_TITLE_CHARS and not WEB_ADDRESS.match(cell),
    "mark": lambda cell: not is_bare_number(cell) or cell in FLAGS,
    "room": lambda cell: len(cell) <= MAX_LABEL_CHARS and not WEB_ADDRESS.match(cell),
    "board": lambda cell: len(cell) <= MAX_BOARD_CHARS and not WEB_ADDRESS.match(cell),
    "pages": lambda cell: len(cell) <= MAX_PAGES_CHARS,
    "key": _is_key,
    "number": POSITION.match,
    "minutes": lambda cell: MINUTES.match(cell) or HOURS.match(cell),
    "orcid": ORCID.search,
    "email": E_MAIL.search,
    "url": WEB_ADDRESS.match,
    "doi": DOI.match,
    "status": lambda cell: cell.casefold() in STATUSES,
    "date": looks_like_date,
    "time": looks_like_time,
}
# The tests that bare numbers can pass in columns of another heading than a known one.
NUMERIC = frozenset(("key", "number", "minutes", "board", "pages"))
# Fields that take e-mail addresses beside names.
TAKES_EMAIL = frozenset(("authors", "name", "email", "author_ids"))


def unfit_cells(field: Field, cells: Sequence[str]) -> list[str]:
    """Return the cells that the field can't hold."""
    test = CELL_TESTS[field.holds]
    return [cell for cell in cells if not test(cell)]


def can_hold(field: Field, cells: Sequence[str], heading: str = "") -> bool:
    """Return whether a field accepts the cells of a column. An empty column fits every field."""
    if not cells:
        return True
    if field.name not in TAKES_EMAIL and all(map(E_MAIL.fullmatch, cells)):
        return False
    if (
        field.name == "room"
        and not ROOM_HEADING.search(fold_heading(heading))
        and not _share(has_letter, cells)
    ):
        return False
    return _share(CELL_TESTS[field.holds], cells)


def can_hold_guess(field: Field, cells: Sequence[str], heading: str = "") -> bool:
    """Return whether a field accepts the cells of a column whose heading isn't one of its own."""
    if field.holds not in NUMERIC and cells and all(map(is_bare_number, cells)):
        return False
    return can_hold(field, cells, heading)


def _share(test: Callable[[str], object], cells: Sequence[str]) -> bool:
    return sum(map(bool, map(test, cells))) >= MIN_SHARE * len(cells)
