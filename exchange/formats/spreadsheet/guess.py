"""Guess the fields of columns from their headings and their cells.

Known headings are used unless the cells contradict them, then headings like them. In other columns, links,
DOIs and dates are detected by the cells. Each field is guessed at most once, unless several columns may fill
it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from exchange.formats.spreadsheet.cell_tests import (
    DOI,
    ROOM_HEADING,
    can_hold,
    can_hold_guess,
    has_letter,
    is_bare_number,
)
from exchange.formats.spreadsheet.fields import (
    BY_HEADING,
    DECISION_HEADINGS,
    FIELDS,
    NAMES,
    Field,
    fold_heading,
)
from exchange.reading.papers import E_MAIL, WEB_ADDRESS
from exchange.reading.written_times import is_full_date, looks_like_date

FORUM = "forum"
# EasyChair's tables of bids, reviews and topics of the committee name its members; others list the committee.
MEMBER = "member#"
PEOPLE_KEYS = frozenset(("#", "person#"))
TITLE_KEYS = frozenset(("title", "submission#"))
FORM_TIMES = frozenset(("starttime", "completiontime"))
VENUE = "venue"
# OpenReview's venue of a paper, such as "MLSys 2026 Oral". Elsewhere a venue is a place.
VENUE_OF_PAPER = re.compile(
    r"\d{4}|submitted|reject|accept|withdraw|\boral\b|poster|spotlight", re.IGNORECASE
)
# Columns of this site's exported tables that repeat other tables as text.
DERIVED_LISTS = frozenset(("sessions", "awards"))
DIGITS = re.compile(r"\d+")
WORD = re.compile(r"[^\W_]+|#")
# Shorter headings resemble too many others.
MIN_SIMILAR_CHARS = 6
MIN_SIMILARITY = 0.87
# A longer cell is not a heading.
MAX_HEADING_CHARS = 80
# With one of these words, a heading names something else than without it: "Author count", "Affiliation ID".
QUALIFIERS = frozenset(
    {
        "#", "address", "average", "avg", "code", "codes", "count", "counts", "email", "emails", "id", "ids",
        "link", "links", "max", "mean", "min", "no", "nr", "num", "number", "numbers", "rating", "ratings",
        "score", "scores", "sum", "total", "url", "urls",
    }
)  # fmt: skip
# Fields of the names of authors. With one of them known, no similar heading adds another.
NAME_FIELDS = frozenset(("authors", "author_names", "name", "first", "last"))
# For columns with unknown headings: the field by a pattern that all URLs of the column match.
KIND_BY_URL = (
    ("pdf", re.compile(r"\.pdf(\?|$)|/pdf\b", re.IGNORECASE)),
    ("video", re.compile(r"youtu\.?be|vimeo|slideslive|\.mp4", re.IGNORECASE)),
    ("code", re.compile(r"github\.com|gitlab|huggingface|bitbucket", re.IGNORECASE)),
    ("review", re.compile(r"openreview\.net/forum", re.IGNORECASE)),
)
# Dates of the review system, not of the program.
REVIEW_DATES = re.compile(
    r"submi|creat|modif|updat|deadline|due|upload|notif|regist|review|birth|complet|time.?stamp|"
    # Google Forms in other languages.
    r"zeitstempel|horodateur|marca temporal|informazioni cronologiche|タイムスタンプ|时间戳",
    re.IGNORECASE,
)
AUTHOR_LIST = re.compile(r";|\band\b|,.*,|\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    """A column to guess: its heading, that heading folded, its cells that aren't empty."""

    heading: str
    key: str
    cells: tuple[str, ...]


