"""From the rows of one table to records, and from a program to the rows of a table, one at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import MISSING, dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from exchange.files import Rows
from exchange.formats.tables.columns import AUTHORS, LEVEL, NEVER_EMPTY, SINGLE, TABLES, Column, Table, split
from exchange.reading.checks import key_of
from exchange.reading.fields import UnfitError, checked_text, is_repeated
from exchange.reading.findings import Findings
from exchange.reading.sheets import Row, Sheet, heading
from exchange.reading.slugs import slug
from exchange.records import UNSTATED, AuthorRecord, MenuRecord, PersonRef, Program, Record, is_stated


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of one table, with the key of the record it belongs to (or its level in the menu)."""

    link: str
    record: Record


def read_rows(table: Table, sheet: Sheet, zone: ZoneInfo, findings: Findings) -> list[Entry]:
    """Return the records of a sheet, or nothing where its columns are not the table's."""
    known = (*table.headings, *([AUTHORS] if table.name == "papers" else []))
    unknown = [column for column in sheet.columns if column not in known]
    for column in unknown:
        findings.unknown(sheet.where, heading(column), "column", map(heading, known))
    if table.link and table.link not in sheet.columns:
        findings.problem(sheet.where, heading(table.link), gettext("This column is missing."))
        return []
    if unknown:
        return []
    return [RowReader(table, row, zone, findings).entry() for row in sheet.rows]


@dataclass(frozen=True, slots=True)
class RowReader:
    table: Table
    row: Row
    zone: ZoneInfo
    findings: Findings

    def problem(self, column: str, message: str, **values: object) -> None:
        self.findings.problem(self.row.where, heading(column), message, **values)

    def entry(self) -> Entry:
        link = self.row.cells.get(self.table.link, "").strip()
        if self.table.link and self.table.link != LEVEL and not link:
            message = gettext("Say to which %(link)s the row belongs: its uid.")
            self.problem(self.table.link, message, link=self.table.link)
        return Entry(link, self._record())

    def _record(self) -> Record:
        own: dict[str, Any] = {}
        person: dict[str, Any] = {}
        for column in self.table.columns:
            value = self._value(column) if column.name in self.row.cells else UNSTATED
            if value is UNSTATED and column.default is not MISSING:
                continue
            if value in (UNSTATED, "") and column.default is MISSING and column.name != self.table.key:
                self.problem(column.name, gettext("This cell must not be empty."))
            (person if column.of_person else own)[column.field] = value
        # Only an award's grant may have no person.
        if any(person.values()) or (self.table.has_person and self.table.name != "grants"):
            own["ref" if self.table.name == "people" else "person"] = self._person(**person)
        if self.table.key and not own.get(self.table.key):
            own[self.table.key] = self._made_key(own)
        if self.row.cells.get(AUTHORS, "").strip() and self.table.name == "papers":
            own["authors"] = self._authors()
        return self.table.record(where=self.row.where, **own)

    def _value(self, column: Column) -> object:
        cell = self.row.cells[column.name]
        text = cell.strip() if column.is_trimmed else cell
        if not text and column.name in NEVER_EMPTY:
            return UNSTATED
        try:
            value = column.kind.read(text, self.zone)
        except UnfitError as error:
            self.problem(column.name, str(error))
            return UNSTATED
        if isinstance(value, datetime):
            return self._moment(value, column)
        if isinstance(value, str) and value != text:
            message = gettext("Control characters were removed from %(name)s.")
            self.findings.note("warning", self.row.where, message, name=heading(column.name))
        return value

    def _moment(self, value: datetime, column: Column) -> datetime:
        if isinstance(value.tzinfo, ZoneInfo) and is_repeated(value):
            message = gettext(
                "%(name)s: the clock shows %(value)s twice on this day. "
                "The first was taken; for the second, write %(second)s."
            )
            told = {"name": heading(column.name), "value": f"{value:%Y-%m-%d %H:%M}"}
            told["second"] = value.replace(fold=1).isoformat(" ", "minutes")
            self.findings.note("warning", self.row.where, message, **told)
        return value.astimezone(UTC)

    def _person(self, *, name: str = "", **fields: Any) -> PersonRef:
        if not name.strip():
            self.problem("name", gettext("The name is missing."))
        return PersonRef(where=self.row.where, name=name, **fields)

    def _made_key(self, own: dict[str, Any]) -> str:
        """Make the key of a row that has none: the same words make the same key every time."""
        words: str = own.get(self.table.words) or ""
        if self.table.name == "presentations" and own.get("paper") and own.get("kind"):
            return f"{own['paper']}-{own['kind']}"
        return slug(words) if words.strip() else ""

    def _authors(self) -> tuple[AuthorRecord, ...]:
        where = self.row.where
        try:
            names = split(checked_text(self.row.cells[AUTHORS]))
        except UnfitError as error:
            self.problem(AUTHORS, str(error))
            return ()
        return tuple(AuthorRecord(where=where, person=PersonRef(where=where, name=name)) for name in names)


# Written


def table_lines(name: str, program: Program, zone: ZoneInfo) -> Iterator[list[str]]:
    """Yield the headings of a table, at once, then its rows: for files that no memory holds as a whole."""
    table = TABLES[name]
    yield [heading(column) for column in table.headings]
    for entry in entries_of(table, program):
        yield cells_of(table, table.columns, entry, zone)


def records_of(table: Table, program: Program) -> Iterable[Record]:
    """Return the records that make the rows of a table, or hold them; of streamed ones what is needed."""
    found = getattr(program, table.parent or table.name)
    if (table.parent or table.name) in SINGLE:
        return [found] if found else []
    if isinstance(found, Rows):
        return found.with_fields([table.field] if table.parent else [one.field for one in table.columns])
    records: Iterable[Record] = found
    return records


def entries_of(table: Table, program: Program) -> Iterator[Entry]:
    """Yield the rows of a table one by one."""
    for record in records_of(table, program):
        if not table.parent:
            yield Entry("", record)
        elif is_stated(children := getattr(record, table.field)):
            key = str(key_of(record)[1])
            yield from (
                menu_entries(children) if table.name == "menu" else (Entry(key, one) for one in children)
            )


def menu_entries(lines: Iterable[MenuRecord], level: int = 1) -> Iterator[Entry]:
    """Yield the lines of a menu, each before those below it."""
    for line in lines:
        yield Entry(str(level), line)
        yield from menu_entries(line.children, level + 1)


def cells_of(table: Table, columns: Iterable[Column], entry: Entry, zone: ZoneInfo) -> list[str]:
    """Return one row: the key of what it belongs to, where the table has that, and the cells."""
    record, person = entry.record, person_in(entry.record)
    cells = [entry.link] if table.link else []
    for column in columns:
        value = getattr(person, column.field, "") if column.of_person else getattr(record, column.field)
        if type(value) is str:
            cells.append(value)
        else:
            cells.append("" if value == () else column.kind.write(value, zone))
    return cells


def stated_columns(table: Table, entries: list[Entry]) -> list[Column]:
    """Return the columns that some row speaks about; all of them where there is no row."""
    if not entries:
        return [*table.columns]
    return [
        column
        for column in table.columns
        if column.of_person or any(is_stated(getattr(one.record, column.field)) for one in entries)
    ]


def person_in(record: Record) -> PersonRef | None:
    return getattr(record, "person", None) or getattr(record, "ref", None)
