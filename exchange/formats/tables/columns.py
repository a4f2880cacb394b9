"""The tables, their columns, and how values of each type are written in a cell.

Columns follow from the records: one that holds a person has the person's four columns, and records inside
records are tables of their own. Texts in lists are trimmed.
"""

import re
import types
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from datetime import date, datetime
from functools import cached_property
from typing import Any, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from exchange import records
from exchange.reading.fields import UnfitError, checked_text, day, is_repeated, moment, whole_number
from exchange.reading.findings import short
from exchange.records import UNSTATED, PersonRef, Record, Stated

FLAGS = {
    **dict.fromkeys(("yes", "true", "1", "y", "x", "wahr", "vrai"), True),
    **dict.fromkeys(("no", "false", "0", "n", "falsch", "faux"), False),
}
WHOLE = re.compile(r"[+-]?\d{1,12}\Z", re.ASCII)
PART = re.compile(r"(?:\\[\\;]|[^;])+")
ESCAPED = re.compile(r"\\([\\;])")
SPECIAL = re.compile(r"([\\;])")
# Columns of keys and fixed words: blanks around them are a slip of the hand.
TRIMMED = {"uid", "slug", "kind", "role", "status", "mode", "timezone", "orcid", "url", "topic"}
TRIMMED |= {"second_timezone", "conference", "edition", "paper", "session", "room", "parent", "person_uid"}
# Columns of words that are never empty: an empty cell says nothing about them.
NEVER_EMPTY = {"kind", "status", "mode", "accent", "timezone", "conference"}
LEVEL = "level"
PERSON = ("name", "uid", "orcid", "ids")


@dataclass(frozen=True, slots=True)
class CellType:
    """How one type is read from and written to a cell; `empty`: what an empty cell means, if anything."""

    parse: Callable[[str, ZoneInfo], object]
    format: Callable[[Any, ZoneInfo], str]
    empty: object = UNSTATED

    def read(self, text: str, zone: ZoneInfo) -> object:
        return self.parse(text, zone) if text.strip() or (self.empty == "" and text) else self.empty

    def write(self, value: object, zone: ZoneInfo) -> str:
        return "" if value is None or value is UNSTATED else self.format(value, zone)


def split(text: str) -> tuple[str, ...]:
    r"""Split at semicolons; `\;` is a semicolon inside a part and `\\` a backslash before one."""
    parts = (ESCAPED.sub(r"\1", part.strip()) for part in PART.findall(text))
    return tuple(part for part in parts if part)


def joined(parts: Sequence[str]) -> str:
    return "; ".join(SPECIAL.sub(r"\\\1", part) for part in parts)


def _whole(text: str, zone: ZoneInfo) -> int:
    if not WHOLE.match(text.strip()):
        raise UnfitError(gettext('"%(text)s" is not a whole number.'), text=short(text))
    return whole_number(int(text))


def _flag(text: str, zone: ZoneInfo) -> bool:
    found = FLAGS.get(text.strip().casefold())
    if found is None:
        raise UnfitError(gettext('"%(text)s" is neither yes nor no.'), text=short(text))
    return found


def _pairs(text: str, zone: ZoneInfo) -> tuple[tuple[str, str], ...]:
    """Read `dblp:l/YLiu; neurips.cc:457880`."""
    parts = [part.partition(":") for part in split(checked_text(text))]
    found = tuple((scheme.strip(), value.strip()) for scheme, _, value in parts)
    if not all(map(all, found)):
        message = gettext('"%(text)s" is not a list of identifiers. Write them as dblp:l/YLiu; orcid:0000-….')
        raise UnfitError(message, text=short(text))
    return found


def _clock(value: datetime, zone: ZoneInfo) -> str:
    """Return the wall time; with its offset where the wall alone does not say which moment is meant."""
    local = value.astimezone(zone)
    shown = local if is_repeated(local) or local.microsecond else local.replace(tzinfo=None)
    return shown.isoformat(" ", "auto" if local.second or local.microsecond else "minutes")


CELLS: dict[object, CellType] = {
    str: CellType(lambda text, zone: checked_text(text), lambda value, zone: str(value), ""),
    int: CellType(_whole, lambda value, zone: str(value)),
    bool: CellType(_flag, lambda value, zone: "yes" if value else "no"),
    date: CellType(lambda text, zone: day(text.strip()), lambda value, zone: str(value.isoformat())),
    datetime: CellType(lambda text, zone: moment(text.strip(), zone), _clock),
    tuple[str, ...]: CellType(
        lambda text, zone: split(checked_text(text)), lambda value, zone: joined(value), ()
    ),
    tuple[tuple[str, str], ...]: CellType(
        _pairs, lambda value, zone: joined([f"{scheme}:{name}" for scheme, name in value]), ()
    ),
}


