"""Sessions, talks and their people, from the lists and objects of a Mini-Conf site.

Calendars are read last: they give times to events without, and add sessions that no other file has.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from django.utils.translation import gettext

from exchange.formats.miniconf.papers import PaperReader
from exchange.formats.miniconf.rows import ENDS, SiteRow, Times, clean_title, site_rows
from exchange.problems import Findings, Where, short
from exchange.reading.papers import (
    PAPER_KINDS,
    escape_markdown,
    guess_session_kind,
    make_uid,
    parse_authors,
    shorten_list,
)
from exchange.reading.sheets import Sheet
from exchange.reading.textfiles import scalar
from exchange.reading.values import slug, tidy
from exchange.records import (
    UNSTATED,
    PersonRecord,
    PersonRef,
    PresentationRecord,
    RoleRecord,
    RoomRecord,
    SessionRecord,
    SpeakerRecord,
    Stated,
)

ROLE_BY_KIND = {"panel": "panelist", "tutorial": "organizer", "workshop": "organizer"}
# Fields that name the people of an event.
SPEAKER_FIELDS = ("presenter", "speaker", "speakers", "organizers", "authors")
PRESENTATION_KINDS = {"poster": "poster", "spotlight": "spotlight"}
# Kinds of the pages to which a calendar leads: `speaker_5.html`, `workshop_W3.html`.
KIND_BY_PAGE = {"speaker": "invited_talk", "tutorial": "tutorial", "workshop": "workshop"}
QUESTION_SESSION = re.compile(r"q ?& ?a\b|\bqa\b", re.IGNORECASE)
# Titles before the names of speakers.
HONORIFICS = re.compile(r"\A((Dr|Prof|Professor)\b\.? )+", re.IGNORECASE)
ASSUMED_DURATION = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Event:
    """A plenary, tutorial, workshop or talk."""

    row: SiteRow
    uid: str
    title: str
    kind: str
    people: list[PersonRef]
    abstract: str
    affiliation: str

    @property
    def roles(self) -> tuple[RoleRecord, ...]:
        role, where = ROLE_BY_KIND.get(self.kind, "speaker"), self.row.where
        return tuple(
            RoleRecord(where=where, person=person, role=role, affiliation=self.affiliation)
            for person in self.people
        )


@dataclass
class SessionReader:
    """Collector of sessions, presentations, people and rooms."""

    times: Times
    findings: Findings
    papers: PaperReader
    sessions: list[SessionRecord] = field(default_factory=list)
    presentations: list[PresentationRecord] = field(default_factory=list)
    people: dict[str, PersonRecord] = field(default_factory=dict)
    rooms: dict[str, RoomRecord] = field(default_factory=dict)
    unknown_papers: list[str] = field(default_factory=list)
    _calendar_rows: list[SiteRow] = field(default_factory=list)
    _untimed_events: list[Event] = field(default_factory=list)
    # Talks of a session, by the beginning of the name of their file, such as `w3_papers.csv`.
    _talk_rows: list[tuple[str, SiteRow]] = field(default_factory=list)
    # Sessions by the names by which papers refer to them.
    _session_by_name: dict[str, SessionRecord | None] = field(default_factory=dict)
    _assumed_ends: int = 0
    # The file of each event, since their keys are unique within a file only.
    _file_by_uid: dict[str, str] = field(default_factory=dict)

    def add(self, content: object, file: str) -> bool:
        """Read a file. Return False if its structure is unknown."""
        if isinstance(content, dict):
            objects = {str(key): value for key, value in content.items() if isinstance(value, dict)}
            row_by_key = {key: SiteRow(value, Where(file, short(key))) for key, value in objects.items()}
            if not any(row.start for row in row_by_key.values()):
                return False
            for key, row in row_by_key.items():
                self._add_paper_session(key, row)
            return True
        rows = site_rows(content, file)
        if rows and all(_is_event(row.content.keys()) for row in rows):
            for row in rows:
                self._add_event(row)
            return True
        if rows and all("title" in row.content and row.start for row in rows):
            self._calendar_rows += rows
            return True
        return False

    def add_table(self, sheet: Sheet) -> None:
        """Read a table of events, such as `speakers.csv` or `workshops.csv`."""
        for row in _rows_of_sheet(sheet, self.papers):
            self._add_event(row)

    def add_talks(self, sheet: Sheet) -> None:
        """Read a table of talks with speakers, such as `w3_papers.csv` of the workshop W3."""
        session = PurePath(sheet.where.file).stem.partition("_")[0].casefold()
        self._talk_rows += [(session, row) for row in _rows_of_sheet(sheet, self.papers)]

    def add_room(self, name: str, *, virtual: bool = False) -> str | None:
        name = tidy(name)
        if not name:
            return None
        record = RoomRecord(slug=slug(name), name=name, virtual=virtual)
        return self.rooms.setdefault(record.slug, record).slug

    def _add_paper_session(self, key: str, row: SiteRow) -> None:
        name = row.text("long_name", "name", "cluster_name", "title")
        title = escape_markdown(tidy(name or f"Session {key}"))
        kind = guess_session_kind(f"{row.text('name')} {key} {row.where.file}", "oral", PAPER_KINDS)
        session = self.add_session(row, row.where, uid=make_uid(key), title=title, kind=kind)
        self._session_by_name[key] = session
        papers = row.texts("papers") + self.papers.papers_by_session.pop(key, [])
        self.add_presentations(papers, session, row.where)

    def add_presentations(self, papers: Iterable[str], session: SessionRecord | None, where: Where) -> None:
        """Add a presentation of each paper to the session. Collect papers that are in no table."""
        for paper in dict.fromkeys(map(make_uid, papers)):
            if self.papers.has_table and paper not in self.papers.papers:
                self.unknown_papers.append(paper)
            elif session:
                presentation = PresentationRecord(
                    where=where,
                    uid=make_uid(f"{session.uid}.{paper}"),
                    kind=PRESENTATION_KINDS.get(str(session.kind), "oral"),
                    paper=paper,
                    session=session.uid,
                    status="published",
                )
                self.presentations.append(presentation)

    def _add_event(self, row: SiteRow) -> None:
        """Add a plenary, tutorial or workshop; one without times waits for a calendar."""
        title, people = clean_title(row.text("title", "name")), self._people(row)
        uid, file = make_uid(row.text("UID")), row.where.file
        if self._file_by_uid.setdefault(uid, file) != file:
            uid = make_uid(f"{PurePath(file).stem}.{uid}")
        event = Event(
            row,
            uid=uid,
            title=title,
            kind=guess_session_kind(f"{title} {row.where.file}", "invited_talk" if people else "other"),
            people=people,
            abstract=row.text("abstract", "description"),
            affiliation=tidy(row.text("institution", "affiliation")),
        )
        slots = [slot for slot in row.rows("sessions") or [row] if slot.start]
        if not slots:
            self._untimed_events.append(event)
        self._add_slots(event, slots)

    def _add_slots(self, event: Event, slots: list[SiteRow]) -> None:
        added_times: set[tuple[object, object]] = set()
        for slot in slots:
            uid = event.uid if not added_times else make_uid(f"{event.uid}.{len(added_times) + 1}")
            session = self.add_session(
                slot,
                event.row.where,
                uid=uid,
                title=event.title,
                kind=event.kind,
                roles=event.roles,
                abstract=event.abstract,
            )
            if session and (session.start, session.end) in added_times:
                self.sessions.pop()
            elif session:
                added_times.add((session.start, session.end))

    def _people(self, row: SiteRow) -> list[PersonRef]:
        """Return the people of an event, from a list or a text such as `A, B and C`."""
        value = next((row.content[name] for name in SPEAKER_FIELDS if row.content.get(name)), "")
        if isinstance(value, dict):
            # The organizers of a social event are a committee with members.
            value = value.get("members", [])
        if isinstance(value, list):
            names = [scalar(item.get("name")) if isinstance(item, dict) else scalar(item) for item in value]
        else:
            names = [author.name for author in parse_authors(scalar(value).replace("|", ";"))]
        unique_names = dict.fromkeys(filter(None, (HONORIFICS.sub("", tidy(name)) for name in names)))
        people = [PersonRef(where=row.where, name=name) for name in unique_names]
        if len(people) == 1:
            self.add_biography(people[0], row.text("bio"))
        for author in row.rows("authors"):
            if name := tidy(author.text("name")):
                biography = author.text("bio", "biography")
                self.add_biography(PersonRef(where=row.where, name=name), biography)
        return people

    def add_biography(self, person: PersonRef, biography: str) -> None:
        if biography.strip():
            record = PersonRecord(where=person.where, ref=person, biography=biography.strip())
            self.people.setdefault(person.name, record)

    def add_session(self, slot: SiteRow, where: Where, **values: Any) -> SessionRecord | None:
        """Add a session with the times of `slot`, if they can be read."""
        start = self.times.read(slot.start, where, "start_time")
        if slot.text(*ENDS):
            end = self.times.read(slot.text(*ENDS), where, "end_time")
        else:
            # The sites of ACL 2020 assume the same duration.
            end = start and start + ASSUMED_DURATION
            self._assumed_ends += 1
        if start is None or end is None:
            return None
        session = SessionRecord(where=where, start=start, end=end, status="published", **values)
        self.sessions.append(session)
        return session

    def finish(self) -> None:
        """Read the calendars, and report what is assumed or left out."""
        self._read_calendar()
        self._add_untimed_events_as_drafts()
        self._add_papers_by_session_name()
        self._add_talks_of_tables()
        self.times.note()
        if self._assumed_ends:
            message = gettext("%(count)s sessions have no end; they were taken to last an hour.")
            self.findings.note("doubt", Where(), message, count=self._assumed_ends)
        if self.unknown_papers:
            message = gettext("Left out because no table holds the paper: %(count)s appearances (%(keys)s).")
            count = len(self.unknown_papers)
            self.findings.note(
                "warning", Where(), message, count=count, keys=shorten_list(self.unknown_papers)
            )

    def _read_calendar(self) -> None:
        titles_and_starts = {(slug(str(session.title)), session.start) for session in self.sessions}
        scheduled_uids = {session.uid for session in self.sessions}
        untimed_by_uid = {event.uid: event for event in self._untimed_events}
        slots_by_event: dict[str, list[SiteRow]] = defaultdict(list)
        has_days = any(row.text("view") == "day" for row in self._calendar_rows)
        for row in self._calendar_rows:
            title, page_kind, keys = clean_title(row.text("title")), *_link_target(row.text("link"))
            if scheduled_uids & keys or (has_days and row.text("view") == "week"):
                continue
            event = next((untimed_by_uid[key] for key in keys if key in untimed_by_uid), None)
            if event and not (event.kind == "invited_talk" and QUESTION_SESSION.search(title)):
                slots_by_event[event.uid].append(row)
                continue
            start = self.times.read(row.start, row.where, "start")
            if start is None or (slug(title), start) in titles_and_starts:
                continue
            titles_and_starts.add((slug(title), start))
            uid = slug(f"{title} {start:%Y-%m-%d %H%M}")
            kind = KIND_BY_PAGE.get(page_kind) or guess_session_kind(f"{title} {row.text('type')}", "other")
            roles = event.roles if event else ()
            session = self.add_session(row, row.where, uid=uid, title=title, kind=kind, roles=roles)
            self._session_by_name |= dict.fromkeys(_session_names(row.text("link")), session)
            self._session_by_name.setdefault(tidy(row.text("title")), session)
            if event and session and event.uid not in slots_by_event:
                # A session of questions about a talk that was recorded before.
                self._add_talk(event, session.uid)
                untimed_by_uid.pop(event.uid)
        for uid, rows in slots_by_event.items():
            self._add_slots(untimed_by_uid.pop(uid), rows)
        self._untimed_events = [event for event in self._untimed_events if event.uid in untimed_by_uid]

    def _add_talk(self, event: Event, session: Stated[str | None]) -> None:
        where = event.row.where
        speakers = [
            SpeakerRecord(where=where, person=person, affiliation=event.affiliation)
            for person in event.people
        ]
        talk = PresentationRecord(
            where=where,
            uid=event.uid,
            kind="talk",
            title=event.title,
            abstract=event.abstract,
            session=session,
            status="published",
            speakers=tuple(speakers),
        )
        self.presentations.append(talk)

    def _add_untimed_events_as_drafts(self) -> None:
        """Add events without a time: talks as not scheduled, others as sessions that are drafts."""
        starts = (session.start for session in self.sessions)
        first_start = min((start for start in starts if isinstance(start, datetime)), default=None)
        drafts = []
        for event in self._untimed_events:
            if first_start is None or event.kind in ("invited_talk", "other"):
                self._add_talk(event, UNSTATED)
                continue
            drafts.append(event.title)
            draft = SessionRecord(
                where=event.row.where,
                uid=event.uid,
                kind=event.kind,
                title=event.title,
                abstract=event.abstract,
                start=first_start,
                end=first_start,
                status="draft",
                roles=event.roles,
            )
            self.sessions.append(draft)
        if drafts:
            message = gettext(
                "%(count)s sessions have no time in these files (%(titles)s). "
                "They are drafts at the beginning of the program: give them times, then publish them."
            )
            self.findings.note("warning", Where(), message, count=len(drafts), titles=shorten_list(drafts))

    def _add_papers_by_session_name(self) -> None:
        """Add presentations of papers whose rows name sessions of a calendar."""
        unknown_names = []
        for session_name, papers in self.papers.papers_by_session.items():
            session = self._session_by_name.get(session_name)
            if session:
                self.add_presentations(papers, session, session.where)
            else:
                unknown_names.append(session_name)
        if unknown_names:
            message = gettext("Papers name sessions that no file has; they are not scheduled: %(names)s.")
            self.findings.note("warning", Where(), message, names=shorten_list(unknown_names))

    def _add_talks_of_tables(self) -> None:
        sessions = {session.uid.casefold(): session.uid for session in self.sessions}
        for key, row in self._talk_rows:
            people = self._people(row)
            event = Event(row, make_uid(row.text("UID")), clean_title(row.text("title")), "", people, "", "")
            self._add_talk(event, sessions.get(key, UNSTATED))


def _is_event(columns: Collection[str]) -> bool:
    """Return whether an object is an event: with a title, or like socials with a name and organizers."""
    return "UID" in columns and ("title" in columns or {"name", "organizers"} <= set(columns))


def _rows_of_sheet(sheet: Sheet, papers: PaperReader) -> list[SiteRow]:
    rows = []
    for row in sheet.rows:
        cells = {name: papers.parts.text(cell, row.where, name) for name, cell in row.cells.items()}
        rows.append(SiteRow({**cells, "UID": cells["uid"]}, row.where))
    return rows


def _link_target(link: str) -> tuple[str, set[str]]:
    """Return the kind of page that a link such as `workshop_W3.html` leads to, and its possible keys."""
    stem = PurePath(_split_url(link).path).stem
    pieces = stem.split("_")
    keys = {make_uid("_".join(pieces[index:])) for index in range(len(pieces))} | set(
        map(make_uid, _session_names(link))
    )
    return pieces[0], keys - {""}


def _session_names(link: str) -> list[str]:
    return parse_qs(_split_url(link).query).get("session", [])


def _split_url(link: str) -> SplitResult:
    try:
        return urlsplit(link)
    except ValueError:
        return urlsplit("")
