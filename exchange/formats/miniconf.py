"""Mini-Conf site data: papers (CSV), sessions, speakers and calendars (YAML) of its folder `sitedata`.

Read only; from the files, or one ZIP of the folder. Files are recognized by their shape.
"""

import html
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePath
from zoneinfo import ZoneInfo

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, Source
from exchange.problems import Findings, Where
from exchange.reading.archives import member_names, unpacked
from exchange.reading.checks import checked
from exchange.reading.papers import WEB, PaperParts, listed, parsed, uid_of
from exchange.reading.sheets import Row, Sheet, columns, read_csv
from exchange.reading.textfiles import ending, read_yaml, scalar
from exchange.reading.values import UnfitError, moment, slug, stated_zone, tidy
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
    Stated,
    is_stated,
)

TAG = re.compile(r"<[^<>]*>")
# The first word that is found decides.
KINDS = (
    ("registration", r"registration"),
    ("opening", r"opening|welcome"),
    ("panel", r"panel"),
    ("award_ceremony", r"award"),
    ("town_hall", r"business meeting|town ?hall|open discussion"),
    ("invited_talk", r"keynote|invited|plenary talk|speakers?\.ya?ml"),
    ("tutorial", r"tutorial"),
    ("workshop", r"workshop"),
    ("meal", r"\b(lunch|dinner|breakfast)\b"),
    ("break", r"\b(coffee )?break\b"),
    ("other", r"sponsor"),
    ("social", r"social|reception|party|mixer|mentoring|affinity|meetup"),
    ("spotlight", r"spotlight"),
    ("poster", r"poster|gather"),
    ("oral", r"\boral\b|q ?& ?a|\bqa\b"),
)
# The kinds whose sessions show papers: what such a session is called may hold any subject.
SHOWING = frozenset(("poster", "oral", "spotlight"))
ROLES = {"panel": "panelist", "tutorial": "organizer", "workshop": "organizer"}
# Where the people of an event are named, and what the file about the site holds.
SPEAKERS = ("presenter", "speaker", "speakers", "organizers", "authors")
CONFIG = {"tagline", "site_title", "proceedings_title"}
PRESENTED = {"poster": "poster", "spotlight": "spotlight"}


def kind_of(words: str, default: str, among: frozenset[str] | None = None) -> str:
    """Return the kind of session from a title, type or file name, `among` these if given."""
    known = [(kind, pattern) for kind, pattern in KINDS if among is None or kind in among]
    found = (kind for kind, pattern in known if re.search(pattern, words, re.IGNORECASE))
    return next(found, default)


def without_tags(title: str) -> str:
    """Return a title without the HTML that calendars put into it."""
    return tidy(html.unescape(TAG.sub(" ", title)))


def names_in(value: object) -> list[str]:
    """Return the people of a text such as `A, B and C`, or of a list of names."""
    if isinstance(value, list):
        names = [scalar(one.get("name")) if isinstance(one, dict) else scalar(one) for one in value]
    else:
        names = [one.name for one in parsed(scalar(value).replace("|", ";"))]
    return list(dict.fromkeys(filter(None, map(tidy, names))))


# Papers


NEEDED = {"uid", "title", "authors"}
LINKS = {"pdf_url": "pdf", "pdf": "pdf", "paper_link": "pdf", "code_link": "code", "demo_url": "project"}


@dataclass
class PaperReader:
    """Takes tables of papers; `of_session` keeps the sessions that a paper names itself."""

    findings: Findings
    papers: dict[str, PaperRecord] = field(default_factory=dict)
    of_session: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    has_table: bool = False

    def __post_init__(self) -> None:
        self.parts = PaperParts(self.findings)

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
            title=tidy(cells["title"]),
            status="published",
            authors=tuple(self.parts.author(name, row.where) for name in parts(cells["authors"])),
            materials=tuple(material(cells[name], kind, row) for name, kind in links) or UNSTATED,
            abstract=cells["abstract"].strip() if "abstract" in has else UNSTATED,
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


