"""Access to the rows of a table by field, independent of the names of columns."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext

from exchange.formats.spreadsheet.fields import DECISION_HEADINGS, fold_heading
from exchange.formats.spreadsheet.mapping import PaperNumbering, TableMapping
from exchange.problems import Findings, Where
from exchange.reading.grids import Grid
from exchange.reading.papers import has_family_first, openreview_uid

FORUM_ADDRESS = re.compile(r"https?://openreview\.net/(?:forum|pdf)\?id=([\w-]+)", re.IGNORECASE)
# Programs write whole numbers of a column with empty cells as 2.0.
WHOLE_NUMBER = re.compile(r"(\d{1,10})\.0\Z")


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of a row by field. A field with several columns has their cells in order."""

    where: Where
    cells: dict[str, list[str]]
    # Whether the table has authors as `Zed, Mia`.
    is_family_first: bool = False
    # The cells of columns without a field whose headings mean a decision too.
    other_decisions: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Return whether a column is mapped to this field."""
        return name in self.cells

    def get(self, name: str) -> str:
        """Return the first cell of a field that is not empty."""
        return next(filter(None, self.cells.get(name, ())), "")

    def all(self, name: str) -> list[str]:
        """Return all cells of a field, including empty ones."""
        return self.cells.get(name, [])


def paper_key(cell: str) -> str:
    """Return a key of a paper: the id in the address of an OpenReview forum, `7` for `7.0`, or as it is."""
    if match := FORUM_ADDRESS.match(cell):
        return openreview_uid(match[1])
    match = WHOLE_NUMBER.match(cell)
    return match[1] if match else cell


def rows_of(grid: Grid, table: TableMapping, findings: Findings, numbering: PaperNumbering) -> Iterator[Row]:
    """Yield the rows in which a mapped column is not empty."""
    columns, has_header = table.columns, table.has_header
    lines = grid.lines[1:] if has_header else grid.lines
    author_columns = [index for index, name in enumerate(columns) if name == "authors"]
    is_family_first = has_family_first(
        line[index] for _, line in lines for index in author_columns if index < len(line)
    )
    width = len(grid.lines[0][1]) if grid.lines else 0
    mapped_columns = [(index, name) for index, name in enumerate(columns) if name]
    headings = grid.lines[0][1] if grid.lines and has_header else ()
    other_decisions = [
        index
        for index, (name, heading) in enumerate(zip(columns, headings, strict=False))
        if not name and fold_heading(heading) in DECISION_HEADINGS
    ]
    for number, line in lines:
        where = Where(grid.name, f"row {number}")
        if grid.is_text and has_header and any(cell.strip() for cell in line[width:]):
            findings.problem(where, "", gettext("The row has cells beyond the columns that have names."))
            continue
        cells: dict[str, list[str]] = {name: [] for _, name in mapped_columns}
        for index, name in mapped_columns:
            if fault := grid.faults.get((number, index)):
                findings.problem(where, name, fault)
            cells[name].append(line[index].strip() if index < len(line) else "")
        if any(map(any, cells.values())):
            decisions = tuple(line[index].strip() for index in other_decisions if index < len(line))
            row = Row(where, cells, is_family_first, decisions)
            if row.has("uid"):
                cells["uid"] = [numbering.apply(paper_key(row.get("uid")), row.get("track"))]
            yield row
