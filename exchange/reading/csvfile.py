"""CSV as spreadsheets make and take it: delimiter, header, rows, cells that are never run as formulas."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Where
from exchange.reading.decoding import decode
from exchange.reading.findings import Findings

ADVICE = "Save it as “CSV UTF-8” in your spreadsheet program."
DELIMITERS = ",;\t"
# What a spreadsheet takes for the beginning of a formula, and the sign that guards it.
GUARD = "'"
GUARDED = frozenset((*"=+-@\t\r", GUARD))
QUOTED = re.compile(r'"[^"]*"')
MAX_CELL_CHARS = 10_000_000
MAX_COLUMNS = 200
MAX_ROWS = 200_000
# Characters that are sent at once.
PIECE = 50_000
csv.field_size_limit(MAX_CELL_CHARS)


@dataclass(frozen=True, slots=True)
class Row:
    """One row under its header: normalised column name -> cell."""

    where: Where
    cells: dict[str, str]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One CSV file that could be read: its columns and its rows that are not blank."""

    where: Where
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def guarded(cell: str) -> str:
    """Put a `'` before what a spreadsheet would run; `unguarded` takes exactly that away again."""
    return GUARD + cell if cell[:1] in GUARDED else cell


def unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith(GUARD) and cell[1:2] in GUARDED else cell


def column_name(heading: str) -> str:
    """Return a column's name however it is spelt: `Lay Summary`, `lay-summary` and `lay_summary` are one."""
    return re.sub(r"[\s_-]+", "_", heading.strip().casefold())


def heading(column: str) -> str:
    return column.replace("_", " ")


def read_sheet(source: Source, findings: Findings) -> Sheet | None:
    """Return the rows of a CSV file, or report why there are none."""
    text = decode(source, findings, utf16=True, advice=ADVICE)
    if text is None:
        return None
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        return sheet_of(source.name, ([unguarded(cell) for cell in line] for line in lines), findings)
    except csv.Error as error:
        message = gettext(
            "Line %(line_num)s is not CSV: %(error)s. Look for a quotation mark that is not closed."
        ) % {"line_num": lines.line_num, "error": error}
        findings.problem(Where(source.name), "", message)
        return None


def sheet_of(name: str, lines: Iterator[list[str]], findings: Findings) -> Sheet | None:
    """Return a sheet of its lines, the headings first, or report why it is none."""
    where = Where(name)
    columns = tuple(column_name(cell) for cell in next(lines, [])[:MAX_COLUMNS])
    rows = tuple(_rows(islice(lines, MAX_ROWS), columns, name, findings))
    is_longer = next(lines, None) is not None
    if is_longer:
        findings.problem(
            where, "", gettext("The table has more than %(most_rows)s rows.") % {"most_rows": MAX_ROWS}
        )
    if not any(columns):
        findings.problem(where, "", gettext("The first row must hold the names of the columns."))
    twice = {column for column in columns if column and columns.count(column) > 1}
    for column in sorted(twice):
        findings.problem(
            where, heading(column), gettext("There are two columns of this name. Keep one of them.")
        )
    if twice or is_longer or not any(columns):
        return None
    return Sheet(where, tuple(filter(None, columns)), rows)


def _delimiter(text: str) -> str:
    first = QUOTED.sub("", text.lstrip("\r\n").partition("\n")[0])
    return max(DELIMITERS, key=first.count)


def _rows(lines: Iterable[list[str]], columns: Sequence[str], name: str, findings: Findings) -> Iterable[Row]:
    """Pair cells with columns. Rows are numbered as a spreadsheet numbers them: the header is row 1."""
    for number, cells in enumerate(lines, start=2):
        if not any(cell.strip() for cell in cells):
            continue
        where = Where(name, f"row {number}")
        beyond = [cell for index, cell in enumerate(cells) if not (columns[index : index + 1] or [""])[0]]
        if any(cell.strip() for cell in beyond):
            findings.problem(where, "", gettext("The row has cells beyond the columns that have names."))
            continue
        named = zip(columns, cells + [""] * (len(columns) - len(cells)), strict=False)
        yield Row(where, {column: cell for column, cell in named if column})


def write_sheet(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return CSV that opens well in spreadsheets: UTF-8 with byte order mark, CRLF, guarded cells."""
    return b"".join(sheet_pieces([[heading(column) for column in columns], *rows]))


def sheet_pieces(rows: Iterable[Sequence[str]]) -> Iterator[bytes]:
    """Yield the same piece by piece, headings first: they are sent before the first row is read."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    text.write("\ufeff")
    for number, row in enumerate(rows):
        # As `guarded`, without a call for each of a million cells.
        writer.writerow([GUARD + cell if cell[:1] in GUARDED else cell for cell in row])
        if not number or text.tell() > PIECE:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()
