"""Read tables as rows of cells: CSV in any encoding and with any separator, and the sheets of workbooks.

Texts longer than a cell, whose rest this site writes to a sheet of notes, are joined again. Empty rows and
titles above the headings are skipped.
"""

import csv
import io
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from sys import getsizeof

from django.utils.translation import gettext, ngettext

from exchange.files import Source
from exchange.problems import Findings, ProgramError, Where, short
from exchange.reading.archives import ZIP_SIGNATURES, is_workbook
from exchange.reading.merged_cells import fill_merged_cells
from exchange.reading.papers import shorten_list
from exchange.reading.textfiles import UTF16_BOMS
from exchange.reading.workbooks import (
    MAX_COLUMNS,
    MergedCells,
    PasswordError,
    SheetRow,
    Workbook,
    describe_fault,
)

# The extensions of tables as text.
TEXT_EXTENSIONS = ("csv", "tsv", "txt")
SEPARATORS = (",", ";", "\t", "|")
# The encodings that a chair can choose; UTF-8 is assumed first.
ENCODINGS = (
    "utf-8",
    "utf-16",
    "windows-1252",
    "windows-1250",
    "windows-1251",
    "mac-roman",
    "gb18030",
    "shift_jis",
    "euc-kr",
)
# The number of lines for guessing the separator.
GUESSED_LINES = 5
# The number of characters to read at once, and to guess the separator from.
GUESSED_CHARS = 100_000
# The maximum number of rows of titles and instructions above the headings.
MAX_TITLE_ROWS = 30
# The first characters of formulas in spreadsheets, and the prefix that prevents a cell from being one.
FORMULA_GUARD = "'"
FORMULA_SIGNS = frozenset((*"=+-@\t\r", FORMULA_GUARD))
QUOTED_TEXT = re.compile(r'"[^"]*"')
MAX_CELL_CHARS = 10_000_000
MAX_ROWS = 200_000
csv.field_size_limit(MAX_CELL_CHARS)

MAX_SHEETS = 50
# A sheet that is formatted down to its last row has a million empty rows.
MAX_BLANK_ROWS = 2_000
# What a row takes in memory, with the record that is made of it.
ROW_BYTES = 1_200
# What a cell that cannot be read takes besides.
FAULT_BYTES = 300
# The sheet with the rest of long texts, and the end of a cell that continues there.
NOTES_SHEET = "notes"
NOTE_HEADINGS = ("number", "sheet", "row", "column", "note", "rest")
CONTINUED_MARK = re.compile(r"\[continued in notes (\d{1,9})\]\Z")
# The number of a row, counted as in spreadsheets, and its cells.
type Line = tuple[int, list[str]]


@dataclass(frozen=True, slots=True)
class TextDialect:
    """Separator and encoding of a text file. Empty values are guessed."""

    separator: str = ""
    encoding: str = ""


@dataclass(slots=True)
class Grid:
    """One table: its rows with their numbers, counted as in spreadsheets. `file` is the index of its source.

    `faults`: why cells cannot be read, by row number and column. `dialect` is empty for workbooks.
    """

    file: int
    sheet: str
    name: str
    lines: list[Line] = field(default_factory=list)
    dialect: TextDialect = TextDialect()
    faults: dict[tuple[int, int], str] = field(default_factory=dict)
    # In a text file, a row with more cells than the first has shifted columns.
    is_text: bool = False
    # Whether there are more columns than are read.
    is_cut: bool = False
    # First column and row, and last column and row, of merged cells.
    merged: list[MergedCells] = field(default_factory=list)
    # The numbers of rows that are left out because they are hidden.
    hidden: list[int] = field(default_factory=list)

    @property
    def width(self) -> int:
        return max((len(cells) for _, cells in self.lines), default=0)


