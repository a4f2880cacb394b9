"""From the rows of one table to records, and back to rows. Knows one row at a time, no other table."""

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from exchange.formats.tables.cells import split
from exchange.formats.tables.columns import AUTHORS, LEVEL, NEVER_EMPTY, Column, Table
from exchange.reading.fields import UnfitError, checked_text, is_repeated
from exchange.reading.findings import Findings
from exchange.reading.sheets import Row, Sheet, heading
from exchange.reading.slugs import slug
from exchange.records import UNSTATED, AuthorRecord, PersonRef, Record


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of one table, with the key of the record it belongs to (or its level in the menu)."""

    link: str
    record: Any


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
    """Reads one row."""

    table: Table
    row: Row
    zone: ZoneInfo
    findings: Findings

    def entry(self) -> Entry:
        link = self.row.cells.get(self.table.link, "").strip()
        if self.table.link and self.table.link != LEVEL and not link:
            message = gettext("Say to which %(link)s the row belongs: its uid.")
            self.findings.problem(self.row.where, heading(self.table.link), message, link=self.table.link)
        return Entry(link, self._record())

    def _record(self) -> Record:
        own, person = self._values()
        if any(column.of_person for column in self.table.columns):
            self._add_person(own, person)
        if self.table.key and not own.get(self.table.key):
            own[self.table.key] = self._made_key(own)
        if self.row.cells.get(AUTHORS, "").strip() and self.table.name == "papers":
            own["authors"] = self._authors()
        return self.table.record(where=self.row.where, **own)

    def _values(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the values of the record's own fields, and those of the person in it."""
        own: dict[str, Any] = {}
        person: dict[str, Any] = {}
        for column in self.table.columns:
            value = self._value(column) if column.name in self.row.cells else UNSTATED
            if value is UNSTATED and column.default is not MISSING:
                continue
            if value in (UNSTATED, "") and column.default is MISSING and column.name != self.table.key:
                message = gettext("This cell must not be empty.")
                self.findings.problem(self.row.where, heading(column.name), message)
            (person if column.of_person else own)[column.field] = value
        return own, person

    def _value(self, column: Column) -> Any:
        cell = self.row.cells[column.name]
        text = cell.strip() if column.is_trimmed else cell
        if not text and column.name in NEVER_EMPTY:
            return UNSTATED
        try:
            value = column.kind.read(text, self.zone)
        except UnfitError as error:
            self.findings.problem(self.row.where, heading(column.name), str(error))
            return UNSTATED
        if isinstance(value, datetime):
            return self._moment(value, column)
        if isinstance(value, str) and value != text:
            message = gettext("Control characters were removed from %(name)s.")
            self.findings.note("warning", self.row.where, message, name=heading(column.name))
        return value

    def _moment(self, value: datetime, column: Column) -> datetime:
        if isinstance(value.tzinfo, ZoneInfo) and is_repeated(value):
            second = value.replace(fold=1).isoformat(" ", "minutes")
            message = gettext(
                "%(name)s: the clock shows %(value)s twice on this day. "
                "The first was taken; for the second, write %(second)s."
            )
            self.findings.note(
                "warning",
                self.row.where,
                message,
                name=heading(column.name),
                value=f"{value:%Y-%m-%d %H:%M}",
                second=second,
            )
        return value.astimezone(UTC)

    def _add_person(self, own: dict[str, Any], person: dict[str, Any]) -> None:
        """Put the person into the record; only an award's grant may have none."""
        name = person.get("name", "")
        if not any(person.values()) and self.table.name == "grants":
            return
        if not name.strip():
            self.findings.problem(self.row.where, "name", gettext("The name is missing."))
        field = "ref" if self.table.name == "people" else "person"
        own[field] = PersonRef(where=self.row.where, **{"name": name, **person})

    def _made_key(self, own: dict[str, Any]) -> str:
        """Make the key of a row that has none: the same words make the same key every time."""
        words = own.get(self.table.words) or ""
        if self.table.name == "presentations" and own.get("paper") and own.get("kind"):
            return f"{own['paper']}-{own['kind']}"
        return slug(words) if words.strip() else ""

    def _authors(self) -> tuple[AuthorRecord, ...]:
        where = self.row.where
        try:
            names = split(checked_text(self.row.cells[AUTHORS]))
        except UnfitError as error:
            self.findings.problem(where, AUTHORS, str(error))
            return ()
        return tuple(AuthorRecord(where=where, person=PersonRef(where=where, name=name)) for name in names)


def write_rows(
    table: Table, entries: Sequence[Entry], zone: ZoneInfo
) -> tuple[Sequence[str], Iterable[Sequence[str]]]:
    """Return header and rows. A column that no record speaks about is left out."""
    columns = [column for column in table.columns if not entries or _is_stated(column, entries)]
    links = [table.link] if table.link else []
    rows = (cells_of(table, columns, entry, zone) for entry in entries)
    return [*links, *(column.name for column in columns)], rows


def cells_of(table: Table, columns: Iterable[Column], entry: Entry, zone: ZoneInfo) -> list[str]:
    """Return one row: the key of what it belongs to, where the table has that, and the cells."""
    record, person = entry.record, _person_in(entry.record)
    cells = [entry.link] if table.link else []
    for column in columns:
        value = getattr(person, column.field, "") if column.of_person else getattr(record, column.field)
        if type(value) is str:
            cells.append(value)
        else:
            cells.append("" if value == () else column.kind.write(value, zone))
    return cells


def _is_stated(column: Column, entries: Sequence[Entry]) -> bool:
    return column.of_person or any(_taken(column, entry) is not UNSTATED for entry in entries)


def _taken(column: Column, entry: Entry) -> Any:
    if not column.of_person:
        return getattr(entry.record, column.field)
    return getattr(_person_in(entry.record), column.field, "")


def _person_in(record: object) -> PersonRef | None:
    return getattr(record, "person", None) or getattr(record, "ref", None)
