"""Build the objects of `schedule.json`, from which `schedule.xml` is written too.

An event is a session, or a presentation with its own time. Sessions whose presentations all have their own
times are omitted. A session with a single presentation of the same title is written as that talk.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

import markup
from exchange.files import Context
from exchange.formats.frab.words import (
    CANCELLED_PREFIX,
    DEMO,
    GUID,
    LINK_TITLES,
    LINK_TYPES,
    NO_ROOM,
    SESSION_LINKS,
    clean_line,
    clean_text,
    get_host,
    get_site_url,
    is_web_url,
    join_paragraphs,
    split_first_paragraph,
)
from exchange.formats.ics import Lookup, cancellation_reason, is_cancelled
from exchange.reading.values import slug
from exchange.records import (
    EditionRecord,
    PaperRecord,
    PersonRef,
    PresentationRecord,
    Program,
    RoomRecord,
    SessionRecord,
    first_stated,
    stated,
)

NO_TITLE = "\u2026"
NON_ACRONYM_CHARS = re.compile(r"[^a-z0-9_]+")
# Apps store numbers as signed 32 bits; small numbers would make slugs too short. The imported number of a
# person is written as it came, even if it is larger, since the next import knows the person by it.
FIRST_NUMBER, LAST_NUMBER = 100_000, 2**31 - 1
MINUTE = timedelta(minutes=1)
COLOR = re.compile(r"#[0-9a-fA-F]{6}\Z")
ROOM_SLUG = re.compile(r"[a-z0-9_-]+[a-z0-9]\Z")
# For editions that do not state the hour at which a program day begins.
DEFAULT_DAY_START_HOUR = 4
# An edition that lasts longer shows the days with events only.
MAX_DAYS = 60


# An event in the format. `abstract` is the first paragraph of the text, `description` the rest; both are
# Markdown.
type EventObject = dict[str, Any]
# A link (its type, one of the words that the format allows, url and title), and whether it is an attachment.
type Link = tuple[dict[str, str], bool]
type DatedEvent = tuple[datetime, EventObject]


def build_schedule(program: Program, context: Context) -> dict[str, Any]:
    """Return the schedule object of a program. There is at least one day."""
    edition = program.edition or EditionRecord(slug=context.edition)
    acronym = acronym_of(stated(edition.conference, ""), context)
    builder = Events(program, context, acronym)
    events = builder.events()
    rooms = _rooms(program, builder.address)
    days = _days(edition, context, builder, events, [room["name"] for room in rooms])
    color = stated(edition.accent, "")
    tracks = []
    for name in dict.fromkeys(event["track"] for _, event in events if event["track"]):
        bare_slug = slug(name)
        # Apps want a letter first, and at least two characters.
        track_slug = bare_slug if len(bare_slug) > 1 and bare_slug[0].isalpha() else f"track-{bare_slug}"
        tracks.append({"name": name, "slug": track_slug})
    return {
        "version": clean_line(context.version()) or "0",
        "base_url": f"{builder.address}/",
        "conference": {
            "acronym": acronym,
            "title": clean_line(stated(edition.name, "")) or context.edition,
            "start": days[0]["date"],
            "end": days[-1]["date"],
            "daysCount": len(days),
            "timeslot_duration": "00:05",
            "time_zone_name": builder.zone.key,
            "url": f"{builder.address}/",
            "colors": {"primary": color} if COLOR.match(color) else {},
            "tracks": tracks,
            "rooms": rooms,
            "days": days,
        },
    }


def _rooms(program: Program, address: str) -> list[dict[str, Any]]:
    """Return the rooms; of two with one name only the first, as apps identify rooms by name."""
    room_by_name: dict[str, RoomRecord] = {}
    for room in program.rooms:
        room_by_name.setdefault(clean_line(stated(room.name, "")) or room.slug, room)
    objects = []
    for name, room in room_by_name.items():
        guid = uuid_of(f"{address}/rooms/{name}")
        room_object = {"name": name, "guid": guid, "capacity": stated(room.capacity, None)}
        objects.append({**room_object, "slug": room.slug} if ROOM_SLUG.match(room.slug) else room_object)
    return objects


def _days(
    edition: EditionRecord, context: Context, builder: "Events", events: list[DatedEvent], rooms: list[str]
) -> list[dict[str, Any]]:
    """Return the program days, which may end after midnight. Each has all rooms in order."""
    hour = max(0, min(23, stated(edition.day_start_hour, DEFAULT_DAY_START_HOUR)))
    by_day: dict[date, list[EventObject]] = {}
    first, last = stated(edition.start_date, None), stated(edition.end_date, None)
    if first and last and (last - first).days < MAX_DAYS:
        by_day = {first + timedelta(days=count): [] for count in range((last - first).days + 1)}
    for start, event in events:
        # A talk at 00:30 belongs to the evening before.
        local = start.astimezone(builder.zone)
        day = local.date() - timedelta(days=1 if local.hour < hour else 0)
        by_day.setdefault(day, []).append(event)
    if not by_day:
        by_day[first or date(context.year or 2000, 1, 1)] = []
    days = []
    for index, (day, day_events) in enumerate(sorted(by_day.items()), 1):
        begin, end = (
            builder.moment(datetime.combine(start_day, time(hour), builder.zone).astimezone(UTC))
            for start_day in (day, day + timedelta(days=1))
        )
        # In the order of the rooms; events without a room come last.
        names = dict.fromkeys(
            [*rooms, *sorted(event["room"] for event in day_events if event["room"] != NO_ROOM)]
        )
        by_room: dict[str, list[EventObject]] = {name: [] for name in names}
        for event in day_events:
            by_room.setdefault(event["room"], []).append(event)
        times = {"day_start": begin.isoformat(), "day_end": end.isoformat()}
        days.append({"index": index, "date": day.isoformat(), **times, "rooms": by_room})
    return days


class Events(Lookup):
    def __init__(self, program: Program, context: Context, acronym: str) -> None:
        super().__init__(program, context)
        self.acronym, self.site = acronym, get_site_url(context)
        self.host = get_host(self.site)
        self.address = f"{self.site}/{context.edition}"
        self.room_names = {
            room.slug: clean_line(stated(room.name, "")) or room.slug for room in program.rooms
        }
        self.topics = {
            topic.slug: clean_line(stated(topic.name, "") or topic.slug) for topic in program.topics
        }
        self.people = {key: person for person in program.people for key in (person.ref.uid, *person.ref.ids)}
        # Kinds of the conference's own are types by their names.
        kinds = {"session": program.session_kinds, "presentation": program.presentation_kinds}
        self.types = {
            applies_to: {
                kind.slug: stated(kind.name, "") or kind.slug
                for kind in own_kinds
                if stated(kind.counts_as, "") != kind.slug
            }
            for applies_to, own_kinds in kinds.items()
        }
        self.presentations_by_session: dict[str, list[PresentationRecord]] = {}
        for presentation in program.presentations:
            session_uid = stated(presentation.session, None) or ""
            self.presentations_by_session.setdefault(session_uid, []).append(presentation)

    def events(self) -> list[DatedEvent]:
        """Return all events by time, numbered."""
        sessions = list(filter(None, map(self._session, self.program.sessions)))
        presentations = list(filter(None, map(self._presentation, self.program.presentations)))
        numbers = self._number_events("session", sessions)
        numbers |= self._number_events("presentation", presentations)
        events = [*sessions, *presentations]
        for _, event in events:
            event["id"] = numbers[event["guid"]]
            event["slug"] = f"{self.acronym}-{event['id']}"
        return sorted(
            events, key=lambda dated_event: (dated_event[0].astimezone(UTC), dated_event[1]["guid"])
        )

    def _number_events(self, kind: str, events: list[DatedEvent]) -> dict[str, int]:
        """Number the events of a kind, oldest first and including drafts, so that numbers never change."""
        known_guids = [event_guid(self.context, kind, uid) for uid in self.context.uids(kind)]
        guids = [*known_guids, *sorted(event["guid"] for _, event in events)]
        return assign_numbers(guids, odd=kind == "presentation")

    def moment(self, value: datetime) -> datetime:
        """Return a moment in the zone, to the second, or in UTC if the zone's offset has seconds then."""
        local = value.astimezone(self.zone).replace(microsecond=0)
        offset = local.utcoffset() or timedelta()
        return local.astimezone(UTC) if offset % MINUTE else local

    def _session(self, session: SessionRecord) -> DatedEvent | None:
        presentations = self.presentations_by_session.get(session.uid, [])
        untimed = [presentation for presentation in presentations if not stated(presentation.start, None)]
        start = stated(session.start, None)
        if start is None or (presentations and not untimed):
            return None
        is_talk = len(presentations) == len(untimed) == 1 and self.title(presentations[0]) == stated(
            session.title, ""
        )
        talk = presentations[0] if is_talk else None
        texts = [stated(session.abstract, ""), self._chair_line(session)]
        texts.append(self.abstract(talk) if talk else "\n".join(map(self._list_item, untimed)))
        roles = [role.person for role in stated(session.roles, ()) if role.role != "chair"]
        kind = str(session.kind or "other")
        kind = (
            DEMO if kind == "other" and talk and talk.kind == DEMO else self.types["session"].get(kind, kind)
        )
        links: list[Link] = []
        for (title, link_type), field in SESSION_LINKS.items():
            url = stated(getattr(session, field), "")
            if is_web_url(url):
                links.append(({"type": link_type, "url": clean_line(url), "title": title}, False))
        return self._event(
            event_guid(self.context, "session", session.uid),
            f"sessions/{session.uid}/",
            (start, stated(session.end, None) or start),
            room=first_stated("room", talk, session),
            title=stated(session.title, ""),
            kind=kind,
            paper=self.paper(talk),
            texts=texts,
            people=(self._people(talk) if talk else []) or roles,
            links=[*links, *(self._links(talk) if talk else ())],
            rows=[row for row in (talk, session, self.parent(session)) if row],
        )

    def _chair_line(self, session: SessionRecord) -> str:
        names = [clean_line(role.person.name) for role in stated(session.roles, ()) if role.role == "chair"]
        return f"Chair: {', '.join(names)}" if names else ""

    def _list_item(self, presentation: PresentationRecord) -> str:
        """Return a presentation without its own time, such as a poster, as an item of a Markdown list."""
        title = clean_line(markup.plain(self.title(presentation)))
        if paper := self.paper(presentation):
            escaped = title.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
            title = f"[{escaped}]({self.address}/papers/{paper.uid}/)"
        mark = CANCELLED_PREFIX.strip() if is_cancelled(presentation) else ""
        return " ".join(filter(None, ("-", mark, clean_line(stated(presentation.board, "")), title)))

    def _presentation(self, presentation: PresentationRecord) -> DatedEvent | None:
        start = stated(presentation.start, None)
        if start is None:
            return None
        session, paper = self.session(presentation), self.paper(presentation)
        page = f"papers/{paper.uid}/" if paper else f"sessions/{session.uid}/" if session else "schedule/"
        texts = [self.abstract(presentation)]
        if session:
            texts.append(f"Session: {clean_line(markup.plain(stated(session.title, '')))}")
            texts.append(self._chair_line(session))
        return self._event(
            event_guid(self.context, "presentation", presentation.uid),
            page,
            (start, first_stated("end", presentation, session) or start),
            room=first_stated("room", presentation, session),
            title=self.title(presentation),
            kind=self.types["presentation"].get(
                str(presentation.kind), stated(presentation.kind, "") or "talk"
            ),
            paper=paper,
            texts=texts,
            people=self._people(presentation),
            links=self._links(presentation),
            rows=[row for row in (presentation, session, self.parent(session)) if row],
        )

    def _event(
        self,
        guid: str,
        page: str,
        times: tuple[datetime, datetime],
        *,
        room: str | None,
        title: str,
        kind: str,
        paper: PaperRecord | None,
        texts: Iterable[str],
        people: Iterable[PersonRef],
        links: list[Link],
        rows: list[SessionRecord | PresentationRecord],
    ) -> DatedEvent:
        """Return an event with its start. It is cancelled if one of `rows` is."""
        title, text = clean_line(markup.plain(title)) or NO_TITLE, join_paragraphs(*map(clean_text, texts))
        if is_cancelled(*rows):
            reason = clean_line(cancellation_reason(*rows))
            title = f"{CANCELLED_PREFIX}{title}"
            text = join_paragraphs(f"{CANCELLED_PREFIX}{reason}" if reason else "", text)
        abstract, description = split_first_paragraph(text)
        start, end = map(self.moment, times)
        end = max(start, end, key=lambda moment: moment.astimezone(UTC))
        minutes = max(0, int((end.astimezone(UTC) - start.astimezone(UTC)) / MINUTE))
        track = ""
        if paper:
            track = self.topics.get(stated(paper.topic, None) or "") or clean_line(stated(paper.track, ""))
        return start, {
            "guid": guid,
            "id": 0,
            "date": start.isoformat(),
            "start": start.astimezone(self.zone).strftime("%H:%M"),
            "end": end.isoformat(),
            "duration": f"{minutes // 60:02d}:{minutes % 60:02d}",
            "room": self.room_names.get(room, clean_line(room)) if room else NO_ROOM,
            "slug": "",
            "url": f"{self.address}/{page}",
            "title": title,
            "subtitle": "",
            "track": track,
            "type": clean_line(kind),
            "language": next(
                (row.language for row in rows if isinstance(row, SessionRecord) and row.language), None
            ),
            "abstract": abstract,
            "description": description,
            "persons": [person for person in map(self._person, people) if person["name"]],
            "links": [link for link, is_attachment in links if not is_attachment],
            "attachments": [link for link, is_attachment in links if is_attachment],
        }

    def _person(self, ref: PersonRef) -> dict[str, Any]:
        record = next((self.people[key] for key in (ref.uid, *ref.ids) if key and key in self.people), None)
        ids = dict((record.ref.ids if record else ()) or ref.ids)
        guid = uuid_of(f"{self.site}/people/{ref.uid or ref.name}")
        number_text = ids.get(self.host, "")
        number = (
            int(number_text)
            if number_text.isascii() and number_text.isdecimal() and len(number_text) < 11
            else 0
        )
        person = {"id": number or number_of_guid(guid), "guid": guid, "name": clean_line(ref.name)}
        if ref.uid:
            person["url"] = f"{self.site}/people/{ref.uid}/"
        if record and (biography := clean_text(stated(record.biography, ""))):
            person["biography"] = biography
        if record and is_web_url(homepage := clean_line(stated(record.homepage, ""))):
            person["links"] = [{"type": "web", "url": homepage, "title": "Homepage"}]
        return person

    def _people(self, presentation: PresentationRecord) -> list[PersonRef]:
        """Return the speakers, else the presenting authors, else all authors."""
        paper = self.paper(presentation)
        speakers = [speaker.person for speaker in stated(presentation.speakers, ())]
        authors = stated(paper.authors, ()) if paper else ()
        presenting = [author.person for author in authors if author.presenting]
        return speakers or presenting or [author.person for author in authors]

    def _links(self, presentation: PresentationRecord) -> list[Link]:
        paper, recording = self.paper(presentation), stated(presentation.recording_url, "")
        links: list[Link] = []
        if is_web_url(recording):
            links.append(({"type": "media", "url": recording, "title": "Recording"}, False))
        for material in stated(paper.materials, ()) if paper else ():
            if material.visible and is_web_url(material.url):
                kind, is_attachment = LINK_TYPES.get(material.kind, LINK_TYPES["other"])
                default = LINK_TITLES.get(material.kind, material.kind.capitalize())
                title = clean_line(material.label) or default
                links.append(({"type": kind, "url": clean_line(material.url), "title": title}, is_attachment))
        return links


