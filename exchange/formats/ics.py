"""iCalendar: sessions and talks for calendar programs, after RFC 5545. Written only.

Times are in the edition's zone, which is included. Unchanged programs give the same bytes: nothing in a
file says when it was made. The lines of events, of which a calendar of all talks has thousands, are written
here: `icalendar` takes twelve times as long. It writes the rest, and reads all in the tests.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from itertools import chain, starmap
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.utils.translation import gettext, ngettext, npgettext
from django.utils.translation import gettext_lazy as _
from icalendar import Calendar, Component, Event, Timezone, vText

from exchange.files import Context, Format, OutputFile
from exchange.formats.lookup import Lookup, is_cancelled, reason_of
from exchange.reading.values import zone_of
from exchange.records import PaperRecord, PersonRef, PresentationRecord, Program, SessionRecord, stated

# A description begins with so much of the abstract, in whole words.
LEAD = 400
# Before any change that this site knows of.
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Appointment:
    """One entry of a calendar. `key` is fixed for life; `people` are lines such as "Speakers: …".

    `reason`: why it was called off, where the chairs say so.
    """

    key: str
    title: str
    start: datetime
    end: datetime
    place: str
    kind: str
    people: tuple[str, ...]
    within: str
    abstract: str
    url: str
    is_cancelled: bool
    reason: str
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows become appointments, by uid. `None`: all sessions, and the talks with times of their own."""

    sessions: Collection[str] | None = None
    presentations: Collection[str] | None = None

    def session(self, session: SessionRecord) -> bool:
        return self.sessions is None or session.uid in self.sessions

    def presentation(self, shown: PresentationRecord) -> bool:
        if self.presentations is None:
            return bool(stated(shown.start, None))
        return shown.uid in self.presentations


EVERYTHING = Wanted()


def appointments(program: Program, context: Context, wanted: Wanted = EVERYTHING) -> list[Appointment]:
    """Return the appointments of a program by time. What has no time has no appointment."""
    return sorted(_Calendar(program, context).appointments(wanted), key=by_time)


def by_time(one: Appointment) -> tuple[datetime, datetime, str]:
    """Return what appointments are sorted by."""
    return one.start.astimezone(UTC), one.end.astimezone(UTC), one.key


def lead(text: str) -> str:
    """Return the beginning of a plain text, in whole words."""
    text = " ".join(text.split())
    if len(text) <= LEAD:
        return text
    return f"{text[: LEAD + 1].rpartition(' ')[0] or text.partition(' ')[0]} \u2026"


def _one_line(context: Context) -> Callable[[str], str]:
    """Return what writes texts on one line, each once. It does not hold the calendar that holds it."""

    @cache
    def line(text: str) -> str:
        return " ".join(context.plain(text).split())

    return line


