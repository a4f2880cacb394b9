"""Tests of frab schedules for apps: valid by both schemas, with the expected content, for any program."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema
from hypothesis import given, settings

from exchange.files import Context
from exchange.formats import frab_json, frab_xml
from exchange.formats.frab.schedule import FIRST_NUMBER, LAST_NUMBER, assign_numbers, number_of_guid
from exchange.records import (
    MaterialRecord,
    PersonRef,
    Program,
    RoleRecord,
    RoomRecord,
    SpeakerRecord,
    TopicRecord,
)
from tests.exchange.outputs import written_content
from tests.exchange.programs import (
    HOUR,
    START,
    author,
    complete_program,
    edition,
    paper,
    program,
    program_with_papers,
    session,
    talk,
)
from tests.exchange.strategies import programs

SHARED = Path(__file__).parents[4] / "shared" / "data" / "frab"
SITE = "https://conf.example/"
CONTEXT = Context("2021", 2021, "America/Los_Angeles", SITE)
BERLIN = Context("2026", 2026, "Europe/Berlin", SITE)


def written_text(input_program: Program, fmt: Any = frab_json, context: Context = CONTEXT) -> str:
    return written_content(fmt.write, input_program, context).decode()


def written_conference(input_program: Program, context: Context = CONTEXT) -> dict[str, Any]:
    conference: dict[str, Any] = json.loads(written_text(input_program, context=context))["schedule"][
        "conference"
    ]
    return conference


def written_events(input_program: Program, context: Context = CONTEXT) -> list[dict[str, Any]]:
    days = written_conference(input_program, context)["days"]
    return [event for day in days for room in day["rooms"].values() for event in room]


def written_event(input_program: Program) -> dict[str, Any]:
    (event,) = written_events(input_program)
    return event


def written_xml(input_program: Program, context: Context = CONTEXT) -> ElementTree.Element:
    return ElementTree.fromstring(written_text(input_program, frab_xml, context))  # noqa: S314 - written by this test


def program_with_talks() -> Program:
    """Return an oral session of two talks with times, and a poster session of two posters without times."""
    mia = author("Mia Zed", "mia", presenting=True)
    papers = (
        paper("p1", "Abe Li", mia, title="On $n$", topic="ml", abstract="First.\n\nSecond."),
        paper("p2", "Abe Li", title="Two"),
    )
    hall = RoomRecord(slug="hall", name="Hall A", capacity=90)
    chair = RoleRecord(person=PersonRef(name="Cy Lee"), role="chair")
    return program(
        *papers,
        edition=edition(),
        topics=(TopicRecord(slug="ml", name="Learning"),),
        rooms=(hall, RoomRecord(slug="b", name="B")),
        sessions=(
            session("o", kind="oral", title="Oral 1", room="hall", roles=(chair,)),
            session("q", kind="poster", title="Posters", room="b", abstract="Come."),
        ),
        presentations=(
            talk("o1", paper="p1", session="o", start=START, end=START + HOUR / 4),
            talk("o2", paper="p2", session="o", start=START + HOUR / 4, end=START + HOUR / 2),
            talk("q1", kind="poster", paper="p1", session="q", board="#7"),
            talk("q2", kind="poster", paper="p2", session="q"),
        ),
    )


# Validity


def assert_required_parts(input_program: Program, context: Context = CONTEXT) -> None:
    """Check the parts that apps require, as far as possible without the schemas."""
    json_events, days = (
        written_events(input_program, context),
        written_xml(input_program, context).findall("day"),
    )
    xml_events = [event for day in days for event in day.iter("event")]

    assert [event["guid"] for event in json_events] == [event.get("guid") for event in xml_events]
    assert [str(event["id"]) for event in json_events] == [event.get("id") for event in xml_events]
    for key in ("guid", "id", "slug"):
        assert len({event[key] for event in json_events}) == len(json_events)
    assert all(datetime.fromisoformat(event["date"]).tzinfo for event in json_events)
    assert [event.findtext("date") for event in xml_events] == [event["date"] for event in json_events]
    assert all(0 < event["id"] < 2**31 and event["title"] and event["room"] for event in json_events)
    assert [day.get("index") for day in days] == [str(n + 1) for n in range(len(days))] != []


@settings(max_examples=25, deadline=None)
@given(programs())
def test_files_of_any_program_have_the_parts_that_apps_require(input_program: Program) -> None:
    assert_required_parts(input_program)


@pytest.mark.shared
@settings(max_examples=25, deadline=None)
@given(programs())
def test_any_program_is_valid_by_both_schemas(input_program: Program) -> None:
    assert_valid(input_program)


SCHEMAS: list[Any] = []


def assert_valid(input_program: Program) -> None:
    if not SCHEMAS:
        SCHEMAS.append(xmlschema.XMLSchema(str(SHARED / "schedule.xsd")))
        SCHEMAS.append(jsonschema.Draft6Validator(json.loads((SHARED / "schedule.schema.json").read_text())))
    schedule = json.loads(written_text(input_program))

    assert [str(error) for error in SCHEMAS[1].iter_errors(schedule)] == []
    assert [str(error) for error in SCHEMAS[0].iter_errors(written_text(input_program, frab_xml))] == []


@pytest.mark.shared
@pytest.mark.parametrize(
    "input_program",
    [complete_program(), program_with_papers(3), program_with_talks(), Program()],
    ids=["complete", "papers", "talks", "none"],
)
def test_sample_program_is_valid_by_both_schemas(input_program: Program) -> None:
    assert_valid(input_program)
    assert_required_parts(input_program)


# Content


def test_oral_session_becomes_events_of_its_talks_and_poster_session_one_event() -> None:
    first, posters, second = sorted(
        written_events(program_with_talks()), key=lambda event: (event["date"], event["title"])
    )[:3]

    assert [event["title"] for event in (first, posters, second)] == ["On n", "Posters", "Two"]
    assert {key: first[key] for key in ("start", "duration", "room", "track", "type", "language")} == {
        "start": "08:00",
        "duration": "00:15",
        "room": "Hall A",
        "track": "Learning",
        "type": "oral",
        "language": None,
    }
    assert [person["name"] for person in first["persons"]] == ["Mia Zed"]
    assert first["abstract"] == "First."
    assert first["description"] == "Second.\n\nSession: Oral 1\n\nChair: Cy Lee"
    assert posters["abstract"] == "Come."
    assert posters["description"].split("\n") == [
        "- #7 [On n](https://conf.example/2021/papers/p1/)",
        "- [Two](https://conf.example/2021/papers/p2/)",
    ]


def test_event_has_the_language_of_its_session() -> None:
    input_program = program_with_talks()
    german = replace(
        input_program, sessions=tuple(replace(session, language="de") for session in input_program.sessions)
    )

    assert {event["language"] for event in written_events(german)} == {"de"}
    assert {event.findtext("language") for event in written_xml(german).iter("event")} == {"de"}
    assert {event.findtext("language") for event in written_xml(input_program).iter("event")} == {""}


def test_conference_lists_zone_rooms_tracks_and_days() -> None:
    conference = written_conference(program_with_talks())

    assert (conference["acronym"], conference["title"]) == ("mlsys2021", "MLSys 2021")
    assert (conference["start"], conference["end"], conference["daysCount"]) == (
        "2021-04-05",
        "2021-04-09",
        5,
    )
    assert conference["time_zone_name"] == "America/Los_Angeles"
    assert [(room["name"], room["capacity"]) for room in conference["rooms"]] == [("Hall A", 90), ("B", None)]
    assert conference["tracks"] == [{"name": "Learning", "slug": "learning"}]
    assert written_xml(program_with_talks()).findtext("conference/time_zone_name") == "America/Los_Angeles"


def test_talk_has_attachments_and_links_of_visible_materials() -> None:
    materials = (
        MaterialRecord(kind="slides", url="https://a.test/s.pdf"),
        MaterialRecord(kind="code", url="https://a.test/c", label="Our code"),
        MaterialRecord(kind="data", url="javascript:alert(1)"),
        MaterialRecord(kind="video", url="https://a.test/v", visible=False),
    )
    paper_record = paper("p1", "Abe Li", title="T", materials=materials)
    input_program = program(
        paper_record, sessions=(session("s", title="T", stream_url="https://a.test/live"),)
    )
    event = written_event(replace(input_program, presentations=(talk("x", paper="p1", session="s"),)))

    assert event["attachments"] == [{"type": "slides", "url": "https://a.test/s.pdf", "title": "Slides"}]
    assert [(link["title"], link["url"]) for link in event["links"]] == [
        ("Stream", "https://a.test/live"),
        ("Our code", "https://a.test/c"),
    ]


def test_schedule_has_the_version_of_the_last_release() -> None:
    context = replace(CONTEXT, version=lambda: "3 Final")

    assert json.loads(written_text(program_with_talks(), context=context))["schedule"]["version"] == "3 Final"
    assert written_xml(program_with_talks(), context).findtext("version") == "3 Final"
    assert written_xml(program_with_talks()).findtext("version") == "0"


# Traps


@pytest.mark.parametrize("fmt", [frab_json, frab_xml])
def test_trap_1_and_2_times_have_the_offset_of_their_day(fmt: Any) -> None:
    days = (datetime(2026, 3, 28, 9, tzinfo=UTC), datetime(2026, 3, 29, 8, tzinfo=UTC))
    input_program = Program(
        sessions=tuple(session(f"s{n}", start=day, end=day + HOUR) for n, day in enumerate(days))
    )
    content = written_text(input_program, fmt, BERLIN)

    assert "2026-03-28T10:00:00+01:00" in content
    assert "2026-03-29T10:00:00+02:00" in content
    assert [event["start"] for event in written_events(input_program, BERLIN)] == ["10:00", "10:00"]
    assert [datetime.fromisoformat(event["date"]) for event in written_events(input_program, BERLIN)] == list(
        days
    )


def test_trap_3_event_after_midnight_is_on_the_previous_day() -> None:
    late = datetime(2021, 4, 7, 7, 30, tzinfo=UTC)  # 00:30 in Los Angeles
    input_program = program(edition=edition(), sessions=(session("late", start=late, end=late + HOUR),))
    event_counts = {
        day["date"]: sum(map(len, day["rooms"].values())) for day in written_conference(input_program)["days"]
    }
    (day,) = [day for day in written_xml(input_program).findall("day") if day.find("room/event") is not None]

    assert event_counts == {f"2021-04-0{n}": int(n == 6) for n in range(5, 10)}
    assert written_event(input_program)["date"] == "2021-04-07T00:30:00-07:00"
    assert {key: day.get(key) for key in ("date", "start", "end", "index")} == {
        "date": "2021-04-06",
        "start": "2021-04-06T04:00:00-07:00",
        "end": "2021-04-07T04:00:00-07:00",
        "index": "2",
    }


def test_trap_4_and_20_guid_id_and_slug_are_stable_and_differ_by_edition() -> None:
    before = program_with_talks()
    moved = replace(
        before,
        sessions=tuple(replace(session, title="Other", room="b", abstract="") for session in before.sessions),
        presentations=tuple(
            replace(presentation, position=9, room=None) for presentation in before.presentations
        ),
    )
    keys = ("guid", "id", "slug")
    identities = [
        {tuple(event[key] for key in keys) for event in written_events(input_program)}
        for input_program in (before, moved)
    ]
    next_year = {
        tuple(event[key] for key in keys)
        for event in written_events(before, replace(CONTEXT, edition="2022"))
    }

    assert identities[0] == identities[1]
    assert len(identities[0]) == 3
    assert not identities[0] & next_year


def test_trap_20_event_with_a_taken_number_gets_another() -> None:
    first, second = "00000000-0000-0000-0000-000000000000", str(UUID(int=LAST_NUMBER - FIRST_NUMBER))

    assert number_of_guid(first) == number_of_guid(second) == FIRST_NUMBER
    assert assign_numbers([first, second]) == {first: FIRST_NUMBER, second: FIRST_NUMBER + 2}
    assert assign_numbers([second, first]) == {second: FIRST_NUMBER, first: FIRST_NUMBER + 2}
    assert assign_numbers([first], odd=True) == {first: FIRST_NUMBER + 1}


def test_trap_20_numbers_are_assigned_in_order_of_all_uids_including_drafts() -> None:
    published, draft = (str(UUID(int=key * (LAST_NUMBER - FIRST_NUMBER))) for key in (1, 2))
    input_program = program(sessions=(session(published, title="Mine"),))
    context = replace(CONTEXT, uids=lambda kind: [draft, published] if kind == "session" else [])

    assert [(event["guid"], event["id"]) for event in written_events(input_program)] == [
        (published, FIRST_NUMBER)
    ]
    assert [(event["guid"], event["id"]) for event in written_events(input_program, context)] == [
        (published, FIRST_NUMBER + 2)
    ]


def test_canceled_event_has_its_guid_and_reason() -> None:
    canceled = session("s1", status="cancelled", cancellation_reason="The room leaks.", abstract="Why.")
    event = written_event(program(sessions=(canceled,)))

    assert event["guid"] == written_event(program(sessions=(session("s1"),)))["guid"]
    assert (event["title"], event["abstract"]) == ("Cancelled: Session s1", "Cancelled: The room leaks.")


@pytest.mark.parametrize(
    ("minutes", "duration", "xml_duration"), [(0, "00:00", "00:00"), (10_000, "166:40", "99:59")]
)
def test_control_characters_and_extreme_durations_are_written_validly(
    minutes: int, duration: str, xml_duration: str
) -> None:
    session_record = session(
        "s1", title="\x00\x07<&>\ufffe", abstract="]]>\x0b\r\n\x1b", end=START + timedelta(minutes=minutes)
    )
    event, xml_event = (
        written_event(program(sessions=(session_record,))),
        written_xml(program(sessions=(session_record,))).find(".//event"),
    )

    assert (event["title"], event["abstract"], event["room"]) == ("<&>", "]]>", "No room")
    assert (event["duration"], datetime.fromisoformat(event["end"])) == (duration, session_record.end)
    assert xml_event is not None
    assert (xml_event.findtext("title"), xml_event.findtext("duration")) == ("<&>", xml_duration)


def test_speaker_has_printed_name_and_page() -> None:
    speaker = SpeakerRecord(person=PersonRef(name="B. O.", uid="bo"))
    event = written_event(program(presentations=(talk("t", title="T", start=START, speakers=(speaker,)),)))

    assert [(person["name"], person["url"]) for person in event["persons"]] == [
        ("B. O.", "https://conf.example/people/bo/")
    ]


def test_edition_without_dates_or_events_has_one_day() -> None:
    assert [day["date"] for day in written_conference(Program())["days"]] == ["2021-01-01"]
    assert (
        written_xml(program(edition=edition(start_date=date(2021, 4, 6), end_date=date(2031, 4, 6)))).find(
            "day"
        )
        is not None
    )