class Guess:
    """The fields of the columns of one table, found step by step in `names`."""

    def __init__(self, headings: Sequence[str], columns: Sequence[Sequence[str]]) -> None:
        self.columns = [
            Column(heading, fold_heading(heading), tuple(filter(None, map(str.strip, cells))))
            for heading, cells in zip(headings, columns, strict=True)
        ]
        self.names = [""] * len(self.columns)
        keys = {column.key for column in self.columns}
        self.has_id = any(FIELDS["uid"] in BY_HEADING.get(key, ()) for key in keys)
        self.has_session = any(FIELDS["session"] in BY_HEADING.get(key, ()) and key != "name" for key in keys)
        self.has_start = any(FIELDS["start"] in BY_HEADING.get(key, ()) for key in keys)

    def fields(self) -> list[str]:
        keys = [column.key for column in self.columns]
        if MEMBER in keys:
            return self.names
        # In a list of people, such as a committee, the first number is that of the person.
        if {*keys} >= PEOPLE_KEYS and TITLE_KEYS.isdisjoint(keys):
            self.columns[keys.index("#")] = replace(self.columns[keys.index("#")], key="")
        if {*keys} >= FORM_TIMES:
            # When a person began to fill in a form of Microsoft.
            place = keys.index("starttime")
            self.columns[place] = replace(self.columns[place], key="", cells=())
        # OpenReview also exports numbers of papers, but its other files identify papers by forum.
        if FORUM in keys:
            self.names[keys.index(FORUM)] = "uid"
        self._choose(self._known, can_hold)
        self._choose(self._numbered, can_hold)
        self._choose(_title_of_unkeyed, can_hold)
        self._choose(self._similar, can_hold_guess)
        self._choose(_fields_of_cells, can_hold)
        self._drop_parts_of_names()
        if "authors" in self.names:
            # Beside the authors, one name is that of the person who filled in a form.
            self.names = ["" if name == "name" else name for name in self.names]
        return self.names

    def _choose(
        self,
        find_fields: Callable[[Column], Iterator[Field]],
        fits: Callable[[Field, Sequence[str], str], bool],
    ) -> None:
        """Give each column without a field the first free one that accepts its cells."""
        for index, column in enumerate(self.columns):
            if not self.names[index]:
                fields = (
                    field.name
                    for field in find_fields(column)
                    if (field.is_repeated or field.name not in self.names)
                    and fits(field, column.cells, column.heading)
                )
                self.names[index] = next(fields, "")

    def _known(self, column: Column) -> Iterator[Field]:
        """Yield the fields whose heading the column has."""
        fields = BY_HEADING.get(column.key, ())
        if FIELDS["status"] in fields and column.cells:
            yield FIELDS["status"]
        if column.key == "name" and self.has_start and not self.has_id:
            yield FIELDS["session"]
        for field in fields:
            if field.name == "authors" and FIELDS["name"] in fields and not self._is_list(column):
                continue
            if field.name == "decision" and not self._has_decisions(column):
                continue
            if column.key == VENUE and field.name == "room" and _has_only_venues_of_papers(column):
                continue
            # With a session, this column is the kind of the session rather than of the presentation.
            if field.name == "kind" and FIELDS["session_kind"] in fields and self.has_session:
                continue
            if field.name == "session" and column.key == "name":
                continue
            yield field

    def _has_decisions(self, column: Column) -> bool:
        """Return whether no other column has a heading that rather means the decision."""
        if column.key == VENUE and not _is_venue_of_papers(column):
            return False
        better_keys = DECISION_HEADINGS[: DECISION_HEADINGS.index(column.key)]
        return not any(
            other.key in better_keys and can_hold(FIELDS["decision"], other.cells)
            for other, name in zip(self.columns, self.names, strict=True)
            if not name
        )

    def _is_list(self, column: Column) -> bool:
        return not self.has_id or any(map(AUTHOR_LIST.search, column.cells))

    def _numbered(self, column: Column) -> Iterator[Field]:
        """Yield the fields of a heading without its number, such as that of a second author."""
        unnumbered = DIGITS.sub("", column.heading)
        if unnumbered != column.heading:
            yield from (field for field in BY_HEADING.get(fold_heading(unnumbered), ()) if field.is_repeated)

    def _similar(self, column: Column) -> Iterator[Field]:
        """Yield the fields of the known heading that is most like that of the column."""
        if column.key in DERIVED_LISTS or not MIN_SIMILAR_CHARS <= len(column.key) <= MAX_HEADING_CHARS:
            return
        for similar in get_close_matches(column.key, BY_HEADING, n=1, cutoff=MIN_SIMILARITY):
            words = {*WORD.findall(column.heading.casefold())}
            if (words & QUALIFIERS) <= {*WORD.findall(NAMES[similar])}:
                has_names = not NAME_FIELDS.isdisjoint(self.names)
                yield from (
                    field for field in BY_HEADING[similar] if not (has_names and field.name in NAME_FIELDS)
                )

    def _drop_parts_of_names(self) -> None:
        """Leave out the only column of a part of names if another has the whole names."""
        if "authors" not in self.names or self.names.count("last") > 1 or self.names.count("first") > 1:
            return
        authors = self.columns[self.names.index("authors")]
        has_whole_names = self.names.count("authors") > 1 or any(" " in cell for cell in authors.cells)
        is_pair = {"first", "last"} <= {*self.names}
        dropped = {"authors"} if is_pair and not has_whole_names else {"first", "last"}
        self.names = ["" if name in dropped else name for name in self.names]


def guess_fields(headings: Sequence[str], columns: Sequence[Sequence[str]]) -> list[str]:
    """Return the name of each column's field, empty for none. `columns`: cells of each column."""
    return Guess(headings, columns).fields()


def is_known_heading(heading: str, field: Field) -> bool:
    """Return whether a heading is one of the field's own, if need be with a number behind it."""
    return any(field in BY_HEADING.get(fold_heading(text), ()) for text in (heading, DIGITS.sub("", heading)))


def _title_of_unkeyed(column: Column) -> Iterator[Field]:
    """Yield the title for a column “Paper” that holds no keys."""
    is_key = FIELDS["uid"] in BY_HEADING.get(column.key, ()) and can_hold(FIELDS["uid"], column.cells)
    if FIELDS["uid"] in BY_HEADING.get(column.key, ()) and not is_key and any(map(has_letter, column.cells)):
        yield FIELDS["title"]


def _is_venue_of_papers(column: Column) -> bool:
    return not column.cells or any(map(VENUE_OF_PAPER.search, column.cells))


def _has_only_venues_of_papers(column: Column) -> bool:
    is_room = any(ROOM_HEADING.search(cell.casefold()) for cell in column.cells)
    return bool(column.cells) and not is_room and all(map(VENUE_OF_PAPER.search, column.cells))


def _fields_of_cells(column: Column) -> Iterator[Field]:
    cells = column.cells
    if not cells:
        return
    if all(map(DOI.match, cells)):
        yield FIELDS["doi"]
    elif all(map(WEB_ADDRESS.match, cells)):
        yield from (FIELDS[name] for name, pattern in KIND_BY_URL if all(map(pattern.search, cells)))
    elif all(map(is_full_date, cells)) and not REVIEW_DATES.search(column.heading):
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
        or is_bare_number(cell)
        or WEB_ADDRESS.match(cell)
        or DOI.match(cell)
        or E_MAIL.fullmatch(cell)
        or looks_like_date(cell)
        for cell in first
    )
