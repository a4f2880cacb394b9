"""A program as a set of CSV files, or one ZIP of them: made for people with a spreadsheet.

Only the tables that are there are spoken about. Tables and columns: `exchange.formats.tables.columns`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile, Source
from exchange.formats.tables.columns import AUTHORS, CHILDREN, PARENTS, SINGLE, TABLES, Table
from exchange.formats.tables.flow import menu_entries
from exchange.formats.tables.rows import Entry, read_rows, write_rows
from exchange.problems import Where
from exchange.reading.archives import RESOURCE_FORKS, is_workbook, member_names, packed, unpacked
from exchange.reading.checks import check, key_of
from exchange.reading.fields import UnfitError, zone_called, zone_of
from exchange.reading.findings import Findings, nearest, short
from exchange.reading.sheets import Sheet, read_csv, read_workbook, write_sheet
from exchange.reading.sniffing import columns
from exchange.records import UNSTATED, EditionRecord, MenuRecord, Program, Record

EXTENSIONS = ("zip", "csv", "tsv", "txt", "xlsx")
MAX_MENU_DEPTH = 20


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read several CSV files or ZIPs of them. Wall times are those of the edition's zone."""
    findings = Findings()
    sheets = _sheets(sources, findings)
    if not sheets and not findings.has_problems:
        findings.problem(Where(), "", gettext("There is no table to read. Give files such as papers.csv."))
    if AUTHORS in sheets and AUTHORS in getattr(sheets.get("papers"), "columns", ()):
        message = gettext("The authors stand in authors.csv too. Keep that file or this column.")
        findings.problem(sheets["papers"].where, AUTHORS, message)
    zone = _zone(sheets, context, findings)
    entries = {name: read_rows(TABLES[name], sheet, zone, findings) for name, sheet in sheets.items()}
    program = _program(entries, context, findings)
    check(program, findings)
    findings.settle()
    return replace(program, notes=findings.notes)


def recognises(sources: Sequence[Source]) -> bool:
    """Whether all files are tables of ours, by their names and columns, or a ZIP of such names."""
    return all(_is_ours(source) for source in sources)


def _is_ours(source: Source) -> bool:
    if packed_names := member_names(source):
        return all(_is_named(name) for name in packed_names if not name.startswith(RESOURCE_FORKS))
    name = PurePath(source.name).stem.casefold().rpartition("-")[2]
    return _is_named(source.name) and columns(source) <= {*TABLES[name].headings, AUTHORS}


def _is_named(name: str) -> bool:
    path = PurePath(name)
    return path.stem.casefold().rpartition("-")[2] in TABLES and path.suffix[1:].casefold() in EXTENSIONS[1:4]


def _sheets(sources: Iterable[Source], findings: Findings) -> dict[str, Sheet]:
    """Read every table of CSV files, ZIPs of them and workbooks."""
    found: dict[str, Sheet] = {}
    for source in sources:
        if is_workbook(source):
            for title, sheet in read_workbook(source, findings):
                if name := _table_called(f"{title}.xlsx", source.name, found, findings):
                    found[name] = sheet
            continue
        for file in unpacked(source, findings):
            path = PurePath(file.name.replace("\\", "/"))
            name = _table_called(path.name, file.name, found, findings)
            if name and (table := read_csv(Source(path.name, file.content), findings)):
                found[name] = table
    return found


def _table_called(file: str, place: str, found: Iterable[str], findings: Findings) -> str:
    """Return which table a file is by its name, `papers.csv` or `2026-papers.csv`; nothing if it is none."""
    path = PurePath(file)
    name = path.stem.casefold().rpartition("-")[2]
    if name not in TABLES or path.suffix[1:].casefold() not in EXTENSIONS[1:]:
        known = [f"{table}.csv" for table in TABLES]
        listed = gettext("Known are: %(tables)s") % {"tables": ", ".join(known)}
        message = f"{gettext('No table has this name.')}{nearest(path.name, known) or f' {listed}'}"
        findings.problem(Where(short(place)), "", message)
        return ""
    if name in found:
        findings.problem(Where(short(place)), "", gettext("This table is given twice. Give it once."))
        return ""
    return name


def _zone(sheets: dict[str, Sheet], context: Context, findings: Findings) -> ZoneInfo:
    """Return the zone that edition.csv states, else that of the edition at hand."""
    rows = sheets["edition"].rows if "edition" in sheets else ()
    stated = rows[0].cells.get("timezone", "").strip() if rows else ""
    try:
        return zone_called(stated or context.timezone)
    except UnfitError as error:
        if not stated:  # the check of the edition finds one that is stated
            findings.problem(Where(), "timezone", str(error))
        return ZoneInfo("UTC")


