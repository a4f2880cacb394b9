"""Tables with known columns: read CSV and workbooks, and write CSV for spreadsheet programs."""

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Findings, Where
from exchange.reading.archives import WORKBOOK_XML, is_workbook
from exchange.reading.grids import (
    FORMULA_GUARD,
    FORMULA_SIGNS,
    Grid,
    guess_separator,
    note_hidden_rows,
    note_merged_cells,
    read_grids,
)
from exchange.reading.textfiles import HEAD_BYTES, read_head

# The number of characters of a chunk.
CHUNK_CHARS = 50_000
SHEET_NAME = re.compile(r"<(?:\w+:)?sheet\b[^>]*\bname=\"([^\"]*)\"")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One row under its header: normalized column name -> cell."""

    where: Where
    cells: dict[str, str]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table that could be read: its columns and its rows that are not blank."""

    where: Where
    columns: tuple[str, ...]
    rows: tuple[SheetRow, ...]


def guard_formula(cell: str) -> str:
    """Put a `'` before a cell that would be run as a formula; `remove_formula_guard` reverses it."""
    return FORMULA_GUARD + cell if cell[:1] in FORMULA_SIGNS else cell


def column_name(heading: str) -> str:
    """Return the normalized name of a column: `Lay Summary` and `lay-summary` become `lay_summary`."""
    return re.sub(r"[\s_-]+", "_", heading.strip().casefold())


def column_heading(column: str) -> str:
    return column.replace("_", " ")


def read_sheets(source: Source, findings: Findings) -> list[tuple[str, Sheet]]:
    """Return the tables of a file with their titles. Report unreadable ones."""
    grids = read_grids([source], findings, has_titles=False)
    return [(grid.sheet, sheet) for grid in grids if (sheet := _read_sheet(grid, findings))]


def _read_sheet(grid: Grid, findings: Findings) -> Sheet | None:
    """Return a table with named columns. Report an invalid one and return None."""
    where, columns = Where(grid.name), [column_name(cell) for cell in grid.lines[0][1]]
    duplicates = {column for column in columns if column and columns.count(column) > 1}
    for column in sorted(duplicates):
        message = gettext("There are two columns of this name. Keep one of them.")
        findings.problem(where, column_heading(column), message)
    extra_cells_message = gettext("The row has cells beyond the columns that have names.")
    if grid.is_cut:
        findings.problem(where, "", extra_cells_message)
    note_merged_cells(grid, findings)
    note_hidden_rows(grid, findings)
    rows = []
    for number, cells in grid.lines[1:]:
        row_where = Where(grid.name, f"row {number}")
        cell_by_column = dict(zip(columns, cells + [""] * (len(columns) - len(cells)), strict=False))
        if cell_by_column.pop("", "").strip() or any(cell.strip() for cell in cells[len(columns) :]):
            findings.problem(row_where, "", extra_cells_message)
            continue
        for index, column in enumerate(columns):
            if column and (fault := grid.faults.get((number, index))):
                findings.problem(row_where, column_heading(column), fault)
        rows.append(SheetRow(row_where, cell_by_column))
    return None if duplicates else Sheet(where, tuple(filter(None, columns)), tuple(rows))


def write_sheet(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return CSV for spreadsheet programs: UTF-8 with byte order mark, CRLF, guarded cells."""
    return b"".join(csv_chunks([[column_heading(column) for column in columns], *rows]))


def csv_chunks(rows: Iterable[Sequence[str]]) -> Iterator[bytes]:
    """Yield such CSV in chunks. The first chunk has the headings only, before any other row is read."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    text.write("\ufeff")
    for number, row in enumerate(rows):
        writer.writerow(map(guard_formula, row))
        if not number or text.tell() > CHUNK_CHARS:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


# Recognized by the beginning


def header_columns(source: Source) -> set[str]:
    line = io.StringIO(read_head(source).lstrip("\r\n"), newline=None).readline()
    try:
        row = next(csv.reader([line], delimiter=guess_separator(line, 1)), [])
    except csv.Error:
        return set()
    return {column_name(cell) for cell in row} - {""}


def sheet_names(source: Source) -> list[str]:
    if not is_workbook(source):
        return []
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive, archive.open(WORKBOOK_XML) as file:
            return SHEET_NAME.findall(file.read(HEAD_BYTES).decode("utf-8", "ignore"))
    except Exception:  # a damaged file, which the reader reports
        return []