class _Calendar(Lookup):
    """Makes the appointments of a program."""

    def __init__(self, program: Program, context: Context) -> None:
        super().__init__(program)
        self.program, self.context = program, context
        self.venue = stated(program.edition.venue, "") if program.edition else ""
        # A session is named by each talk in it.
        self._line = _one_line(context)

    def appointments(self, wanted: Wanted) -> Iterator[Appointment]:
        yield from filter(None, map(self._session, filter(wanted.session, self.program.sessions)))
        yield from filter(
            None, map(self._presentation, filter(wanted.presentation, self.program.presentations))
        )

    def _session(self, session: SessionRecord) -> Appointment | None:
        start, end = stated(session.start, None), stated(session.end, None)
        if start is None:
            return None
        whole = self.parent(session)
        return Appointment(
            key=self._key("session", session.uid),
            title=self._line(stated(session.title, "")),
            start=start,
            end=end or start,
            place=self._place(stated(session.room, None)),
            kind=self._kind("session", stated(session.kind, "")),
            people=tuple(self._roles(session)),
            within=self._line(stated(whole.title, "")) if whole else "",
            abstract=lead(self.context.plain(stated(session.abstract, ""))),
            url=self._url("sessions", session.uid),
            is_cancelled=is_cancelled(session, whole),
            reason=reason_of(session, whole),
            changed_at=_changed(session, whole),
        )

    def _presentation(self, shown: PresentationRecord) -> Appointment | None:
        session, paper = self.session(shown), self.paper(shown)
        start = stated(shown.start, None) or (stated(session.start, None) if session else None)
        if start is None:
            return None
        end = stated(shown.end, None) or (stated(session.end, None) if session else None) or start
        whole = self.parent(session)
        own = self._url("sessions", session.uid) if session else ""
        return Appointment(
            key=self._key("presentation", shown.uid),
            title=self._line(self.title(shown)),
            start=start,
            end=max(start, end, key=_instant),
            place=self._place(stated(shown.room, None) or (stated(session.room, None) if session else None)),
            kind=self._kind("presentation", stated(shown.kind, "")),
            people=tuple(filter(None, (_board(shown), self._by(shown, paper)))),
            within=self._line(stated(session.title, "")) if session else "",
            abstract=lead(self.context.plain(self.abstract(shown))),
            url=self._url("papers", paper.uid) if paper else own,
            is_cancelled=is_cancelled(shown, session, whole),
            reason=reason_of(shown, session, whole),
            changed_at=_changed(shown, session, whole),
        )

    def _key(self, kind: str, uid: str) -> str:
        """Edition slugs have no dots, so the key is unambiguous for any uid."""
        return f"{kind}.{self.context.edition}.{uid}"

    def _kind(self, applies_to: str, kind: str) -> str:
        name, _ = self.context.own_kind(applies_to, kind)
        return name or kind.replace("_", " ").capitalize()

    def _url(self, part: str, uid: str) -> str:
        site = self.context.site_url.rstrip("/")
        return f"{site}/{self.context.edition}/{part}/{uid}/" if site else ""

    def _place(self, slug: str | None) -> str:
        room = self.rooms.get(slug or "")
        if room is None:
            return slug or ""
        venue = "" if stated(room.virtual, False) else self.venue
        return ", ".join(filter(None, (stated(room.name, "").strip() or room.slug, venue)))

    def _roles(self, session: SessionRecord) -> Iterator[str]:
        by_role: dict[str, list[PersonRef]] = {}
        for role in stated(session.roles, ()):
            by_role.setdefault(role.role, []).append(role.person)
        for name, people in by_role.items():
            yield _people(name, people)

    def _by(self, shown: PresentationRecord, paper: PaperRecord | None) -> str:
        speakers = [speaker.person for speaker in stated(shown.speakers, ())]
        if speakers:
            return _people("speaker", speakers)
        return _people("author", [author.person for author in stated(paper.authors, ())] if paper else [])


def _people(role: str, people: Collection[PersonRef]) -> str:
    names = ", ".join(person.name for person in people)
    if not names:
        return ""
    label = _role(role, len(people))
    return f"{label}: {names}"


def _role(role: str, number: int) -> str:
    """Return the label of a role for this number of people; an unknown role is unchanged."""
    match role:
        case "author":
            return ngettext("Author", "Authors", number)
        case "speaker":
            return ngettext("Speaker", "Speakers", number)
        case "moderator":
            return ngettext("Moderator", "Moderators", number)
        case "chair":
            return npgettext("role in a session", "Chair", "Chairs", number)
        case "panelist":
            return ngettext("Panelist", "Panelists", number)
        case "organizer":
            return ngettext("Organizer", "Organizers", number)
    return role.capitalize() + ("s" if number > 1 else "")


def _board(shown: PresentationRecord) -> str:
    board = stated(shown.board, "")
    return gettext("Board: %(board)s") % {"board": board} if board else ""


