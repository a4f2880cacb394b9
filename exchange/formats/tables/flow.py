"""Tables row by row as they are read, every column of each: for files that no memory holds as a whole."""

from collections.abc import Iterable, Iterator
from typing import Any
from zoneinfo import ZoneInfo

from exchange.files import Rows
from exchange.formats.tables.columns import SINGLE, TABLES, Table
from exchange.formats.tables.rows import Entry, cells_of
from exchange.reading.checks import key_of
from exchange.reading.sheets import heading
from exchange.records import UNSTATED, MenuRecord, Program

# The tables that people ask for one by one.
ALONE = ("papers", "authors", "people", "sessions", "presentations", "awards")


def flow(name: str, program: Program, zone: ZoneInfo) -> Iterator[list[str]]:
    """Yield the headings of a table, at once, then its rows."""
    table = TABLES[name]
    yield [heading(column) for column in table.headings]
    for entry in entries_of(table, program):
        yield cells_of(table, table.columns, entry, zone)


def entries_of(table: Table, program: Program) -> Iterator[Entry]:
    """Yield the rows of a table one by one."""
    part: Any = getattr(program, table.parent or table.name)
    records: Iterable[Any] = ([part] if part else []) if (table.parent or table.name) in SINGLE else part
    if isinstance(records, Rows):
        records = records.with_fields([table.field] if table.parent else [one.field for one in table.columns])
    for record in records:
        if not table.parent:
            yield Entry("", record)
            continue
        children = getattr(record, table.field)
        key = str(key_of(record)[1])
        if table.name == "menu":
            yield from menu_entries(() if children is UNSTATED else children, 1)
        else:
            yield from (Entry(key, child) for child in (() if children is UNSTATED else children))


def menu_entries(lines: Iterable[MenuRecord], level: int) -> Iterator[Entry]:
    """Yield the lines of a menu, each before those below it."""
    for line in lines:
        yield Entry(str(level), line)
        yield from menu_entries(line.children, level + 1)
