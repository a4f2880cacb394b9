"""Mini-Conf site data: papers, sessions, speakers, workshops and calendars of the folder `sitedata`.

Read only; from the files (CSV, YAML, JSON) or one ZIP of the folder. Files are recognized by their structure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os.path import commonpath
from pathlib import PurePath

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, Source, total_size
from exchange.formats.miniconf.conference_json import ConferenceReader, is_conference
from exchange.formats.miniconf.events import CHAIR_FIELDS
from exchange.formats.miniconf.papers import REQUIRED_COLUMNS, PaperReader
from exchange.formats.miniconf.rows import STARTS, SiteRow, Times, clean_title, read_json_texts
from exchange.formats.miniconf.sessions import SessionReader
from exchange.problems import Findings, Where
from exchange.reading.archives import member_names, unpack
from exchange.reading.papers import shorten_list
from exchange.reading.sheets import Sheet, header_columns, read_sheets
from exchange.reading.textfiles import extension, read_head, read_yaml, top_level_names
from exchange.reading.values import check_program, read_zone, tidy
from exchange.records import UNSTATED, CommitteeRecord, EditionRecord, PersonRef, Program, Stated, is_stated

MAX_SKIPPED_NAMES = 100
# Keys of the file about the site.
CONFIG_KEYS = {"tagline", "site_title", "proceedings_title"}
TABLES = ("csv", "tsv")
YAMLS = ("yml", "yaml")
# Tables of events, whose columns may be those of papers.
EVENT_TABLE_NAMES = re.compile(
    r"(workshops?|tutorials?|(invited_?)?(speakers?|talks?)|socials?|keynotes?|panels?|plenar\w*)\Z",
    re.IGNORECASE,
)
# Files without parts of a program, by name, with the reason for skipping them.
MEETINGS = _("It holds links to meetings and players, which are not public.")
COMPUTED = _("It holds the map of papers and the papers alike, which are computed here.")
SITE = _("It holds texts and sponsors of the site: enter them in the admin.")
OMITTED_FILES = (
    (re.compile(r"_(zoom_links|slideslive_ids|video_links)\Z", re.IGNORECASE), MEETINGS),
    (re.compile(r"projection|_recs?\b|similar", re.IGNORECASE), COMPUTED),
    (re.compile(r"faq|code_of_conduct|sponsor|instructions|\Aabout", re.IGNORECASE), SITE),
)


def has_known_extension(name: str) -> bool:
    return extension(name) in (*TABLES, *YAMLS, "json") and not name.startswith(".")


def recognizes(sources: Sequence[Source]) -> bool:
    """Return whether there are YAML files, tables of papers in this layout, or `conference.json`."""
    if len(sources) == 1 and extension(sources[0].name) == "json":
        beginning = read_head(sources[0])
        return '"paper_ids"' in beginning and bool(
            top_level_names(beginning) & {"events", "papers", "sessions"}
        )
    names = [name for source in sources for name in (member_names(source) or [source.name])]
    has_yaml = any(extension(name) in YAMLS for name in names)
    tables = [source for source in sources if extension(source.name) in TABLES]
    has_papers = any(header_columns(table) >= REQUIRED_COLUMNS for table in tables)
    file_names = (PurePath(name).name for name in names if not name.endswith("/"))
    return (has_yaml or has_papers) and all(map(has_known_extension, file_names))


class SiteReader:
    """Reader of the files of a site. Counts those that are read, and those left out."""

    def __init__(self, findings: Findings) -> None:
        self.findings, self.papers = findings, PaperReader(findings)
        # Tables other than those of papers, and the names of YAML and JSON files with their content.
        self.tables: list[Sheet] = []
        self.contents: list[tuple[str, object]] = []
        self.committee: Stated[tuple[CommitteeRecord, ...]] = UNSTATED
        self.committee_file = ""
        self.read_count = 0
        self.unknown_files: list[str] = []

    def add(self, file: Source) -> None:
        suffix, stem = extension(file.name), PurePath(file.name).stem
        reason = next((reason for pattern, reason in OMITTED_FILES if pattern.search(stem)), None)
        if reason:
            self._note_omission(Where(file.name), str(reason))
        elif suffix == "json":
            self.contents.append((file.name, read_json_texts(file, self.findings)))
        elif suffix in YAMLS:
            self.contents.append((file.name, read_yaml(file, self.findings)))
        else:
            for _title, sheet in read_sheets(file, self.findings):
                if set(sheet.columns) >= REQUIRED_COLUMNS and not EVENT_TABLE_NAMES.match(stem):
                    self.papers.add(sheet)
                    self.read_count += 1
                else:
                    self.tables.append(sheet)

    def program(self, context: Context) -> Program:
        """Read everything except tables of papers, which must be read before, as sessions refer to papers."""
        config = next(
            (
                content
                for _, content in self.contents
                if isinstance(content, dict) and CONFIG_KEYS & set(content)
            ),
            {},
        )
        config_row = SiteRow(config, Where("config.yml"))
        zone_name = config_row.text("timezone", "time_zone")
        zone = read_zone(zone_name, context, config_row.where, "timezone", self.findings)
        sessions = SessionReader(Times(zone, self.findings, context.days), self.findings, self.papers)
        for sheet in self.tables:
            self._add_table(sheet, sessions)
        for name, content in self.contents:
            if content is config or self._add_content(content, name, sessions):
                self.read_count += 1
            elif content is not None:
                # Unreadable files, whose content is None, have already been reported.
                self._note_unknown(Where(name), len(content) if isinstance(content, list | dict) else 1)
        sessions.finish()
        edition = EditionRecord(
            where=config_row.where,
            slug=context.edition,
            name=tidy(config_row.text("name")) or UNSTATED,
            description=clean_title(config_row.text("tagline")) or UNSTATED,
            timezone=zone_name or UNSTATED,
            committee=self.committee,
        )
        return replace(
            self.papers.parts.program(self.papers.papers.values()),
            edition=edition if config or is_stated(self.committee) else None,
            people=tuple(sessions.people.values()),
            rooms=tuple(sessions.rooms.values()),
            sessions=tuple(sessions.sessions),
            presentations=tuple(sessions.presentations),
        )

    def _add_table(self, sheet: Sheet, sessions: SessionReader) -> None:
        columns = set(sheet.columns)
        if "uid" in columns and columns.intersection(CHAIR_FIELDS) and not columns & {"title", "name"}:
            sessions.add_chairs(sheet)
            self.read_count += 1
            return
        if not columns >= {"uid", "title"}:
            self._note_unknown(sheet.where, len(sheet.rows))
            return
        has_talks = bool(columns & {"speakers", "speaker"}) and not EVENT_TABLE_NAMES.match(
            PurePath(sheet.where.file).stem
        )
        has_talks = has_talks and columns.isdisjoint(STARTS)
        (sessions.add_talks if has_talks else sessions.add_table)(sheet)
        self.read_count += 1

    def _add_content(self, content: object, name: str, sessions: SessionReader) -> bool:
        if isinstance(content, dict) and isinstance(content.get("committee"), list):
            self._add_committee(content["committee"], name)
            return True
        if isinstance(content, dict) and is_conference(content):
            ConferenceReader(SiteRow(content, Where(name)), self.papers, sessions).read()
            return True
        return sessions.add(content, name)

    def _add_committee(self, rows: list[object], file: str) -> None:
        committee = tuple(_read_committee(rows, file, self.findings))
        if self.committee not in (UNSTATED, committee):
            message = gettext("Another file has a committee too: %(file)s. Put both into one file.")
            self.findings.problem(Where(file), "committee", message, file=self.committee_file)
        self.committee, self.committee_file = committee, file

    def _note_omission(self, where: Where, reason: str) -> None:
        self.findings.note("warning", where, gettext("Left out. %(reason)s"), reason=reason)

    def _note_unknown(self, where: Where, count: int) -> None:
        """Report a file that is not read, by itself: notes that differ in values alone are shown as one."""
        self.unknown_files.append(where.file)
        message = ngettext(
            "%(file)s was left out with %(count)d row: it is not a known Mini-Conf file.",
            "%(file)s was left out with %(count)d rows: it is not a known Mini-Conf file.",
            count,
        )
        self.findings.note("warning", where, message % {"file": where.file, "count": count})


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read a site's data. Times without an offset are in the edition's zone, which is noted."""
    findings = Findings(total_size(sources))
    site = SiteReader(findings)
    files = [file for source in sources for file in _iterate_files(source, findings)]
    for file in _without_common_folder(files):
        site.add(file)
    program = site.program(context)
    is_empty = not (program.papers or program.sessions or program.presentations or program.edition)
    if is_empty and not findings.has_problems:
        message = gettext("There is no Mini-Conf file to read. Add papers.csv, or the YAML files next to it.")
        findings.problem(Where(sources[0].name if sources else ""), "", message)
    elif len(site.unknown_files) > site.read_count:
        message = gettext(
            "Most of the files would be left out: %(names)s. "
            "If the others are all that you want, give only them."
        )
        findings.problem(Where(), "", message, names=", ".join(site.unknown_files))
    return check_program(program, findings)


