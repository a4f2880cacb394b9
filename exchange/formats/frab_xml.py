"""frab `schedule.xml`: the program for Giggity, EventFahrplan and ConfClerk, after the schema of c3voc.

Elements correspond to the objects of `schedule.json`. DTDs and entities are refused; depth and size are
limited.
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from xml.etree.ElementTree import Element, ParseError, SubElement, tostring

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile, Source
from exchange.formats.frab.reading import read_schedule
from exchange.formats.frab.schedule import EventObject, build_schedule
from exchange.formats.frab.words import OWN_GENERATOR, get_site_url
from exchange.problems import Findings, Where, short
from exchange.reading.textfiles import read_head
from exchange.records import Program

# The values of flags, such as whether an answer is public.
FLAGS: dict[str, object] = {"true": True, "True": True, "false": False, "False": False}
# A root after declarations and comments.
ROOT = re.compile(r"\s*(?:<[?!][^>]*>\s*)*<schedule\b")
# The schema has two digits for hours.
MAX_DURATION = "99:59"
# The elements of an event that contain a text, in order.
ELEMENTS = (
    *("room", "title", "subtitle", "type", "date", "start", "duration", "abstract", "slug", "track"),
    *("language", "description", "url"),
)
# A person is at depth 6: schedule, day, room, event, persons, person. The rest is for unknown elements.
MAX_DEPTH = 12
# What an element takes, and its attributes, in memory; and in time.
ELEMENT_BYTES, ATTRIBUTES_BYTES, ELEMENT_STEPS = 400, 150, 10


def read(sources: Sequence[Source], context: Context) -> Program:
    return read_schedule(sources, context, _load_schedule)


def recognizes(sources: Sequence[Source]) -> bool:
    return len(sources) == 1 and bool(ROOT.match(read_head(sources[0])))


def _load_schedule(source: Source, findings: Findings) -> dict[str, object] | None:
    """Return the content in the structure of `schedule.json`; report a file that cannot be read."""
    try:
        root = _parse_xml(source, findings)
    except DefusedXmlException:
        message = gettext("The file declares a document type or entities, which are not read. Take them out.")
    except ParseError as error:
        message = gettext("This is not XML: %(msg)s.") % {"msg": error.msg}
    except (ValueError, LookupError) as error:
        message = gettext("This is not XML: %(msg)s.") % {"msg": short(str(error))}
    else:
        if root is not None and root.tag == "schedule":
            children = root.findall("conference/*")
            conference: dict[str, object] = {
                child.tag: child.text or "" for child in children if child.tag != "track"
            }
            conference["days"] = [_day_object(day) for day in root.findall("day")]
            base_url = conference.get("base_url") or root.findtext("url") or ""
            generator = root.find("generator")
            return {
                "base_url": base_url,
                "conference": conference,
                "generator": None if generator is None else generator.get("name"),
            }
        message = gettext("The elements of this file are nested too deeply for a schedule.")
        if root is not None:
            message = gettext("This is not a frab or pretalx schedule: it doesn’t begin with <schedule>.")
    findings.problem(Where(source.name), "", message)
    return None


def _parse_xml(source: Source, findings: Findings) -> Element | None:
    """Return the tree, or None as soon as it is too deep."""
    depth, root, where = 0, None, Where(source.name)
    for event, element in iterparse(io.BytesIO(source.content), events=("start", "end"), forbid_dtd=True):
        depth += 1 if event == "start" else -1
        root = element if root is None else root
        if event == "start":
            attributes_size = ATTRIBUTES_BYTES * (len(element.attrib) + 1) if element.attrib else 0
            findings.spend_memory(ELEMENT_BYTES + attributes_size, where)
            findings.spend_steps(ELEMENT_STEPS, where)
        if depth > MAX_DEPTH:
            return None
    return root


def _day_object(day: Element) -> dict[str, object]:
    rooms: dict[str, list[dict[str, object]]] = {}
    for room in day.findall("room"):
        rooms.setdefault(room.get("name", ""), []).extend(map(_event_object, room.findall("event")))
    return {"date": day.get("date"), "day_start": day.get("start", ""), "rooms": rooms}


def _event_object(event: Element) -> dict[str, object]:
    content: dict[str, object] = {
        "id": _parse_number(event.get("id")),
        "guid": event.get("guid"),
        "code": event.get("code"),
    }
    for child in event:
        if child.tag == "persons":
            content[child.tag] = [
                {
                    "id": _parse_number(person.get("id")),
                    "code": person.get("code"),
                    "guid": person.get("guid"),
                    "name": "".join(person.itertext()),
                }
                for person in child.findall("person")
            ]
        elif child.tag in ("links", "attachments"):
            content[child.tag] = [
                {"url": link.get("href", ""), "type": link.get("type", ""), "title": link.text or ""}
                for link in child.findall(child.tag.removesuffix("s"))
            ]
        elif child.tag == "answers":
            content[child.tag] = [_answer_object(answer) for answer in child.findall("answer")]
        else:
            # Some files have elements of HTML in their texts.
            content[child.tag] = "".join(child.itertext())
    return content


def _answer_object(answer: Element) -> dict[str, object]:
    """Return an answer as `schedule.json` has it: its text, its question, and what makes it public."""
    content: dict[str, object] = {name: FLAGS.get(value, value) for name, value in answer.attrib.items()}
    if not len(answer):
        content["answer"] = answer.text or ""
    for child in answer:
        text = "".join(child.itertext()).strip()
        content[child.tag] = _answer_object(child) if len(child) else FLAGS.get(text, text)
    return content


def _parse_number(value: str | None) -> int | str | None:
    """Convert plain digits to a number; return anything else unchanged, so that it is reported."""
    is_plain = value and value.isascii() and value.isdecimal() and len(value) < 19
    return int(value) if value and is_plain else value or None


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    yield OutputFile(f"{context.edition}-schedule.xml", _chunks(program, context))


def _chunks(program: Program, context: Context) -> Iterator[bytes]:
    schedule = build_schedule(program, context)
    conference, base_url = schedule["conference"], schedule["base_url"]
    root = Element("schedule")
    _add_element(root, "generator", name=OWN_GENERATOR, system=get_site_url(context))
    _add_element(root, "url", f"{base_url}schedule.xml")
    _add_element(root, "version", schedule["version"])
    conference_element = _add_element(root, "conference")
    for name in ("title", "acronym", "start", "end"):
        _add_element(conference_element, name, conference[name])
    _add_element(conference_element, "days", str(conference["daysCount"]))
    _add_element(conference_element, "timeslot_duration", conference["timeslot_duration"])
    _add_element(conference_element, "base_url", base_url)
    _add_element(conference_element, "url", base_url)
    _add_element(conference_element, "time_zone_name", conference["time_zone_name"])
    if conference["colors"]:
        _add_element(conference_element, "color", **conference["colors"])
    for track in conference["tracks"]:
        _add_element(conference_element, "track", **track)
    guids = {room["name"]: room["guid"] for room in conference["rooms"]}
    for day in conference["days"]:
        times = {"start": day["day_start"], "end": day["day_end"]}
        day_element = _add_element(root, "day", index=str(day["index"]), date=day["date"], **times)
        for name, events in day["rooms"].items():
            room = _add_element(day_element, "room", name=name, guid=guids.get(name, ""))
            for event in events:
                _add_event(room, event)
    yield tostring(root, encoding="utf-8", xml_declaration=True)


def _add_event(room_element: Element, event: EventObject) -> None:
    element = _add_element(room_element, "event", id=str(event["id"]), guid=event["guid"])
    is_too_long = len(event["duration"]) > len(MAX_DURATION)
    for name in ELEMENTS:
        _add_element(element, name, MAX_DURATION if name == "duration" and is_too_long else event[name] or "")
    persons = _add_element(element, "persons")
    for person in event["persons"]:
        _add_element(persons, "person", person["name"], id=str(person["id"]), guid=person["guid"])
    for name in ("links", "attachments"):
        links = _add_element(element, name)
        for link in event[name]:
            _add_element(links, name.removesuffix("s"), link["title"], href=link["url"], type=link["type"])


def _add_element(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    element = SubElement(parent, tag, {name: value for name, value in attributes.items() if value})
    element.text = text
    return element


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