@dataclass
class SessionReader:
    """Reads the YAML files of a site; calendars come last, as other files are more exact."""

    zone: ZoneInfo
    findings: Findings
    papers: PaperReader
    sessions: dict[str, SessionRecord] = field(default_factory=dict)
    presentations: dict[str, PresentationRecord] = field(default_factory=dict)
    people: dict[str, PersonRecord] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    _calendar: list[tuple[dict[str, object], Where]] = field(default_factory=list)
    _assumed: dict[str, int] = field(default_factory=dict)

    def add(self, part: object, file: str) -> bool:
        """Read a file if its shape fits, and return whether it does."""
        if isinstance(part, dict):
            rows = {key: row for key, row in part.items() if isinstance(row, dict)}
            if not rows or not any(_value(row, *STARTS) for row in rows.values()):
                return False
            for key, row in rows.items():
                self._add_papers(str(key), row, Where(file, str(key)[:60]))
            return True
        rows_ = [row for row in part if isinstance(row, dict)] if isinstance(part, list) else []
        if rows_ and all("UID" in row and "title" in row for row in rows_):
            for index, row in enumerate(rows_):
                self._add_event(row, Where(file, f"[{index}] ({scalar(row['UID'])[:40]})"), file)
            return True
        if rows_ and all("title" in row and _value(row, *STARTS) for row in rows_):
            self._calendar += [(row, Where(file, f"[{index}]")) for index, row in enumerate(rows_)]
            return True
        return False

    # Sessions of papers

    def _add_papers(self, key: str, row: dict[str, object], where: Where) -> None:
        name = tidy(_value(row, "long_name", "name", "title") or key)
        kind = kind_of(f"{_value(row, 'name')} {key} {where.file}", "oral", SHOWING)
        session = self._session(uid_of(key), name, row, where, kind)
        papers = row.get("papers")
        named = [scalar(one) for one in papers] if isinstance(papers, list) else []
        named += self.papers.of_session.get(key, ())
        for paper in dict.fromkeys(map(uid_of, filter(None, named))):
            if self.papers.has_table and paper not in self.papers.papers:
                self.unknown.append(paper)
            elif session:
                self._put(
                    PresentationRecord(
                        where=where,
                        uid=uid_of(f"{session.uid}.{paper}"),
                        kind=PRESENTED.get(str(session.kind), "oral"),
                        paper=paper,
                        session=session.uid,
                        status="published",
                    )
                )

    # Plenaries, tutorials, workshops, speakers

    def _add_event(self, row: dict[str, object], where: Where, file: str) -> None:
        title = without_tags(scalar(row["title"]))
        uid, people = uid_of(scalar(row["UID"])), self._people(row, where)
        abstract, affiliation = _value(row, "abstract"), tidy(_value(row, "institution", "affiliation"))
        kind = kind_of(f"{title} {file}", "invited_talk" if people else "other")
        own_times = row.get("sessions")
        candidates = own_times if isinstance(own_times, list) else [row]
        times = [one for one in candidates if isinstance(one, dict) and _value(one, *STARTS)]
        if not times:
            self._put(
                PresentationRecord(
                    where=where,
                    uid=uid,
                    kind="talk",
                    title=title,
                    abstract=abstract,
                    status="published",
                    speakers=tuple(
                        SpeakerRecord(where=where, person=one, affiliation=affiliation) for one in people
                    ),
                )
            )
        role = ROLES.get(kind, "speaker")
        roles = tuple(
            RoleRecord(where=where, person=one, role=role, affiliation=affiliation) for one in people
        )
        for number, time in enumerate(times, start=1):
            own = uid if number == 1 else uid_of(f"{uid}.{number}")
            self._session(own, title, time, where, kind, roles=roles, abstract=abstract)

    def _people(self, row: dict[str, object], where: Where) -> list[PersonRef]:
        names = next((row[name] for name in SPEAKERS if row.get(name)), "")
        found = [PersonRef(where=where, name=name) for name in names_in(names)]
        biography = _value(row, "bio").strip()
        if biography and len(found) == 1:
            record = PersonRecord(where=where, ref=found[0], biography=biography)
            self.people.setdefault(found[0].name, record)
        return found

    # All of them

    def _session(
        self,
        uid: str,
        title: str,
        row: dict[str, object],
        where: Where,
        kind: str,
        roles: Stated[tuple[RoleRecord, ...]] = UNSTATED,
        abstract: Stated[str] = UNSTATED,
    ) -> SessionRecord | None:
        start, end = self._moment(row, STARTS, where), self._moment(row, ENDS, where)
        if start is None or end is None:
            return None
        session = SessionRecord(
            where=where,
            uid=uid,
            kind=kind,
            title=title,
            start=start,
            end=end,
            status="published",
            roles=roles,
            abstract=abstract,
        )
        self.sessions[uid if uid not in self.sessions else f"{uid} {where}"] = session
        return session

    def _moment(self, row: dict[str, object], names: Iterable[str], where: Where) -> datetime | None:
        text = _value(row, *names).strip()
        found = OFFSET.search(text)
        if found and found[2] != "Z":
            sign = found[2].replace(":", "")
            text = f"{text[: found.start()]}{found[1]}{sign[:3]}:{sign[3:] or '00'}"
        elif text and not found:
            self._assumed[where.file] = self._assumed.get(where.file, 0) + 1
        try:
            return moment(text, self.zone)
        except UnfitError as error:
            self.findings.problem(where, next(iter(names)), str(error))
            return None

    def _put(self, presentation: PresentationRecord) -> None:
        uid, where = presentation.uid, presentation.where
        self.presentations[uid if uid not in self.presentations else f"{uid} {where}"] = presentation

    def finish(self) -> None:
        """Add what only calendars hold, and report what is assumed or left out."""
        starts = {(slug(str(one.title)), one.start) for one in self.sessions.values()}
        has_days = any(_value(row, "view") == "day" for row, _ in self._calendar)
        for row, where in self._calendar:
            title, link = without_tags(scalar(row["title"])), _value(row, "link")
            is_told = any(is_stated(one.title) and one.uid in link for one in self.sessions.values())
            if is_told or (has_days and _value(row, "view") == "week"):
                continue
            start = self._moment(row, STARTS, where)
            if start is None or (slug(title), start) in starts:
                continue
            starts.add((slug(title), start))
            uid = slug(f"{title} {start:%Y-%m-%d %H%M}")
            self._session(uid, title, row, where, kind_of(f"{title} {_value(row, 'type')}", "other"))
        for file, count in self._assumed.items():
            message = gettext("%(count)s times name no zone; they were taken as times in %(zone)s.")
            self.findings.note("doubt", Where(file), message, count=count, zone=self.zone.key)
        if self.unknown:
            message = gettext("Left out because no table holds the paper: %(count)s appearances (%(keys)s).")
            count = len(self.unknown)
            self.findings.note("warning", Where(), message, count=count, keys=listed(self.unknown))