def _iterate_files(source: Source, findings: Findings) -> Iterator[Source]:
    """Yield the files of a site; a note names those with another extension."""
    zip_names = [PurePath(name).name for name in member_names(source) if not name.endswith("/")]
    skipped_names = [name for name in zip_names or [source.name] if not has_known_extension(name)]
    if skipped_names:
        message = gettext("Left out because they aren’t tables, YAML or JSON: %(names)s.")
        names = shorten_list(skipped_names, MAX_SKIPPED_NAMES)
        findings.note("warning", Where(source.name if zip_names else ""), message, names=names)
    if zip_names or has_known_extension(source.name):
        yield from unpack(source, findings, has_known_extension)


def _without_common_folder(files: Sequence[Source]) -> Iterator[Source]:
    """Yield the files by their paths below the folder that all are in, such as `sitedata`."""
    paths = [PurePath(file.name) for file in files]
    depth = len(PurePath(commonpath([path.parent for path in paths])).parts) if paths else 0
    for path, file in zip(paths, files, strict=True):
        yield Source("/".join(path.parts[depth:]), file.content)


def _read_committee(rows: list[object], file: str, findings: Findings) -> Iterator[CommitteeRecord]:
    """Read `committee.yml`: role, name, affiliation."""
    for index, value in enumerate(rows):
        row = SiteRow(value if isinstance(value, dict) else {}, Where(file, f"committee[{index}]"))
        name = tidy(row.text("name"))
        if not name or "@" in name:
            findings.problem(row.where, "name", gettext("The name is missing."))
        yield CommitteeRecord(
            where=row.where,
            person=PersonRef(where=row.where, name=name),
            role=tidy(row.text("role")) or "Committee",
            affiliation=tidy(row.text("aff", "affiliation")),
        )


FORMAT = Format(
    name="miniconf",
    label=_("Mini-Conf site data (CSV, YAML, JSON)"),
    description=_("Papers, sessions, speakers, workshops and committee of a Mini-Conf site."),
    extensions=("zip", "csv", "yml", "json"),
    holds_edition=True,
    media_type="application/zip",
    read=read,
    recognizes=recognizes,
)
