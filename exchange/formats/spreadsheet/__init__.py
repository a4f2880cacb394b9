"""Spreadsheets (CSV or XLSX) of papers, authors and program with any columns. Read only.

A mapping file assigns columns to fields; other columns are guessed. `tables` reads the site's own tables.
"""

from collections.abc import Sequence

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, Source, total_size
from exchange.formats.spreadsheet.bundles import unpack_tables
from exchange.formats.spreadsheet.cells import rows_of
from exchange.formats.spreadsheet.columns import fields_of_table, fill_repeated_cells, grid_headings
from exchange.formats.spreadsheet.date_order import check_date_order
from exchange.formats.spreadsheet.fields import BY_HEADING, fold_heading
from exchange.formats.spreadsheet.hotcrp import is_hotcrp
from exchange.formats.spreadsheet.mapping import (
    Mapping,
    read_mapping,
    table_role,
)
from exchange.formats.spreadsheet.papers import PaperReader
from exchange.formats.spreadsheet.row_choice import leave_out_rows
from exchange.problems import Findings, ProgramError, Where
from exchange.reading.archives import ZIP_SIGNATURES, is_workbook
from exchange.reading.grids import (
    TEXT_EXTENSIONS,
    Grid,
    TextDialect,
    note_hidden_rows,
    note_merged_cells,
    read_grids,
)
from exchange.reading.papers import shorten_list
from exchange.reading.sheets import header_columns
from exchange.reading.textfiles import extension
from exchange.reading.values import check_program
from exchange.reading.workbooks import MAX_COLUMNS
from exchange.records import Program


def is_mapping(source: Source) -> bool:
    return extension(source.name) in ("toml", "json") and not is_hotcrp(source)


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read tables of papers and of authors, in any order, with or without a mapping."""
    findings = Findings(total_size(sources))
    mapping = Mapping()
    for source in filter(is_mapping, sources):
        file_mapping = read_mapping(source, findings)
        mapping.headings |= file_mapping.headings
        mapping.tables += file_mapping.tables
        mapping.numbering = file_mapping.numbering
        mapping.is_markdown = mapping.is_markdown or file_mapping.is_markdown
    dialects = {table.file: TextDialect(table.separator, table.encoding) for table in mapping.tables}
    tables = unpack_tables([source for source in sources if not is_mapping(source)], findings)
    grids = read_grids(tables, findings, dialects=dialects)
    return read_tables(grids, mapping, context, findings)


def read_tables(grids: Sequence[Grid], mapping: Mapping, context: Context, findings: Findings) -> Program:
    """Return the program of these tables. Raises `ProgramError` with all problems."""
    reader = PaperReader(context, findings, is_markdown=mapping.is_markdown)
    unusable_grids: list[Grid] = []
    included_grids = list(filter(mapping.includes, grids))
    has_rows = False
    for grid in included_grids:
        chosen_table = mapping.table(grid)
        leave_out_rows(grid, chosen_table.left_out if chosen_table else (), findings)
        table = fields_of_table(grid, mapping, context, findings)
        role = table_role(table.columns)
        if not role:
            unusable_grids.append(grid)
            continue
        if grid.is_cut:
            message = gettext(
                "The table has more than %(most_columns)s columns. Those after them are left out."
            )
            findings.note("warning", Where(grid.name), message, most_columns=MAX_COLUMNS)
        note_merged_cells(grid, findings)
        note_hidden_rows(grid, findings)
        fill_repeated_cells(table, grid, findings)
        check_date_order(table, grid, context, findings)
        numbering = chosen_table.numbering if chosen_table else mapping.numbering
        rows = list(rows_of(grid, table, findings, numbering))
        has_rows = has_rows or bool(rows)
        reader.add(rows, role)
    for grid in unusable_grids:
        if len(unusable_grids) < len(included_grids):
            message = gettext("This sheet holds no papers and no authors; it was left out.")
            findings.note("warning", Where(grid.name), message)
            continue
        message = gettext(
            "No column is the title of a paper. Found are: %(names)s. "
            "Name it “title”, or give a mapping file."
        )
        findings.problem(Where(grid.name), "", message, names=shorten_list(grid_headings(grid)))
    if not included_grids and not findings.has_problems:
        findings.problem(Where(), "", gettext("There is no table to read. Give a CSV or XLSX file."))
    papers = reader.finish()
    sessions, presentations = reader.schedule.finish()
    if not (has_rows or unusable_grids or findings.has_problems):
        message = gettext("The table has columns of papers, but no rows.")
        findings.problem(Where(included_grids[0].name), "", message)
    program = Program(
        institutions=tuple(reader.parts.institutions.values()),
        topics=tuple(reader.parts.topics.values()),
        rooms=tuple(reader.schedule.rooms.values()),
        papers=papers,
        awards=tuple(reader.awards.values()),
        sessions=sessions,
        presentations=presentations,
    )
    return check_program(program, findings)


def recognizes(sources: Sequence[Source]) -> bool:
    """Return whether all files are tables or ZIP files with tables, but for a mapping."""
    tables = [source for source in sources if not is_mapping(source)]
    return bool(tables) and all(_is_table(table) or _has_table(table) or is_hotcrp(table) for table in tables)


def _has_table(source: Source) -> bool:
    """Return whether a ZIP file has a table. The reader says what is wrong with one that is too large."""
    if not source.content.startswith(ZIP_SIGNATURES) or is_workbook(source):
        return False
    try:
        return any(map(_is_table, unpack_tables([source], Findings(total_size([source])))))
    except ProgramError:
        return True


def _is_table(source: Source) -> bool:
    """Return whether a file is a workbook or CSV; a .txt must have several columns, or a known one."""
    suffix = extension(source.name)
    if suffix in ("xlsx", "xlsm"):
        return is_workbook(source)
    columns = header_columns(source) if suffix in TEXT_EXTENSIONS else set()
    if suffix == "txt" and len(columns) == 1:
        return any(fold_heading(name) in BY_HEADING for name in columns)
    return bool(columns)


FORMAT = Format(
    name="spreadsheet",
    label=_("Spreadsheet (CSV, XLSX)"),
    description=_(
        "Papers, authors and program as EasyChair, CMT, OpenReview, HotCRP or your own spreadsheet list them."
    ),
    extensions=("csv", "xlsx", "tsv"),
    media_type="text/csv",
    read=read,
    recognizes=recognizes,
)