def read_grids(
    sources: Sequence[Source],
    findings: Findings,
    *,
    dialects: Mapping[int, TextDialect] | None = None,
    max_rows: int = 0,
    any_encoding: bool = False,
    has_titles: bool = True,
) -> list[Grid]:
    """Return the tables of all files. Report files without one.

    `max_rows` limits the rows of each table; 0 means all. `any_encoding`: read texts that are not Unicode as
    Windows-1252, for a page that shows the result. Without `has_titles`, the first row that is not empty
    names the columns.
    """
    grids: list[Grid] = []
    for file_index, source in enumerate(sources):
        if source.content.startswith(ZIP_SIGNATURES):
            grids += _read_workbook(file_index, source, findings, max_rows)
            continue
        dialect = (dialects or {}).get(file_index, TextDialect())
        encoding = find_encoding(source, findings, dialect.encoding, any_encoding=any_encoding)
        if not encoding:
            continue
        separator = dialect.separator
        if separator not in SEPARATORS:
            line_count = GUESSED_LINES if has_titles else 1
            separator = guess_separator(open_text(source, encoding).read(GUESSED_CHARS), line_count)
        grid = Grid(file_index, "", source.name, dialect=TextDialect(separator, encoding), is_text=True)
        if _read_text(grid, source, findings, max_rows):
            grids.append(grid)
    for grid in grids:
        fill_merged_cells(grid.lines, grid.merged, grid.faults)
    for grid in grids if has_titles else ():
        del grid.lines[: _count_title_rows(grid)]
    return grids


# Text


def remove_formula_guard(cell: str) -> str:
    return cell[1:] if cell.startswith(FORMULA_GUARD) and cell[1:2] in FORMULA_SIGNS else cell


def _read_text(grid: Grid, source: Source, findings: Findings, max_rows: int) -> bool:
    """Fill a table with the rows of CSV. Report invalid CSV."""
    lines = _limit_lines(open_text(source, grid.dialect.encoding))
    rows = csv.reader(lines, delimiter=grid.dialect.separator, strict=True)
    unguarded_rows = ([remove_formula_guard(cell) for cell in row] for row in rows)
    try:
        _fill_grid(grid, enumerate(unguarded_rows, 1), max_rows, findings)
    except csv.Error as error:
        message = gettext(
            "Line %(line_num)s is not CSV: %(error)s. Look for a quotation mark that is not closed."
        )
        findings.problem(Where(source.name), "", message, line_num=rows.line_num, error=error)
        return False
    if not grid.lines:
        findings.problem(Where(source.name), "", gettext("The file is empty."))
    return bool(grid.lines)


def _limit_lines(text_lines: Iterable[str]) -> Iterator[str]:
    """Yield lines. Refuse those longer than a cell, since millions of empty cells take a gigabyte."""
    for line in text_lines:
        if len(line) > MAX_CELL_CHARS:
            raise csv.Error(f"line larger than limit ({MAX_CELL_CHARS})")
        yield line


def open_text(source: Source, encoding: str) -> io.TextIOWrapper:
    """Open a text for reading piece by piece, so that a large one takes no more memory than its bytes."""
    codec = "utf-8-sig" if encoding == "utf-8" else encoding
    if encoding == "utf-16" and not source.content.startswith(UTF16_BOMS):
        codec = "utf-16-le"
    return io.TextIOWrapper(io.BytesIO(source.content), codec, newline="")


def find_encoding(source: Source, findings: Findings, encoding: str, *, any_encoding: bool) -> str | None:
    """Return the encoding of a text, guessed if none is given. Report and return None if it is not text."""
    where = Where(source.name)
    guesses = ["utf-8", *(["windows-1252"] if any_encoding else [])]
    if source.content.startswith(UTF16_BOMS):
        guesses = ["utf-16"]
    if encoding in ENCODINGS:
        guesses = [encoding]
    for candidate in guesses:
        has_text, has_nul = False, False
        try:
            stream = open_text(source, candidate)
            while chunk := stream.read(GUESSED_CHARS):
                has_text = has_text or not chunk.isspace()
                has_nul = has_nul or "\0" in chunk
        except UnicodeError:
            continue
        break
    else:
        message = gettext(
            "The file is not text in the encoding %(encoding)s. "
            "Save it as “CSV UTF-8” in your spreadsheet program."
        )
        findings.problem(where, "", message, encoding=guesses[0].upper())
        return None
    if has_nul:
        message = gettext("The file is no table. Save it as CSV or XLSX in your spreadsheet program.")
        findings.problem(where, "", message)
        return None
    if not has_text:
        findings.problem(where, "", gettext("The file is empty."))
        return None
    return candidate