# Guids, numbers and slugs derive from uids and stay the same as long as they do


def event_guid(context: Context, kind: str, uid: str) -> str:
    """Return the guid of a session or presentation. If the uid of a session is a guid, it is used."""
    if kind == "session" and GUID.match(uid):
        return uid.lower()
    return uuid_of(f"{get_site_url(context)}/{context.edition}/{kind}/{uid}")


def uuid_of(name: str) -> str:
    return str(uuid5(NAMESPACE_URL, name))


def number_of_guid(guid: str) -> int:
    return FIRST_NUMBER + UUID(guid).int % (LAST_NUMBER - FIRST_NUMBER)


def assign_numbers(guids: Iterable[str], *, odd: bool = False) -> dict[str, int]:
    """Return an even or odd number for each guid. Adding guids at the end never changes earlier numbers."""
    used_numbers: set[int] = set()
    number_by_guid: dict[str, int] = {}
    for guid in dict.fromkeys(guids):
        value = number_of_guid(guid) & ~1 | odd
        while value in used_numbers:
            value = value + 2 if value + 2 <= LAST_NUMBER else FIRST_NUMBER + odd
        used_numbers.add(value)
        number_by_guid[guid] = value
    return number_by_guid


def acronym_of(conference: str, context: Context) -> str:
    """Return a short name such as "mlsys2021": small letters, digits and underscores, at least four."""
    text = f"{conference}{context.edition}" if conference else f"program_{context.edition}"
    name = NON_ACRONYM_CHARS.sub("_", text.lower())
    return name if len(name) >= 4 else f"{name}_{context.year or 'program'}"
