"""From the days, rooms and events of a file to records.

Every event is a session of the kind of its type, its persons are speakers. One that says what only papers
have, a track, links or files, is a session that holds one presentation of a paper; all three have its uid.
"""

from datetime import date, datetime, time, tzinfo
from itertools import count

from django.utils.translation import gettext

from exchange.formats.frab.identity import GUID, host_of, is_web
from exchange.formats.frab.raw import Raw
from exchange.formats.frab.wording import CANCELLED, KINDS, NO_ROOM, joined, material_of, parted
from exchange.problems import Where
from exchange.reading.findings import Findings, short
from exchange.reading.slugs import slug
from exchange.records import (
    UNSTATED,
    AuthorRecord,
    MaterialRecord,
    PaperRecord,
    PersonRef,
    PresentationRecord,
    Program,
    RoleRecord,
    RoomRecord,
    SessionRecord,
    TopicRecord,
)

# Links of a session that are none of its paper, in the order in which they are written.
OWN_LINKS = {
    ("Stream", "media"): "stream_url",
    ("Recording", "media"): "recording_url",
    ("Chat", "related"): "chat_url",
}


class EventReader:
    """What was read so far. `host`: under whose name the numbers of people are kept."""

    def __init__(self, findings: Findings, zone: tzinfo, host: str) -> None:
        self.findings, self.zone, self.host = findings, zone, host
        self.rooms: dict[str, RoomRecord] = {}
        self.topics: dict[str, TopicRecord] = {}
        self.papers: list[PaperRecord] = []
        self.sessions: dict[str, SessionRecord] = {}
        self.presentations: list[PresentationRecord] = []

    def program(self) -> Program:
        return Program(
            rooms=tuple(self.rooms.values()),
            topics=tuple(self.topics.values()),
            papers=tuple(self.papers),
            sessions=tuple(self.sessions.values()),
            presentations=tuple(self.presentations),
            notes=self.findings.notes,
        )

    def add_room(self, name: str, capacity: int | None = None) -> str | None:
        """Return the key of a room; nothing for the place of what has none."""
        name = " ".join(name.split())
        if name in ("", NO_ROOM):
            return None
        if name not in self.rooms:
            key = free(slug(name), {room.slug for room in self.rooms.values()})
            self.rooms[name] = RoomRecord(
                slug=key,
                name=name,
                position=len(self.rooms) + 1,
                capacity=UNSTATED if capacity is None else capacity,
            )
        return self.rooms[name].slug

    def add(self, raw: Raw, room: str, day: date | None, day_start: time) -> None:
        """Take one event, which stands under a room and a day."""
        uid, start = self._uid(raw), raw.start(day, day_start, self.zone)
        title = ": ".join(filter(None, (raw.line("title"), raw.line("subtitle"))))
        if start is None or not uid:
            return
        if uid in self.sessions:
            said = gettext("Another event has this guid or id: %(place)s.")
            raw.problem("guid", said % {"place": self.sessions[uid].where.place})
            return
        self._take(raw, uid, title, start, self.add_room(raw.line("room") or room))

    def _take(self, raw: Raw, uid: str, title: str, start: datetime, room: str | None) -> None:
        is_cancelled = title.startswith(CANCELLED)
        title = title.removeprefix(CANCELLED)
        text, reason = joined(raw.text("abstract"), raw.text("description")), ""
        first, rest = parted(text)
        if is_cancelled and first.startswith(CANCELLED):
            text, reason = rest, first.removeprefix(CANCELLED)
        own, materials = self._links(raw)
        people = [self._person(person) for person in raw.parts("persons")]
        named = [person for person in people if person.name]
        track = raw.line("track")
        kind, shown = self._kinds(raw)
        is_talk = bool(track or materials or shown == "demo")
        self.sessions[uid] = SessionRecord(
            uid=uid,
            kind=kind,
            title=title,
            abstract="" if is_talk else text,
            start=start,
            end=raw.end(start, self.zone),
            room=room,
            status="cancelled" if is_cancelled else "published",
            cancellation_reason=reason,
            roles=() if is_talk else tuple(RoleRecord(person=person, role="speaker") for person in named),
            where=raw.where,
            stream_url=own.get("stream_url", UNSTATED),
            recording_url=own.get("recording_url", UNSTATED),
            chat_url=own.get("chat_url", UNSTATED),
        )
        if is_talk:
            self._add_talk(self.sessions[uid], text, shown, self._topic(track), named, materials)

    def _add_talk(
        self,
        session: SessionRecord,
        text: str,
        kind: str,
        topic: str | None,
        people: list[PersonRef],
        materials: list[MaterialRecord],
    ) -> None:
        paper = PaperRecord(
            uid=session.uid,
            title=session.title,
            abstract=text,
            topic=topic,
            status="published",
            authors=tuple(AuthorRecord(person=person) for person in people),
            materials=tuple(materials),
            where=session.where,
        )
        self.papers.append(paper)
        self.presentations.append(
            PresentationRecord(
                uid=paper.uid,
                kind=kind,
                paper=paper.uid,
                session=session.uid,
                position=1,
                status="published",
                where=session.where,
            )
        )

    def _uid(self, raw: Raw) -> str:
        """Return what identifies the event for ever: its guid, else its number, else its code."""
        guid, number = raw.line("guid"), raw.number("id")
        if guid and not GUID.match(guid):
            said = gettext('"%(guid)s" is not a guid such as 2f1c0f4e-8d0b-5a43-9d0a-0f7c0d1f2a3b.')
            raw.problem("guid", said % {"guid": short(guid)})
            return ""
        uid = guid.lower() or (str(number) if number else "") or raw.line("code")
        if not uid and not raw.content.get("id"):
            raw.problem("guid", gettext("The event has neither guid nor id. Give it one of them."))
        return uid

    def _kinds(self, raw: Raw) -> tuple[str, str]:
        name = raw.line("type").lower().replace(" ", "_").replace("-", "_")
        if name and name not in KINDS:
            said = gettext("Events of type %(type)s are taken as of another kind.")
            self.findings.note("warning", Where(raw.where.file), said % {"type": short(name)})
        return KINDS.get(name, KINDS["other"])

    def _topic(self, track: str) -> str | None:
        if not track:
            return None
        if track not in self.topics:
            key = free(slug(track), {topic.slug for topic in self.topics.values()})
            self.topics[track] = TopicRecord(slug=key, name=track, parent=None, position=len(self.topics) + 1)
        return self.topics[track].slug

    def _person(self, raw: Raw) -> PersonRef:
        name = raw.line("name") or raw.line("public_name")
        number, code = raw.number("id"), raw.line("code")
        key = str(number) if number else code
        return PersonRef(name=name, ids=((self.host, key),) if key else (), where=raw.where)

    def _links(self, raw: Raw) -> tuple[dict[str, str], list[MaterialRecord]]:
        own: dict[str, str] = {}
        materials: list[MaterialRecord] = []
        for field in ("links", "attachments"):
            for link in raw.parts(field):
                title, kind = link.line("title"), link.line("type")
                address = link.line("url")
                name = OWN_LINKS.get((title, kind)) if field == "links" and not materials else None
                if not is_web(address):
                    said = gettext("The link %(url)s is left out: it is no web address.")
                    self.findings.note("warning", link.where, said % {"url": short(address)})
                elif name and name not in own:
                    own[name] = address
                else:
                    materials.append(material(address, kind, title, is_attachment=field == "attachments"))
        return own, materials


def material(address: str, kind: str, title: str, *, is_attachment: bool) -> MaterialRecord:
    """Return the material that a link leads to; of a file without type its name tells."""
    if is_attachment and not kind and address.lower().endswith(".pdf"):
        kind = "paper"
    found, label = material_of(kind, title, is_attachment)
    return MaterialRecord(kind=found, url=address, label=label)


def free(key: str, taken: set[str]) -> str:
    """Return the key, or the first one with a number that is free."""
    if key not in taken:
        return key
    return next(name for number in count(2) if (name := f"{key}-{number}") not in taken)


def host_or(address: str, acronym: str) -> str:
    """Return under which name the numbers of people of a file are kept."""
    return host_of(address) or slug(acronym or "frab")
