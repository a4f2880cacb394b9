"""frab `schedule.json`: the program for conference apps, in the format that frab and pretalx write."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile, Source
from exchange.formats.frab.reading import read_schedule
from exchange.formats.frab.schedule import build_schedule
from exchange.formats.frab.words import OWN_GENERATOR, get_site_url
from exchange.problems import Findings, Where
from exchange.reading.textfiles import read_head, read_object, top_level_names
from exchange.records import Program

SCHEMA = "https://c3voc.de/schedule/schema.json"
# The names of zones that the schema allows.
ZONE_NAME = re.compile(r"[A-Z][a-z]+/[A-Z][a-z]+|UTC\Z")


def read(sources: Sequence[Source], context: Context) -> Program:
    return read_schedule(sources, context, _load_schedule)


def _load_schedule(source: Source, findings: Findings) -> dict[str, object] | None:
    content = read_object(source, findings)
    if content is None:
        return None
    schedule = content.get("schedule")
    if isinstance(schedule, dict):
        generator = content.get("generator")
        return {**schedule, "generator": generator.get("name") if isinstance(generator, dict) else None}
    message = gettext('This is not a frab or pretalx schedule: it has no object "schedule".')
    findings.problem(Where(source.name), "schedule", message)
    return None


def recognizes(sources: Sequence[Source]) -> bool:
    return len(sources) == 1 and "schedule" in top_level_names(read_head(sources[0]))


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    yield OutputFile(f"{context.edition}-schedule.json", _chunks(program, context))


def _chunks(program: Program, context: Context) -> Iterator[bytes]:
    schedule = build_schedule(program, context)
    conference = {name: value for name, value in schedule["conference"].items() if value != {}}
    zone = conference["time_zone_name"]
    if not (ZONE_NAME.match(zone) or zone.endswith("UTC")):
        del conference["time_zone_name"]
    document = {
        "$schema": SCHEMA,
        "generator": {"name": OWN_GENERATOR, "url": get_site_url(context)},
        "schedule": {**schedule, "conference": conference},
    }
    yield json.dumps(document, ensure_ascii=False).encode()


FORMAT = Format(
    name="frab_json",
    label=_("Schedule for apps (JSON)"),
    description=_("frab schedule.json, for conference apps and tools that work with pretalx and frab."),
    extensions=("json",),
    media_type="application/json",
    read=read,
    write=write,
    recognizes=recognizes,
)
