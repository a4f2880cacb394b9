"""Mini-Conf site data: papers (CSV), sessions, speakers and calendars (YAML) of its folder `sitedata`.

Read only; from the files, or one ZIP of the folder. Files are recognized by their shape.
"""

import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePath
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, Source
from exchange.problems import Findings, Where, short
from exchange.reading.archives import member_names, unpacked
from exchange.reading.papers import WEB, PaperParts, as_source, kind_of, listed, parsed, uid_of
from exchange.reading.sheets import Row, Sheet, columns, read_csv
from exchange.reading.textfiles import ending, place_of, read_yaml, scalar
from exchange.reading.values import UnfitError, checked, moment, slug, stated_zone, tidy
from exchange.records import (
    UNSTATED,
    CommitteeRecord,
    EditionRecord,
    MaterialRecord,
    PaperRecord,
    PersonRecord,
    PersonRef,
    PresentationRecord,
    Program,
    RoleRecord,
    SessionRecord,
    SpeakerRecord,
    is_stated,
)

TAG = re.compile(r"<[^<>]*>")
# The kinds whose sessions show papers: what such a session is called may hold any subject.
SHOWING = frozenset(("poster", "oral", "spotlight"))
ROLES = {"panel": "panelist", "tutorial": "organizer", "workshop": "organizer"}
# Where the people of an event are named, and what the file about the site holds.
SPEAKERS = ("presenter", "speaker", "speakers", "organizers", "authors")
CONFIG = {"tagline", "site_title", "proceedings_title"}
PRESENTED = {"poster": "poster", "spotlight": "spotlight"}


def without_tags(title: str) -> str:
    return as_source(tidy(html.unescape(TAG.sub(" ", title))))


# Papers


NEEDED = {"uid", "title", "authors"}
LINKS = {"pdf_url": "pdf", "pdf": "pdf", "paper_link": "pdf", "code_link": "code", "demo_url": "project"}


class PaperReader:
    """Takes tables of papers. `of_session`: the papers that name a session themselves."""

    def __init__(self, findings: Findings) -> None:
        self.parts = PaperParts(findings)
        self.papers: dict[str, PaperRecord] = {}
        self.of_session: dict[str, list[str]] = defaultdict(list)
        self.has_table = False

    def add(self, sheet: Sheet) -> None:
        self.has_table = True
        for row in sheet.rows:
            paper = self._paper(row)
            if paper.uid in self.papers and self.papers[paper.uid] == paper:
                continue
            key = paper.uid if paper.uid not in self.papers else f"{paper.uid} {row.where}"
            self.papers[key] = paper
            for session in row.cells.get("sessions", row.cells.get("session", "")).split("|"):
                if session.strip():
                    self.of_session[session.strip()].append(paper.uid)

    def _paper(self, row: Row) -> PaperRecord:
        cells = {name: self.parts.text(value, row.where, name) for name, value in row.cells.items()}
        links = [(name, kind) for name, kind in LINKS.items() if WEB.match(cells.get(name, ""))]
        has = cells.keys()
        return PaperRecord(
            where=row.where,
            uid=uid_of(cells["uid"]),
            title=as_source(tidy(cells["title"])),
            status="published",
            authors=tuple(self.parts.author(name, row.where) for name in parts(cells["authors"])),
            materials=tuple(material(cells[name], kind, row) for name, kind in links) or UNSTATED,
            abstract=as_source(cells["abstract"].strip()) if "abstract" in has else UNSTATED,
            keywords=tuple(dict.fromkeys(parts(cells["keywords"]))) if "keywords" in has else UNSTATED,
            topic=self.parts.topic(cells["track"], row.where) if "track" in has else UNSTATED,
            track=tidy(cells["paper_type"]) if "paper_type" in has else UNSTATED,
        )


def parts(cell: str) -> list[str]:
    return [part for part in map(tidy, cell.split("|")) if part]