def guess_separator(text: str, line_count: int) -> str:
    """Return the separator that occurs most often in the first lines that are not empty."""
    lines = (line for line in io.StringIO(QUOTED_TEXT.sub("", text), newline=None) if line.strip())
    first_lines = list(islice(lines, line_count))
    return max(SEPARATORS, key=lambda separator: sum(min(line.count(separator), 200) for line in first_lines))


# Workbooks


def _read_workbook(file_index: int, source: Source, findings: Findings, max_rows: int) -> list[Grid]:
    """Return the sheets that are not empty, without the notes. Report a workbook that cannot be read."""
    where = Where(source.name)
    if not is_workbook(source):
        message = gettext("This ZIP file is no workbook. Unpack it, and choose its files.")
        findings.problem(where, "", message)
        return []
    try:
        return [grid for grid in _read_sheets(file_index, source, findings, max_rows) if grid.lines]
    except (ProgramError, MemoryError):
        raise
    except PasswordError:
        findings.problem(where, "", gettext("The workbook has a password. Save it without one."))
    except Exception as error:  # a damaged file can raise any error
        message = gettext("The workbook is damaged or not supported (%(kind)s). Save it again as XLSX.")
        findings.problem(where, "", message, kind=short(str(error) or type(error).__name__))
    return []


def _read_sheets(file_index: int, source: Source, findings: Findings, max_rows: int) -> Iterator[Grid]:
    """Yield the sheets that are shown. A note names the hidden ones."""
    workbook = Workbook(source, findings)
    sheets = [sheet for sheet in workbook.sheets if sheet.title != NOTES_SHEET and not sheet.is_hidden]
    if len(sheets) > MAX_SHEETS:
        message = gettext("The workbook has more than %(most_sheets)s sheets.")
        findings.problem(Where(source.name), "", message, most_sheets=MAX_SHEETS)
        return
    _note_hidden_sheets(workbook, findings)
    workbook.read_texts()
    continuations = _read_continuations(workbook)
    for sheet in sheets:
        grid = Grid(file_index, sheet.title, f"{source.name}: {short(sheet.title)}")
        rows = _shown_rows(workbook.rows(sheet, grid.merged), grid)
        _fill_grid(grid, _read_rows(rows, grid, continuations, findings), max_rows, findings)
        yield grid


def _note_hidden_sheets(workbook: Workbook, findings: Findings) -> None:
    titles = [sheet.title for sheet in workbook.sheets if sheet.is_hidden and sheet.title != NOTES_SHEET]
    if titles:
        message = ngettext(
            "%(count)d hidden sheet was left out: %(names)s. Show it to import it.",
            "%(count)d hidden sheets were left out: %(names)s. Show them to import them.",
            len(titles),
        )
        names = shorten_list(map(short, titles))
        findings.note("warning", workbook.where, message % {"count": len(titles), "names": names})


def note_hidden_rows(grid: Grid, findings: Findings) -> None:
    """Note the rows that a filter or somebody has hidden, which were left out."""
    if grid.hidden:
        message = ngettext(
            "%(count)d hidden row was left out: %(rows)s. Show it, or clear the filter, to import it.",
            "%(count)d hidden rows were left out: %(rows)s. Show them, or clear the filter, to import them.",
            len(grid.hidden),
        )
        values = {"count": len(grid.hidden), "rows": shorten_list(map(str, grid.hidden))}
        findings.note("warning", Where(grid.name), message % values)


def _shown_rows(rows: Iterator[SheetRow], grid: Grid) -> Iterator[SheetRow]:
    """Yield the rows without hidden ones, but for the first, which has the headings."""
    for index, row in enumerate(rows):
        if row.is_hidden and index:
            grid.hidden.append(row.number)
        else:
            yield row


