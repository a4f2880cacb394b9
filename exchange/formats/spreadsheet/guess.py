"""Guess the fields of columns from their headings and a few of their cells.

Known headings are used unless the cells contradict them. In other columns, links, DOIs and dates are detected
by the cells. Each field is guessed at most once, unless several columns may fill it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches

from exchange.formats.spreadsheet.fields import BY_HEADING, FIELDS, Field, fold_heading
from exchange.reading.papers import E_MAIL, WEB_ADDRESS
from exchange.reading.written_times import looks_like_date, looks_like_time

DOI = re.compile(r"(?:(?:https?://)?(?:dx\.)?doi\.org/|doi:\s*)?10\.\d{4,9}/\S+\Z", re.IGNORECASE)
FORUM = "forum"
# Columns of this site's exported tables that repeat other tables as text.
DERIVED_LISTS = frozenset(("sessions", "awards"))
STATUSES = frozenset(("draft", "published", "withdrawn"))
DIGITS = re.compile(r"\d+")
# Shorter headings resemble too many others.
MIN_SIMILAR_CHARS = 6
MIN_SIMILARITY = 0.87
# A longer cell is not a heading.
MAX_HEADING_CHARS = 80
# Tests for the cells of a field, by `Field.holds`.
CELL_TESTS: dict[str, Callable[[str], object]] = {
    "url": WEB_ADDRESS.match,
    "doi": DOI.match,
    "status": lambda cell: cell.casefold() in STATUSES,
    "date": looks_like_date,
    "time": looks_like_time,
}
# For columns with unknown headings: the field by a pattern that all URLs of the column match.
KIND_BY_URL = (
    ("pdf", re.compile(r"\.pdf(\?|$)|/pdf\b", re.IGNORECASE)),
    ("video", re.compile(r"youtu\.?be|vimeo|slideslive|\.mp4", re.IGNORECASE)),
    ("code", re.compile(r"github\.com|gitlab|huggingface|bitbucket", re.IGNORECASE)),
    ("review", re.compile(r"openreview\.net/forum", re.IGNORECASE)),
)
# Dates of the review system, not of the program.
REVIEW_DATES = re.compile(
    r"submi|creat|modif|updat|deadline|due|upload|notif|regist|review|birth", re.IGNORECASE
)
AUTHOR_LIST = re.compile(r";|\band\b|,.*,|\(", re.IGNORECASE)


def guess_fields(headings: Sequence[str], samples: Sequence[Sequence[str]]) -> list[str]:
    """Return the name of each column's field, empty for none. `samples`: some cells of each column."""
    columns = [[cell.strip() for cell in cells if cell.strip()] for cells in samples]
    keys = [fold_heading(heading) for heading in headings]
    field_names = [""] * len(headings)
    # OpenReview also exports numbers of papers, but its other files identify papers by forum.
    if FORUM in keys:
        field_names[keys.index(FORUM)] = "uid"
    has_id = any(FIELDS["uid"] in BY_HEADING.get(key, ()) for key in keys)
    has_session = any(FIELDS["session"] in BY_HEADING.get(key, ()) for key in keys)

    def choose_field(index: int, fields: Iterable[Field]) -> str:
        """Return the first of these fields that the column can be."""
        for field in fields:
            is_free = field.is_repeated or field.name not in field_names
            # With a session, this column is the kind of the session rather than of the presentation.
            is_session_kind = field.name == "kind" and "sessiontype" in keys[index] and has_session
            if is_free and not is_session_kind and can_hold(field, columns[index]):
                return field.name
        return ""

    for find_fields in (_fields_of_heading, _fields_of_numbered_heading, _fields_of_similar_heading):
        for index, heading in enumerate(headings):
            field_names[index] = field_names[index] or choose_field(
                index, find_fields(heading, columns[index], has_id=has_id)
            )
    for index, cells in enumerate(columns):
        field_names[index] = field_names[index] or choose_field(
            index, _fields_of_cells(headings[index], cells) if cells else ()
        )
    return field_names


def can_hold(field: Field, cells: Sequence[str]) -> bool:
    """Return whether a field accepts the cells of a column. An empty column fits every field."""
    if not cells:
        return True
    if field.name == "board" and all(map(WEB_ADDRESS.match, cells)):
        return False
    # E-mail addresses are never imported.
    if field.name not in ("authors", "name") and all(map(E_MAIL.fullmatch, cells)):
        return False
    test = CELL_TESTS.get(field.holds)
    return test is None or any(map(test, cells))


def _fields_of_heading(heading: str, cells: Sequence[str], *, has_id: bool) -> Sequence[Field]:
    fields = BY_HEADING.get(fold_heading(heading), ())
    if FIELDS["status"] in fields and cells and can_hold(FIELDS["status"], cells):
        return [FIELDS["status"], *fields]
    if FIELDS["authors"] in fields and FIELDS["name"] in fields:
        is_list = not has_id or any(map(AUTHOR_LIST.search, cells))
        return [FIELDS["authors" if is_list else "name"]]
    return fields


def _fields_of_numbered_heading(heading: str, cells: Sequence[str], *, has_id: bool) -> Iterator[Field]:
    """Yield the fields of a heading without its number, such as that of a second author."""
    unnumbered = DIGITS.sub("", heading)
    if unnumbered != heading:
        yield from (field for field in BY_HEADING.get(fold_heading(unnumbered), ()) if field.is_repeated)


def _fields_of_similar_heading(heading: str, cells: Sequence[str], *, has_id: bool) -> Sequence[Field]:
    name = fold_heading(heading)
    if name in DERIVED_LISTS or not MIN_SIMILAR_CHARS <= len(name) <= MAX_HEADING_CHARS:
        return ()
    similar = get_close_matches(name, BY_HEADING, n=1, cutoff=MIN_SIMILARITY)
    return BY_HEADING[similar[0]] if similar else ()


def _fields_of_cells(heading: str, cells: Sequence[str]) -> Iterator[Field]:
    if all(map(DOI.match, cells)):
        yield FIELDS["doi"]
    elif all(map(WEB_ADDRESS.match, cells)):
        yield from (FIELDS[name] for name, pattern in KIND_BY_URL if all(map(pattern.search, cells)))
    elif all(map(looks_like_date, cells)) and not REVIEW_DATES.search(heading):
        yield FIELDS["date"]


def has_headings(lines: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row has headings: a known one, or only cells that could be headings."""
    if not lines:
        return False
    first = [cell.strip() for cell in lines[0] if cell.strip()]
    if any(fold_heading(cell) in BY_HEADING for cell in first):
        return True
    return not any(
        len(cell) > MAX_HEADING_CHARS
        or cell.replace(".", "").isdigit()
        or WEB_ADDRESS.match(cell)
        or DOI.match(cell)
        or E_MAIL.fullmatch(cell)
        or looks_like_date(cell)
        for cell in first
    )
