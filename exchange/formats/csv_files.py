"""Papers, authors, people, sessions, presentations and awards as separate CSV files.

Cells and guards are those of `tables`, which also reads these files. All columns are always written.
"""

from collections.abc import Iterable

from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile
from exchange.formats.tables.alone import download_lines
from exchange.formats.tables.rows import DOWNLOAD_TABLES
from exchange.reading.sheets import csv_chunks
from exchange.records import Program


def write_table(name: str, program: Program, context: Context) -> OutputFile:
    return OutputFile(f"{context.edition}-{name}.csv", csv_chunks(download_lines(name, program, context)))


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    for name in DOWNLOAD_TABLES:
        yield write_table(name, program, context)


FORMAT = Format(
    name="csv",
    label=_("Spreadsheet (CSV)"),
    description=_("One table for every spreadsheet program."),
    extensions=("csv",),
    media_type="text/csv; charset=utf-8",
    write=write,
    takes_stream=True,
)
