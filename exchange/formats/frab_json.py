"""frab `schedule.json`: the program for conference apps, as frab and pretalx write it too."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile, Source
from exchange.formats.frab.events import EventElement
from exchange.formats.frab.incoming import read_one
from exchange.formats.frab.references import LinkElement, PersonElement
from exchange.formats.frab.schedule import DayElement, RoomElement, Schedule, schedule_of
from exchange.problems import Where
from exchange.reading.findings import Findings
from exchange.reading.jsonfile import read_object
from exchange.reading.sniffing import head, outer_names
from exchange.records import Program

SCHEMA = "https://c3voc.de/schedule/schema.json"
SLUG = re.compile(r"[a-z0-9_-]+[a-z0-9]\Z")
# What the schema takes as the name of a zone.
ZONE = re.compile(r"[A-Z][a-z]+/[A-Z][a-z]+|UTC\Z")


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read one file of frab, pretalx or this site."""
    return read_one(sources, context, _loaded)


def _loaded(source: Source, findings: Findings) -> dict[str, Any] | None:
    content = read_object(source, findings)
    schedule = content.get("schedule") if content else None
    if isinstance(schedule, dict):
        return schedule
    if content is None:
        return None
    said = gettext('This is no schedule of frab or pretalx: it has no object "schedule".')
    findings.problem(Where(source.name), "schedule", said)
    return None


def recognises(sources: Sequence[Source]) -> bool:
    """Whether the one file is an object with a schedule."""
    return len(sources) == 1 and "schedule" in outer_names(head(sources[0]))


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    """Write one file, in pieces of one event."""
    yield OutputFile(f"{context.edition}-schedule.json", _pieces(program, context))


def _pieces(program: Program, context: Context) -> Iterator[bytes]:
    schedule = schedule_of(program, context)
    generator = {"name": "Plenary", "url": schedule.site}
    yield f'{{"$schema": {_json(SCHEMA)}, "generator": {_json(generator)},\n"schedule": {{'.encode()
    yield f'"version": {_json(schedule.version)}, "base_url": {_json(schedule.base_url)},\n'.encode()
    head = _json(_head(schedule)).removesuffix("}")
    yield f'"conference": {head},\n"days": ['.encode()
    for index, day in enumerate(schedule.days):
        yield from _day(day, schedule, "," if index else "")
    yield b"\n]}}}\n"


def _head(schedule: Schedule) -> dict[str, Any]:
    zone = schedule.zone.key
    fields = {
        "acronym": schedule.acronym,
        "title": schedule.title,
        "start": schedule.days[0].date.isoformat(),
        "end": schedule.days[-1].date.isoformat(),
        "daysCount": len(schedule.days),
        "timeslot_duration": "00:05",
        "time_zone_name": zone if ZONE.match(zone) or zone.endswith("UTC") else None,
        "url": schedule.base_url,
        "colors": {"primary": schedule.colour} if schedule.colour else None,
        "tracks": [{"name": track.name, "slug": track.slug} for track in schedule.tracks],
        "rooms": [_room(room) for room in schedule.rooms],
    }
    return {name: value for name, value in fields.items() if value is not None}


def _room(room: RoomElement) -> dict[str, Any]:
    fields = {"name": room.name, "guid": room.guid, "capacity": room.capacity}
    return {**fields, "slug": room.slug} if SLUG.match(room.slug) else fields


def _day(day: DayElement, schedule: Schedule, before: str) -> Iterator[bytes]:
    head = {
        "index": day.index,
        "date": day.date.isoformat(),
        "day_start": day.start.isoformat(),
        "day_end": day.end.isoformat(),
    }
    yield f'{before}\n{_json(head).removesuffix("}")}, "rooms": {{'.encode()
    for index, (room, events) in enumerate(day.rooms.items()):
        yield f"{',' if index else ''}\n {_json(room)}: [".encode()
        for place, event in enumerate(events):
            yield f"{',' if place else ''}\n  {_json(_event(event, schedule))}".encode()
        yield b"]"
    yield b"}}"


def _event(event: EventElement, schedule: Schedule) -> dict[str, Any]:
    return {
        "guid": event.guid,
        "id": event.id,
        "date": event.start.isoformat(),
        "start": event.start.astimezone(schedule.zone).strftime("%H:%M"),
        "end": event.end.isoformat(),
        "duration": f"{event.minutes // 60:02d}:{event.minutes % 60:02d}",
        "room": event.room,
        "slug": event.slug,
        "url": event.url,
        "title": event.title,
        "subtitle": "",
        "track": event.track,
        "type": event.type,
        "language": schedule.language,
        "abstract": event.abstract,
        "description": event.description,
        "persons": [_person(person) for person in event.persons],
        "links": [_link(link) for link in event.links if not link.is_attachment],
        "attachments": [_link(link) for link in event.links if link.is_attachment],
    }


def _person(person: PersonElement) -> dict[str, Any]:
    fields = {"id": person.id, "guid": person.guid, "name": person.name}
    return {**fields, "url": person.url} if person.url else fields


def _link(link: LinkElement) -> dict[str, str]:
    return {"type": link.type, "url": link.url, "title": link.title}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


FORMAT = Format(
    name="frab_json",
    label=_("Schedule for apps (JSON)"),
    description=_("frab schedule.json, for conference apps and for tools that pretalx and frab feed."),
    extensions=("json",),
    media_type="application/json",
    read=read,
    write=write,
    recognises=recognises,
)
