"""Tables: their columns, the conversion of cells, and the conversion between rows and records.

Columns derive from the fields of records. A person has four columns, and records inside records have their
own tables. Texts in lists are trimmed.
"""

import re
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any, get_args, get_origin
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from exchange import records
from exchange.files import Rows
from exchange.problems import Findings, short
from exchange.reading.sheets import Sheet, SheetRow, column_heading
from exchange.reading.values import (
    InvalidValueError,
    check_integer,
    is_ambiguous,
    key_of,
    parse_date,
    parse_datetime,
    remove_control_characters,
    slug,
)
from exchange.records import UNSTATED, AuthorRecord, MenuRecord, PersonRef, Program, Record, is_stated

FLAG_WORDS = {
    **dict.fromkeys(("yes", "true", "1", "y", "x", "wahr", "vrai"), True),
    **dict.fromkeys(("no", "false", "0", "n", "falsch", "faux"), False),
}
WHOLE = re.compile(r"[+-]?\d{1,12}\Z", re.ASCII)
PART = re.compile(r"(?:\\[\\;]|[^;])+")
ESCAPED = re.compile(r"\\([\\;])")
SPECIAL = re.compile(r"([\\;])")
# Columns of keys and fixed words: blanks around them are removed.
TRIMMED_COLUMNS = {
    *("uid", "slug", "kind", "role", "status", "mode", "timezone", "orcid", "url", "topic", "conference"),
    *("second_timezone", "edition", "paper", "session", "room", "parent", "person_uid"),
}
# Columns of words that are never empty: an empty cell leaves them unstated.
NEVER_EMPTY_COLUMNS = {"kind", "status", "mode", "accent", "timezone", "conference", "hero_focus"}
LEVEL_COLUMN = "level"


@dataclass(frozen=True, slots=True)
class CellType:
    """Conversion of one type from and to a cell. `empty`: the value of an empty cell."""

    parse: Callable[[str, ZoneInfo], object]
    format: Callable[[Any, ZoneInfo], str]
    empty: object = UNSTATED

    def read(self, text: str, zone: ZoneInfo) -> object:
        return self.parse(text, zone) if text.strip() or (self.empty == "" and text) else self.empty

    def write(self, value: object, zone: ZoneInfo) -> str:
        return "" if value is None or value is UNSTATED else self.format(value, zone)


def split_list(text: str) -> tuple[str, ...]:
    r"""Split at semicolons; `\;` is a semicolon inside a part and `\\` a backslash before one."""
    parts = (ESCAPED.sub(r"\1", part.strip()) for part in PART.findall(text))
    return tuple(part for part in parts if part)


def join_list(parts: Sequence[str]) -> str:
    return "; ".join(SPECIAL.sub(r"\\\1", part) for part in parts)


def _parse_whole(text: str, zone: ZoneInfo) -> int:
    if not WHOLE.match(text.strip()):
        raise InvalidValueError(gettext('"%(text)s" is not a whole number.'), text=short(text))
    return check_integer(int(text))


def _parse_flag(text: str, zone: ZoneInfo) -> bool:
    flag = FLAG_WORDS.get(text.strip().casefold())
    if flag is None:
        raise InvalidValueError(gettext('"%(text)s" is neither yes nor no.'), text=short(text))
    return flag


def _parse_pairs(text: str, zone: ZoneInfo) -> tuple[tuple[str, str], ...]:
    """Read `dblp:l/YLiu; neurips.cc:457880`."""
    parts = [part.partition(":") for part in split_list(remove_control_characters(text))]
    pairs = tuple((scheme.strip(), value.strip()) for scheme, _, value in parts)
    if not all(map(all, pairs)):
        message = gettext('"%(text)s" is not a list of identifiers. Write them as dblp:l/YLiu; orcid:0000-….')
        raise InvalidValueError(message, text=short(text))
    return pairs


def format_clock(value: datetime, zone: ZoneInfo) -> str:
    """Return the wall time; with its offset if the wall time alone is ambiguous."""
    local = value.astimezone(zone)
    moment = local if is_ambiguous(local) or local.microsecond else local.replace(tzinfo=None)
    return moment.isoformat(" ", "auto" if local.second or local.microsecond else "minutes")