def cell_type(hint: object) -> CellType:
    """Return the type of cell for a field's type hint."""
    if get_origin(hint) is Stated:
        return cell_type(get_args(hint)[0])
    if get_origin(hint) is types.UnionType:
        return replace(cell_type(next(part for part in get_args(hint) if part is not type(None))), empty=None)
    return CELLS[hint]


@dataclass(frozen=True)
class Column:
    """One column: its name, the record's field it fills, and how its cells are read.

    `of_person` says that the field is one of the person's inside the record's `person` or `ref`.
    `default` is the field's own; `MISSING` makes the cell obligatory.
    """

    name: str
    field: str
    kind: CellType
    default: object = MISSING
    of_person: bool = False

    @property
    def is_trimmed(self) -> bool:
        return self.name in TRIMMED


@dataclass(frozen=True)
class Table:
    """One CSV file: one row per record.

    A child table fills `field` of the records of `parent`; its column `link` holds their key.
    `key` and `words`: the column that identifies a row, and the one it is made of where it is left out.
    """

    name: str
    record: type[Record]
    parent: str = ""
    field: str = ""
    link: str = ""
    key: str = ""
    words: str = ""

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        hints = get_type_hints(self.record)
        found: list[Column] = []
        for field in fields(self.record):
            hint = hints[field.name]
            if field.name == "where" or _holds_records(hint):
                continue
            if PersonRef in (hint, *get_args(hint)):
                found += _columns_of_person(field.name)
            else:
                found.append(Column(field.name, field.name, cell_type(hint), field.default))
        return tuple(found)

    @property
    def has_person(self) -> bool:
        return any(column.of_person for column in self.columns)

    @cached_property
    def headings(self) -> tuple[str, ...]:
        """Name every column, the link to the parent first."""
        return (*([self.link] if self.link else ()), *(column.name for column in self.columns))


def _holds_records(hint: object) -> bool:
    inner = get_args(hint)[0] if get_origin(hint) is Stated else hint
    parts = get_args(inner)
    return get_origin(inner) is tuple and isinstance(parts[0], type) and issubclass(parts[0], Record)


def _columns_of_person(field: str) -> list[Column]:
    """Return a person's columns: `uid` in the table of people, `person uid` in the others."""
    hints = get_type_hints(PersonRef)
    names = {"uid": "uid" if field == "ref" else "person_uid"}
    kinds = {name: cell_type(hints[name]) for name in PERSON}
    return [
        Column(names.get(name, name), name, kind, kind.empty, of_person=True) for name, kind in kinds.items()
    ]


PARENTS = (
    Table("conference", records.ConferenceRecord, key="slug"),
    Table("edition", records.EditionRecord, key="slug"),
    Table("institutions", records.InstitutionRecord, key="slug", words="name"),
    Table("people", records.PersonRecord),
    Table("pages", records.PageRecord, key="slug", words="title"),
    Table("sponsors", records.SponsorRecord, key="slug", words="name"),
    Table("announcements", records.AnnouncementRecord, key="uid", words="title"),
    Table("topics", records.TopicRecord, key="slug", words="name"),
    Table("rooms", records.RoomRecord, key="slug", words="name"),
    Table("papers", records.PaperRecord, key="uid", words="title"),
    Table("awards", records.AwardRecord, key="uid", words="name"),
    Table("sessions", records.SessionRecord, key="uid", words="title"),
    Table("presentations", records.PresentationRecord, key="uid"),
)
CHILDREN = (
    Table("menu", records.MenuRecord, parent="edition", field="menu", link=LEVEL),
    Table("committee", records.CommitteeRecord, parent="edition", field="committee"),
    Table("authors", records.AuthorRecord, parent="papers", field="authors", link="paper"),
    Table("materials", records.MaterialRecord, parent="papers", field="materials", link="paper"),
    Table("grants", records.GrantRecord, parent="awards", field="grants", link="award"),
    Table("roles", records.RoleRecord, parent="sessions", field="roles", link="session"),
    Table("speakers", records.SpeakerRecord, parent="presentations", field="speakers", link="presentation"),
)
TABLES = {table.name: table for table in (*PARENTS, *CHILDREN)}
# One row each: they are one record of the program, not a list.
SINGLE = ("conference", "edition")
# The tables that people ask for one by one.
ALONE = ("papers", "authors", "people", "sessions", "presentations", "awards")
# A column that only hand-made files have: names in papers.csv, where there is no authors.csv.
AUTHORS = "authors"
