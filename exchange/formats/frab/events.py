"""A program as apps see it: days, rooms, events. Pure; how a file spells it is not known here.

An event is a session, or a presentation with a time of its own. A session whose presentations all have one
is none itself, and one that holds a single presentation of the same title is that talk.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from exchange.files import Context
from exchange.formats.frab import identity
from exchange.formats.frab.references import LinkElement, PersonElement, References, session_links
from exchange.formats.frab.wording import CANCELLED, NO_TITLE, joined, line, parted, prose, type_of
from exchange.formats.ics.appointments import is_cancelled, reason_of
from exchange.reading.zones import zone_of
from exchange.records import PersonRef, PresentationRecord, Program, SessionRecord, stated

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class EventElement:
    """One event. `abstract` is the first paragraph of the text, `description` the rest, both Markdown."""

    guid: str
    id: int
    slug: str
    url: str
    start: datetime
    end: datetime
    room: str
    title: str
    type: str
    track: str
    abstract: str
    description: str
    persons: tuple[PersonElement, ...]
    links: tuple[LinkElement, ...]

    @property
    def minutes(self) -> int:
        return max(0, int((self.end.astimezone(UTC) - self.start.astimezone(UTC)) / MINUTE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An event before its texts are cleaned. `rows`: what was called off if one of them was."""

    guid: str
    url: str
    start: datetime
    end: datetime
    room: str | None
    title: str
    type: str
    track: str
    text: str
    people: list[PersonRef]
    links: list[LinkElement]
    rows: list[SessionRecord | PresentationRecord]