CELL_TYPES: dict[object, CellType] = {
    str: CellType(lambda text, zone: remove_control_characters(text), lambda value, zone: str(value), ""),
    int: CellType(_parse_whole, lambda value, zone: str(value)),
    bool: CellType(_parse_flag, lambda value, zone: "yes" if value else "no"),
    date: CellType(lambda text, zone: parse_date(text.strip()), lambda value, zone: str(value.isoformat())),
    datetime: CellType(lambda text, zone: parse_datetime(text.strip(), zone), format_clock),
    tuple[str, ...]: CellType(
        lambda text, zone: split_list(remove_control_characters(text)),
        lambda value, zone: join_list(value),
        (),
    ),
    tuple[tuple[str, str], ...]: CellType(
        _parse_pairs, lambda value, zone: join_list([f"{scheme}:{name}" for scheme, name in value]), ()
    ),
}


def cell_type(hint: object) -> CellType:
    if get_origin(hint) is types.UnionType:
        return replace(cell_type(next(part for part in get_args(hint) if part is not type(None))), empty=None)
    return CELL_TYPES[hint]


@dataclass(frozen=True)
class Column:
    """One column: its name, the record's field it fills, and how its cells are read.

    `of_person`: whether the field belongs to the person in the record's `person` or `ref`.
    `default` is that of the field; with `MISSING`, the cell is required.
    """

    name: str
    field: str
    kind: CellType
    default: object = MISSING
    of_person: bool = False


@dataclass(frozen=True)
class Table:
    """One CSV file: one row per record.

    A child table fills `field` of the records of `parent`; its column `link` holds their key.
    `key`: the column that identifies a row. `key_source`: the column from which a missing key is made.
    """

    name: str
    record: type[Record]
    parent: str = ""
    field: str = ""
    link: str = ""
    key: str = ""
    key_source: str = ""

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        defaults = {field.name: field.default for field in fields(self.record)}
        columns: list[Column] = []
        for name, hint in records.field_types(self.record).items():
            parts = get_args(hint)
            is_list = get_origin(hint) is tuple and isinstance(parts[0], type)
            if is_list and issubclass(parts[0], Record):
                continue
            if PersonRef in (hint, *parts):
                columns += _columns_of_person(name)
            else:
                columns.append(Column(name, name, cell_type(hint), defaults[name]))
        return tuple(columns)

    @cached_property
    def headings(self) -> tuple[str, ...]:
        return (*([self.link] if self.link else ()), *(column.name for column in self.columns))


def _columns_of_person(field: str) -> list[Column]:
    """Return a person's columns: `uid` in the table of people, `person uid` in the others."""
    columns = []
    for name, hint in records.field_types(PersonRef).items():
        kind, heading = cell_type(hint), "person_uid" if name == "uid" and field != "ref" else name
        columns.append(Column(heading, name, kind, kind.empty, of_person=True))
    return columns