def _instant(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def _changed(*rows: SessionRecord | PresentationRecord | None) -> datetime:
    """Return when an appointment last changed: with the session that it is in, too."""
    return max(BEGINNING, *(stated(row.rescheduled_at, BEGINNING) for row in rows if row))


CLOSING = b"END:VCALENDAR\r\n"
END, FOLD = b"\r\n", b"\r\n "
# Octets of a line: 75 with the space that the next ones begin with.
MAX_LINE_BYTES = 74
ESCAPES = (("\\", r"\\"), (";", r"\;"), (",", r"\,"), ("\r\n", r"\n"), ("\n", r"\n"), ("\r", r"\n"))
# Properties of an event, in the order in which `icalendar` writes them.
ORDER = (
    *("summary", "dtstart", "dtend", "dtstamp", "uid", "sequence", "categories"),
    *("description", "last-modified", "location", "status", "url"),
)
# How often programs that follow a calendar should look for changes.
REFRESH = timedelta(hours=1)
# Calendars take SEQUENCE as a signed number of 32 bits.
MAX_SEQUENCE = 2**31 - 1
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class CalendarScope:
    """What a calendar takes of one edition."""

    program: Program
    context: Context
    wanted: Wanted = EVERYTHING


type Found = tuple[Context, ZoneInfo, list[Appointment]]
# What an event says, by the names of its properties.
type Fields = dict[str, object]


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    """Write one calendar with all sessions, and the talks that have a time of their own."""
    yield OutputFile(
        f"{context.edition}.ics", calendar([CalendarScope(program, context)], name_of(program, context))
    )


def name_of(program: Program, context: Context) -> str:
    """Return what the calendar of a whole edition is called."""
    return (stated(program.edition.name, "") if program.edition else "") or context.edition


def calendar(parts: Iterable[CalendarScope], name: str, address: str = "") -> Iterator[bytes]:
    """Stream one calendar. `address`: the URL to refresh it from.

    A large edition may be split into parts: only the appointments of each are held.
    """
    # Read at once: what fails does so before the first byte is sent.
    found = _found(parts)
    return chain(
        [_head(name, address).to_ical().removesuffix(CLOSING)],
        (zone.to_ical() for zone in _zones(found)),
        map(event_bytes, _events(found)),
        [CLOSING],
    )


def components(parts: Iterable[CalendarScope], name: str) -> Iterator[Component]:
    """Return the calendar without anything in it, then one by one what is in it: zones, then events."""
    found = _found(parts)
    yield _head(name, "")
    yield from _zones(found)
    for fields in _events(found):
        event = Event()
        for key, value in fields.items():
            event.add(key, value)
        yield event


def _found(parts: Iterable[CalendarScope]) -> list[Found]:
    """Return the appointments of each edition by time."""
    found: dict[str, Found] = {}
    for part in parts:
        context = part.context
        known = found.setdefault(context.edition, (context, zone_of(part.program, context), []))
        known[-1].extend(appointments(part.program, context, part.wanted))
        # The next one is read now.
        del part
    for *_edition, own in found.values():
        own.sort(key=by_time)
    return list(found.values())


def _events(found: Iterable[Found]) -> Iterator[Fields]:
    for context, zone, own in found:
        host = urlsplit(context.site_url).hostname or "plenary.invalid"
        for appointment in own:
            yield fields_of(appointment, zone, host)


def _head(name: str, address: str) -> Calendar:
    head = Calendar()
    shown = vText(" ".join(_text(name).split()))
    head.add("prodid", "-//Plenary//Program//EN")
    head.add("version", "2.0")
    head.add("calscale", "GREGORIAN")
    head.add("method", "PUBLISH")
    head.add("name", shown)
    head.add("x-wr-calname", shown)
    head.add("x-published-ttl", "PT1H")
    head.add("refresh-interval", REFRESH, {"VALUE": "DURATION"})
    if address:
        head.add("source", address, {"VALUE": "URI"})
    return head


def _zones(found: Iterable[Found]) -> Iterator[Timezone]:
    """Return the zones for the moments that each must cover. A calendar without events still has its zone."""
    moments: dict[ZoneInfo, list[datetime]] = {}
    for _context, zone, own in found:
        moments.setdefault(zone, []).extend(time for one in own for time in (one.start, one.end))
    return starmap(_zone, moments.items())


def _zone(zone: ZoneInfo, moments: list[datetime]) -> Timezone:
    local = [moment.astimezone(zone).year for moment in moments] or [BEGINNING.year]
    return _zone_of_years(zone.key, min(local), max(local))


@lru_cache(maxsize=50)
def _zone_of_years(key: str, first: int, last: int) -> Timezone:
    """Return the rules of a zone; looking for them takes longer than all else of a small calendar."""
    return Timezone.from_tzinfo(ZoneInfo(key), key, date(first, 1, 1), date(last + 1, 1, 2))


def fields_of(appointment: Appointment, zone: ZoneInfo, host: str) -> Fields:
    """Return what an event says, nothing empty. SEQUENCE, by which calendars move it, follows changes."""
    start, end = _times(appointment, zone)
    changed_at = appointment.changed_at.astimezone(UTC)
    fields = {
        "uid": f"{appointment.key}@{host}",
        "dtstamp": changed_at,
        "last-modified": changed_at,
        "sequence": _sequence(changed_at),
        "dtstart": start,
        # An event without end takes no time; an end that is not later than the start is not allowed.
        "dtend": end if end != start else None,
        "summary": _text(appointment.title),
        "description": _text(_description(appointment)),
        "location": _text(appointment.place),
        "url": appointment.url,
        "categories": [_text(appointment.kind)] if appointment.kind else None,
        "status": "CANCELLED" if appointment.is_cancelled else "CONFIRMED",
    }
    return {name: value for name, value in fields.items() if value not in (None, "")}


def _times(appointment: Appointment, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return start and end in the zone; in UTC where a clock shows a time twice and the second is meant."""
    times = appointment.start.astimezone(zone), appointment.end.astimezone(zone)
    if any(time.fold for time in times):
        return times[0].astimezone(UTC), times[1].astimezone(UTC)
    return times


def _sequence(changed_at: datetime) -> int:
    """Return the seconds since 2000: of several changes that meet in an event, the last one counts."""
    return max(0, min(MAX_SEQUENCE, int((changed_at - BEGINNING).total_seconds())))


def _description(appointment: Appointment) -> str:
    parts = (
        gettext("Cancelled: %(reason)s") % {"reason": appointment.reason} if appointment.reason else "",
        "\n".join(appointment.people),
        appointment.within,
        appointment.abstract,
        appointment.url,
    )
    return "\n\n".join(filter(None, parts))


def _text(value: str) -> str:
    """Without what no calendar may hold."""
    return CONTROLS.sub("", value).strip()


# Content lines


def event_bytes(fields: Fields) -> bytes:
    """Return an event with these fields."""
    said = [line(name, fields[name]) for name in ORDER if name in fields]
    return b"".join((b"BEGIN:VEVENT\r\n", *said, b"END:VEVENT\r\n"))


def line(name: str, value: object) -> bytes:
    """Return one line: a text, a web address ("url"), several texts, a number, or a moment in its zone."""
    shown = name.upper()
    if isinstance(value, datetime):
        return folded(f"{shown}{_moment(value)}")
    if isinstance(value, list):
        return folded(f"{shown}:{','.join(map(escaped, value))}")
    return folded(f"{shown}:{value if name == 'url' else escaped(str(value))}")


def _moment(value: datetime) -> str:
    written = value.isoformat(timespec="seconds")[:19].replace("-", "").replace(":", "")
    zone = str(value.tzinfo)
    return f":{written}Z" if zone == "UTC" else f";TZID={zone}:{written}"


def escaped(text: str) -> str:
    """Return a text as a value."""
    for sign, shown in ESCAPES:
        text = text.replace(sign, shown)
    return text


def folded(text: str) -> bytes:
    """Return a line in pieces; no letter and no escape is cut."""
    octets, pieces = text.encode(), []
    while len(octets) > MAX_LINE_BYTES:
        end = MAX_LINE_BYTES
        while octets[end] & 0xC0 == 0x80:
            end -= 1
        end -= (end - len(octets[:end].rstrip(b"\\"))) % 2
        pieces.append(octets[:end])
        octets = octets[end:]
    return FOLD.join((*pieces, octets)) + END


FORMAT = Format(
    name="ics",
    label=_("Calendar (iCalendar)"),
    description=_("All sessions and talks for calendar programs; to be subscribed to as well."),
    extensions=("ics",),
    media_type="text/calendar; charset=utf-8",
    write=write,
)
