"""frab `schedule.json`: the program for conference apps, as frab and pretalx write it too."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile, Source
from exchange.formats.frab.reading import read_one
from exchange.formats.frab.schedule import schedule_of
from exchange.formats.frab.words import site_of
from exchange.problems import Findings, Where
from exchange.reading.textfiles import head, outer_names, read_object
from exchange.records import Program

SCHEMA = "https://c3voc.de/schedule/schema.json"
# What the schema takes as the name of a zone.
ZONE = re.compile(r"[A-Z][a-z]+/[A-Z][a-z]+|UTC\Z")


def read(sources: Sequence[Source], context: Context) -> Program:
    return read_one(sources, context, _loaded)


def _loaded(source: Source, findings: Findings) -> dict[str, object] | None:
    content = read_object(source, findings)
    if content is None:
        return None
    schedule = content.get("schedule")
    if isinstance(schedule, dict):
        return schedule
    message = gettext('This is no schedule of frab or pretalx: it has no object "schedule".')
    findings.problem(Where(source.name), "schedule", message)
    return None


def recognizes(sources: Sequence[Source]) -> bool:
    return len(sources) == 1 and "schedule" in outer_names(head(sources[0]))


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    """Write one file, in pieces of one event."""
    yield OutputFile(f"{context.edition}-schedule.json", _pieces(program, context))


def _pieces(program: Program, context: Context) -> Iterator[bytes]:
    schedule = schedule_of(program, context)
    conference = schedule["conference"]
    generator = {"name": "Plenary", "url": site_of(context)}
    head = {name: value for name, value in conference.items() if name != "days" and value != {}}
    zone = conference["time_zone_name"]
    if not (ZONE.match(zone) or zone.endswith("UTC")):
        del head["time_zone_name"]
    yield f'{{"$schema": {_json(SCHEMA)}, "generator": {_json(generator)},\n"schedule": {{'.encode()
    yield f'"version": {_json(schedule["version"])}, "base_url": {_json(schedule["base_url"])},\n'.encode()
    yield f'"conference": {_json(head).removesuffix("}")},\n"days": ['.encode()
    for index, day in enumerate(conference["days"]):
        head = {name: value for name, value in day.items() if name != "rooms"}
        yield f'{"," if index else ""}\n{_json(head).removesuffix("}")}, "rooms": {{'.encode()
        for number, (room, events) in enumerate(day["rooms"].items()):
            yield f"{',' if number else ''}\n {_json(room)}: [".encode()
            for place, event in enumerate(events):
                yield f"{',' if place else ''}\n  {_json(event)}".encode()
            yield b"]"
        yield b"}}"
    yield b"\n]}}}\n"


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
    recognizes=recognizes,
)
