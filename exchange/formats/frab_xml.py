"""frab `schedule.xml`: the program for Giggity, EventFahrplan and ConfClerk, after the schema of c3voc.

The same objects as `schedule.json`, spelled as elements. No DTD, no entities; depth and size have bounds.
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape, quoteattr

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile, Source
from exchange.formats.frab.reading import read_one
from exchange.formats.frab.schedule import EventObject, schedule_of
from exchange.formats.frab.words import site_of
from exchange.problems import Findings, Where, short
from exchange.reading.textfiles import head
from exchange.records import Program

# A root after declarations and comments.
ROOT = re.compile(r"\s*(?:<[?!][^>]*>\s*)*<schedule\b")
# The schema has two digits for hours.
LONGEST = "99:59"
# The elements of an event that hold a text, in their order.
ELEMENTS = (
    *("room", "title", "subtitle", "type", "date", "start", "duration", "abstract", "slug", "track"),
    *("language", "description", "url"),
)
# schedule, day, room, event, persons, person, and something foreign in it.
MAX_DEPTH = 12


def read(sources: Sequence[Source], context: Context) -> Program:
    return read_one(sources, context, _loaded)


def recognizes(sources: Sequence[Source]) -> bool:
    return len(sources) == 1 and bool(ROOT.match(head(sources[0])))


def _loaded(source: Source, findings: Findings) -> dict[str, object] | None:
    """Return what the file holds in the shape of `schedule.json`, or report why it cannot be read."""
    try:
        root = _root(source.content)
    except DefusedXmlException:
        message = gettext("The file declares a document type or entities, which are not read. Take them out.")
    except ParseError as error:
        message = gettext("This is not XML: %(msg)s.") % {"msg": error.msg}
    except (ValueError, LookupError) as error:
        message = gettext("This is not XML: %(msg)s.") % {"msg": short(str(error))}
    else:
        if root is not None and root.tag == "schedule":
            parts = root.findall("conference/*")
            conference: dict[str, object] = {
                part.tag: part.text or "" for part in parts if part.tag != "track"
            }
            conference["days"] = [_day(one) for one in root.findall("day")]
            address = conference.get("base_url") or root.findtext("url") or ""
            return {"base_url": address, "conference": conference}
        message = gettext("The elements of this file are nested too deeply for a schedule.")
        if root is not None:
            message = gettext("This is no schedule of frab or pretalx: it does not begin with <schedule>.")
    findings.problem(Where(source.name), "", message)
    return None


def _root(content: bytes) -> Element | None:
    """Return the tree, or nothing as soon as it is too deep."""
    depth, root = 0, None
    for what, element in iterparse(io.BytesIO(content), events=("start", "end"), forbid_dtd=True):
        depth += 1 if what == "start" else -1
        root = element if root is None else root
        if depth > MAX_DEPTH:
            return None
    return root


def _day(one: Element) -> dict[str, object]:
    rooms: dict[str, list[dict[str, object]]] = {}
    for room in one.findall("room"):
        rooms.setdefault(room.get("name", ""), []).extend(map(_event, room.findall("event")))
    return {"date": one.get("date"), "day_start": one.get("start", ""), "rooms": rooms}


def _event(event: Element) -> dict[str, object]:
    found: dict[str, object] = {
        "id": _number(event.get("id")),
        "guid": event.get("guid"),
        "code": event.get("code"),
    }
    for part in event:
        if part.tag == "persons":
            found[part.tag] = [
                {"id": _number(one.get("id")), "code": one.get("code"), "name": one.text or ""}
                for one in part.findall("person")
            ]
        elif part.tag in ("links", "attachments"):
            found[part.tag] = [
                {"url": one.get("href", ""), "type": one.get("type", ""), "title": one.text or ""}
                for one in part.findall(part.tag.removesuffix("s"))
            ]
        else:
            found[part.tag] = part.text or ""
    return found


def _number(value: str | None) -> int | str | None:
    """Return a number of plain digits; anything else unchanged, to be reported."""
    is_plain = value and value.isascii() and value.isdecimal() and len(value) < 19
    return int(value) if value and is_plain else value or None


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    """Write one file, in pieces of one event."""
    yield OutputFile(f"{context.edition}-schedule.xml", _pieces(program, context))


def _pieces(program: Program, context: Context) -> Iterator[bytes]:
    schedule = schedule_of(program, context)
    generator = f"<generator{_attributes(name='Plenary', system=site_of(context))}/>\n"
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<schedule>\n{generator}{_head(schedule)}'.encode()
    guids = {room["name"]: room["guid"] for room in schedule["conference"]["rooms"]}
    for day in schedule["conference"]["days"]:
        index, start, end = str(day["index"]), day["day_start"], day["day_end"]
        yield f"<day{_attributes(index=index, date=day['date'], start=start, end=end)}>\n".encode()
        for name, events in day["rooms"].items():
            yield f"<room{_attributes(name=name, guid=guids.get(name, ''))}>\n".encode()
            for event in events:
                yield _written(event).encode()
            yield b"</room>\n"
        yield b"</day>\n"
    yield b"</schedule>\n"


def _head(schedule: dict[str, Any]) -> str:
    conference, base = schedule["conference"], schedule["base_url"]
    fields = {name: conference[name] for name in ("title", "acronym", "start", "end")}
    fields |= {"days": str(conference["daysCount"]), "timeslot_duration": conference["timeslot_duration"]}
    fields |= {"base_url": base, "url": base, "time_zone_name": conference["time_zone_name"]}
    color = f"<color{_attributes(**conference['colors'])}/>\n" if conference["colors"] else ""
    tracks = "".join(f"<track{_attributes(**track)}/>\n" for track in conference["tracks"])
    return (
        f"{_element('url', f'{base}schedule.xml')}{_element('version', schedule['version'])}"
        f"<conference>\n{_elements(fields)}{color}{tracks}</conference>\n"
    )


def _written(event: EventObject) -> str:
    fields = {name: str(event[name] or "") for name in ELEMENTS}
    if len(event["duration"]) > len(LONGEST):
        fields["duration"] = LONGEST
    persons = "".join(
        f"<person{_attributes(id=str(one['id']), guid=one['guid'])}>{escape(one['name'])}</person>"
        for one in event["persons"]
    )
    links = "".join(_link("link", link) for link in event["links"])
    attached = "".join(_link("attachment", link) for link in event["attachments"])
    return (
        f"<event{_attributes(id=str(event['id']), guid=event['guid'])}>\n"
        f"{_elements(fields)}<persons>{persons}</persons>\n"
        f"<links>{links}</links>\n<attachments>{attached}</attachments>\n</event>\n"
    )


def _link(name: str, link: dict[str, str]) -> str:
    return f"<{name}{_attributes(href=link['url'], type=link['type'])}>{escape(link['title'])}</{name}>"


def _elements(fields: dict[str, str]) -> str:
    return "".join(_element(name, text) for name, text in fields.items())


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
    recognizes=recognizes,
)
