"""From the one object that both files come to, conference and days, to a program."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from exchange.files import Context, Source
from exchange.formats.frab.raw import Raw, is_too_large
from exchange.formats.frab.reading import EventReader, host_or
from exchange.problems import Where
from exchange.reading.checks import check
from exchange.reading.fields import UnfitError, day, zone_called
from exchange.reading.findings import Findings, short
from exchange.reading.zones import zone_of
from exchange.records import Program

type Loading = Callable[[Source, Findings], dict[str, Any] | None]


def read_one(sources: Sequence[Source], context: Context, load: Loading) -> Program:
    """Read one file. `load` returns {"base_url", "conference": {…, "days": […]}}, or tells why it cannot."""
    findings, program = Findings(), Program()
    if len(sources) != 1:
        said = gettext("Give one file of this format, not %(sources)s.") % {"sources": len(sources)}
        findings.problem(Where(), "", said)
    elif not is_too_large(sources[0], findings):
        schedule = load(sources[0], findings)
        if schedule is not None:
            program = _program(Raw(schedule, Where(sources[0].name, "schedule"), findings), context, findings)
    findings.settle()
    return program


def _program(schedule: Raw, context: Context, findings: Findings) -> Program:
    inner = schedule.content.get("conference")
    if not isinstance(inner, dict) or not isinstance(inner.get("days"), list):
        schedule.problem(
            "conference.days", gettext("This is no schedule of frab or pretalx: it has no days.")
        )
        return Program()
    conference = Raw(inner, Where(schedule.where.file, "conference"), findings)
    zone = _zone(conference, context, findings)
    host = host_or(schedule.line("base_url") or conference.line("url"), conference.line("acronym"))
    reader = EventReader(findings, zone, host)
    for room in conference.parts("rooms"):
        reader.add_room(room.text("name"), room.number("capacity"))
    for one in conference.parts("days"):
        for name, event, own, begin in _events(one, zone):
            reader.add(event, name, own, begin)
    program = reader.program()
    check(program, findings)
    return program


def _zone(conference: Raw, context: Context, findings: Findings) -> ZoneInfo:
    """Return the zone of times without offset: the file's own. If it is not the edition's, that is told."""
    ours, name = zone_of(Program(), context), conference.line("time_zone_name")
    try:
        own = zone_called(name) if name else ours
    except UnfitError as error:
        conference.problem("time_zone_name", str(error))
        return ours
    if own != ours:
        said = gettext("The times of the file are those of %(theirs)s, the edition has the zone %(ours)s.")
        findings.note("warning", conference.where, said % {"theirs": own, "ours": ours})
    return own


def _events(one: Raw, zone: ZoneInfo) -> Iterator[tuple[str, Raw, date | None, time]]:
    """Walk the events of a day: the room that they stand under, the event, the day, when it begins."""
    own, begin = _day(one), time()
    try:
        begin = datetime.fromisoformat(one.line("day_start")).astimezone(zone).time()
    except (ValueError, OverflowError):
        begin = time()
    rooms = one.content.get("rooms")
    if not isinstance(rooms, dict):
        one.problem("rooms", gettext("This must be an object of room name -> list of events."))
        return
    for name, events in rooms.items():
        place = f"{one.where.place}.rooms.{short(name)}"
        inside = Raw({"": events}, Where(one.where.file, place), one.findings)
        for index, event in enumerate(inside.parts("")):
            where = Where(one.where.file, f"{place}[{index}]{_called(event)}")
            yield name, Raw(event.content, where, one.findings), own, begin


def _called(event: Raw) -> str:
    title = event.content.get("title")
    return f" ({short(title)})" if isinstance(title, str) and title else ""


def _day(one: Raw) -> date | None:
    try:
        return day(one.line("date")) if one.content.get("date") else None
    except UnfitError as error:
        one.problem("date", str(error))
        return None
