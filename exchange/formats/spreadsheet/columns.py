"""The fields of the columns of a table without a choice: as a mapping file says, else guessed, and shown."""

from collections.abc import Sequence

from django.utils.translation import gettext

from exchange.files import Context
from exchange.formats.spreadsheet.cell_tests import unfit_cells
from exchange.formats.spreadsheet.fields import FIELDS, fold_heading
from exchange.formats.spreadsheet.guess import guess_fields, is_known_heading
from exchange.formats.spreadsheet.mapping import (
    Mapping,
    TableMapping,
    column_cells,
    describe_role,
    headings_of,
    table_role,
)
from exchange.problems import Findings, Where, short
from exchange.reading.grids import Grid
from exchange.reading.merged_cells import fill_as_above, fill_empty
from exchange.reading.papers import shorten_list

# The number of rows from which columns are guessed.
MAX_GUESS_ROWS = 50
# The share of cells that may not fit a column of a known heading. Each of them is a problem of its row.
MAX_UNFIT_SHARE = 0.5
# Fields whose cells are never taken for "as above".
PROSE = frozenset(("title", "abstract", "lay_summary"))
# What fields hold that refuse other cells. Other fields leave such cells out.
REFUSING = frozenset(("date", "time", "minutes", "status"))


def grid_headings(grid: Grid, *, has_header: bool = True) -> list[str]:
    return headings_of([cells for _, cells in grid.lines[:1]], grid.width, has_header=has_header)


def fields_of_table(grid: Grid, mapping: Mapping, context: Context, findings: Findings) -> TableMapping:
    """Return the fields of the columns: as chosen for this table, else by the mapping file and by guess.

    Guessed columns that don't fit are left out. What was not chosen is shown.
    """
    chosen_table = mapping.table(grid)
    table = chosen_table or _guess_table(grid, mapping)
    _leave_out_unfit_columns(table, grid, findings)
    if chosen_table is None and table_role(table.columns):
        _show_columns(table, grid, mapping, context, findings)
    return table


def _guess_table(grid: Grid, mapping: Mapping) -> TableMapping:
    headings = grid_headings(grid)
    lines = [cells for _, cells in grid.lines[1 : MAX_GUESS_ROWS + 1]]
    fields = guess_columns(headings, column_cells(lines, grid.width), mapping)
    keys = [fold_heading(heading) for heading in headings]
    guessed = [bool(name) and key not in mapping.headings for key, name in zip(keys, fields, strict=True)]
    return TableMapping(grid.file, grid.sheet, fields, guessed=guessed)


def guess_columns(
    headings: Sequence[str], columns: Sequence[Sequence[str]], mapping: Mapping | None = None
) -> list[str]:
    """Return the fields of columns: those that the mapping names, then guessed ones by their cells."""
    field_by_heading = mapping.headings if mapping else {}
    keys = [fold_heading(heading) for heading in headings]
    mapped_fields = {field_by_heading[key] for key in keys if field_by_heading.get(key)}
    guessed = guess_fields(headings, columns)
    return [
        field_by_heading.get(key, "" if name in mapped_fields else name)
        for key, name in zip(keys, guessed, strict=True)
    ]


def fill_repeated_cells(table: TableMapping, grid: Grid, findings: Findings) -> None:
    """Replace cells that say "as above", and in rows of authors empty keys of papers, by the cell above."""
    lines = grid.lines[1 if table.has_header else 0 :]
    columns = {index for index, name in enumerate(table.columns) if name and name not in PROSE}
    repeated = fill_as_above(lines, columns)
    if repeated:
        message = gettext("Cells such as “as above” were taken to repeat the cell above: rows %(rows)s.")
        findings.note("doubt", Where(grid.name), message, rows=shorten_list(map(str, repeated)))
    if table_role(table.columns) == "authors":
        unkeyed = fill_empty(lines, table.columns.index("uid"))
        if unkeyed:
            message = gettext("Authors without a paper were taken to belong to the one above: rows %(rows)s.")
            findings.note("doubt", Where(grid.name), message, rows=shorten_list(map(str, unkeyed)))


def _show_columns(
    table: TableMapping, grid: Grid, mapping: Mapping, context: Context, findings: Findings
) -> None:
    """Show the field of each column, and note those for which none was found."""
    lines, unmapped = [describe_role(table_role(table.columns))], []
    for heading, name, is_guessed in zip(grid_headings(grid), table.columns, table.guessed, strict=True):
        line = gettext("“%(heading)s”: %(field)s")
        if not name:
            line = gettext("“%(heading)s”: left out")
            if not is_guessed and mapping.headings.get(fold_heading(heading)) != "":
                unmapped.append(heading)
        elif is_guessed and not is_known_heading(heading, FIELDS[name]):
            line = gettext("“%(heading)s”: %(field)s (guessed)")
        lines.append(line % {"heading": short(heading), "field": FIELDS[name].label if name else ""})
    context.show_columns(grid.name, lines)
    if unmapped:
        message = gettext("These columns were not taken: %(names)s. A mapping file can say what they are.")
        findings.note("warning", Where(grid.name), message, names=", ".join(map(short, unmapped)))


def _leave_out_unfit_columns(table: TableMapping, grid: Grid, findings: Findings) -> None:
    """Leave out guessed columns whose cells the field can't hold, and note them.

    A column of a known heading is kept if most of its cells fit.
    """
    lines = [cells for _, cells in grid.lines[1 if table.has_header else 0 :]]
    columns = column_cells(lines, max(grid.width, len(table.columns)))
    headings = grid_headings(grid, has_header=table.has_header)
    for index, (is_guessed, name) in enumerate(zip(table.guessed, table.columns, strict=False)):
        if not (is_guessed and name and columns[index]):
            continue
        field = FIELDS[name]
        unfit = unfit_cells(field, columns[index])
        is_strict = field.holds in REFUSING and not is_known_heading(headings[index], field)
        if len(unfit) > (0 if is_strict else MAX_UNFIT_SHARE * len(columns[index])):
            table.columns[index] = ""
            message = gettext("“%(heading)s” was not taken as “%(field)s”: “%(cell)s” is none.")
            values = {"heading": short(headings[index]), "field": field.label, "cell": short(unfit[0])}
            findings.note("warning", Where(grid.name), message, **values)
