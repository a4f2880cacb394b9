"""Leave out the rows of a table that hold totals, or that somebody chose to leave out."""

import re
from collections.abc import Collection, Sequence

from django.utils.translation import gettext

from exchange.problems import Findings, Where
from exchange.reading.grids import Grid
from exchange.reading.papers import shorten_list

TOTAL_WORDS = frozenset(
    {
        "total", "totals", "grand total", "subtotal", "sub total", "sum", "sums", "count", "average", "mean",
        "gesamt", "insgesamt", "summe", "anzahl", "somme", "suma", "totale", "totaal",
        "合計", "小計", "合计", "总计", "小计", "합계", "итого", "всего",
    }
)  # fmt: skip
# Numbers, also as percentages or amounts, and formulas that count.
NUMBER = re.compile(r"[-+(]?[\s.,:%/€$£¥]*\d[\s\d.,:%/)€$£¥]*|[=+].*", re.DOTALL)
# What follows the word in one cell: `: 2 papers`.
COUNTED = re.compile(r"[:\uff1a]\s{0,3}\d[\d.,]{0,12}\s{0,3}[^\W\d]{0,30}\Z")


def is_total(cells: Sequence[str]) -> bool:
    """Return whether a row has nothing but numbers and a word such as Total."""
    words = [cell.strip() for cell in cells if cell.strip() and not NUMBER.fullmatch(cell.strip())]
    return bool(words) and all(COUNTED.sub("", word).casefold().strip(" :") in TOTAL_WORDS for word in words)


def leave_out_rows(grid: Grid, chosen: Collection[int], findings: Findings) -> None:
    """Remove these rows, by number, and rows of totals below the first row. Note which they were."""
    numbers = {*chosen}
    totals = [number for number, cells in grid.lines[1:] if number not in numbers and is_total(cells)]
    dropped = [number for number, _ in grid.lines if number in numbers]
    removed = {*dropped, *totals}
    grid.lines = [line for line in grid.lines if line[0] not in removed]
    for message, rows in (
        (gettext("Rows with totals were left out: %(rows)s."), totals),
        (gettext("Rows were left out as chosen: %(rows)s."), dropped),
    ):
        if rows:
            findings.note("warning", Where(grid.name), message, rows=shorten_list(map(str, rows)))
