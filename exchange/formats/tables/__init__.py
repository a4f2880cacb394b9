"""A program as a set of CSV files, or one ZIP of them, to edit in a spreadsheet.

An import changes only values that the given tables state. `tables.rows` defines tables and columns.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile, Source, total_size
from exchange.formats.tables.rows import (
    AUTHORS_COLUMN,
    CHILD_TABLES,
    DERIVED_COLUMNS,
    PARENT_TABLES,
    SINGLE_ROW_TABLES,
    TABLES,
    Entry,
    Table,
    cells_of,
    entries_of,
    read_rows,
    records_of,
)
from exchange.problems import Findings, Where, did_you_mean, short
from exchange.reading.archives import is_workbook, member_names, pack_zip, unpack
from exchange.reading.grids import TEXT_EXTENSIONS
from exchange.reading.sheets import Sheet, header_columns, read_sheets, write_sheet
from exchange.reading.textfiles import extension
from exchange.reading.values import InvalidValueError, check_program, get_zone, key_of, program_zone
from exchange.records import EditionRecord, MenuRecord, Program, Record, is_stated

MAX_MENU_DEPTH = 20


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read several CSV files or ZIPs of them. Wall times are those of the edition's zone."""
    findings = Findings(total_size(sources))
    sheets = _read_tables(sources, findings)
    if not sheets and not findings.has_problems:
        findings.problem(Where(), "", gettext("There is no table to read. Give files such as papers.csv."))
    if AUTHORS_COLUMN in sheets and AUTHORS_COLUMN in getattr(sheets.get("papers"), "columns", ()):
        message = gettext("The authors are in authors.csv too. Keep that file or this column.")
        findings.problem(sheets["papers"].where, AUTHORS_COLUMN, message)
    zone = _find_zone(sheets, context, findings)
    entries = {name: read_rows(TABLES[name], sheet, zone, findings) for name, sheet in sheets.items()}
    return check_program(_build_program(entries, context, findings), findings)


def recognizes(sources: Sequence[Source]) -> bool:
    """Return whether all files have the names and columns of these tables, or are ZIPs of such names."""
    for source in sources:
        if names := member_names(source):
            if not all(table_of_file(name, TEXT_EXTENSIONS) for name in names):
                return False
            continue
        name = table_of_file(source.name, TEXT_EXTENSIONS)
        if not name or header_columns(source) - {
            *TABLES[name].headings,
            *DERIVED_COLUMNS.get(name, {}),
            AUTHORS_COLUMN,
        }:
            return False
    return True


def table_of_file(file: str, endings: Sequence[str]) -> str:
    """Return the table named by a file such as `papers.csv` or `2026-papers.csv`; empty if there is none."""
    name = PurePath(file).stem.casefold().rpartition("-")[2]
    return name if name in TABLES and extension(file) in endings else ""


def _read_tables(sources: Iterable[Source], findings: Findings) -> dict[str, Sheet]:
    """Read every table of CSV files, ZIPs of them and workbooks."""
    sheets: dict[str, Sheet] = {}
    for source in sources:
        if is_workbook(source):
            for title, sheet in read_sheets(source, findings):
                if name := _check_table_name(f"{title}.xlsx", source.name, sheets, findings):
                    sheets[name] = sheet
            continue
        for file in unpack(source, findings):
            path = PurePath(file.name.replace("\\", "/"))
            name = _check_table_name(path.name, file.name, sheets, findings)
            tables = read_sheets(Source(path.name, file.content), findings) if name else []
            if len(tables) > 1:
                message = gettext("The workbook has several sheets. Give it by itself, not in a ZIP file.")
                findings.problem(Where(short(file.name)), "", message)
            for _title, table in tables:
                sheets[name] = table
    return sheets


def _check_table_name(file: str, source_name: str, earlier_names: Iterable[str], findings: Findings) -> str:
    """Return the table that a file name means. Report names of no table, and duplicates."""
    name = table_of_file(file, (*TEXT_EXTENSIONS, "xlsx"))
    if not name:
        file_names = [f"{table}.csv" for table in TABLES]
        valid_names = gettext("Valid tables: %(tables)s") % {"tables": ", ".join(file_names)}
        message = f"{gettext('No table has this name.')}{did_you_mean(file, file_names) or f' {valid_names}'}"
        findings.problem(Where(short(source_name)), "", message)
    elif name in earlier_names:
        findings.problem(Where(short(source_name)), "", gettext("This table is given twice. Give it once."))
        return ""
    return name


def _find_zone(sheets: dict[str, Sheet], context: Context, findings: Findings) -> ZoneInfo:
    """Return the zone that edition.csv states, else that of the context, or UTC if it is invalid."""
    rows = sheets["edition"].rows if "edition" in sheets else ()
    stated_zone = rows[0].cells.get("timezone", "").strip() if rows else ""
    try:
        return get_zone(stated_zone or context.timezone)
    except InvalidValueError as error:
        if not stated_zone:  # a stated zone is checked with the edition
            findings.problem(Where(), "timezone", str(error))
        return ZoneInfo("UTC")


