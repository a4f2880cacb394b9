"""A program as a workbook with a sheet for each table, and single tables as workbooks; both can be read."""

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile, Source
from exchange.formats import tables
from exchange.formats.tables.alone import download_lines
from exchange.formats.tables.rows import DOWNLOAD_TABLES, TABLES, table_lines
from exchange.formats.tables.workbook import workbook
from exchange.reading.grids import NOTES_SHEET
from exchange.reading.sheets import sheet_names
from exchange.reading.values import program_zone
from exchange.records import Program


def recognizes(sources: Sequence[Source]) -> bool:
    """Return whether all files are workbooks whose sheets are named like the tables of `tables`."""
    title_lists = [sheet_names(source) for source in sources]
    return all(titles and {*titles} <= {*TABLES, NOTES_SHEET} for titles in title_lists)


def write_table(name: str, program: Program, context: Context) -> OutputFile:
    sheet = name, download_lines(name, program, context)
    return OutputFile(f"{context.edition}-{name}.xlsx", workbook([sheet]))


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    """Write a workbook of the whole program, then one for each table for separate download."""
    zone = program_zone(program, context)
    sheets = (
        (name, table_lines(name, program, zone))
        for name, table in TABLES.items()
        if getattr(program, table.parent or name) is not None
    )
    yield OutputFile(f"{context.edition}.xlsx", workbook(sheets))
    for name in DOWNLOAD_TABLES:
        yield write_table(name, program, context)


FORMAT = Format(
    name="xlsx",
    label=_("Workbook (XLSX)"),
    description=_("Tables for spreadsheet programs. Every cell is text; there are no formulas."),
    extensions=("xlsx",),
    media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    read=tables.read,
    write=write,
    takes_stream=True,
    holds_edition=True,
    recognizes=recognizes,
)
