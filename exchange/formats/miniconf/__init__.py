"""Mini-Conf site data: papers (CSV), sessions, speakers and calendars (YAML) of its folder `sitedata`.

Read only; from the files, or one ZIP of the folder. Files are told by their shape.
"""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, Source
from exchange.formats.miniconf.papers import NEEDED, PaperReader, is_paper_table
from exchange.formats.miniconf.sessions import SessionReader
from exchange.formats.miniconf.site import committee_of, edition_of
from exchange.problems import Where
from exchange.reading.archives import member_names, unpacked
from exchange.reading.checks import check
from exchange.reading.fields import UnfitError, zone_called
from exchange.reading.findings import Findings
from exchange.reading.sheets import read_csv
from exchange.reading.sniffing import columns, ending
from exchange.reading.textfiles import read_yaml, scalar
from exchange.records import Program

TABLES = (".csv", ".tsv")
YAMLS = (".yml", ".yaml")


def is_ours(name: str) -> bool:
    return PurePath(name).suffix.casefold() in (*TABLES, *YAMLS) and not name.startswith(".")


def recognises(sources: Sequence[Source]) -> bool:
    """Whether there are YAML files, or tables of papers as these sites have them."""
    names = [name for source in sources for name in (member_names(source) or [source.name])]
    has_yaml = any(PurePath(name).suffix.casefold() in YAMLS for name in names)
    tables = [source for source in sources if ending(source) in ("csv", "tsv")]
    has_papers = any(columns(table) >= NEEDED for table in tables)
    return (has_yaml or has_papers) and all(
        map(is_ours, (PurePath(name).name for name in names if name[-1:] != "/"))
    )


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read a site's data. Times without an offset are in the edition's zone, and a note says so."""
    findings = Findings()
    files = [file for source in sources for file in unpacked(source, findings, is_ours)]
    papers = PaperReader(findings)
    for file in files:
        if PurePath(file.name).suffix.casefold() in TABLES and (sheet := read_csv(file, findings)):
            if is_paper_table(sheet):
                papers.add(sheet)
            else:
                message = gettext("This table holds no papers (UID, title, authors); it was left out.")
                findings.note("warning", sheet.where, message)
    parts = {
        file.name: read_yaml(file, findings)
        for file in files
        if PurePath(file.name).suffix.casefold() in YAMLS
    }
    program = _program(papers, parts, context, findings)
    check(program, findings)
    _refuse_nothing(program, sources, findings)
    findings.settle()
    return program


def _refuse_nothing(program: Program, sources: Sequence[Source], findings: Findings) -> None:
    """Report files that hold nothing of a site, where nothing else was reported."""
    if findings.has_problems or any(
        (program.papers, program.sessions, program.presentations, program.edition)
    ):
        return
    message = gettext("There is nothing of Mini-Conf to read: give papers.csv, or the YAML files beside it.")
    findings.problem(Where(sources[0].name if sources else ""), "", message)


def _program(papers: PaperReader, parts: dict[str, Any], context: Context, findings: Findings) -> Program:
    config: dict[str, Any] = next((part for part in parts.values() if _is_config(part)), {})
    zone_name = scalar(config.get("timezone")) or scalar(config.get("time_zone")) or context.timezone
    try:
        zone = zone_called(zone_name)
    except UnfitError as error:
        findings.problem(Where("config.yml"), "timezone", str(error))
        zone = zone_called("UTC")
    sessions = SessionReader(zone, findings, papers)
    committee = None
    for name, part in parts.items():
        if part is config or not part:
            continue
        if isinstance(part, dict) and isinstance(part.get("committee"), list):
            committee = committee_of(part["committee"], name, findings)
        elif not sessions.add(part, name):
            message = gettext("This is no file of Mini-Conf that is known here; it was left out.")
            findings.note("warning", Where(name), message)
    sessions.finish()
    return Program(
        edition=edition_of(config, committee, zone_name, context) if config or committee else None,
        people=tuple(sessions.people.values()),
        institutions=tuple(papers.gathered.institutions.values()),
        topics=tuple(papers.gathered.topics.values()),
        papers=tuple(papers.papers.values()),
        sessions=tuple(sessions.sessions.values()),
        presentations=tuple(sessions.presentations.values()),
        notes=findings.notes,
    )


def _is_config(part: object) -> bool:
    return isinstance(part, dict) and bool({"tagline", "site_title", "proceedings_title"} & set(part))


FORMAT = Format(
    name="miniconf",
    label=_("Mini-Conf site data (CSV, YAML)"),
    description=_("Papers, sessions, speakers and committee of a Mini-Conf site."),
    extensions=("zip", "csv", "yml"),
    media_type="application/zip",
    read=read,
    recognises=recognises,
)
