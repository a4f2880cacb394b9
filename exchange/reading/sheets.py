"""Tables as spreadsheets make and take them, CSV and Excel workbooks: header, rows, no formulas, no links.

What this site cut for being longer than a cell, and put into a workbook's sheet of notes, is joined again.
"""

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from typing import TYPE_CHECKING

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Findings, Where, short
from exchange.reading.archives import BOOK, is_workbook
from exchange.reading.textfiles import HEAD_BYTES, decode, head

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

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
PIECE_CHARS = 50_000
csv.field_size_limit(MAX_CELL_CHARS)

MAX_PARTS = 1_000
# Of a workbook's unpacked parts, and of the one with all texts, which is held in memory.
MAX_BYTES = 200_000_000
MAX_TEXT_CHARS = 40_000_000
MAX_SHEETS = 50
# A sheet that is formatted down to its last row has a million rows and no more to say.
MAX_BLANK_ROWS = 2_000
FORMULA = "f"
# The sheet of what did not fit into cells, and how such a cell ends.
NOTES = "notes"
NOTE_HEADINGS = ("number", "sheet", "row", "column", "note", "rest")
CONTINUED = re.compile(r"\[continued in notes (\d{1,9})\]\Z")
# How workbooks spell a carriage return, and an underscore that would begin such a spelling.
CODED = re.compile(r"_x(005F|000D)_")

SHEET = re.compile(r"<(?:\w+:)?sheet\b[^>]*\bname=\"([^\"]*)\"")

# Cells with the number of their row, as a spreadsheet counts.
type Line = tuple[int, list[str]]