PARENT_TABLES = (
    Table("conference", records.ConferenceRecord, key="slug"),
    Table("edition", records.EditionRecord, key="slug"),
    Table("institutions", records.InstitutionRecord, key="slug", key_source="name"),
    Table("people", records.PersonRecord),
    Table("pages", records.PageRecord, key="slug", key_source="title"),
    Table("sponsors", records.SponsorRecord, key="slug", key_source="name"),
    Table("announcements", records.AnnouncementRecord, key="uid", key_source="title"),
    Table("key_dates", records.KeyDateRecord, key="uid", key_source="title"),
    Table("topics", records.TopicRecord, key="slug", key_source="name"),
    Table("session_kinds", records.KindRecord, key="slug", key_source="name"),
    Table("presentation_kinds", records.KindRecord, key="slug", key_source="name"),
    Table("rooms", records.RoomRecord, key="slug", key_source="name"),
    Table("papers", records.PaperRecord, key="uid", key_source="title"),
    Table("awards", records.AwardRecord, key="uid", key_source="name"),
    Table("sessions", records.SessionRecord, key="uid", key_source="title"),
    Table("presentations", records.PresentationRecord, key="uid"),
)
CHILD_TABLES = (
    Table("menu", records.MenuRecord, parent="edition", field="menu", link=LEVEL_COLUMN),
    Table("committee", records.CommitteeRecord, parent="edition", field="committee"),
    Table("authors", records.AuthorRecord, parent="papers", field="authors", link="paper"),
    Table("materials", records.MaterialRecord, parent="papers", field="materials", link="paper"),
    Table("grants", records.GrantRecord, parent="awards", field="grants", link="award"),
    Table("roles", records.RoleRecord, parent="sessions", field="roles", link="session"),
    Table("speakers", records.SpeakerRecord, parent="presentations", field="speakers", link="presentation"),
)
TABLES = {table.name: table for table in (*PARENT_TABLES, *CHILD_TABLES)}
# Tables with one row, since the program has a single record of them.
SINGLE_ROW_TABLES = ("conference", "edition")
# Tables for separate download.
DOWNLOAD_TABLES = ("papers", "authors", "people", "sessions", "presentations", "awards")
# Columns added for download: name -> the lists of the record from which they derive. They are not read.
DERIVED_COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    "papers": {"author_names": ("authors",), "page": (), "pdf": ("materials",), "sessions": (), "awards": ()},
    "awards": {"winners": ("grants",), "winner_pages": ()},
}
# A column of papers.csv in hand-made files without authors.csv: the names of the authors.
AUTHORS_COLUMN = "authors"


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of one table, with the key of the record it belongs to (or its level in the menu)."""

    link: str
    record: Record


def read_rows(table: Table, sheet: Sheet, zone: ZoneInfo, findings: Findings) -> list[Entry]:
    """Return the records of a sheet, or none if its columns are not those of the table."""
    known_columns = (*table.headings, *([AUTHORS_COLUMN] if table.name == "papers" else []))
    derived = DERIVED_COLUMNS.get(table.name, {})
    unknown_columns = [
        column for column in sheet.columns if column not in known_columns and column not in derived
    ]
    for column in unknown_columns:
        findings.unknown(sheet.where, column_heading(column), "column", map(column_heading, known_columns))
    if table.link and table.link not in sheet.columns:
        findings.problem(sheet.where, column_heading(table.link), gettext("This column is missing."))
        return []
    if unknown_columns:
        return []
    if skipped_columns := [column_heading(column) for column in sheet.columns if column in derived]:
        message = gettext("Columns that only repeat other tables were not read: %(columns)s.")
        findings.note("warning", sheet.where, message, columns=", ".join(skipped_columns))
    return [RowReader(table, row, zone, findings).entry() for row in sheet.rows]


@dataclass(frozen=True, slots=True)
class RowReader:
    table: Table
    row: SheetRow
    zone: ZoneInfo
    findings: Findings

    def problem(self, column: str, message: str, **values: object) -> None:
        self.findings.problem(self.row.where, column_heading(column), message, **values)

    def entry(self) -> Entry:
        link = self.row.cells.get(self.table.link, "").strip()
        if self.table.link and self.table.link != LEVEL_COLUMN and not link:
            message = gettext("Say to which %(link)s the row belongs: its uid.")
            self.problem(self.table.link, message, link=self.table.link)
        values: dict[str, Any] = {}
        person_values: dict[str, Any] = {}
        for column in self.table.columns:
            value = self._value(column) if column.name in self.row.cells else UNSTATED
            if value is UNSTATED and column.default is not MISSING:
                continue
            if value in (UNSTATED, "") and column.default is MISSING and column.name != self.table.key:
                self.problem(column.name, gettext("This cell must not be empty."))
            (person_values if column.of_person else values)[column.field] = value
        has_person = any(column.of_person for column in self.table.columns)
        # Only an award's grant may have no person.
        if any(person_values.values()) or (has_person and self.table.name != "grants"):
            if not person_values.setdefault("name", "").strip():
                self.problem("name", gettext("The name is missing."))
            values["ref" if self.table.name == "people" else "person"] = PersonRef(
                where=self.row.where, **person_values
            )
        if self.table.key and not values.get(self.table.key):
            values[self.table.key] = self._derive_key(values)
        if self.row.cells.get(AUTHORS_COLUMN, "").strip() and self.table.name == "papers":
            values["authors"] = self._read_authors()
        return Entry(link, self.table.record(where=self.row.where, **values))

    def _value(self, column: Column) -> object:
        cell = self.row.cells[column.name]
        text = cell.strip() if column.name in TRIMMED_COLUMNS else cell
        if not text and column.name in NEVER_EMPTY_COLUMNS:
            return UNSTATED
        try:
            value = column.kind.read(text, self.zone)
        except InvalidValueError as error:
            self.problem(column.name, str(error))
            return UNSTATED
        if isinstance(value, datetime):
            if isinstance(value.tzinfo, ZoneInfo) and is_ambiguous(value):
                message = gettext(
                    "%(name)s: the clock shows %(value)s twice on this day. "
                    "The first was taken; for the second, write %(second)s."
                )
                values = {"name": column_heading(column.name), "value": f"{value:%Y-%m-%d %H:%M}"}
                values["second"] = value.replace(fold=1).isoformat(" ", "minutes")
                self.findings.note("warning", self.row.where, message, **values)
            return value.astimezone(UTC)
        if isinstance(value, str) and value != text:
            message = gettext("Control characters were removed from %(name)s.")
            self.findings.note("warning", self.row.where, message, name=column_heading(column.name))
        return value

    def _derive_key(self, values: dict[str, Any]) -> str:
        """Return the key of a row without one. The same words always make the same key."""
        if self.table.name == "presentations" and values.get("paper") and values.get("kind"):
            return f"{values['paper']}-{values['kind']}"
        text: str = values.get(self.table.key_source) or ""
        return slug(text) if text.strip() else ""

    def _read_authors(self) -> tuple[AuthorRecord, ...]:
        where = self.row.where
        try:
            names = split_list(remove_control_characters(self.row.cells[AUTHORS_COLUMN]))
        except InvalidValueError as error:
            self.problem(AUTHORS_COLUMN, str(error))
            return ()
        return tuple(AuthorRecord(where=where, person=PersonRef(where=where, name=name)) for name in names)


def with_fields[R](records: Iterable[R], fields: Collection[str]) -> Iterable[R]:
    """Return records of a program with at least these fields. Streamed records have only these fields."""
    return records.with_fields(fields) if isinstance(records, Rows) else records


def table_lines(name: str, program: Program, zone: ZoneInfo) -> Iterator[list[str]]:
    """Yield the headings of a table without a query, then its rows one by one."""
    table = TABLES[name]
    yield [column_heading(column) for column in table.headings]
    for entry in entries_of(table, program):
        yield cells_of(table, table.columns, entry, zone)


def records_of(table: Table, program: Program, extra_fields: Collection[str] = ()) -> Iterable[Record]:
    """Return the records that are, or contain, the rows of a table. `extra_fields`: besides its columns."""
    content = getattr(program, table.parent or table.name)
    if (table.parent or table.name) in SINGLE_ROW_TABLES:
        return [content] if content else []
    field_names = [table.field] if table.parent else [column.field for column in table.columns]
    return with_fields(content, [*field_names, *extra_fields])


def entries_of(table: Table, program: Program, extra_fields: Collection[str] = ()) -> Iterator[Entry]:
    for record in records_of(table, program, extra_fields):
        if not table.parent:
            yield Entry("", record)
        elif is_stated(children := getattr(record, table.field)):
            key = str(key_of(record)[1])
            yield from (
                menu_entries(children) if table.name == "menu" else (Entry(key, child) for child in children)
            )


def menu_entries(lines: Iterable[MenuRecord], level: int = 1) -> Iterator[Entry]:
    """Yield the lines of a menu, each followed by its children."""
    for line in lines:
        yield Entry(str(level), line)
        yield from menu_entries(line.children, level + 1)


def cells_of(table: Table, columns: Iterable[Column], entry: Entry, zone: ZoneInfo) -> list[str]:
    """Return the cells of one row, beginning with the key of its parent if the table has a parent."""
    record = entry.record
    person = getattr(record, "person", None) or getattr(record, "ref", None)
    cells = [entry.link] if table.link else []
    for column in columns:
        value = getattr(person, column.field, "") if column.of_person else getattr(record, column.field)
        cells.append("" if value == () else column.kind.write(value, zone))
    return cells
