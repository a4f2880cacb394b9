"""The sessions, presentations, people and rooms of a Mini-Conf site, collected from its files."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from exchange.formats.miniconf.events import Event, chair_roles
from exchange.formats.miniconf.papers import PaperReader
from exchange.formats.miniconf.rows import SiteRow, Times
from exchange.problems import Findings, Where
from exchange.reading.papers import make_uid
from exchange.reading.values import slug, tidy
from exchange.records import (
    UNSTATED,
    PersonRecord,
    PersonRef,
    PresentationRecord,
    RoomRecord,
    SessionRecord,
    SpeakerRecord,
    Stated,
)

ASSUMED_DURATION = timedelta(hours=1)

type TimeSpan = tuple[datetime, datetime]


@dataclass
class SessionCollector:
    """Collector that the readers of all files share."""

    times: Times
    findings: Findings
    papers: PaperReader
    sessions: list[SessionRecord] = field(default_factory=list)
    presentations: list[PresentationRecord] = field(default_factory=list)
    people: dict[str, PersonRecord] = field(default_factory=dict)
    rooms: dict[str, RoomRecord] = field(default_factory=dict)
    assumed_ends: int = 0
    _index_by_uid: dict[str, int] = field(default_factory=dict)
    # Keys of sessions by the names by which papers and chairs refer to them.
    _uid_by_name: dict[str, str] = field(default_factory=dict)

    def add_room(self, name: str, *, virtual: bool = False) -> str | None:
        name = tidy(name)
        if not name:
            return None
        record = RoomRecord(slug=slug(name), name=name, virtual=virtual)
        return self.rooms.setdefault(record.slug, record).slug

    def add_slots(self, event: Event, slots: list[SiteRow]) -> None:
        added_times: set[TimeSpan] = set()
        for slot in slots:
            span = self.read_span(slot, event.row.where)
            if span is None or span in added_times:
                continue
            uid = event.uid if not added_times else make_uid(f"{event.uid}.{len(added_times) + 1}")
            roles = {(role.person.name, role.role): role for role in (*event.roles, *chair_roles(slot))}
            session = self.add_session(
                span,
                event.row.where,
                uid=uid,
                title=event.title,
                kind=event.kind,
                roles=tuple(roles.values()),
                abstract=event.abstract,
                room=self.add_room(event.row.room or slot.room) or UNSTATED,
            )
            added_times.add(span)
            names = (event.row.text("UID"), slot.text("UID", "uid"), event.row.text("title", "name"))
            self.name_session(session, *names, is_first=True)

    def add_biography(self, person: PersonRef, biography: str) -> None:
        if biography.strip():
            record = PersonRecord(where=person.where, ref=person, biography=biography.strip())
            self.people.setdefault(person.name, record)

    def read_span(self, slot: SiteRow, where: Where) -> TimeSpan | None:
        """Return start and end, if they can be read. As on the site of ACL 2020, a session lasts an hour."""
        start, end = self.times.read_span(slot, where)
        if start is None or (end is None and slot.end):
            return None
        if end is None:
            end = start + ASSUMED_DURATION
            self.assumed_ends += 1
        return start, end

    def add_session(self, span: TimeSpan, where: Where, **values: Any) -> SessionRecord:
        start, end = span
        session = SessionRecord(where=where, start=start, end=end, status="published", **values)
        self._index_by_uid.setdefault(session.uid, len(self.sessions))
        self.sessions.append(session)
        return session

    def replace_session(self, old: SessionRecord, new: SessionRecord) -> None:
        self.sessions[self._index_by_uid[old.uid]] = new

    def name_session(self, session: SessionRecord, *names: str, is_first: bool = False) -> None:
        """Add names by which papers and chairs refer to the session. `is_first`: only those that are free."""
        for name in filter(None, names):
            if not (is_first and name in self._uid_by_name):
                self._uid_by_name[name] = session.uid

    def has_session(self, uid: str) -> bool:
        return uid in self._index_by_uid

    def find_session(self, name: str) -> SessionRecord | None:
        """Return the session of this name, else of this key."""
        uids = (self._uid_by_name.get(name, ""), make_uid(name), name)
        indexes = (self._index_by_uid.get(uid) for uid in uids)
        return next((self.sessions[index] for index in indexes if index is not None), None)

    def add_talk(self, event: Event, session: Stated[str | None]) -> None:
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
