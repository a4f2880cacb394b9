"""Excel workbooks (XLSX) as the same sheets that CSV makes: bounded, without formulas, without links.

What this site cut for being longer than a cell, and put into the sheet of notes, is joined again.
The library is imported late: it takes memory that only those pay who read a workbook.
"""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Where
from exchange.reading.csvfile import MAX_COLUMNS, MAX_ROWS, Row, Sheet, column_name, heading
from exchange.reading.findings import Findings, short
from exchange.reading.unpacking import BOOK, DAMAGED, ZIP

MAX_PARTS = 1_000
# Of the parts unpacked, and of the one that holds all texts, which is kept in memory.
MAX_BYTES = 200_000_000
MAX_TEXT_CHARS = 40_000_000
MAX_SHEETS = 50
# A sheet that is formatted down to its last row has a million rows and no more to say.
BLANK_ROWS = 2_000
FORMULA = "f"
# The sheet of what did not fit into cells, and how such a cell ends.
NOTES = "notes"
NOTE_HEADINGS = ("number", "sheet", "row", "column", "note", "rest")
CONTINUED = re.compile(r"\[continued in notes (\d{1,9})\]\Z")
# How workbooks spell a carriage return, and an underscore that would begin such a spelling.
CODED = re.compile(r"_x(005F|000D)_")


def is_workbook(source: Source) -> bool:
    """Whether this is a workbook, whatever its name: a ZIP that holds what a workbook must."""
    if not source.content.startswith(ZIP):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            return BOOK in archive.namelist()
    except DAMAGED:
        return False


def read_workbook(source: Source, findings: Findings) -> list[tuple[str, Sheet]]:
    """Return titles and rows of the sheets that hold any, or report why the workbook cannot be read."""
    where = Where(source.name)
    try:
        if not _is_bounded(source, where, findings):
            return []
        return list(_sheets(source, findings))
    except MemoryError:
        raise
    except Exception as error:  # what is wrong in a file of others shows itself in any way
        message = gettext("The workbook is damaged or of an unusual kind (%(kind)s). Save it again as XLSX.")
        findings.problem(where, "", message % {"kind": type(error).__name__})
        return []


def _is_bounded(source: Source, where: Where, findings: Findings) -> bool:
    """Judge the sizes before anything is unpacked: the library that unpacks reads no more than they say."""
    with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
        parts = archive.infolist()
    texts = sum(part.file_size for part in parts if part.filename.endswith("sharedStrings.xml"))
    whole = sum(part.file_size for part in parts)
    if len(parts) > MAX_PARTS or whole > MAX_BYTES or texts > MAX_TEXT_CHARS:
        message = gettext("The workbook is too large: unpacked it may hold %(megabytes)s MB. Save it as CSV.")
        findings.problem(where, "", message % {"megabytes": MAX_BYTES // 1_000_000})
        return False
    if any(part.flag_bits & 1 for part in parts):
        findings.problem(where, "", gettext("The workbook has a password. Save it without one."))
        return False
    return True


def _sheets(source: Source, findings: Findings) -> Iterator[tuple[str, Sheet]]:
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(source.content), read_only=True, data_only=False, keep_links=False)
    try:
        rests = _rests(book[NOTES]) if NOTES in book.sheetnames else {}
        for page in book.worksheets[: MAX_SHEETS + 1]:
            if page.title == NOTES:
                continue
            page.reset_dimensions()
            reader = SheetReader(f"{source.name}: {short(page.title)}", rests, findings)
            # One row and one column more, to see that there are too many.
            found = reader.read(page.iter_rows(max_row=MAX_ROWS + 2, max_col=MAX_COLUMNS + 1))
            if found:
                yield page.title, found
    finally:
        book.close()


@dataclass(slots=True)
class SheetReader:
    """Reads one sheet: the first row that is not blank is its header. `rests`: what cells continue with."""

    name: str
    rests: dict[str, str]
    findings: Findings
    columns: tuple[str, ...] = ()
    found: list[Row] = field(default_factory=list)

    def read(self, rows: Iterable[Any]) -> Sheet | None:
        blank = 0
        for number, cells in enumerate(rows, start=1):
            where = Where(self.name, f"row {number}")
            values = [plain(cell.value) for cell in cells]
            blank = 0 if any(value.strip() for value in values) else blank + 1
            if blank > BLANK_ROWS:
                break
            if blank:
                continue
            if self.columns:
                self.found.append(Row(where, self._paired(cells, values, where)))
            elif not self._take_header(values):
                return None
        if len(self.found) > MAX_ROWS:
            message = gettext("The table has more than %(most_rows)s rows.") % {"most_rows": MAX_ROWS}
            self.findings.problem(Where(self.name), "", message)
        return Sheet(Where(self.name), self._named(), tuple(self.found)) if self.columns else None

    def _named(self) -> tuple[str, ...]:
        return tuple(filter(None, self.columns))

    def _take_header(self, values: list[str]) -> bool:
        """Take the names of the columns; say which stand there twice."""
        self.columns = tuple(column_name(value) for value in values[:MAX_COLUMNS])
        twice = sorted({column for column in self._named() if self.columns.count(column) > 1})
        for column in twice:
            message = gettext("There are two columns of this name. Keep one of them.")
            self.findings.problem(Where(self.name), heading(column), message)
        return not twice

    def _paired(self, cells: Any, values: list[str], where: Where) -> dict[str, str]:
        found = dict.fromkeys(self._named(), "")
        for index, value in enumerate(values):
            column = self.columns[index] if index < len(self.columns) else ""
            if value.strip() and not column:
                message = gettext("The row has cells beyond the columns that have names.")
                self.findings.problem(where, "", message)
                break
            if value and cells[index].data_type == FORMULA:
                message = gettext("The cell holds a formula. Put its value in its place.")
                self.findings.problem(where, heading(column), message)
            elif column:
                found[column] = self._whole(value, where, column)
        return found

    def _whole(self, text: str, where: Where, column: str) -> str:
        """Return a text with what follows it in the notes."""
        cut = CONTINUED.search(text)
        if not cut:
            return text
        if cut[1] not in self.rests:
            message = gettext("The rest of a long text is missing: keep the sheet of notes.")
            self.findings.problem(where, heading(column), message)
            return ""
        return text[: cut.start()] + self.rests[cut[1]]


def _rests(sheet: Any) -> dict[str, str]:
    """Return the rests of long texts by their numbers."""
    sheet.reset_dimensions()
    rests: dict[str, str] = {}
    for row in sheet.iter_rows(min_row=2, max_row=MAX_ROWS, max_col=len(NOTE_HEADINGS), values_only=True):
        number, rest = plain(row[0]), plain(row[-1]) if len(row) == len(NOTE_HEADINGS) else ""
        rests[number] = rests.get(number, "") + rest
    return rests


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