@dataclass(frozen=True, slots=True)
class Row:
    """One row under its header: normalized column name -> cell."""

    where: Where
    cells: dict[str, str]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table that could be read: its columns and its rows that are not blank."""

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


def read_csv(source: Source, findings: Findings) -> Sheet | None:
    """Return the rows of a CSV file, or report why there are none."""
    text = decode(source, findings, utf16=True, advice=ADVICE)
    if text is None:
        return None
    headings = QUOTED.sub("", text.lstrip("\r\n").partition("\n")[0])
    delimiter = max(DELIMITERS, key=headings.count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        numbered = enumerate(([unguarded(cell) for cell in line] for line in lines), start=1)
        return _sheet(source.name, numbered, findings)
    except csv.Error as error:
        message = gettext(
            "Line %(line_num)s is not CSV: %(error)s. Look for a quotation mark that is not closed."
        )
        findings.problem(Where(source.name), "", message, line_num=lines.line_num, error=error)
        return None


def _sheet(name: str, lines: Iterator[Line], findings: Findings) -> Sheet | None:
    """Return a sheet of its lines, the headings first, or report why it is none."""
    where = Where(name)
    header = next(lines, None)
    if header is None:
        return None
    columns = tuple(map(column_name, header[1][:MAX_COLUMNS]))
    rows = tuple(_rows(islice(lines, MAX_ROWS), columns, name, findings))
    is_longer = next(lines, None) is not None
    if is_longer:
        findings.problem(
            where, "", gettext("The table has more than %(most_rows)s rows."), most_rows=MAX_ROWS
        )
    if not any(columns):
        findings.problem(where, "", gettext("The first row must hold the names of the columns."))
    twice = {column for column in columns if column and columns.count(column) > 1}
    for column in sorted(twice):
        message = gettext("There are two columns of this name. Keep one of them.")
        findings.problem(where, heading(column), message)
    if twice or is_longer or not any(columns):
        return None
    return Sheet(where, tuple(filter(None, columns)), rows)


def _rows(lines: Iterable[Line], columns: Sequence[str], name: str, findings: Findings) -> Iterator[Row]:
    for number, cells in lines:
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
        writer.writerow(map(guarded, row))
        if not number or text.tell() > PIECE_CHARS:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


# Workbooks


def read_workbook(source: Source, findings: Findings) -> list[tuple[str, Sheet]]:
    """Return titles and rows of the sheets that hold any, or report why the workbook cannot be read."""
    where = Where(source.name)
    try:
        return list(_sheets(source, findings)) if _is_bounded(source, where, findings) else []
    except MemoryError:
        raise
    except Exception as error:  # what is wrong in a file of others shows itself in any way
        message = gettext("The workbook is damaged or of an unusual kind (%(kind)s). Save it again as XLSX.")
        findings.problem(where, "", message, kind=type(error).__name__)
        return []


def _is_bounded(source: Source, where: Where, findings: Findings) -> bool:
    """Judge the sizes before anything is unpacked: the library that unpacks reads no more than they say."""
    with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
        parts = archive.infolist()
    texts = sum(part.file_size for part in parts if part.filename.endswith("sharedStrings.xml"))
    whole = sum(part.file_size for part in parts)
    if len(parts) > MAX_PARTS or whole > MAX_BYTES or texts > MAX_TEXT_CHARS:
        message = gettext("The workbook is too large: unpacked it may hold %(megabytes)s MB. Save it as CSV.")
        findings.problem(where, "", message, megabytes=MAX_BYTES // 1_000_000)
        return False
    if any(part.flag_bits & 1 for part in parts):
        findings.problem(where, "", gettext("The workbook has a password. Save it without one."))
        return False
    return True


def _sheets(source: Source, findings: Findings) -> Iterator[tuple[str, Sheet]]:
    # It takes memory that only those pay who read a workbook.
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(source.content), read_only=True, data_only=False, keep_links=False)
    try:
        # What long cells continue with, by the number of the note.
        rests: dict[str, str] = {}
        if NOTES in book.sheetnames:
            notes, width = book[NOTES], len(NOTE_HEADINGS)
            notes.reset_dimensions()
            for row in notes.iter_rows(min_row=2, max_row=MAX_ROWS, max_col=width, values_only=True):
                number, rest = plain(row[0]), plain(row[-1]) if len(row) == width else ""
                rests[number] = rests.get(number, "") + rest
        for page in book.worksheets[: MAX_SHEETS + 1]:
            if page.title != NOTES:
                name = f"{source.name}: {short(page.title)}"
                found = _sheet(name, _lines(page, name, rests, findings), findings)
                if found:
                    yield page.title, found
    finally:
        book.close()


def _lines(page: "ReadOnlyWorksheet", name: str, rests: dict[str, str], findings: Findings) -> Iterator[Line]:
    """Yield the rows of a sheet that are not blank as text."""
    page.reset_dimensions()
    columns: list[str] = []
    blank = 0
    # One row and one column more, to see that there are too many.
    for number, cells in enumerate(page.iter_rows(max_row=MAX_ROWS + 2, max_col=MAX_COLUMNS + 1), start=1):
        values = [plain(cell.value) for cell in cells]
        blank = 0 if any(value.strip() for value in values) else blank + 1
        if blank > MAX_BLANK_ROWS:
            return
        if blank:
            continue
        where = Where(name, f"row {number}")
        for index, column in enumerate(columns[: len(values)]):
            if column and values[index] and cells[index].data_type == FORMULA:
                message = gettext("The cell holds a formula. Put its value in its place.")
                findings.problem(where, heading(column), message)
                values[index] = ""
            elif column and (cut := CONTINUED.search(values[index])):
                if cut[1] not in rests:
                    message = gettext("The rest of a long text is missing: keep the sheet of notes.")
                    findings.problem(where, heading(column), message)
                values[index] = values[index][: cut.start()] + rests.get(cut[1], "")
        columns = columns or [column_name(value) for value in values[:MAX_COLUMNS]]
        yield number, values


def plain(value: object) -> str:
    """Return what a cell holds as the text that a CSV file has for it: whole numbers without a point."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        at_midnight = not (value.hour or value.minute or value.second)
        return value.date().isoformat() if at_midnight else value.isoformat(" ", "seconds")
    if isinstance(value, date):
        return value.isoformat()
    return CODED.sub(lambda code: chr(int(code[1], 16)), str(value))


# Recognized by the beginning


def columns(source: Source) -> set[str]:
    line = head(source).lstrip("\r\n").partition("\n")[0]
    try:
        row = next(csv.reader(io.StringIO(line), delimiter=max(DELIMITERS, key=line.count)), [])
    except csv.Error:
        return set()
    return {column_name(cell) for cell in row} - {""}


def sheet_names(source: Source) -> list[str]:
    if not is_workbook(source):
        return []
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive, archive.open(BOOK) as file:
            return SHEET.findall(file.read(HEAD_BYTES).decode("utf-8", "ignore"))
    except Exception:  # a damaged file of others: the reader says so
        return []
