"""The frame around events: the conference, its tracks and rooms, and program days with the events of each."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from exchange.files import Context
from exchange.formats.frab import identity
from exchange.formats.frab.events import EventElement, Events
from exchange.formats.frab.wording import NO_ROOM, line
from exchange.reading.slugs import slug
from exchange.reading.zones import zone_of
from exchange.records import EditionRecord, Program, RoomRecord, stated

COLOUR = re.compile(r"#[0-9a-fA-F]{6}\Z")
# The hour at which a program day begins where the edition says nothing.
DAWN = 4
# The days of an edition are all there, also those without events; of what lasts longer only those with some.
MAX_SLUG_CHARS = 60
ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class RoomElement:
    name: str
    slug: str
    guid: str
    capacity: int | None


@dataclass(frozen=True, slots=True)
class TrackElement:
    name: str
    slug: str


@dataclass(frozen=True, slots=True)
class DayElement:
    """A day of the program: it may end after midnight. `rooms` holds all rooms in order."""

    index: int
    date: date
    start: datetime
    end: datetime
    rooms: dict[str, list[EventElement]]


@dataclass(frozen=True, slots=True)
class Schedule:
    version: str
    language: str
    acronym: str
    title: str
    site: str
    base_url: str
    zone: ZoneInfo
    colour: str
    tracks: tuple[TrackElement, ...]
    rooms: tuple[RoomElement, ...]
    days: tuple[DayElement, ...]


def schedule_of(program: Program, context: Context) -> Schedule:
    """Return what a file tells of a program. There is at least one day."""
    edition = program.edition or EditionRecord(slug=context.edition)
    acronym = identity.acronym_of(stated(edition.conference, ""), context)
    found = Events(program, context, acronym)
    events = found.events()
    colour = stated(edition.accent, "")
    names = dict.fromkeys(event.track for event in events if event.track)
    rooms = _rooms(program, found.edition)
    return Schedule(
        version=line(context.version()) or "0",
        language=context.language,
        acronym=acronym,
        title=line(stated(edition.name, "")) or context.edition,
        site=identity.site_of(context),
        base_url=f"{found.edition}/",
        zone=zone_of(program, context),
        colour=colour if COLOUR.match(colour) else "",
        tracks=tuple(TrackElement(name, _slug(name)) for name in names),
        rooms=rooms,
        days=tuple(_days(edition, context, found, events, [room.name for room in rooms])),
    )


def _rooms(program: Program, address: str) -> tuple[RoomElement, ...]:
    """Return the rooms, of two with one name the first: apps know them by their names."""
    named: dict[str, RoomRecord] = {}
    for room in program.rooms:
        named.setdefault(line(stated(room.name, "")) or room.slug, room)
    return tuple(
        RoomElement(name, room.slug, identity.made(f"{address}/rooms/{name}"), stated(room.capacity, None))
        for name, room in named.items()
    )


def _slug(name: str) -> str:
    """Return a slug that begins with a letter and has at least two characters, as apps want it."""
    made = slug(name)
    return made if len(made) > 1 and made[0].isalpha() else f"track-{made}"


def _days(
    edition: EditionRecord, context: Context, found: Events, events: list[EventElement], rooms: list[str]
) -> list[DayElement]:
    hour = max(0, min(23, stated(edition.day_start_hour, DAWN)))
    by_day: dict[date, list[EventElement]] = {day: [] for day in _own_days(edition)}
    for event in events:
        by_day.setdefault(program_day(event.start, found.zone, hour), []).append(event)
    if not by_day:
        by_day[stated(edition.start_date, date(context.year or 2000, 1, 1))] = []
    days = []
    for index, (day, own) in enumerate(sorted(by_day.items()), 1):
        start, end = (
            found.moment(datetime(d.year, d.month, d.day, hour, tzinfo=found.zone).astimezone(UTC))
            for d in (day, day + ONE_DAY)
        )
        days.append(DayElement(index, day, start, end, _by_room(own, rooms)))
    return days


def program_day(moment: datetime, zone: ZoneInfo, hour: int) -> date:
    """Return the day of the program that a moment is in: a talk at 00:30 belongs to the evening before."""
    local = moment.astimezone(zone)
    return local.date() - timedelta(days=1 if local.hour < hour else 0)


def _own_days(edition: EditionRecord) -> list[date]:
    first, last = stated(edition.start_date, None), stated(edition.end_date, None)
    if first is None or last is None or not 0 <= (last - first).days < MAX_SLUG_CHARS:
        return []
    return [first + timedelta(days=count) for count in range((last - first).days + 1)]


def _by_room(events: list[EventElement], rooms: list[str]) -> dict[str, list[EventElement]]:
    """Return the events of each room, in the order of the rooms; without a room last."""
    names = dict.fromkeys([*rooms, *sorted(event.room for event in events if event.room != NO_ROOM)])
    found: dict[str, list[EventElement]] = {name: [] for name in names}
    for event in events:
        found.setdefault(event.room, []).append(event)
    return found
