"""Excel workbooks (XLSX) as the same sheets that CSV makes: bounded, without formulas, without links.

The library is imported late: it takes memory that only those pay who read a workbook.
"""

import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from typing import Any

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Where
from exchange.reading.csvfile import MOST_COLUMNS, MOST_ROWS, Row, Sheet, column_name
from exchange.reading.findings import Findings, short

SIGNATURE = b"PK\x03\x04"
MOST_PARTS = 1_000
# Of the parts unpacked, and of the one that holds all texts, which is kept in memory.
MOST_BYTES = 100_000_000
MOST_TEXT = 40_000_000
MOST_SHEETS = 20
# A sheet that is formatted down to its last row has a million rows and no more to say.
BLANK_ROWS = 2_000
FORMULA = "f"


def is_workbook(source: Source) -> bool:
    """Whether this is a workbook by its content: a ZIP that says what it holds as Excel does."""
    return source.content.startswith(SIGNATURE) and b"[Content_Types].xml" in source.content


def read_workbook(source: Source, findings: Findings) -> list[Sheet]:
    """Return the sheets of a workbook that hold rows, or report why it cannot be read."""
    where = Where(source.name)
    try:
        if not _is_bounded(source, where, findings):
            return []
        return list(_sheets(source, findings))
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:
        message = gettext("The workbook is damaged or of an unusual kind (%(kind)s). Save it again as XLSX.")
        findings.problem(where, "", message % {"kind": type(error).__name__})
        return []


def _is_bounded(source: Source, where: Where, findings: Findings) -> bool:
    """Judge the sizes before anything is unpacked: the library that unpacks reads no more than they say."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, NotImplementedError):
        findings.problem(where, "", gettext("The workbook is damaged. Save it again as XLSX."))
        return False
    texts = sum(part.file_size for part in parts if part.filename.endswith("sharedStrings.xml"))
    whole = sum(part.file_size for part in parts)
    if len(parts) > MOST_PARTS or whole > MOST_BYTES or texts > MOST_TEXT:
        message = gettext("The workbook is too large: unpacked it may hold %(megabytes)s MB. Save it as CSV.")
        findings.problem(where, "", message % {"megabytes": MOST_BYTES // 1_000_000})
        return False
    if any(part.flag_bits & 1 for part in parts):
        findings.problem(where, "", gettext("The workbook has a password. Save it without one."))
        return False
    return True


def _sheets(source: Source, findings: Findings) -> Iterator[Sheet]:
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(source.content), read_only=True, data_only=False, keep_links=False)
    try:
        for page in book.worksheets[:MOST_SHEETS]:
            page.reset_dimensions()
            name = f"{source.name}: {short(page.title)}"
            found = _sheet(page.iter_rows(max_row=MOST_ROWS + 1, max_col=MOST_COLUMNS), name, findings)
            if found:
                yield found
    finally:
        book.close()


def _sheet(rows: Iterable[Any], name: str, findings: Findings) -> Sheet | None:
    """Make the first row that is not blank the header, and pair the others with it."""
    columns: tuple[str, ...] = ()
    found: list[Row] = []
    blank = 0
    for number, cells in enumerate(rows, start=1):
        where = Where(name, f"row {number}")
        values = [_text(cell) for cell in cells]
        blank = 0 if any(values) else blank + 1
        if blank > BLANK_ROWS:
            break
        if blank:
            continue
        if columns:
            found.append(Row(where, _paired(columns, cells, values, where, findings)))
        else:
            columns = tuple(column_name(value) for value in values)
            if not _are_single(columns, Where(name), findings):
                return None
    if len(found) >= MOST_ROWS:
        message = gettext("The table has more than %(most_rows)s rows.") % {"most_rows": MOST_ROWS}
        findings.problem(Where(name), "", message)
    return Sheet(Where(name), tuple(filter(None, columns)), tuple(found)) if columns else None


def _are_single(columns: tuple[str, ...], where: Where, findings: Findings) -> bool:
    twice = sorted({column for column in columns if column and columns.count(column) > 1})
    for column in twice:
        message = gettext("There are two columns of this name. Keep one of them.")
        findings.problem(where, column, message)
    return not twice


def _paired(
    columns: tuple[str, ...], cells: Any, values: list[str], where: Where, findings: Findings
) -> dict[str, str]:
    found = dict.fromkeys(filter(None, columns), "")
    for index, value in enumerate(values):
        column = columns[index] if index < len(columns) else ""
        if value and not column:
            message = gettext("The row has cells beyond the columns that have names.")
            findings.problem(where, "", message)
        elif value and cells[index].data_type == FORMULA:
            message = gettext("The cell holds a formula. Put its value in its place.")
            findings.problem(where, column, message)
        elif column:
            found[column] = value
    return found


def _text(cell: Any) -> str:
    """Return a cell as text, as it is shown: whole numbers without a point, times as in ISO 8601."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds")
    if isinstance(value, (date, time)):
        return value.isoformat()
    return str(value).strip()
