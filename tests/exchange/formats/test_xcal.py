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
NAMESPACE = "{urn:ietf:params:xml:ns:icalendar-2.0}"
COMPARED_PROPERTIES = ("uid", "summary", "description", "location", "url", "status", "sequence")


def property_values(parent: ElementTree.Element) -> dict[str, list[str]]:
    """Return the values of a component's properties, without their parameters."""
    texts_by_name = {}
    for prop in parent.findall(f"{NAMESPACE}properties/*"):
        texts = [part.text or "" for part in prop if part.tag != f"{NAMESPACE}parameters"]
        texts_by_name[prop.tag.removeprefix(NAMESPACE)] = texts
    return texts_by_name


def assert_same_as_ics(input_program: Program) -> None:
    root = ElementTree.fromstring(written_content(xcal.write, input_program, CONTEXT))  # noqa: S314 - written by this test
    calendar = icalendar.Calendar.from_ical(written_content(ics.write, input_program, CONTEXT))
    xcal_events = [property_values(event) for event in root.iter(f"{NAMESPACE}vevent")]

    assert [
        {name: xcal_event.get(name, [""]) for name in COMPARED_PROPERTIES} for xcal_event in xcal_events
    ] == [
        {name: [without_noncharacters(str(event.get(name, "")))] for name in COMPARED_PROPERTIES}
        for event in calendar.events
    ]
    assert [xcal_event["dtstart"] for xcal_event in xcal_events] == [
        [xcal_time(event["DTSTART"])] for event in calendar.events
    ]
    assert [xcal_event.get("dtend") for xcal_event in xcal_events] == [
        [xcal_time(event["DTEND"])] if "DTEND" in event else None for event in calendar.events
    ]


def xcal_time(prop: Any) -> str:
    """Return a time of iCalendar as xCal writes it: wall time, with Z if it is UTC."""
    return f"{prop.dt:%Y-%m-%dT%H:%M:%S}{'' if 'TZID' in prop.params else 'Z'}"


def without_noncharacters(text: str) -> str:
    return text.replace("\ufffe", "").replace("\uffff", "")


@pytest.mark.parametrize(
    "input_program",
    [complete_program(), program_with_papers(3), Program()],
    ids=["complete", "papers", "none"],
)
def test_trap_1_and_2_sample_calendar_is_the_same_as_the_ics(input_program: Program) -> None:
    assert_same_as_ics(input_program)


@settings(max_examples=25, deadline=None)
@given(programs())
def test_any_calendar_is_the_same_as_the_ics(input_program: Program) -> None:
    assert_same_as_ics(input_program)


def test_times_refer_to_a_zone_in_the_file() -> None:
    root = ElementTree.fromstring(written_content(xcal.write, program_with_papers(1), CONTEXT))  # noqa: S314 - written by this test
    defined_zone = root.find(f".//{NAMESPACE}vtimezone/{NAMESPACE}properties/{NAMESPACE}tzid/{NAMESPACE}text")
    used_zone = root.find(
        f".//{NAMESPACE}vevent//{NAMESPACE}dtstart/{NAMESPACE}parameters/{NAMESPACE}tzid/{NAMESPACE}text"
    )

    assert defined_zone is not None
    assert used_zone is not None
    assert defined_zone.text == used_zone.text == "America/Los_Angeles"


def test_control_characters_are_the_same_as_in_the_ics() -> None:
    assert_same_as_ics(program(sessions=(session("s1", title="\x07<&>", abstract="]]>", end=START),)))
