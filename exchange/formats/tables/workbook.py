"""Workbooks (XLSX) that spreadsheet programs or this site made, read as sheets of text at bounded memory."""

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext

from exchange.files import Source
from exchange.formats.tables.archive import DAMAGED, MOST_BYTES, MOST_FILES, SIGNATURES
from exchange.formats.tables.spool import BOOK, CONTINUED, NOTE_HEADINGS, NOTES
from exchange.problems import ProgramError, Where
from exchange.reading.csvfile import MOST_COLUMNS, MOST_ROWS, Sheet, sheet_of
from exchange.reading.findings import Findings, short

CODED = re.compile(r"_x(005F|000D)_")


def is_workbook(source: Source) -> bool:
    """Whether this is a workbook, whatever its name."""
    if not source.content.startswith(SIGNATURES):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            return BOOK in archive.namelist()
    except DAMAGED:
        return False


def sheets_in(source: Source, findings: Findings) -> Iterator[tuple[str, Sheet | None]]:
    """Yield the title and the rows of every sheet; what stands in the notes is joined with the others."""
    # It takes long to import, and few ever need it.
    from openpyxl import load_workbook

    try:
        if not _fits(source, findings):
            return
        book = load_workbook(io.BytesIO(source.content), read_only=True, data_only=False, keep_links=False)
        notes = _notes(book[NOTES]) if NOTES in book.sheetnames else {}
        for sheet in book.worksheets:
            if sheet.title != NOTES:
                name = f"{source.name}: {short(sheet.title)}"
                lines = _lines(sheet, name, notes, findings)
                yield sheet.title, sheet_of(name, lines, findings)
    except ProgramError:
        raise
    except Exception:  # what is wrong in a file of others shows itself in any way
        message = gettext("The workbook is damaged. Open it in a spreadsheet program and save it again.")
        findings.problem(Where(source.name), "", message)


def _fits(source: Source, findings: Findings) -> bool:
    """Judge the sizes that the file states: no more than these is ever unpacked."""
    with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
        members = archive.infolist()
    if len(members) <= 10 * MOST_FILES and sum(member.file_size for member in members) <= MOST_BYTES:
        return True
    message = gettext("The workbook holds more than %(size)s MB.") % {"size": MOST_BYTES // 10**6}
    findings.problem(Where(source.name), "", message)
    return False


def _lines(sheet: Any, name: str, notes: dict[str, str], findings: Findings) -> Iterator[list[str]]:
    sheet.reset_dimensions()
    for number, row in enumerate(sheet.iter_rows(max_row=MOST_ROWS + 2, max_col=MOST_COLUMNS + 1), start=1):
        where = Where(name, f"row {number}")
        yield [_text(cell, where, notes, findings) for cell in row]


def _text(cell: Any, where: Where, notes: dict[str, str], findings: Findings) -> str:
    if cell.data_type == "f":
        findings.problem(where, "", gettext("A cell holds a formula. Put in its place what it shows."))
        return ""
    text = plain(cell.value)
    found = CONTINUED.search(text)
    if not found:
        return text
    if found[1] not in notes:
        findings.problem(where, "", gettext("The rest of a long text is missing: keep the sheet of notes."))
        return ""
    return text[: found.start()] + notes[found[1]]


def plain(value: Any) -> str:
    """Return what a cell holds as the text that a CSV file has for it."""
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


def _notes(sheet: Any) -> dict[str, str]:
    """Return the rests of long texts by their numbers."""
    sheet.reset_dimensions()
    rests: dict[str, str] = {}
    for row in sheet.iter_rows(min_row=2, max_row=MOST_ROWS, max_col=len(NOTE_HEADINGS), values_only=True):
        number, rest = plain(row[0]), plain(row[-1]) if len(row) == len(NOTE_HEADINGS) else ""
        rests[number] = rests.get(number, "") + rest
    return rests
