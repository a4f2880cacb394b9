"""iCalendar: sessions and talks for calendar programs, after RFC 5545. Written only.

Times are in the edition's zone, which is included. Unchanged programs give the same bytes: nothing in a
file says when it was made. The lines of events, of which a calendar of all talks has thousands, are written
here: `icalendar` takes twelve times as long. It writes the rest, and reads all in the tests.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import chain, starmap
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from icalendar import Calendar, Component, Event, Timezone, vText

from exchange.files import Context, Format, OutputFile
from exchange.formats.appointments import (
    BEGINNING,
    EVERYTHING,
    Appointment,
    Wanted,
    appointments,
    by_time,
)
from exchange.reading.fields import zone_of
from exchange.records import Program, stated

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
