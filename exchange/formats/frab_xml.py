"""frab `schedule.xml`: the program for Giggity, EventFahrplan and ConfClerk, after the schema of c3voc."""

import re
from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile, Source
from exchange.formats.frab.events import EventElement
from exchange.formats.frab.incoming import read_one
from exchange.formats.frab.references import LinkElement, PersonElement
from exchange.formats.frab.schedule import Schedule, schedule_of
from exchange.formats.frab.xmltree import load
from exchange.reading.sniffing import head
from exchange.records import Program

# A root after declarations and comments.
ROOT = re.compile(r"\s*(?:<[?!][^>]*>\s*)*<schedule\b")
# The schema has two digits for hours.
MAX_DURATION_MINUTES = 100 * 60 - 1


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read one file of frab, pretalx or this site."""
    return read_one(sources, context, load)


def recognises(sources: Sequence[Source]) -> bool:
    """Whether the one file has a schedule as its root."""
    return len(sources) == 1 and bool(ROOT.match(head(sources[0])))


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    """Write one file, in pieces of one event."""
    yield OutputFile(f"{context.edition}-schedule.xml", _pieces(program, context))


def _pieces(program: Program, context: Context) -> Iterator[bytes]:
    schedule = schedule_of(program, context)
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<schedule>\n{_head(schedule)}'.encode()
    for day in schedule.days:
        attributes = _attributes(
            index=str(day.index),
            date=day.date.isoformat(),
            start=day.start.isoformat(),
            end=day.end.isoformat(),
        )
        yield f"<day{attributes}>\n".encode()
        guids = {room.name: room.guid for room in schedule.rooms}
        for name, events in day.rooms.items():
            yield f"<room{_attributes(name=name, guid=guids.get(name, ''))}>\n".encode()
            for event in events:
                yield _event(event, schedule).encode()
            yield b"</room>\n"
        yield b"</day>\n"
    yield b"</schedule>\n"


def _head(schedule: Schedule) -> str:
    fields = (
        ("title", schedule.title),
        ("acronym", schedule.acronym),
        ("start", schedule.days[0].date.isoformat()),
        ("end", schedule.days[-1].date.isoformat()),
        ("days", str(len(schedule.days))),
        ("timeslot_duration", "00:05"),
        ("base_url", schedule.base_url),
        ("url", schedule.base_url),
        ("time_zone_name", schedule.zone.key),
    )
    colour = f"<color{_attributes(primary=schedule.colour)}/>\n" if schedule.colour else ""
    tracks = "".join(f"<track{_attributes(name=one.name, slug=one.slug)}/>\n" for one in schedule.tracks)
    return (
        f"<generator{_attributes(name='Plenary', system=schedule.site)}/>\n"
        f"{_element('url', f'{schedule.base_url}schedule.xml')}{_element('version', schedule.version)}"
        f"<conference>\n{''.join(_element(*field) for field in fields)}{colour}{tracks}</conference>\n"
    )


def _event(event: EventElement, schedule: Schedule) -> str:
    minutes = min(event.minutes, MAX_DURATION_MINUTES)
    fields = (
        ("room", event.room),
        ("title", event.title),
        ("subtitle", ""),
        ("type", event.type),
        ("date", event.start.isoformat()),
        ("start", event.start.astimezone(schedule.zone).strftime("%H:%M")),
        ("duration", f"{minutes // 60:02d}:{minutes % 60:02d}"),
        ("abstract", event.abstract),
        ("slug", event.slug),
        ("track", event.track),
        ("language", schedule.language),
        ("description", event.description),
        ("url", event.url),
    )
    persons = "".join(map(_person, event.persons))
    links = "".join(_link("link", link) for link in event.links if not link.is_attachment)
    attached = "".join(_link("attachment", link) for link in event.links if link.is_attachment)
    return (
        f"<event{_attributes(id=str(event.id), guid=event.guid)}>\n"
        f"{''.join(_element(*field) for field in fields)}<persons>{persons}</persons>\n"
        f"<links>{links}</links>\n<attachments>{attached}</attachments>\n</event>\n"
    )


def _person(person: PersonElement) -> str:
    return f"<person{_attributes(id=str(person.id), guid=person.guid)}>{escape(person.name)}</person>"


def _link(name: str, link: LinkElement) -> str:
    return f"<{name}{_attributes(href=link.url, type=link.type)}>{escape(link.title)}</{name}>"


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>\n"


def _attributes(**values: str) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in values.items() if value)


FORMAT = Format(
    name="frab_xml",
    label=_("Schedule for apps (XML)"),
    description=_("frab schedule.xml, for the apps Giggity, EventFahrplan and ConfClerk."),
    extensions=("xml",),
    media_type="application/xml; charset=utf-8",
    read=read,
    write=write,
    recognises=recognises,
)
