"""Find columns in which some dates have the month first and others the day."""

from django.utils.translation import gettext

from exchange.files import Context
from exchange.formats.spreadsheet.fields import FIELDS
from exchange.formats.spreadsheet.mapping import TableMapping
from exchange.problems import Findings, Where, short
from exchange.reading.grids import Grid
from exchange.reading.written_times import month_place

FIELDS_OF_TIMES = frozenset(name for name, field in FIELDS.items() if field.holds in ("date", "time"))


def check_date_order(table: TableMapping, grid: Grid, context: Context, findings: Findings) -> None:
    """Report a column with both `07/10/2026` and `10/07/2026`, if each is a day of the edition.

    Only a person can tell which of them is a mistake.
    """
    lines = grid.lines[1 if table.has_header else 0 :]
    for index, name in enumerate(table.columns):
        if name not in FIELDS_OF_TIMES:
            continue
        first_cells: dict[int, str] = {}
        for number, cells in lines:
            cell = cells[index].strip() if index < len(cells) else ""
            place = month_place(cell, context.days)
            if place is None:
                continue
            first_cells.setdefault(place, cell)
            if len(first_cells) > 1:
                message = gettext(
                    "In this column, “%(month_first)s” is a day of the edition with the month first, and "
                    "“%(day_first)s” with the day first. Which is meant? Write the dates as 2026-07-08."
                )
                values = {"month_first": short(first_cells[0]), "day_first": short(first_cells[1])}
                findings.problem(Where(grid.name, f"row {number}"), name, message, **values)
                break