def _value(row: Mapping[str, object], *names: str) -> str:
    """Return the single value that a row has by the first of these names."""
    return next((scalar(row[name]) for name in names if scalar(row.get(name))), "")


def committee_of(rows: list[object], file: str, findings: Findings) -> tuple[CommitteeRecord, ...]:
    """Read the members of `committee.yml`: role, name, affiliation."""
    found = []
    for index, row in enumerate(rows):
        where = Where(file, f"committee[{index}]")
        row = row if isinstance(row, dict) else {}
        name = tidy(_value(row, "name"))
        if not name or "@" in name:
            findings.problem(where, "name", gettext("The name is missing."))
            continue
        role = tidy(_value(row, "role")) or "Committee"
        affiliation = tidy(_value(row, "aff", "affiliation"))
        person = PersonRef(where=where, name=name)
        found.append(CommitteeRecord(where=where, person=person, role=role, affiliation=affiliation))
    return tuple(found)


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
    zone_name = _value(config, "timezone", "time_zone")
    zone = stated_zone(zone_name, context, Where("config.yml"), "timezone", findings)
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
    edition = EditionRecord(
        where=Where("config.yml"),
        slug=context.edition,
        name=tidy(_value(config, "name")) or UNSTATED,
        description=_value(config, "tagline") or UNSTATED,
        timezone=zone_name or UNSTATED,
        committee=UNSTATED if committee is None else committee,
    )
    return replace(
        papers.parts.program(papers.papers.values()),
        edition=edition if config or committee else None,
        people=tuple(sessions.people.values()),
        sessions=tuple(sessions.sessions.values()),
        presentations=tuple(sessions.presentations.values()),
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