def _build_program(entries: dict[str, list[Entry]], context: Context, findings: Findings) -> Program:
    parts: dict[str, list[Any]] = {
        table.name: [entry.record for entry in entries.get(table.name, [])] for table in PARENT_TABLES
    }
    for name in SINGLE_ROW_TABLES:
        for record in parts[name][1:]:
            findings.problem(record.where, "", gettext("This table holds one row."))
    parts["edition"] = [
        replace(edition, slug=edition.slug or context.edition) for edition in parts["edition"]
    ]
    for table in CHILD_TABLES:
        if table.name in entries:
            parts[table.parent] = _join_children(table, entries, parts[table.parent], context, findings)
    values: dict[str, Any] = {name: tuple(records) for name, records in parts.items()}
    values |= {name: next(iter(parts[name]), None) for name in SINGLE_ROW_TABLES}
    return Program(**values)


def _join_children(
    table: Table, entries: dict[str, list[Entry]], parents: list[Any], context: Context, findings: Findings
) -> list[Any]:
    """Add the rows of a child table to their parents; if the parents' table is absent, create parents."""
    if table.parent == "edition":
        edition = parents[0] if parents else EditionRecord(slug=context.edition)
        children = _build_children(table, entries[table.name], findings)
        return [replace(edition, **{table.field: children}), *parents[1:]]
    groups: dict[str, list[Any]] = {}
    for entry in entries[table.name]:
        groups.setdefault(entry.link, []).append(entry.record)
    parent_keys = {str(key_of(parent)[1]) for parent in parents}
    new_parents = []
    for link, group in groups.items():
        if link in parent_keys or not link:
            continue
        if table.parent in entries:
            message = gettext("There is no such %(column)s in %(table)s.csv: %(key)s.")
            message %= {"column": table.link, "table": table.parent, "key": short(link)}
            hint = "" if findings.is_full else did_you_mean(link, parent_keys)
            findings.problem(group[0].where, table.link, f"{message}{hint}")
        else:
            # All other fields of these parents are unstated.
            values: dict[str, Any] = {"where": group[0].where, TABLES[table.parent].key: link}
            new_parents.append(TABLES[table.parent].record(**values))
    return [
        replace(parent, **{table.field: tuple(groups.get(str(key_of(parent)[1]), ()))})
        for parent in [*parents, *new_parents]
    ]


def _build_children(table: Table, entries: Sequence[Entry], findings: Findings) -> tuple[Record, ...]:
    if table.name != "menu":
        return tuple(entry.record for entry in entries)
    # From the last line to the first: the lines collected one level below a line are its children.
    levels: list[list[MenuRecord]] = [[]]
    for entry in reversed(entries):
        level = int(entry.link) if entry.link in map(str, range(1, MAX_MENU_DEPTH + 1)) else 0
        if not level:
            message = gettext("Write 1 for a line of the menu, 2 for a line below it.")
            findings.problem(entry.record.where, table.link, message)
        elif isinstance(entry.record, MenuRecord):
            levels += [[] for _ in range(level + 1 - len(levels))]
            children, levels[level] = levels[level], []
            levels[level - 1].append(replace(entry.record, children=tuple(reversed(children))))
    if any(levels[1:]):
        message = gettext("The line above this level is missing.")
        findings.problem(entries[0].record.where, table.link, message)
    return tuple(reversed(levels[0]))


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    """Write one ZIP, the same bytes for the same program. Times are wall times of the edition's zone."""
    zone, files = program_zone(program, context), []
    for table in TABLES.values():
        entries = list(entries_of(table, program))
        if entries or _is_stated_empty(table, program):
            columns = [
                column
                for column in table.columns
                if column.of_person
                or not entries
                or any(is_stated(getattr(entry.record, column.field)) for entry in entries)
            ]
            headings = [*([table.link] if table.link else []), *(column.name for column in columns)]
            rows = (cells_of(table, columns, entry, zone) for entry in entries)
            files.append((f"{table.name}.csv", write_sheet(headings, rows)))
    yield OutputFile(f"{context.edition}-tables.zip", [pack_zip(files)])


def _is_stated_empty(table: Table, program: Program) -> bool:
    """Return whether the program states that a table has no rows, rather than leaving it unstated."""
    if not table.parent:
        return table.name not in SINGLE_ROW_TABLES
    parents = [*records_of(table, program)]
    if any(is_stated(getattr(parent, table.field)) for parent in parents):
        return True
    return not parents and table.parent not in SINGLE_ROW_TABLES


FORMAT = Format(
    name="tables",
    label=_("Tables (CSV)"),
    description=_("A set of CSV files, or one ZIP of them, to edit in a spreadsheet."),
    extensions=("zip", *TEXT_EXTENSIONS, "xlsx"),
    holds_edition=True,
    media_type="application/zip",
    read=read,
    write=write,
    recognizes=recognizes,
)
