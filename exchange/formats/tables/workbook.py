"""Stream workbooks (Office Open XML) in which every cell is text, never a formula.

A sheet of notes contains the rest of texts that are too long for a cell, and lists cells from which control
characters were removed.
"""

import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from django.utils.translation import gettext

from exchange.reading.archives import WORKBOOK_XML, zip_member
from exchange.reading.grids import CONTINUED_MARK, NOTE_HEADINGS, NOTES_SHEET

# In UTF-16 units, as spreadsheet programs count.
MAX_CELL_CHARS = 32_767
MAX_PART_CHARS = MAX_CELL_CHARS - 40
FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Spreadsheet programs read `_x0041_` as a letter A, and XML turns a carriage return into a line feed.
CODE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
PIECE_CHARS = 50_000

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


@dataclass
class Notes:
    """The rows of the sheet of notes."""

    rows: list[list[str]] = field(default_factory=list)

    def fit_text(self, text: str, sheet: str, row: int, column: str) -> str:
        """Return the part of a text that fits into a cell, and note the rest."""
        if FORBIDDEN.search(text):
            text = FORBIDDEN.sub("", text)
            note = gettext("Control characters were left out, which a workbook cannot hold.")
            self.rows.append([str(len(self.rows) + 1), sheet, str(row), column, note, ""])
        if _units(text) <= MAX_CELL_CHARS and not CONTINUED_MARK.search(text):
            return text
        parts, remaining = [], text
        while _units(remaining) > MAX_PART_CHARS:
            parts.append(remaining.encode("utf-16-le")[: 2 * MAX_PART_CHARS].decode("utf-16-le", "ignore"))
            remaining = remaining[len(parts[-1]) :]
        first, *further_parts = [*parts, remaining]
        number = len(self.rows) + 1
        note = gettext(
            "The text is longer than a cell can be (%(most)d characters): it was cut, the rest is here."
        ) % {"most": MAX_CELL_CHARS}
        self.rows += [[str(number), sheet, str(row), column, note, part] for part in further_parts or [""]]
        return f"{first}[continued in notes {number}]"


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


class Outlet:
    """A buffer for the output of a ZIP."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []

    def write(self, content: bytes) -> int:
        self.waiting.append(bytes(content))
        return len(content)

    def flush(self) -> None:
        """Do nothing; `ZipFile` requires the method."""

    def take(self) -> bytes:
        content = b"".join(self.waiting)
        self.waiting.clear()
        return content


def workbook(sheets: Iterable[tuple[str, Iterable[Sequence[str]]]]) -> Iterator[bytes]:
    """Yield a workbook of these sheets, whose first rows are headings. Equal cells make equal bytes."""
    outlet, names, notes = Outlet(), [], Notes()
    with zipfile.ZipFile(outlet, "w") as archive:  # type: ignore[call-overload]  # needs no more
        for name, rows in sheets:
            names.append(name)
            path = f"xl/worksheets/sheet{len(names)}.xml"
            yield from _member(archive, outlet, path, _sheet(name, rows, notes))
        if notes.rows:
            names.append(NOTES_SHEET)
            path = f"xl/worksheets/sheet{len(names)}.xml"
            yield from _member(archive, outlet, path, _sheet(NOTES_SHEET, [NOTE_HEADINGS, *notes.rows], None))
        for path, content in _package_files(names).items():
            yield from _member(archive, outlet, path, [HEAD + content])
    yield outlet.take()


def _member(archive: zipfile.ZipFile, outlet: Outlet, path: str, pieces: Iterable[str]) -> Iterator[bytes]:
    with archive.open(zip_member(path), "w") as file:
        for piece in pieces:
            file.write(piece.encode())
            yield outlet.take()


def _sheet(name: str, rows: Iterable[Sequence[str]], notes: Notes | None) -> Iterator[str]:
    yield f'{HEAD}<worksheet xmlns="{MAIN}"><sheetData>'
    parts: list[str] = []
    size = 0
    headings: Sequence[str] = ()
    for number, row in enumerate(rows, start=1):
        headings = headings or row
        fitted_cells = (
            notes.fit_text(cell, name, number, column) if notes else cell
            for column, cell in zip(headings, row, strict=True)
        )
        line = f"<row>{''.join(map(_cell, fitted_cells))}</row>"
        parts.append(line)
        size += len(line)
        if size > PIECE_CHARS:
            yield "".join(parts)
            parts, size = [], 0
    yield f"{''.join(parts)}</sheetData></worksheet>"


def _cell(text: str) -> str:
    if not text:
        return "<c/>"
    escaped = escape(CODE.sub("_x005F_", text)).replace("\r", "_x000D_")
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escaped}</t></is></c>'


def _package_files(names: Sequence[str]) -> dict[str, str]:
    """Return the files of the package that locate the sheets."""
    numbers = range(1, len(names) + 1)
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{TYPE}.worksheet+xml"/>'
        for n in numbers
    )
    sheets = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"/>'
        for n, name in zip(numbers, names, strict=True)
    )
    links = "".join(
        f'<Relationship Id="rId{n}" Type="{DOCUMENT}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in numbers
    )
    return {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{WORKBOOK_XML}" ContentType="{TYPE}.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{DOCUMENT}/officeDocument" Target="{WORKBOOK_XML}"/></Relationships>',
        WORKBOOK_XML: f'<workbook xmlns="{MAIN}" xmlns:r="{DOCUMENT}"><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{links}'
        "</Relationships>",
    }