def _program(entries: dict[str, list[Entry]], context: Context, findings: Findings) -> Program:
    parts: dict[str, list[Any]] = {
        table.name: [entry.record for entry in entries.get(table.name, [])] for table in PARENTS
    }
    for name in SINGLE:
        for record in parts[name][1:]:
            findings.problem(record.where, "", gettext("This table holds one row."))
    own = [replace(edition, slug=edition.slug or context.edition) for edition in parts["edition"]]
    parts["edition"] = own
    for table in CHILDREN:
        if table.name in entries:
            parts[table.parent] = _joined(table, entries, parts[table.parent], context, findings)
    whole: dict[str, Any] = {name: tuple(found) for name, found in parts.items()}
    whole |= {name: next(iter(parts[name]), None) for name in SINGLE}
    return Program(**whole)


def _joined(
    table: Table,
    entries: dict[str, list[Entry]],
    parents: list[Any],
    context: Context,
    findings: Findings,
) -> list[Any]:
    """Give the rows of a child table to their parents; where the parents' table is absent, rows make them."""
    if table.parent == "edition":
        edition = parents[0] if parents else EditionRecord(slug=context.edition)
        children = _children(table, entries[table.name], findings)
        return [replace(edition, **{table.field: children}), *parents[1:]]
    groups: dict[str, list[Any]] = {}
    for entry in entries[table.name]:
        groups.setdefault(entry.link, []).append(entry.record)
    known = {str(key_of(parent)[1]) for parent in parents}
    for link, group in groups.items():
        if link in known or not link:
            continue
        if table.parent in entries:
            said = gettext("There is no such %(column)s in %(table)s.csv: %(key)s.") % {
                "column": table.link,
                "table": table.parent,
                "key": short(link),
            }
            message = f"{said}{nearest(link, known)}"
            findings.problem(group[0].where, table.link, message)
        else:
            parents = [*parents, _bare(TABLES[table.parent], link, group[0].where)]
    return [
        replace(parent, **{table.field: tuple(groups.get(str(key_of(parent)[1]), ()))}) for parent in parents
    ]


def _bare(table: Table, key: str, where: Where) -> Record:
    """Return a record of which the file says nothing but what its children say."""
    own: dict[str, Any] = {"where": where, table.key: key}
    return table.record(**own)


def _children(table: Table, entries: Sequence[Entry], findings: Findings) -> tuple[Any, ...]:
    if table.name != "menu":
        return tuple(entry.record for entry in entries)
    levels: list[list[MenuRecord]] = [[]]
    for entry in reversed(entries):
        level = int(entry.link) if entry.link in map(str, range(1, MAX_MENU_DEPTH + 1)) else 0
        if not level:
            message = gettext("Write 1 for a line of the menu, 2 for a line below it.")
            findings.problem(entry.record.where, table.link, message)
            continue
        _put(levels, level, entry.record)
    if any(levels[1:]):
        message = gettext("The line above this level is missing.")
        findings.problem(entries[0].record.where, table.link, message)
    return tuple(reversed(levels[0]))


def _put(levels: list[list[MenuRecord]], level: int, line: MenuRecord) -> None:
    """Place a line, met from the last to the first: what waits one level below it are its children."""
    levels += [[] for _ in range(level + 1 - len(levels))]
    children, levels[level] = levels[level], []
    levels[level - 1].append(replace(line, children=tuple(reversed(children))))


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    """Write one ZIP, the same bytes for the same program. Times are wall times of the edition's zone."""
    zone = zone_of(program, context)
    files = ((f"{name}.csv", content) for name, content in _written(program, zone))
    yield OutputFile(f"{context.edition}-tables.zip", [packed(files)])


def _written(program: Program, zone: ZoneInfo) -> Iterator[tuple[str, bytes]]:
    for table in (*PARENTS, *CHILDREN):
        entries = _entries(table, program)
        if entries is not None:
            yield table.name, write_sheet(*write_rows(table, entries, zone))


def _entries(table: Table, program: Program) -> list[Entry] | None:
    """Return the rows of a table, or None where the program does not speak about it."""
    part = getattr(program, table.parent or table.name)
    records: Sequence[Record] = part if isinstance(part, tuple) else [part] if part else []
    if not table.parent:
        return [Entry("", record) for record in records] if records or table.name not in SINGLE else None
    groups = [(str(key_of(record)[1]), getattr(record, table.field)) for record in records]
    spoken = [(key, group) for key, group in groups if group is not UNSTATED]
    if not spoken and (records or table.parent in SINGLE):
        return None
    if table.name == "menu":
        return [entry for _, group in spoken for entry in menu_entries(group, 1)]
    return [Entry(key, record) for key, group in spoken for record in group]


FORMAT = Format(
    name="tables",
    label=_("Tables (CSV)"),
    description=_("A set of CSV files, or one ZIP of them, to edit in a spreadsheet."),
    extensions=EXTENSIONS,
    media_type="application/zip",
    read=read,
    write=write,
    recognises=recognises,
)
