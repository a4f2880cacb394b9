"""From the events of an `orals-posters.json` file to rooms, sessions and presentations.

The file has no sessions of its own: each is what its events say of it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from exchange.formats.orals_posters.rows import InputRow
from exchange.reading.findings import Findings
from exchange.reading.slugs import slug
from exchange.records import PresentationRecord, RoomRecord, SessionRecord


@dataclass
class Spellings:
    """Names by slug: spellings that make the same slug are one thing, named as met first."""

    names: dict[str, str] = field(default_factory=dict)

    def add(self, name: str) -> str:
        key = slug(name)
        self.names.setdefault(key, name)
        return key


@dataclass
class SessionReader:
    """Makes sessions of all events first, then presentations one by one."""

    zone: ZoneInfo
    findings: Findings
    rooms: Spellings = field(default_factory=Spellings)
    sessions: dict[str, SessionRecord] = field(default_factory=dict)
    _session_of: dict[int, SessionRecord] = field(default_factory=dict)

    def room_records(self) -> tuple[RoomRecord, ...]:
        return tuple(RoomRecord(slug=key, name=name) for key, name in self.rooms.names.items())

    def add(self, events: Iterable[InputRow]) -> None:
        groups: dict[tuple[object, ...], list[InputRow]] = {}
        for event in events:
            if event.room:
                self.rooms.add(event.room)
            if event.session:
                groups.setdefault(self._key(event), []).append(event)
        for group in groups.values():
            self._add_session(group)

    def _key(self, event: InputRow) -> tuple[object, ...]:
        """Tell sessions apart: by number, else title and room with the posters' start or the talks' day."""
        if event.parent_id is not None:
            return (event.parent_id,)
        local = event.start and event.start.astimezone(self.zone)
        return event.session, event.room, local if event.kind == "poster" else local and local.date()

    def _add_session(self, events: Sequence[InputRow]) -> None:
        first = events[0]
        starts = [event.start for event in events if event.start]
        if not starts:
            message = gettext(
                "The session “%(session)s” has no times; its papers were taken as not scheduled."
            ) % {"session": first.session}
            self.findings.note("warning", first.where, message)
            return
        for other in {event.session for event in events} - {first.session}:
            message = gettext(
                "Session %(parent_id)s has a second title: “%(other)s”. “%(session)s” was taken."
            ) % {"parent_id": first.parent_id, "other": other, "session": first.session}
            self.findings.note("warning", first.where, message)
        ends = [event.end for event in events if event.end]
        rooms = {slug(event.room) if event.room else None for event in events}
        uid = str(first.parent_id) if first.parent_id is not None else self._made_uid(first, min(starts))
        session = SessionRecord(
            where=first.where,
            uid=uid,
            kind=Counter(event.kind for event in events).most_common(1)[0][0],
            title=first.session,
            start=min(starts),
            end=max(ends + starts),
            room=rooms.pop() if len(rooms) == 1 else None,
            status="published" if any(event.visible for event in events) else "draft",
        )
        self.sessions[uid] = session
        self._session_of.update(dict.fromkeys((event.id for event in events), session))

    def _made_uid(self, event: InputRow, start: datetime) -> str:
        uid = slug(f"{event.session} {start.astimezone(self.zone):%Y-%m-%d %H%M}")
        return slug(f"{uid} {event.room}") if uid in self.sessions else uid

    def presentations(self, event: InputRow, paper: str) -> list[PresentationRecord]:
        """Return the event as one presentation, or two where it has a second slot."""
        session = self._session_of.get(event.id)
        room = slug(event.room) if event.room else None
        as_session = session and (event.start, event.end) in ((session.start, session.end), (None, None))
        first = PresentationRecord(
            where=event.where,
            uid=str(event.id),
            kind=event.kind,
            paper=paper,
            session=session.uid if session else None,
            start=None if as_session else event.start,
            end=None if as_session else event.end,
            board=event.board,
            room=None if session and room == session.room else room,
            status="published" if event.visible else "draft",
        )
        return [first, *second_slot(first, event.start2, event.end2)]


def second_slot(
    first: PresentationRecord, start: datetime | None, end: datetime | None
) -> list[PresentationRecord]:
    """Return the same appearance at its second time, if it has one."""
    if start is None:
        return []
    return [
        PresentationRecord(
            where=first.where,
            uid=f"{first.uid}-2",
            kind=first.kind,
            paper=first.paper,
            session=first.session,
            start=start,
            end=end,
            board=first.board,
            room=first.room,
            status=first.status,
        )
    ]