def material(url: str, kind: str, row: Row) -> MaterialRecord:
    """Return a link; one to a page that leads to the PDF is no PDF."""
    if kind == "pdf" and not re.search(r"\.pdf($|[?#])|/pdf", url, re.IGNORECASE):
        return MaterialRecord(where=row.where, kind="other", url=url, label="Paper")
    return MaterialRecord(where=row.where, kind=kind, url=url)


# Sessions


STARTS, ENDS = ("start_time", "start", "begin"), ("end_time", "end", "finish")
OFFSET = re.compile(r"([T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?(\d\d)?)\Z")


@dataclass(frozen=True, slots=True)
class YamlRow:
    """One object of a YAML file."""

    content: dict[str, object]
    where: Where

    def text(self, *names: str) -> str:
        """Return the single value that the row has by the first of these names."""
        return next((scalar(self.content[name]) for name in names if scalar(self.content.get(name))), "")


def rows_in(part: object, file: str) -> list[YamlRow]:
    rows = enumerate(part if isinstance(part, list) else [])
    return [
        YamlRow(row, Where(file, place_of("", index, row.get("UID"))))
        for index, row in rows
        if isinstance(row, dict)
    ]


@dataclass
class SessionReader:
    """Reads the YAML files of a site; calendars come last, as other files are more exact."""

    zone: ZoneInfo
    findings: Findings
    papers: PaperReader
    sessions: list[SessionRecord] = field(default_factory=list)
    presentations: list[PresentationRecord] = field(default_factory=list)
    people: dict[str, PersonRecord] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    _calendar: list[YamlRow] = field(default_factory=list)
    # Times without a zone, by file.
    _assumed: Counter[str] = field(default_factory=Counter)

    def add(self, part: object, file: str) -> bool:
        """Read a file if its shape fits, and return whether it does."""
        if isinstance(part, dict):
            named = {str(key): row for key, row in part.items() if isinstance(row, dict)}
            sessions = {key: YamlRow(row, Where(file, short(key))) for key, row in named.items()}
            if not any(row.text(*STARTS) for row in sessions.values()):
                return False
            for key, row in sessions.items():
                self._add_papers(key, row)
            return True
        rows = rows_in(part, file)
        if rows and all({"UID", "title"} <= row.content.keys() for row in rows):
            for row in rows:
                self._add_event(row)
            return True
        if rows and all("title" in row.content and row.text(*STARTS) for row in rows):
            self._calendar += rows
            return True
        return False

    def _add_papers(self, key: str, row: YamlRow) -> None:
        name = as_source(tidy(row.text("long_name", "name", "title") or key))
        kind = kind_of(f"{row.text('name')} {key} {row.where.file}", "oral", SHOWING)
        session = self._session(row, row.where, uid=uid_of(key), title=name, kind=kind)
        papers = row.content.get("papers")
        named = [scalar(one) for one in papers] if isinstance(papers, list) else []
        named += self.papers.of_session.get(key, ())
        for paper in dict.fromkeys(map(uid_of, filter(None, named))):
            if self.papers.has_table and paper not in self.papers.papers:
                self.unknown.append(paper)
            elif session:
                uid, shown = uid_of(f"{session.uid}.{paper}"), PRESENTED.get(kind, "oral")
                presentation = PresentationRecord(
                    where=row.where, uid=uid, kind=shown, paper=paper, session=session.uid, status="published"
                )
                self.presentations.append(presentation)

    def _add_event(self, row: YamlRow) -> None:
        """Add a plenary, tutorial or workshop with its times, or a talk without any."""
        title, uid, people = without_tags(row.text("title")), uid_of(row.text("UID")), self._people(row)
        abstract, affiliation = row.text("abstract"), tidy(row.text("institution", "affiliation"))
        kind = kind_of(f"{title} {row.where.file}", "invited_talk" if people else "other")
        own_times = row.content.get("sessions")
        slots = rows_in(own_times, row.where.file) if isinstance(own_times, list) else [row]
        slots = [slot for slot in slots if slot.text(*STARTS)]
        if not slots:
            speakers = (SpeakerRecord(where=row.where, person=one, affiliation=affiliation) for one in people)
            self.presentations.append(
                PresentationRecord(
                    where=row.where,
                    uid=uid,
                    kind="talk",
                    title=title,
                    abstract=abstract,
                    status="published",
                    speakers=tuple(speakers),
                )
            )
        role = ROLES.get(kind, "speaker")
        roles = [
            RoleRecord(where=row.where, person=one, role=role, affiliation=affiliation) for one in people
        ]
        for number, slot in enumerate(slots, start=1):
            own = uid if number == 1 else uid_of(f"{uid}.{number}")
            said = {"title": title, "kind": kind, "roles": tuple(roles), "abstract": abstract}
            self._session(slot, row.where, uid=own, **said)

    def _people(self, row: YamlRow) -> list[PersonRef]:
        """Return who is named, in a list or in a text such as `A, B and C`."""
        value = next((row.content[name] for name in SPEAKERS if row.content.get(name)), "")
        if isinstance(value, list):
            names = [scalar(one.get("name")) if isinstance(one, dict) else scalar(one) for one in value]
        else:
            names = [one.name for one in parsed(scalar(value).replace("|", ";"))]
        unique = dict.fromkeys(filter(None, map(tidy, names)))
        found = [PersonRef(where=row.where, name=name) for name in unique]
        biography = row.text("bio").strip()
        if biography and len(found) == 1:
            record = PersonRecord(where=row.where, ref=found[0], biography=biography)
            self.people.setdefault(found[0].name, record)
        return found

    def _session(self, slot: YamlRow, where: Where, **values: Any) -> SessionRecord | None:
        """Add a session with the times of this row, if they can be read."""
        start, end = self._moment(slot, STARTS, where), self._moment(slot, ENDS, where)
        if start is None or end is None:
            return None
        session = SessionRecord(where=where, start=start, end=end, status="published", **values)
        self.sessions.append(session)
        return session

    def _moment(self, slot: YamlRow, names: tuple[str, ...], where: Where) -> datetime | None:
        text = slot.text(*names).strip()
        found = OFFSET.search(text)
        if found and found[2] != "Z":
            sign = found[2].replace(":", "")
            text = f"{text[: found.start()]}{found[1]}{sign[:3]}:{sign[3:] or '00'}"
        elif text and not found:
            self._assumed[where.file] += 1
        try:
            return moment(text, self.zone)
        except UnfitError as error:
            self.findings.problem(where, names[0], str(error))
            return None

    def finish(self) -> None:
        """Add what only calendars hold, and report what is assumed or left out."""
        starts = {(slug(str(one.title)), one.start) for one in self.sessions}
        has_days = any(row.text("view") == "day" for row in self._calendar)
        for row in self._calendar:
            title, link = without_tags(row.text("title")), row.text("link")
            is_known = any(is_stated(one.title) and one.uid in link for one in self.sessions)
            if is_known or (has_days and row.text("view") == "week"):
                continue
            start = self._moment(row, STARTS, row.where)
            if start is None or (slug(title), start) in starts:
                continue
            starts.add((slug(title), start))
            uid = slug(f"{title} {start:%Y-%m-%d %H%M}")
            kind = kind_of(f"{title} {row.text('type')}", "other")
            self._session(row, row.where, uid=uid, title=title, kind=kind)
        for file, count in self._assumed.items():
            message = gettext("%(count)s times name no zone; they were taken as times in %(zone)s.")
            self.findings.note("doubt", Where(file), message, count=count, zone=self.zone.key)
        if self.unknown:
            message = gettext("Left out because no table holds the paper: %(count)s appearances (%(keys)s).")
            count = len(self.unknown)
            self.findings.note("warning", Where(), message, count=count, keys=listed(self.unknown))


