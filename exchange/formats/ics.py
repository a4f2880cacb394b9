"""iCalendar (RFC 5545): sessions and talks for calendar programs. Written only.

Times are in the edition's zone, which is included. Files have no time of creation, so that unchanged programs
make the same bytes. This module writes the lines of events, of which there may be thousands, since
`icalendar` takes twelve times as long. `icalendar` writes the rest, and reads all files in the tests.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.utils.translation import gettext, ngettext, npgettext
from django.utils.translation import gettext_lazy as _
from icalendar import Calendar, Component, Event, Timezone, vText

import markup
from exchange.files import Context, Format, OutputFile
from exchange.formats.time_zones import calendar_zone
from exchange.reading.values import program_zone, tidy
from exchange.records import (
    EditionRecord,
    PaperRecord,
    PersonRef,
    PresentationRecord,
    Program,
    SessionRecord,
    first_stated,
    stated,
)

# The maximum length of the abstract in a description.
MAX_ABSTRACT_CHARS = 400
# Earlier than any change recorded by a site.
EARLIEST_CHANGE = datetime(2000, 1, 1, tzinfo=UTC)

# The values of an event by the names of its properties.
type Fields = dict[str, object]
# The sort key of an event (start and end in UTC, a permanent key), and its fields.
type TimedEvent = tuple[datetime, datetime, str, Fields]
type EditionEvents = tuple[ZoneInfo, list[TimedEvent]]


@dataclass(frozen=True, slots=True)
class CalendarScope:
    """The uids that a calendar includes of one edition. `None`: all sessions; talks with their own times."""

    program: Program
    context: Context
    sessions: Collection[str] | None = None
    presentations: Collection[str] | None = None


def shorten_abstract(text: str) -> str:
    """Return the beginning of a plain text, in whole words."""
    text = tidy(text)
    if len(text) <= MAX_ABSTRACT_CHARS:
        return text
    return f"{text[: MAX_ABSTRACT_CHARS + 1].rpartition(' ')[0] or text.partition(' ')[0]} \u2026"


class Lookup:
    """Records by key, and the values that a presentation inherits from its paper and session."""

    def __init__(self, program: Program, context: Context) -> None:
        self.program, self.context, self.zone = program, context, program_zone(program, context)
        self.sessions = {session.uid: session for session in program.sessions}
        self.papers = {paper.uid: paper for paper in program.papers}
        self.rooms = {room.slug: room for room in program.rooms}

    def paper(self, presentation: PresentationRecord | None) -> PaperRecord | None:
        return self.papers.get(stated(presentation.paper, None) or "") if presentation else None

    def session(self, presentation: PresentationRecord) -> SessionRecord | None:
        return self.sessions.get(stated(presentation.session, None) or "")

    def parent(self, session: SessionRecord | None) -> SessionRecord | None:
        return self.sessions.get(stated(session.parent, None) or "") if session else None

    def title(self, presentation: PresentationRecord) -> str:
        return first_stated("title", presentation, self.paper(presentation)) or ""

    def abstract(self, presentation: PresentationRecord) -> str:
        return first_stated("abstract", presentation, self.paper(presentation)) or ""


def is_cancelled(*rows: SessionRecord | PresentationRecord | None) -> bool:
    return any(row.status == "cancelled" for row in rows if row)


def cancellation_reason(*rows: SessionRecord | PresentationRecord | None) -> str:
    """Return the reason of the first of these rows that is cancelled and states one."""
    reasons = (stated(row.cancellation_reason, "") for row in rows if row and row.status == "cancelled")
    return next(filter(None, reasons), "")


class _Events(Lookup):
    def __init__(self, program: Program, context: Context) -> None:
        super().__init__(program, context)
        self.site = context.site_url.rstrip("/")
        self.host = urlsplit(context.site_url).hostname or "plenary.invalid"
        edition = program.edition or EditionRecord(slug=context.edition)
        self.venue = stated(edition.venue, "")
        # Rows that were never rescheduled last changed when they were published.
        publication_times = (stated(edition.public_from, None), stated(edition.schedule_public_from, None))
        self.published_at = max([EARLIEST_CHANGE, *filter(None, publication_times)])

    def events(self, scope: CalendarScope) -> Iterator[TimedEvent]:
        """Yield the events of a scope. Rows without a time are skipped."""
        for session in self.program.sessions:
            if scope.sessions is None or session.uid in scope.sessions:
                yield from self._session(session)
        uids = scope.presentations
        for presentation in self.program.presentations:
            if stated(presentation.start, None) if uids is None else presentation.uid in uids:
                yield from self._presentation(presentation)

    def _session(self, session: SessionRecord) -> Iterator[TimedEvent]:
        start = stated(session.start, None)
        if start is None:
            return
        people_by_role: dict[str, list[PersonRef]] = {}
        for role in stated(session.roles, ()):
            people_by_role.setdefault(role.role, []).append(role.person)
        parent = self.parent(session)
        yield self._event(
            "session",
            session,
            start=start,
            end=stated(session.end, None) or start,
            room=stated(session.room, None),
            title=stated(session.title, ""),
            people=[_people_line(name, role_people) for name, role_people in people_by_role.items()],
            parent_title=stated(parent.title, "") if parent else "",
            abstract=stated(session.abstract, ""),
            page=f"sessions/{session.uid}/",
            rows=[session, parent],
        )

    def _presentation(self, presentation: PresentationRecord) -> Iterator[TimedEvent]:
        session, paper = self.session(presentation), self.paper(presentation)
        start = first_stated("start", presentation, session)
        if start is None:
            return
        board = stated(presentation.board, "")
        speakers = [speaker.person for speaker in stated(presentation.speakers, ())]
        authors = [author.person for author in stated(paper.authors, ())] if paper else []
        yield self._event(
            "presentation",
            presentation,
            start=start,
            end=first_stated("end", presentation, session) or start,
            room=first_stated("room", presentation, session),
            title=self.title(presentation),
            people=[
                gettext("Board: %(board)s") % {"board": board} if board else "",
                _people_line("speaker", speakers) if speakers else _people_line("author", authors),
            ],
            parent_title=stated(session.title, "") if session else "",
            abstract=self.abstract(presentation),
            page=f"papers/{paper.uid}/" if paper else f"sessions/{session.uid}/" if session else "",
            rows=[presentation, session, self.parent(session)],
        )

    def _event(
        self,
        applies_to: str,
        row: SessionRecord | PresentationRecord,
        *,
        start: datetime,
        end: datetime,
        room: str | None,
        title: str,
        people: Iterable[str],
        parent_title: str,
        abstract: str,
        page: str,
        rows: list[SessionRecord | PresentationRecord | None],
    ) -> TimedEvent:
        """Return an event. It is cancelled if one of `rows` is, and changes when one of them does."""
        start, end = start.astimezone(UTC), max(start.astimezone(UTC), end.astimezone(UTC))
        times = [start.astimezone(self.zone), end.astimezone(self.zone)]
        if any(moment.fold for moment in times):
            # The wall time occurs twice, and the second one is meant.
            times = [start, end]
        reschedule_times = [stated(row.rescheduled_at, None) for row in rows if row]
        moved_at = max([EARLIEST_CHANGE, *filter(None, reschedule_times)])
        changed_at = max(self.published_at, moved_at).astimezone(UTC).replace(microsecond=0)
        kind = stated(row.kind, "")
        name, _own = self.context.own_kind(applies_to, kind)
        category = _clean_text(name or kind.replace("_", " ").capitalize())
        url = f"{self.site}/{self.context.edition}/{page}" if self.site and page else ""
        reason = cancellation_reason(*rows)
        description_parts = (
            gettext("Canceled: %(reason)s") % {"reason": reason} if reason else "",
            "\n".join(filter(None, people)),
            tidy(markup.plain(parent_title)),
            shorten_abstract(markup.plain(abstract)),
            url,
        )
        # Slugs of editions have no dots, so this is unambiguous for any uid.
        event_key = f"{applies_to}.{self.context.edition}.{row.uid}"
        fields = {
            "uid": f"{event_key}@{self.host}",
            "dtstamp": changed_at,
            "last-modified": changed_at,
            # Calendars move an event if SEQUENCE increases. It derives from the last change of any row.
            "sequence": min(MAX_SEQUENCE, int((moved_at - EARLIEST_CHANGE).total_seconds())),
            "dtstart": times[0],
            # An event without end takes no time; an end that is not later than the start is not allowed.
            "dtend": times[1] if end != start else None,
            "summary": _clean_text(tidy(markup.plain(title))),
            "description": _clean_text("\n\n".join(filter(None, description_parts))),
            "location": _clean_text(self._location(room)),
            "url": url,
            "categories": [category] if category else None,
            "status": "CANCELLED" if is_cancelled(*rows) else "CONFIRMED",
        }
        stated_fields = {name: value for name, value in fields.items() if value not in (None, "")}
        return start, end, event_key, stated_fields

    def _location(self, slug: str | None) -> str:
        room = self.rooms.get(slug or "")
        if room is None:
            return slug or ""
        venue = "" if stated(room.virtual, False) else self.venue
        return ", ".join(filter(None, (stated(room.name, "").strip() or room.slug, venue)))


def _people_line(role: str, people: Collection[PersonRef]) -> str:
    names = ", ".join(person.name for person in people)
    return f"{_role_label(role, len(people))}: {names}" if names else ""


def _role_label(role: str, number: int) -> str:
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
    return role.capitalize()


CALENDAR_END = b"END:VCALENDAR\r\n"
END, FOLD = b"\r\n", b"\r\n "
# The octets of a line: 75 including the space at the beginning of continued lines.
MAX_LINE_BYTES = 74
ESCAPES = (("\\", r"\\"), (";", r"\;"), (",", r"\,"), ("\r\n", r"\n"), ("\n", r"\n"), ("\r", r"\n"))
# Properties of an event, in the order in which `icalendar` writes them.
PROPERTY_ORDER = (
    *("summary", "dtstart", "dtend", "dtstamp", "uid", "sequence", "categories"),
    *("description", "last-modified", "location", "status", "url"),
)
# How often programs that follow a calendar should look for changes.
REFRESH_INTERVAL = timedelta(hours=1)
# Calendars take SEQUENCE as a signed number of 32 bits.
MAX_SEQUENCE = 2**31 - 1
CONTROL_CHARS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    """Write one calendar with all sessions, and the talks that have a time of their own."""
    yield OutputFile(
        f"{context.edition}.ics", calendar([CalendarScope(program, context)], calendar_name(program, context))
    )


def calendar_name(program: Program, context: Context) -> str:
    return (stated(program.edition.name, "") if program.edition else "") or context.edition


def calendar(parts: Iterable[CalendarScope], name: str, address: str = "") -> Iterator[bytes]:
    """Stream one calendar. Only its events are stored in memory. `address`: the URL for refreshing it."""
    # Collected at once, so that errors occur before the first byte is sent.
    edition_events = _collect_events(parts)
    return chain(
        [_calendar_header(name, address).to_ical().removesuffix(CALENDAR_END)],
        (zone.to_ical() for zone in _timezones(edition_events)),
        (event_bytes(fields) for _zone, events in edition_events for _start, _end, _key, fields in events),
        [CALENDAR_END],
    )


def components(parts: Iterable[CalendarScope], name: str) -> Iterator[Component]:
    """Yield the empty calendar, then its components: time zones, then events."""
    edition_events = _collect_events(parts)
    yield _calendar_header(name, "")
    yield from _timezones(edition_events)
    for _zone, events in edition_events:
        for _start, _end, _key, fields in events:
            event = Event()
            for key, value in fields.items():
                event.add(key, value)
            yield event


def _collect_events(parts: Iterable[CalendarScope]) -> list[EditionEvents]:
    """Return the zone and the events by time of each edition."""
    events_by_edition: dict[str, EditionEvents] = {}
    for scope in parts:
        reader = _Events(scope.program, scope.context)
        _zone, events = events_by_edition.setdefault(scope.context.edition, (reader.zone, []))
        events.extend(reader.events(scope))
        # Free the program before the next one is read.
        del scope, reader
    for _zone, events in events_by_edition.values():
        events.sort(key=lambda event: event[:3])
    return list(events_by_edition.values())


def _calendar_header(name: str, address: str) -> Calendar:
    header = Calendar()
    display_name = vText(tidy(_clean_text(name)))
    header.add("prodid", "-//Plenary//Program//EN")
    header.add("version", "2.0")
    header.add("calscale", "GREGORIAN")
    header.add("method", "PUBLISH")
    header.add("name", display_name)
    header.add("x-wr-calname", display_name)
    header.add("x-published-ttl", "PT1H")
    header.add("refresh-interval", REFRESH_INTERVAL, {"VALUE": "DURATION"})
    if address:
        header.add("source", address, {"VALUE": "URI"})
    return header


def _timezones(edition_events: Iterable[EditionEvents]) -> Iterator[Timezone]:
    """Yield the time zones for the years of their events; without events, for one year."""
    years: dict[str, list[int]] = {}
    for zone, events in edition_events:
        moments = (moment for start, end, *_ in events for moment in (start, end))
        years.setdefault(zone.key, []).extend(moment.astimezone(zone).year for moment in moments)
    for key, event_years in years.items():
        event_years = event_years or [EARLIEST_CHANGE.year]
        yield calendar_zone(key, min(event_years), max(event_years))


def _clean_text(value: str) -> str:
    """Remove characters that calendars forbid."""
    return CONTROL_CHARS.sub("", value).strip()


# Content lines


def event_bytes(fields: Fields) -> bytes:
    lines = [content_line(name, fields[name]) for name in PROPERTY_ORDER if name in fields]
    return b"".join((b"BEGIN:VEVENT\r\n", *lines, b"END:VEVENT\r\n"))


def content_line(name: str, value: object) -> bytes:
    """Return one line: a text, a web address ("url"), several texts, a number, or a moment in its zone."""
    property_name = name.upper()
    if isinstance(value, datetime):
        digits = value.isoformat(timespec="seconds")[:19].replace("-", "").replace(":", "")
        zone = str(value.tzinfo)
        return fold_line(
            f"{property_name}:{digits}Z" if zone == "UTC" else f"{property_name};TZID={zone}:{digits}"
        )
    if isinstance(value, list):
        return fold_line(f"{property_name}:{','.join(map(escape_text, value))}")
    return fold_line(f"{property_name}:{value if name == 'url' else escape_text(str(value))}")


def escape_text(text: str) -> str:
    for char, escaped in ESCAPES:
        text = text.replace(char, escaped)
    return text


def fold_line(text: str) -> bytes:
    """Fold a line without cutting a character or an escape sequence."""
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
    description=_("All sessions and talks for calendar apps, as a download or subscription."),
    extensions=("ics",),
    media_type="text/calendar; charset=utf-8",
    write=write,
)