class Events:
    """The events of a program, its references resolved."""

    def __init__(self, program: Program, context: Context, acronym: str) -> None:
        self.program, self.context, self.acronym = program, context, acronym
        self.zone: ZoneInfo = zone_of(program, context)
        self.refer = References(program, context)
        self.edition = f"{identity.site_of(context)}/{context.edition}"

    def events(self) -> list[EventElement]:
        """Return all events by time, numbered."""
        sessions, presentations = list(self._sessions()), list(self._presentations())
        numbers = self._numbers("session", sessions) | self._numbers("presentation", presentations)
        found = sorted(
            [*sessions, *presentations], key=lambda event: (event.start.astimezone(UTC), event.guid)
        )
        return [
            replace(event, id=numbers[event.guid], slug=f"{self.acronym}-{numbers[event.guid]}")
            for event in found
        ]

    def _numbers(self, kind: str, events: list[EventElement]) -> dict[str, int]:
        """Number the events of a kind: the oldest first, drafts among them, so that numbers last."""
        known = [identity.event_guid(self.context, kind, uid) for uid in self.context.uids(kind)]
        guids = [*known, *sorted(event.guid for event in events)]
        return identity.numbered(guids, odd=kind == "presentation")

    def moment(self, value: datetime) -> datetime:
        """Return a moment in the zone, to the second; in UTC where the offset then had seconds."""
        local = value.astimezone(self.zone).replace(microsecond=0)
        offset = local.utcoffset() or timedelta()
        return local.astimezone(UTC) if offset % MINUTE else local

    # Sessions

    def _sessions(self) -> Iterator[EventElement]:
        for session in self.program.sessions:
            shown = self.refer.inside.get(session.uid, [])
            is_dissolved = bool(shown) and all(stated(one.start, None) for one in shown)
            start = stated(session.start, None)
            if start is not None and not is_dissolved:
                yield self._session(session, shown, start, stated(session.end, None) or start)

    def _session(
        self, session: SessionRecord, shown: list[PresentationRecord], start: datetime, end: datetime
    ) -> EventElement:
        single = shown[0] if len(shown) == 1 and self._is_same(session, shown[0]) else None
        paper = self.refer.paper(single) if single else None
        rows = [row for row in (single, session, self.refer.parent(session)) if row]
        texts = [stated(session.abstract, ""), self._chairs(session)]
        texts += [self.refer.abstract(single, paper)] if single else [self._list(shown)]
        roles = [role.person for role in stated(session.roles, ()) if role.role != "chair"]
        links = [*session_links(session), *(self.refer.links(single, paper) if single else ())]
        return self._event(
            Draft(
                guid=identity.event_guid(self.context, "session", session.uid),
                url=f"{self.edition}/sessions/{session.uid}/",
                start=start,
                end=end,
                room=(single and stated(single.room, None)) or stated(session.room, None),
                title=stated(session.title, ""),
                type=type_of(session, stated(single.kind, "") if single else ""),
                track=self.refer.track(paper),
                text=joined(*map(prose, texts)),
                people=(self.refer.people(single, paper) if single else []) or roles,
                links=links,
                rows=rows,
            )
        )

    def _is_same(self, session: SessionRecord, shown: PresentationRecord) -> bool:
        return stated(shown.start, None) is None and self.refer.title(shown) == stated(session.title, "")

    def _chairs(self, session: SessionRecord) -> str:
        names = [line(role.person.name) for role in stated(session.roles, ()) if role.role == "chair"]
        return f"Chair: {', '.join(names)}" if names else ""

    def _list(self, shown: list[PresentationRecord]) -> str:
        """Return what a session holds and has no time of its own, such as its posters, as a list."""
        untimed = [one for one in shown if stated(one.start, None) is None]
        return "\n".join(f"- {self._entry(one)}" for one in untimed)

    def _entry(self, shown: PresentationRecord) -> str:
        title = line(self.context.plain(self.refer.title(shown)))
        paper = self.refer.paper(shown)
        if paper:
            escaped = title.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
            title = f"[{escaped}]({self.edition}/papers/{paper.uid}/)"
        board, called_off = line(stated(shown.board, "")), CANCELLED.strip() if is_cancelled(shown) else ""
        return " ".join(filter(None, (called_off, board, title)))

    # Presentations

    def _presentations(self) -> Iterator[EventElement]:
        for shown in self.program.presentations:
            start = stated(shown.start, None)
            if start is not None:
                yield self._presentation(shown, start)

    def _presentation(self, shown: PresentationRecord, start: datetime) -> EventElement:
        session = self.refer.sessions.get(stated(shown.session, None) or "")
        paper = self.refer.paper(shown)
        page = f"papers/{paper.uid}/" if paper else f"sessions/{session.uid}/" if session else "schedule/"
        within = f"Session: {line(self.context.plain(stated(session.title, '')))}" if session else ""
        return self._event(
            Draft(
                guid=identity.event_guid(self.context, "presentation", shown.uid),
                url=f"{self.edition}/{page}",
                start=start,
                end=stated(shown.end, None) or (stated(session.end, None) if session else None) or start,
                room=stated(shown.room, None) or (stated(session.room, None) if session else None),
                title=self.refer.title(shown),
                type=stated(shown.kind, "") or "talk",
                track=self.refer.track(paper),
                text=joined(
                    *map(
                        prose,
                        (self.refer.abstract(shown, paper), within, self._chairs(session) if session else ""),
                    )
                ),
                people=self.refer.people(shown, paper),
                links=self.refer.links(shown, paper),
                rows=[
                    row for row in (shown, session, self.refer.parent(session) if session else None) if row
                ],
            )
        )

    def _event(self, draft: Draft) -> EventElement:
        title, reason = line(self.context.plain(draft.title)) or NO_TITLE, line(reason_of(*draft.rows))
        text = draft.text
        if is_cancelled(*draft.rows):
            title = f"{CANCELLED}{title}"
            text = joined(f"{CANCELLED}{reason}" if reason else "", text)
        abstract, description = parted(text)
        start = self.moment(draft.start)
        people = (self.refer.person(person) for person in draft.people)
        return EventElement(
            guid=draft.guid,
            id=0,
            slug="",
            url=draft.url,
            start=start,
            end=max(start, self.moment(draft.end), key=lambda moment: moment.astimezone(UTC)),
            room=self.refer.room(draft.room),
            title=title,
            type=line(draft.type),
            track=draft.track,
            abstract=abstract,
            description=description,
            persons=tuple(person for person in people if person.name),
            links=tuple(draft.links),
        )