# The files of a site


TABLES = (".csv", ".tsv")
YAMLS = (".yml", ".yaml")


def is_ours(name: str) -> bool:
    return PurePath(name).suffix.casefold() in (*TABLES, *YAMLS) and not name.startswith(".")


def recognizes(sources: Sequence[Source]) -> bool:
    """Whether there are YAML files, or tables of papers as these sites have them."""
    names = [name for source in sources for name in (member_names(source) or [source.name])]
    has_yaml = any(PurePath(name).suffix.casefold() in YAMLS for name in names)
    tables = [source for source in sources if ending(source) in ("csv", "tsv")]
    has_papers = any(columns(table) >= NEEDED for table in tables)
    bare = (PurePath(name).name for name in names if not name.endswith("/"))
    return (has_yaml or has_papers) and all(map(is_ours, bare))


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read a site's data. Times without an offset are in the edition's zone, and a note says so."""
    findings = Findings()
    files = [file for source in sources for file in unpacked(source, findings, is_ours)]
    papers = PaperReader(findings)
    for file in files:
        if PurePath(file.name).suffix.casefold() in TABLES and (sheet := read_csv(file, findings)):
            if set(sheet.columns) >= NEEDED:
                papers.add(sheet)
            else:
                message = gettext("This table holds no papers (UID, title, authors); it was left out.")
                findings.note("warning", sheet.where, message)
    yamls = [file for file in files if PurePath(file.name).suffix.casefold() in YAMLS]
    parts = {file.name: read_yaml(file, findings) for file in yamls}
    program = _program(papers, parts, context, findings)
    is_empty = not (program.papers or program.sessions or program.presentations or program.edition)
    if is_empty and not findings.has_problems:
        message = gettext(
            "There is nothing of Mini-Conf to read: give papers.csv, or the YAML files beside it."
        )
        findings.problem(Where(sources[0].name if sources else ""), "", message)
    return checked(program, findings)


def _program(papers: PaperReader, parts: dict[str, object], context: Context, findings: Findings) -> Program:
    config = next((part for part in parts.values() if isinstance(part, dict) and CONFIG & set(part)), {})
    site = YamlRow(config, Where("config.yml"))
    zone_name = site.text("timezone", "time_zone")
    zone = stated_zone(zone_name, context, site.where, "timezone", findings)
    sessions = SessionReader(zone, findings, papers)
    committee = None
    for name, part in parts.items():
        if part is config or not part:
            continue
        if isinstance(part, dict) and isinstance(part.get("committee"), list):
            committee = tuple(_members(part["committee"], name, findings))
        elif not sessions.add(part, name):
            message = gettext("This is no file of Mini-Conf that is known here; it was left out.")
            findings.note("warning", Where(name), message)
    sessions.finish()
    edition = EditionRecord(
        where=site.where,
        slug=context.edition,
        name=tidy(site.text("name")) or UNSTATED,
        description=site.text("tagline") or UNSTATED,
        timezone=zone_name or UNSTATED,
        committee=UNSTATED if committee is None else committee,
    )
    return replace(
        papers.parts.program(papers.papers.values()),
        edition=edition if config or committee else None,
        people=tuple(sessions.people.values()),
        sessions=tuple(sessions.sessions),
        presentations=tuple(sessions.presentations),
    )


def _members(rows: list[object], file: str, findings: Findings) -> Iterator[CommitteeRecord]:
    """Read `committee.yml`: role, name, affiliation."""
    for index, content in enumerate(rows):
        row = YamlRow(content if isinstance(content, dict) else {}, Where(file, f"committee[{index}]"))
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
    label=_("Mini-Conf site data (CSV, YAML)"),
    description=_("Papers, sessions, speakers and committee of a Mini-Conf site."),
    extensions=("zip", "csv", "yml"),
    media_type="application/zip",
    read=read,
    recognizes=recognizes,
)
