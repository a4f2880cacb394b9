"""Sessions and presentations, with their people and rooms, from the lists and objects of a Mini-Conf site."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePath

from django.utils.translation import gettext

from exchange.formats.miniconf.calendar import CalendarReader, is_calendar
from exchange.formats.miniconf.collector import SessionCollector
from exchange.formats.miniconf.events import Event, added_chairs, build_event, chair_roles, is_event
from exchange.formats.miniconf.papers import PaperReader
from exchange.formats.miniconf.rows import SiteRow, site_rows
from exchange.formats.miniconf.talks import TalkReader, is_workshop_schedule
from exchange.problems import Where, short
from exchange.reading.papers import PAPER_KINDS, escape_markdown, guess_session_kind, make_uid, shorten_list
from exchange.reading.sheets import Sheet
from exchange.reading.values import tidy
from exchange.records import (
    UNSTATED,
    PersonRef,
    PresentationRecord,
    SessionRecord,
    stated,
)

PRESENTATION_KINDS = {"poster": "poster", "spotlight": "spotlight"}


@dataclass
class SessionReader(SessionCollector):
    """Reader of lists, objects and tables of sessions, events and talks."""

    _calendar_rows: list[SiteRow] = field(default_factory=list)
    _untimed_events: list[Event] = field(default_factory=list)
    # Rows that name the chairs of a session, such as those of `chairs.csv`.
    _chair_rows: list[SiteRow] = field(default_factory=list)
    # Sessions of papers by their key in the files, and the papers of each session.
    _paper_sessions: dict[str, list[SessionRecord]] = field(default_factory=lambda: defaultdict(list))
    _papers_of_session: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    # The file of each event, since their keys are unique within a file only.
    _file_by_uid: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.talks = TalkReader(self)

    def add(self, content: object, file: str) -> bool:
        """Read a file. Return False if its structure is unknown."""
        if isinstance(content, dict):
            if is_workshop_schedule(content):
                self.talks.add_schedule(content, file)
                return True
            lists = {str(key): value for key, value in content.items() if isinstance(value, list)}
            if lists and len(lists) == len(content):
                # Such as `speakers.yml` with the only key `speakers`.
                return self._add_lists(lists, file)
            return self._add_paper_sessions(content, file)
        return self._add_list(content, file)

    def _add_lists(self, lists: dict[str, list[object]], file: str) -> bool:
        """Read all lists that are known, and report the others. Return False if none is."""
        unknown = [key for key, value in lists.items() if not self._add_list(value, file)]
        for key in unknown if len(unknown) < len(lists) else ():
            message = gettext("The list was left out: it is no list of events or sessions.")
            self.findings.note("warning", Where(file, short(key)), message)
        return len(unknown) < len(lists)

    def _add_paper_sessions(self, content: dict[object, object], file: str) -> bool:
        objects = {str(key): value for key, value in content.items() if isinstance(value, dict)}
        row_by_key = {key: SiteRow(value, Where(file, short(key))) for key, value in objects.items()}
        if not any(row.start for row in row_by_key.values()):
            return False
        for key, row in row_by_key.items():
            self._add_paper_session(key, row)
        for name in [str(key) for key in content if str(key) not in objects]:
            message = gettext("Left out, since it is no session: %(key)s.")
            self.findings.note("warning", Where(file), message, key=short(name))
        return True

    def _add_list(self, content: object, file: str) -> bool:
        rows = site_rows(content, file)
        if rows and is_calendar(rows, file):
            self._calendar_rows += rows
            return True
        if rows and all(is_event(row.content.keys()) for row in rows):
            for row in rows:
                self._add_event(row)
            return True
        return False

    def add_table(self, sheet: Sheet) -> None:
        """Read a table of events, such as `speakers.csv` or `workshops.csv`."""
        for row in rows_of_sheet(sheet, self.papers):
            self._add_event(row)

    def add_talks(self, sheet: Sheet) -> None:
        """Read a table of talks with speakers, such as `w3_papers.csv` of the workshop W3."""
        self.talks.add_table(rows_of_sheet(sheet, self.papers), sheet.where.file)

    def add_chairs(self, sheet: Sheet) -> None:
        """Read a table of sessions and their chairs."""
        self._chair_rows += rows_of_sheet(sheet, self.papers)

    def _add_paper_session(self, key: str, row: SiteRow) -> None:
        """Add a session of papers, or its papers to the session of this key and time in another file."""
        span = self.read_span(row, row.where)
        if span is None:
            return
        name = row.text("long_name", "name", "cluster_name", "title")
        title = escape_markdown(tidy(name or f"Session {key}"))
        same_key = self._paper_sessions[key]
        session = next((other for other in same_key if (other.start, other.end) == span), None)
        if session is None:
            file = PurePath(row.where.file).name
            session = self.add_session(
                span,
                row.where,
                uid=make_uid(f"{PurePath(file).stem}.{key}" if same_key else key),
                title=title,
                kind=guess_session_kind(f"{row.text('name')} {key} {file}", "oral", PAPER_KINDS),
                room=self.add_room(row.room) or UNSTATED,
                roles=chair_roles(row) or UNSTATED,
            )
            same_key.append(session)
            self.name_session(session, key, is_first=True)
        papers = row.texts("papers") + self.papers.papers_by_session.pop(key, [])
        self.add_presentations(papers, session, row.where)

    def add_presentations(self, papers: Iterable[str], session: SessionRecord, where: Where) -> None:
        """Add a presentation of each paper to the session. Report papers that are in no table."""
        known = self._papers_of_session[session.uid]
        for paper in dict.fromkeys(map(make_uid, papers)):
            if self.papers.has_table and paper not in self.papers.papers:
                message = gettext("The paper %(paper)s was left out of the session: no table holds it.")
                self.findings.note("warning", where, message, paper=short(paper))
            elif paper not in known:
                known.add(paper)
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
        event = build_event(row, make_uid(row.text("UID")))
        if not event.title:
            message = gettext("Left out: the row has no title.")
            self.findings.note("warning", row.where, message)
            return
        event = replace(event, uid=self._unused_uid(event.uid, row.where.file))
        self._add_biographies(event)
        slots = [slot for slot in row.rows("sessions") or [row] if slot.start]
        if slots:
            self.add_slots(event, slots)
        else:
            self._untimed_events.append(event)

    def _unused_uid(self, uid: str, file: str) -> str:
        """Return the uid of an event. One that another file has is preceded by the name of the file."""
        path = PurePath(file).with_suffix("")
        for candidate in (uid, f"{path.name}.{uid}", ".".join([*path.parts, uid])):
            key = make_uid(candidate)
            if self._file_by_uid.setdefault(key, file) == file:
                return key
        return uid

    def _add_biographies(self, event: Event) -> None:
        if len(event.people) == 1:
            self.add_biography(event.people[0], event.row.text("bio"))
        for author in event.row.rows("authors"):
            if name := tidy(author.text("name")):
                biography = author.text("bio", "biography")
                self.add_biography(PersonRef(where=event.row.where, name=name), biography)

    def finish(self) -> None:
        """Read the calendars, and report what is assumed or left out."""
        self._untimed_events = CalendarReader(self, self._calendar_rows, self._untimed_events).read()
        self._add_untimed_events_as_drafts()
        self._add_papers_by_session_name()
        self.talks.finish()
        self._add_chairs()
        self.times.note()
        if self.assumed_ends:
            message = gettext("%(count)s sessions have no end; they were taken to last an hour.")
            self.findings.note("doubt", Where(), message, count=self.assumed_ends)

    def _add_untimed_events_as_drafts(self) -> None:
        """Add events without a time: talks as not scheduled, others as sessions that are drafts."""
        starts = (session.start for session in self.sessions)
        first_start = min((start for start in starts if isinstance(start, datetime)), default=None)
        for event in self._untimed_events:
            if first_start is None or event.kind in ("invited_talk", "other"):
                self.add_talk(event, UNSTATED)
                continue
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
            self._index_by_uid.setdefault(draft.uid, len(self.sessions))
            self.sessions.append(draft)
            message = gettext(
                "“%(title)s” has no time in these files. "
                "It is a draft at the beginning of the program: give it a time, then publish it."
            )
            self.findings.note("warning", event.row.where, message, title=short(event.title))

    def _add_papers_by_session_name(self) -> None:
        """Add presentations of papers whose rows name sessions of a calendar."""
        for name, papers in self.papers.papers_by_session.items():
            session = self.find_session(name)
            if session:
                self.add_presentations(papers, session, session.where)
                continue
            message = gettext(
                "No file has the session “%(name)s” that papers name; they are not scheduled: %(papers)s."
            )
            papers_text = shorten_list(map(short, papers))
            self.findings.note("warning", Where(), message, name=short(name), papers=papers_text)

    def _add_chairs(self) -> None:
        for row in self._chair_rows:
            name, chairs = row.text("UID"), chair_roles(row)
            session = self.find_session(name)
            if session and chairs:
                roles = stated(session.roles, ())
                new_chairs = added_chairs(roles, row)
                self.replace_session(session, replace(session, roles=(*roles, *new_chairs)))
                for role in chairs:
                    if role not in new_chairs:
                        message = gettext("%(name)s is listed twice as a chair; taken once.")
                        self.findings.note("repeat", row.where, message, name=short(role.person.name))
            elif chairs:
                message = gettext(
                    "No file has the session “%(name)s”, so its chairs were left out: %(chairs)s."
                )
                names_text = ", ".join(role.person.name for role in chairs)
                self.findings.note("warning", row.where, message, name=short(name), chairs=names_text)
            else:
                self.findings.note("warning", row.where, gettext("Left out: the row names no chair."))


def rows_of_sheet(sheet: Sheet, papers: PaperReader) -> list[SiteRow]:
    rows = []
    for row in sheet.rows:
        cells = {name: papers.parts.text(cell, row.where, name) for name, cell in row.cells.items()}
        rows.append(SiteRow({**cells, "UID": cells["uid"]}, row.where))
    return rows
