"""From XML to the objects that JSON has. No DTD, no entities; depth and size have bounds."""

import io
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse
from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Where
from exchange.reading.findings import Findings, short

# schedule, day, room, event, persons, person, and something foreign in it.
MAX_DEPTH = 12
LISTS = {"persons": "person", "links": "link", "attachments": "attachment"}


def load(source: Source, findings: Findings) -> dict[str, Any] | None:
    """Return what the file holds in the shape of `schedule.json`, or tell why it cannot be read."""
    try:
        root = _root(source.content)
    except DefusedXmlException:
        said = gettext("The file declares a document type or entities, which are not read. Take them out.")
    except ParseError as error:
        said = gettext("This is not XML: %(msg)s.") % {"msg": error.msg}
    except (ValueError, LookupError) as error:
        said = gettext("This is not XML: %(msg)s.") % {"msg": short(str(error))}
    else:
        if root is None:
            said = gettext("The elements of this file are nested too deeply for a schedule.")
        elif root.tag != "schedule":
            said = gettext("This is no schedule of frab or pretalx: it does not begin with <schedule>.")
        else:
            return _schedule(root)
    findings.problem(Where(source.name), "", said)
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


def _schedule(root: Element) -> dict[str, Any]:
    conference: dict[str, Any] = {}
    for part in root.findall("conference/*"):
        if part.tag != "track":
            conference[part.tag] = part.text or ""
    conference["days"] = [_day(one) for one in root.findall("day")]
    return {"base_url": conference.get("base_url") or root.findtext("url") or "", "conference": conference}


def _day(one: Element) -> dict[str, Any]:
    rooms: dict[str, list[Any]] = {}
    for room in one.findall("room"):
        rooms.setdefault(room.get("name", ""), []).extend(_event(event) for event in room.findall("event"))
    return {"date": one.get("date"), "day_start": one.get("start", ""), "rooms": rooms}


def _event(event: Element) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": _number(event.get("id")),
        "guid": event.get("guid"),
        "code": event.get("code"),
    }
    for part in event:
        name = LISTS.get(part.tag)
        if name == "person":
            found[part.tag] = [
                {"id": _number(one.get("id")), "code": one.get("code"), "name": one.text or ""}
                for one in part.findall(name)
            ]
        elif name:
            found[part.tag] = [
                {"url": one.get("href", ""), "type": one.get("type", ""), "title": one.text or ""}
                for one in part.findall(name)
            ]
        else:
            found[part.tag] = part.text or ""
    return found


def _number(value: str | None) -> int | str | None:
    """Return a number of plain digits; anything else as it stands, to be told."""
    return (
        int(value) if value and value.isascii() and value.isdecimal() and len(value) < 19 else value or None
    )
