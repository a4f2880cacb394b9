"""Tests of xCal, compared with the iCalendar of the same program."""

from typing import Any
from xml.etree import ElementTree

import icalendar
import pytest
from hypothesis import given, settings

from exchange.files import Context
from exchange.formats import ics, xcal
from exchange.records import Program
from tests.exchange.outputs import written_content
from tests.exchange.programs import START, complete_program, program, program_with_papers, session
from tests.exchange.strategies import programs

CONTEXT = Context("2021", 2021, "America/Los_Angeles", "https://conf.example/")
SPACE = "{urn:ietf:params:xml:ns:icalendar-2.0}"
COMPARED = ("uid", "summary", "description", "location", "url", "status", "sequence")


def values(parent: ElementTree.Element) -> dict[str, list[str]]:
    """Return the values of a component's properties, without their parameters."""
    found = {}
    for prop in parent.findall(f"{SPACE}properties/*"):
        inner = [part.text or "" for part in prop if part.tag != f"{SPACE}parameters"]
        found[prop.tag.removeprefix(SPACE)] = inner
    return found


def compared(made: Program) -> None:
    root = ElementTree.fromstring(written_content(xcal.write, made, CONTEXT))  # noqa: S314 - made here
    calendar = icalendar.Calendar.from_ical(written_content(ics.write, made, CONTEXT))
    twins = [values(event) for event in root.iter(f"{SPACE}vevent")]

    assert [{name: one.get(name, [""]) for name in COMPARED} for one in twins] == [
        {name: [plain(str(event.get(name, "")))] for name in COMPARED} for event in calendar.events
    ]
    assert [one["dtstart"] for one in twins] == [[at(event["DTSTART"])] for event in calendar.events]
    assert [one.get("dtend") for one in twins] == [
        [at(event["DTEND"])] if "DTEND" in event else None for event in calendar.events
    ]


def at(time: Any) -> str:
    """Return a time of iCalendar as xCal writes it: wall time, with Z if it is UTC."""
    return f"{time.dt:%Y-%m-%dT%H:%M:%S}{'' if 'TZID' in time.params else 'Z'}"


def plain(value: str) -> str:
    return value.replace("\ufffe", "").replace("\uffff", "")


@pytest.mark.parametrize(
    "made", [complete_program(), program_with_papers(3), Program()], ids=["complete", "papers", "none"]
)
def test_trap_1_and_2_calendar_is_the_same_as_the_ics(made: Program) -> None:
    compared(made)


@settings(max_examples=25, deadline=None)
@given(programs())
def test_any_calendar_is_the_same_as_the_ics(made: Program) -> None:
    compared(made)


def test_times_name_their_zone_which_comes_along() -> None:
    root = ElementTree.fromstring(written_content(xcal.write, program_with_papers(1), CONTEXT))  # noqa: S314 - made here
    zone = root.find(f".//{SPACE}vtimezone/{SPACE}properties/{SPACE}tzid/{SPACE}text")
    named = root.find(f".//{SPACE}vevent//{SPACE}dtstart/{SPACE}parameters/{SPACE}tzid/{SPACE}text")

    assert zone is not None
    assert named is not None
    assert zone.text == named.text == "America/Los_Angeles"


def test_control_characters_break_no_file() -> None:
    compared(program(sessions=(session("s1", title="\x07<&>", abstract="]]>", end=START),)))
