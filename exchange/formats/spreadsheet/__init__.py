"""Any spreadsheet of papers, CSV or XLSX, as EasyChair, CMT and HotCRP give it. Read only.

Columns are found by their names, else by a small mapping file among the files. Ours are `tables`.
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, Source
from exchange.formats.spreadsheet.columns import COLUMNS, Mapping, folded
from exchange.formats.spreadsheet.papers import PaperReader
from exchange.problems import Where
from exchange.reading.archives import ZIP
from exchange.reading.checks import check
from exchange.reading.findings import Findings
from exchange.reading.gathering import listed
from exchange.reading.sheets import Sheet, heading, read_csv, read_workbook
from exchange.reading.sniffing import columns, ending, sheets
from exchange.records import Program

MAPPINGS = (".toml", ".json")


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read sheets of papers and of authors, in any order, with or without a mapping file."""
    findings = Findings()
    mapping = Mapping()
    tables = [source for source in sources if PurePath(source.name).suffix.casefold() not in MAPPINGS]
    for source in sources:
        if source not in tables:
            mapping.read(source, findings)
    reader = PaperReader(mapping, findings)
    found = list(_sheets(tables, findings))
    strange = [sheet for sheet in found if not reader.add(sheet)]
    _judge(strange, found, findings)
    program = Program(
        papers=reader.finish(),
        institutions=tuple(reader.gathered.institutions.values()),
        topics=tuple(reader.gathered.topics.values()),
        notes=findings.notes,
    )
    check(program, findings)
    if not (program.papers or reader.declined or findings.has_problems):
        message = gettext("The table has columns of papers, but no rows.")
        findings.problem(found[0].where, "", message)
    findings.settle()
    return program


def recognises(sources: Sequence[Source]) -> bool:
    """Whether there is a table of papers or authors; a mapping file may stand beside it."""
    tables = [source for source in sources if PurePath(source.name).suffix.casefold() not in MAPPINGS]
    return bool(tables) and all(_may_be_papers(table) for table in tables)


def _may_be_papers(table: Source) -> bool:
    if ending(table) == "xlsx":
        return bool(sheets(table))
    known = {COLUMNS.get(folded(column)) for column in columns(table)}
    return ending(table) in FORMAT.extensions and bool(known - {None})


def _sheets(sources: Sequence[Source], findings: Findings) -> Iterator[Sheet]:
    for source in sources:
        if source.content.startswith(ZIP):
            yield from (sheet for _, sheet in read_workbook(source, findings))
        elif sheet := read_csv(source, findings):
            yield sheet


def _judge(strange: Sequence[Sheet], found: Sequence[Sheet], findings: Findings) -> None:
    """Tell of sheets without papers: a note where there are others, else a problem."""
    for sheet in strange:
        if len(strange) < len(found):
            message = gettext("This sheet holds no papers and no authors; it was left out.")
            findings.note("warning", sheet.where, message)
            continue
        message = gettext(
            "No column is the title of a paper. Found are: %(names)s. "
            "Name it “title”, or give a mapping file."
        )
        findings.problem(sheet.where, "", message % {"names": listed(map(heading, sheet.columns))})
    if not found and not findings.has_problems:
        findings.problem(Where(), "", gettext("There is no table to read. Give a CSV or XLSX file."))


FORMAT = Format(
    name="spreadsheet",
    label=_("Spreadsheet of papers (CSV, XLSX)"),
    description=_("Papers and authors as EasyChair, CMT, HotCRP or a chair's own spreadsheet list them."),
    extensions=("csv", "xlsx", "tsv"),
    media_type="text/csv",
    read=read,
    recognises=recognises,
)