def _read_continuations(workbook: Workbook) -> dict[str, str]:
    """Return the continuations of long cells by the number of the note."""
    parts: dict[str, list[str]] = {}
    for sheet in workbook.sheets:
        if sheet.title == NOTES_SHEET:
            width = len(NOTE_HEADINGS)
            for row in islice(workbook.rows(sheet, []), 1, MAX_ROWS):
                continuation = row.cells[-1] if len(row.cells) == width else ""
                workbook.findings.spend_memory(ROW_BYTES + getsizeof(continuation), workbook.where)
                parts.setdefault(row.cells[0] if row.cells else "", []).append(continuation)
    return {number: "".join(texts) for number, texts in parts.items()}


def _read_rows(
    rows: Iterable[SheetRow], grid: Grid, continuations: Mapping[str, str], findings: Findings
) -> Iterator[Line]:
    """Yield rows with their numbers, long texts joined, and note the cells that cannot be read."""
    messages: dict[tuple[str, str], str] = {}
    for row in rows:
        for index, fault in row.faults.items():
            if fault not in messages:
                messages[fault] = describe_fault(*fault)
            findings.spend_memory(FAULT_BYTES, Where(grid.name))
            grid.faults[row.number, index] = messages[fault]
        for index, text in enumerate(row.cells):
            if text.endswith("]") and (mark := CONTINUED_MARK.search(text)):
                if mark[1] not in continuations:
                    message = gettext("The rest of a long text is missing: keep the sheet of notes.")
                    grid.faults[row.number, index] = message
                row.cells[index] = text[: mark.start()] + continuations.get(mark[1], "")
        yield row.number, row.cells


def note_merged_cells(grid: Grid, findings: Findings) -> None:
    """Note the cells that are merged over rows with other cells: each row has their value."""
    numbers = [number for number, _ in grid.lines]
    ranges = dict.fromkeys(
        f"{column}{first}:{last_column}{last}"
        for column, first, last_column, last in sorted(grid.merged)
        if bisect_right(numbers, first) < bisect_right(numbers, last)
    )
    if ranges:
        message = gettext(
            "Cells are merged over several rows, and each of these was taken to have the value: %(ranges)s."
        )
        findings.note("doubt", Where(grid.name), message, ranges=shorten_list(ranges))


# Texts and workbooks


def _fill_grid(grid: Grid, lines: Iterator[Line], max_rows: int, findings: Findings) -> None:
    """Add the rows that are not empty, without columns beyond the maximum."""
    where, last_number = Where(grid.name), 0
    for number, cells in lines:
        if number > last_number + MAX_BLANK_ROWS + 1:
            break
        if not any(cell.strip() for cell in cells):
            continue
        last_number = number
        if len(grid.lines) > (max_rows or MAX_ROWS):
            if not max_rows:
                message = gettext("The table has more than %(most_rows)s rows.")
                findings.problem(where, "", message, most_rows=MAX_ROWS)
                findings.raise_problems()
            break
        grid.is_cut = grid.is_cut or any(cell.strip() for cell in cells[MAX_COLUMNS:])
        cells = cells[:MAX_COLUMNS]
        while cells and not (grid.is_text or cells[-1]):
            # Remove empty cells at the end of the rows of a workbook.
            cells.pop()
        findings.spend_memory(ROW_BYTES + 8 * len(cells) + sum(map(getsizeof, filter(None, cells))), where)
        grid.lines.append((number, cells))


def _count_title_rows(grid: Grid) -> int:
    """Return the number of title rows at the top: they have one cell, and the rows below have several."""
    cell_counts = [sum(1 for cell in cells if cell.strip()) for _, cells in grid.lines[: 2 * MAX_TITLE_ROWS]]
    if len(cell_counts) < 3 or max(cell_counts) < 3:
        return 0
    heading_index = next(index for index, count in enumerate(cell_counts) if count > 1)
    return heading_index if heading_index <= MAX_TITLE_ROWS else 0
