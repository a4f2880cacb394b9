"""Convert the days, rooms and events of `schedule.json`, or of XML in the same structure, to records.

Each event becomes a session of the kind of its type; its persons are speakers. An event with a track, links
or files becomes a session with one presentation of a paper; all three have the uid of the event.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import chain, count
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

import markup
from exchange.files import Context, Source, total_size
from exchange.formats.frab import schedule2
from exchange.formats.frab.details import DetailReader
from exchange.formats.frab.words import (
    BUILT_IN_TYPES,
    CANCELLED_PREFIX,
    DEMO,
    GUID,
    NO_ROOM,
    OWN_GENERATOR,
    SESSION_LINKS,
    classify_link,
    get_host,
    guess_built_in_kind,
    join_paragraphs,
    split_first_paragraph,
)
from exchange.problems import Findings, Where, short
from exchange.reading.links import MAX_MATERIAL_URL_CHARS, is_web_address, keep_link
from exchange.reading.person_names import is_placeholder, note_placeholder, written_name
from exchange.reading.textfiles import JsonObject, describe_place, is_too_large, require_single_file
from exchange.reading.values import (
    UID,
    InvalidValueError,
    check_program,
    get_zone,
    parse_date,
    parse_datetime,
    read_zone,
    slug,
    tidy,
)
from exchange.records import (
    UNSTATED,
    AuthorRecord,
    EditionRecord,
    KindRecord,
    MaterialRecord,
    PaperRecord,
    PersonRecord,
    PersonRef,
    PhotoRecord,
    PresentationRecord,
    Program,
    RoleRecord,
    RoomRecord,
    SessionRecord,
    TopicRecord,
)

DURATION = re.compile(r"(\d{1,5}):(\d\d)(?::(\d\d))?\Z")
CLOCK = re.compile(r"(\d\d?):(\d\d)(?::\d\d)?\Z")
LANGUAGE = re.compile(r"(?=.{2,35}\Z)[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*\Z")
MAX_BYTES = 100_000_000
# The start of days that state none.
MIDNIGHT = time()
# The hours at which a day may begin, for a program that goes on after midnight.
DAY_START_HOURS = range(13)
# With more types than this, they are not treated as kinds of sessions.
MAX_TYPES = 20
MAX_TYPE_CHARS, MAX_KEY_CHARS = 60, 40
# Links to the same event, or to its form for feedback, on the site that the file comes from.
SOURCE_LINKS = frozenset(("origin", "feedback"))
# Types of rooms that are not places.
VIRTUAL_ROOM_TYPES = frozenset(("VIRTUAL", "online", "bbb"))
# The status of an event by its state, else it is published; events in omitted states are not read.
STATUS_BY_STATE = {
    **dict.fromkeys(("canceled", "cancelled"), "cancelled"),
    **dict.fromkeys(("draft", "submitted", "accepted"), "draft"),
}
OMITTED_STATES = frozenset(("rejected", "withdrawn", "deleted"))
MODERATOR_ROLES = frozenset(("moderator", "host"))

type ScheduleLoader = Callable[[Source, Findings], dict[str, object] | None]


def read_schedule(sources: Sequence[Source], context: Context, load: ScheduleLoader) -> Program:
    """Read one file. `load` returns {"base_url", "conference": {…, "days": […]}}, or reports a problem."""
    findings, program = Findings(total_size(sources)), Program()
    source = require_single_file(sources, findings)
    if source and not is_too_large(source, MAX_BYTES, findings):
        schedule = load(source, findings)
        if schedule is not None:
            program = _read_program(JsonObject(schedule, Where(source.name, "schedule"), findings), context)
    return check_program(program, findings)


def _read_program(schedule: JsonObject, context: Context) -> Program:
    findings, conference_value = schedule.findings, schedule.content.get("conference")
    if not isinstance(conference_value, dict) or not isinstance(conference_value.get("days"), list):
        message = gettext("This is not a frab or pretalx schedule: it has no days.")
        schedule.problem("conference.days", message)
        return Program()
    conference = JsonObject(conference_value, Where(schedule.where.file, "conference"), findings)
    # Times without offset are in the file's own zone.
    edition_zone, name = get_zone(context.timezone), conference.line("time_zone_name")
    zone = read_zone(name, context, conference.where, "time_zone_name", findings)
    if zone != edition_zone:
        message = gettext("The times of the file are those of %(theirs)s, the edition has the zone %(ours)s.")
        findings.note("warning", conference.where, message, theirs=zone, ours=edition_zone)
    address, acronym = schedule.line("base_url") or conference.line("url"), conference.line("acronym")
    is_own = schedule.content.get("generator") == OWN_GENERATOR
    details = DetailReader(findings, address, has_own_texts=is_own)
    reader = EventReader(findings, zone, get_host(address) or slug(acronym or "frab"), details)
    for room in conference.objects("rooms"):
        reader.add_room(
            room.line("name"), room.number("capacity"), is_virtual=room.line("type") in VIRTUAL_ROOM_TYPES
        )
    if schedule2.is_schedule2(schedule):
        events = schedule2.iterate_events(schedule, conference, zone)
    else:
        days = conference.objects("days", are_rows=True)
        day_change = _parse_clock(conference.content.get("day_change")) or MIDNIGHT
        events = chain.from_iterable(_listed_events(day_object, zone, day_change) for day_object in days)
    for name, event, day, day_start in events:
        reader.add(event, name, day, day_start)
    edition = reader.edition_with_day_start(conference.where, context)
    reader.note_omissions(conference.where)
    return replace(reader.program(), edition=edition)


def _parse_clock(value: object) -> time | None:
    match = CLOCK.match(value.strip()) if isinstance(value, str) else None
    try:
        return time(int(match[1]), int(match[2])) if match else None
    except ValueError:
        return None


def _listed_events(
    day_object: JsonObject, zone: ZoneInfo, day_change: time
) -> Iterator[tuple[str, JsonObject, date | None, time]]:
    """Yield for each event of a day: its room, the event, the day, the start of the day.

    `day_change`: when days begin that do not say it themselves.
    """
    try:
        day = parse_date(day_object.line("date")) if day_object.content.get("date") else None
    except InvalidValueError as error:
        day_object.problem("date", str(error))
        day = None
    try:
        moment = datetime.fromisoformat(day_object.line("day_start"))
        day_start = (moment.astimezone(zone) if moment.tzinfo else moment).time()
    except (ValueError, OverflowError):
        day_start = day_change
    rooms = day_object.content.get("rooms")
    if not isinstance(rooms, dict):
        day_object.problem("rooms", gettext("This must be an object of room name -> list of events."))
        return
    for name, events in rooms.items():
        room_path = f"{day_object.where.place}.rooms.{short(name)}"
        room_object = JsonObject({name: events}, Where(day_object.where.file, room_path), day_object.findings)
        for index, event in enumerate(room_object.objects(name)):
            place = describe_place(room_path, index, event.content.get("title"))
            where = Where(day_object.where.file, place)
            yield name, JsonObject(event.content, where, day_object.findings), day, day_start


class EventReader:
    """Collector of records. `host`: the namespace of people's numbers."""

    def __init__(self, findings: Findings, zone: tzinfo, host: str, details: DetailReader) -> None:
        self.findings, self.zone, self.host, self.details = findings, zone, host, details
        # People by their identifiers, else by their names.
        self.people: dict[tuple[str, ...], PersonRecord] = {}
        self.photos: dict[str, PhotoRecord] = {}
        # Of each event: its start, the day that lists it, and the hour at which that day begins.
        self.listed_events: list[tuple[datetime, date, int]] = []
        self.kinds: dict[str, KindRecord] = {}
        self.rooms: dict[str, RoomRecord] = {}
        self.topics: dict[str, TopicRecord] = {}
        self.papers: list[PaperRecord] = []
        self.sessions: dict[str, SessionRecord] = {}
        self.presentations: list[PresentationRecord] = []

    def program(self) -> Program:
        return Program(
            people=tuple(self.people.values()),
            photos=tuple(self.photos.values()),
            session_kinds=tuple(self.kinds.values()),
            rooms=tuple(self.rooms.values()),
            topics=tuple(self.topics.values()),
            papers=tuple(self.papers),
            sessions=tuple(self.sessions.values()),
            presentations=tuple(self.presentations),
        )

    def add_room(self, name: str, capacity: int | None = None, *, is_virtual: bool = False) -> str | None:
        """Return the key of a room; None for "No room"."""
        name = tidy(name)
        if name in ("", NO_ROOM) or is_placeholder(name):
            return None
        if name not in self.rooms:
            key = _unused_key(slug(name), {room.slug for room in self.rooms.values()})
            position, size = len(self.rooms) + 1, UNSTATED if capacity is None else capacity
            virtual = True if is_virtual else UNSTATED
            self.rooms[name] = RoomRecord(
                slug=key, name=name, position=position, capacity=size, virtual=virtual
            )
        return self.rooms[name].slug

    def add(self, raw: JsonObject, room: str, day: date | None, day_start: time) -> None:
        """Read one event, listed under a room and a day."""
        state = raw.line("state").lower()
        if state in OMITTED_STATES:
            message = gettext("The event was left out because it is %(state)s.")
            self.findings.note("warning", raw.where, message, state=state)
            return
        uid, start = self._uid(raw), self._start(raw, day, day_start)
        title, subtitle = raw.line("title"), raw.line("subtitle")
        if subtitle:
            title = f"{title.removesuffix(':')}: {subtitle}" if title else subtitle
        if start is None or not uid:
            return
        if uid in self.sessions:
            message = gettext("Another event has this guid or id: %(place)s.")
            raw.problem("guid", message, place=self.sessions[uid].where.place)
            return
        if day:
            self.listed_events.append((start.astimezone(self.zone), day, day_start.hour))
        is_cancelled = title.startswith(CANCELLED_PREFIX)
        title = markup.escape_markup(title.removeprefix(CANCELLED_PREFIX))
        text = join_paragraphs(
            *self.details.texts(raw, "abstract", "description"), *self.details.answers(raw)
        )
        reason = ""
        first_paragraph, remaining_text = split_first_paragraph(text)
        if is_cancelled and first_paragraph.startswith(CANCELLED_PREFIX):
            text, reason = remaining_text, first_paragraph.removeprefix(CANCELLED_PREFIX)
        session_links, materials = self._links(raw)
        status = "cancelled" if is_cancelled else STATUS_BY_STATE.get(state, "published")
        people = list(self._people(raw))
        session_kind, presentation_kind = self._kinds(raw)
        is_talk = bool(raw.line("track") or materials or presentation_kind == DEMO)
        self.sessions[uid] = SessionRecord(
            uid=uid,
            kind=session_kind,
            title=title,
            abstract="" if is_talk else text,
            start=start,
            end=self._end(raw, start),
            room=self.add_room(raw.line("room") or room),
            status=status,
            cancellation_reason=reason,
            language=self._language(raw),
            roles=tuple(
                RoleRecord(person=person, role=role)
                for person, role in people
                if not (is_talk and role == "speaker")
            ),
            where=raw.where,
            **session_links,
        )
        if is_talk:
            paper = PaperRecord(
                uid=uid,
                title=title,
                abstract=text,
                topic=self._topic(raw.line("track")),
                status="draft" if status == "draft" else "published",
                authors=tuple(AuthorRecord(person=person) for person, role in people if role == "speaker"),
                materials=tuple(materials),
                where=raw.where,
            )
            self.papers.append(paper)
            presentation = PresentationRecord(
                uid=uid,
                kind=presentation_kind,
                paper=uid,
                session=uid,
                position=1,
                status=paper.status,
                where=raw.where,
            )
            self.presentations.append(presentation)

    def _language(self, raw: JsonObject) -> str:
        tag = raw.line("language").replace("_", "-")
        if not tag or LANGUAGE.match(tag):
            return tag
        message = gettext("The language “%(tag)s” is left out: it is no tag such as en or pt-BR.")
        self.findings.note("warning", raw.where, message, tag=short(tag))
        return ""

    def _topic(self, track: str) -> str | None:
        if track and track not in self.topics:
            key = _unused_key(slug(track), {topic.slug for topic in self.topics.values()})
            self.topics[track] = TopicRecord(slug=key, name=track, parent=None, position=len(self.topics) + 1)
        return self.topics[track].slug if track else None

    def _people(self, raw: JsonObject) -> Iterator[tuple[PersonRef, str]]:
        """Yield the people of an event with their roles."""
        for person in raw.objects("persons", are_rows=True):
            name, number = person.line("name") or person.line("public_name"), person.number("id")
            key = str(number) if number else person.line("code")
            # Guids are not stored, since they are made of e-mail addresses.
            guid = person.content.get("guid")
            if is_placeholder(name):
                note_placeholder(name, person.where, self.findings)
            elif name:
                ref = PersonRef(
                    name=written_name(name).name,
                    ids=((self.host, key),) if key else (),
                    key=guid if isinstance(guid, str) else "",
                    where=person.where,
                )
                self._add_person_details(person, ref)
                is_moderator = person.line("role").lower() in MODERATOR_ROLES
                yield ref, "moderator" if is_moderator else "speaker"

    def _add_person_details(self, person: JsonObject, ref: PersonRef) -> None:
        """Add biography, homepage and photo of a person, from the first event that has them."""
        texts = self.details.texts(person, "biography") or self.details.texts(
            person, "abstract", "description"
        )
        answers = self.details.answers(person, is_personal=True)
        avatar_value = person.content.get("avatar")
        url = avatar_value.get("url") if isinstance(avatar_value, dict) else avatar_value
        avatar = self.details.absolute_address(url) if isinstance(url, str) else ""
        if is_web_address(avatar):
            self.photos.setdefault(avatar, PhotoRecord(person=ref, url=avatar, where=person.where))
        pages = [
            self.details.absolute_address(link.line("url")) for link in self.details.objects(person, "links")
        ]
        homepage = next(filter(is_web_address, pages), "")
        for page in pages:
            if page.startswith("http"):
                keep_link(page, person.where, self.findings)
        if texts or answers or homepage or avatar:
            biography = join_paragraphs(*texts, *answers)
            key = ref.ids[0] if ref.ids else (ref.key, ref.name)
            record = self.people.get(key, PersonRecord(ref=ref, where=person.where))
            self.people[key] = replace(
                record,
                biography=record.biography or biography or UNSTATED,
                homepage=record.homepage or homepage or UNSTATED,
            )

    def edition_with_day_start(self, where: Where, context: Context) -> EditionRecord | None:
        """Return the edition with the hour at which the file's days begin, if it matters to an event."""
        edition_hour = context.day_start_hour
        if edition_hour is None or not self._count_misplaced(edition_hour):
            return None
        listed_hours = Counter(hour for _, _, hour in self.listed_events)
        best_hour = min(
            DAY_START_HOURS,
            key=lambda hour: (self._count_misplaced(hour), -listed_hours[hour], abs(hour - edition_hour)),
        )
        count = self._count_misplaced(edition_hour) - self._count_misplaced(best_hour)
        if not count:
            return None
        message = gettext(
            "Days of the file begin at %(theirs)02d:00, those of the edition at %(ours)02d:00. "
            "Events that this puts on another day: %(count)s."
        )
        self.findings.note("warning", where, message, theirs=best_hour, ours=edition_hour, count=count)
        return EditionRecord(slug=context.edition, day_start_hour=best_hour, where=where)

    def _count_misplaced(self, hour: int) -> int:
        """Return how many events are on another day than the file's if days begin at this hour."""
        night = timedelta(days=1)
        days = (
            (start.date() - night * (start.hour < hour), listed_day)
            for start, listed_day, _ in self.listed_events
        )
        return sum(computed_day != listed_day for computed_day, listed_day in days)

    def note_omissions(self, where: Where) -> None:
        """Report what was left out, and which types of events become kinds of sessions."""
        if self.kinds:
            types = ", ".join(f"{kind.name} ({kind.counts_as})" for kind in self.kinds.values())
            message = gettext(
                "Types of events that become kinds of sessions, and what they count as: %(types)s."
            )
            self.findings.note("doubt", where, message, types=types)

        if self.details.unread_answer_count:
            message = gettext(
                "%(count)s answers were left out: the file does not say what was asked, "
                "or that they are public."
            )
            self.findings.note("warning", where, message, count=self.details.unread_answer_count)

    def _start(self, raw: JsonObject, day: date | None, day_start: time) -> datetime | None:
        """Return when the event begins: its date, or its time on the day that lists it."""
        try:
            if raw.content.get("date"):
                return parse_datetime(raw.line("date"), self.zone)
            clock = _parse_clock(raw.line("start"))
            if clock is None or day is None:
                raise InvalidValueError(
                    gettext("The time is missing. Write it as 2026-07-08T10:00:00+09:00.")
                )
            day_shift = timedelta(days=1 if clock < day_start else 0)
            return parse_datetime(f"{day + day_shift} {clock:%H:%M}", self.zone)
        except InvalidValueError as error:
            raw.problem("date", str(error))
            return None

    def _end(self, raw: JsonObject, start: datetime) -> datetime:
        """Return when the event ends: as stated, or after its duration."""
        try:
            if raw.content.get("end"):
                return parse_datetime(raw.line("end"), self.zone)
            match = DURATION.match(raw.line("duration"))
            if match is None:
                message = gettext('"%(text)s" is not a duration. Write it as 00:45.')
                raise InvalidValueError(message, text=short(raw.line("duration")))
            hours, minutes, seconds = (int(part or 0) for part in match.groups())
            # Computed in UTC: on a night of a clock change, wall times differ by another amount.
            lasts = timedelta(hours=hours, minutes=minutes, seconds=seconds)
            return (start.astimezone(UTC) + lasts).astimezone(start.tzinfo)
        except InvalidValueError as error:
            raw.problem("end" if raw.content.get("end") else "duration", str(error))
            return start

    def _uid(self, raw: JsonObject) -> str:
        """Return the lasting identifier of the event: its guid, else its number, else its code."""
        guid, number = raw.line("guid"), raw.number("id")
        if GUID.match(guid):
            guid = guid.lower()
        elif guid and not UID.match(guid):
            message = gettext("The guid “%(guid)s” was left out: it can be no identifier.")
            self.findings.note("warning", raw.where, message, guid=short(guid))
            guid = ""
        uid = guid or (str(number) if number else "") or raw.line("code")
        if not uid and not raw.content.get("id"):
            raw.problem("guid", gettext("The event has neither guid nor id. Give it one of them."))
        return uid

    def _kinds(self, raw: JsonObject) -> tuple[str, str]:
        """Return the kinds of the session and of the presentation that an event becomes.

        An unknown type becomes a kind of the conference's own, so that exports write it unchanged.
        """
        name = raw.line("type")[:MAX_TYPE_CHARS]
        key = slug(name, MAX_KEY_CHARS)
        built_in = key.replace("-", "_")
        if not name or built_in in BUILT_IN_TYPES:
            return (built_in, BUILT_IN_TYPES[built_in]) if name else ("other", "talk")
        if key == DEMO:
            return "other", DEMO
        counts_as = guess_built_in_kind(key)
        if key not in self.kinds and len(self.kinds) < MAX_TYPES:
            self.kinds[key] = KindRecord(slug=key, name=name, counts_as=counts_as, where=raw.where)
        session_kind = key if key in self.kinds else counts_as
        return session_kind, "talk" if counts_as == "oral" else BUILT_IN_TYPES[counts_as]

    def _links(self, raw: JsonObject) -> tuple[dict[str, Any], list[MaterialRecord]]:
        """Return the links that are fields of the session, and the other ones as materials."""
        session_links: dict[str, Any] = {}
        materials: list[MaterialRecord] = []
        for field in ("links", "attachments"):
            for link in self.details.objects(raw, field, are_rows=True):
                title, kind = link.line("title"), link.line("type").lower()
                address = self.details.absolute_address(link.line("url"))
                if kind in SOURCE_LINKS:
                    continue
                name = SESSION_LINKS.get((title, kind)) if field == "links" and not materials else None
                if not is_web_address(address, MAX_MATERIAL_URL_CHARS):
                    keep_link(address or str(link.content), link.where, self.findings)
                elif name and name not in session_links and is_web_address(address):
                    session_links[name] = address
                else:
                    is_attachment = field == "attachments"
                    if is_attachment and not kind and address.lower().endswith(".pdf"):
                        kind = "paper"
                    material_kind, label = classify_link(kind, title, is_attachment)
                    materials.append(MaterialRecord(kind=material_kind, url=address, label=label))
        return session_links, materials


def _unused_key(key: str, used_keys: set[str]) -> str:
    """Return the key, or the first one with a number that is free."""
    if key not in used_keys:
        return key
    return next(numbered_key for number in count(2) if (numbered_key := f"{key}-{number}") not in used_keys)
