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


def text(made: Program, fmt: Any = frab_json, context: Context = CONTEXT) -> str:
    return written_content(fmt.write, made, context).decode()


def head(made: Program, context: Context = CONTEXT) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text(made, context=context))["schedule"]["conference"]
    return found


def events(made: Program, context: Context = CONTEXT) -> list[dict[str, Any]]:
    days = head(made, context)["days"]
    return [event for day in days for room in day["rooms"].values() for event in room]


def event(made: Program) -> dict[str, Any]:
    (found,) = events(made)
    return found


def xml(made: Program, context: Context = CONTEXT) -> ElementTree.Element:
    return ElementTree.fromstring(text(made, frab_xml, context))  # noqa: S314 - made here


def talks() -> Program:
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


def checked(made: Program, context: Context = CONTEXT) -> None:
    """Check the parts that apps require, as far as possible without the schemas."""
    found, days = events(made, context), xml(made, context).findall("day")
    twins = [one for day in days for one in day.iter("event")]

    assert [one["guid"] for one in found] == [one.get("guid") for one in twins]
    assert [str(one["id"]) for one in found] == [one.get("id") for one in twins]
    for key in ("guid", "id", "slug"):
        assert len({one[key] for one in found}) == len(found)
    assert all(datetime.fromisoformat(one["date"]).tzinfo for one in found)
    assert [one.findtext("date") for one in twins] == [one["date"] for one in found]
    assert all(0 < one["id"] < 2**31 and one["title"] and one["room"] for one in found)
    assert [day.get("index") for day in days] == [str(n + 1) for n in range(len(days))] != []


@settings(max_examples=25, deadline=None)
@given(programs())
def test_any_program_makes_files_that_apps_can_read(made: Program) -> None:
    checked(made)


@pytest.mark.shared
@settings(max_examples=25, deadline=None)
@given(programs())
def test_any_program_is_valid_after_both_schemas(made: Program) -> None:
    assert_valid(made)


SCHEMAS: list[Any] = []


def assert_valid(made: Program) -> None:
    if not SCHEMAS:
        SCHEMAS.append(xmlschema.XMLSchema(str(SHARED / "schedule.xsd")))
        SCHEMAS.append(jsonschema.Draft6Validator(json.loads((SHARED / "schedule.schema.json").read_text())))
    found = json.loads(text(made))

    assert [str(error) for error in SCHEMAS[1].iter_errors(found)] == []
    assert [str(error) for error in SCHEMAS[0].iter_errors(text(made, frab_xml))] == []


@pytest.mark.shared
@pytest.mark.parametrize(
    "made",
    [complete_program(), program_with_papers(3), talks(), Program()],
    ids=["complete", "papers", "talks", "none"],
)
def test_program_is_valid_after_both_schemas(made: Program) -> None:
    assert_valid(made)
    checked(made)


# Content


def test_oral_session_gives_its_talks_and_poster_session_is_one_event() -> None:
    first, posters, second = sorted(events(talks()), key=lambda one: (one["date"], one["title"]))[:3]

    assert [one["title"] for one in (first, posters, second)] == ["On n", "Posters", "Two"]
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


def test_language_is_that_of_the_session_where_it_is_known() -> None:
    made = talks()
    german = replace(made, sessions=tuple(replace(one, language="de") for one in made.sessions))

    assert {one["language"] for one in events(german)} == {"de"}
    assert {one.findtext("language") for one in xml(german).iter("event")} == {"de"}
    assert {one.findtext("language") for one in xml(made).iter("event")} == {""}


def test_head_names_zone_rooms_tracks_and_days() -> None:
    found = head(talks())

    assert (found["acronym"], found["title"]) == ("mlsys2021", "MLSys 2021")
    assert (found["start"], found["end"], found["daysCount"]) == ("2021-04-05", "2021-04-09", 5)
    assert found["time_zone_name"] == "America/Los_Angeles"
    assert [(room["name"], room["capacity"]) for room in found["rooms"]] == [("Hall A", 90), ("B", None)]
    assert found["tracks"] == [{"name": "Learning", "slug": "learning"}]
    assert xml(talks()).findtext("conference/time_zone_name") == "America/Los_Angeles"


def test_links_and_files_of_a_talk() -> None:
    materials = (
        MaterialRecord(kind="slides", url="https://a.test/s.pdf"),
        MaterialRecord(kind="code", url="https://a.test/c", label="Our code"),
        MaterialRecord(kind="data", url="javascript:alert(1)"),
        MaterialRecord(kind="video", url="https://a.test/v", visible=False),
    )
    shown = paper("p1", "Abe Li", title="T", materials=materials)
    made = program(shown, sessions=(session("s", title="T", stream_url="https://a.test/live"),))
    found = event(replace(made, presentations=(talk("x", paper="p1", session="s"),)))

    assert found["attachments"] == [{"type": "slides", "url": "https://a.test/s.pdf", "title": "Slides"}]
    assert [(link["title"], link["url"]) for link in found["links"]] == [
        ("Stream", "https://a.test/live"),
        ("Our code", "https://a.test/c"),
    ]


def test_version_is_that_of_the_last_release() -> None:
    context = replace(CONTEXT, version=lambda: "3 Final")

    assert json.loads(text(talks(), context=context))["schedule"]["version"] == "3 Final"
    assert xml(talks(), context).findtext("version") == "3 Final"
    assert xml(talks()).findtext("version") == "0"


# Traps


@pytest.mark.parametrize("fmt", [frab_json, frab_xml])
def test_trap_1_and_2_times_carry_the_offset_of_their_day(fmt: Any) -> None:
    days = (datetime(2026, 3, 28, 9, tzinfo=UTC), datetime(2026, 3, 29, 8, tzinfo=UTC))
    made = Program(sessions=tuple(session(f"s{n}", start=day, end=day + HOUR) for n, day in enumerate(days)))
    content = text(made, fmt, BERLIN)

    assert "2026-03-28T10:00:00+01:00" in content
    assert "2026-03-29T10:00:00+02:00" in content
    assert [one["start"] for one in events(made, BERLIN)] == ["10:00", "10:00"]
    assert [datetime.fromisoformat(one["date"]) for one in events(made, BERLIN)] == list(days)


def test_trap_3_talk_after_midnight_belongs_to_the_evening_before() -> None:
    late = datetime(2021, 4, 7, 7, 30, tzinfo=UTC)  # 00:30 in Los Angeles
    made = program(edition=edition(), sessions=(session("late", start=late, end=late + HOUR),))
    days = {day["date"]: sum(map(len, day["rooms"].values())) for day in head(made)["days"]}
    (day,) = [one for one in xml(made).findall("day") if one.find("room/event") is not None]

    assert days == {f"2021-04-0{n}": int(n == 6) for n in range(5, 10)}
    assert event(made)["date"] == "2021-04-07T00:30:00-07:00"
    assert {key: day.get(key) for key in ("date", "start", "end", "index")} == {
        "date": "2021-04-06",
        "start": "2021-04-06T04:00:00-07:00",
        "end": "2021-04-07T04:00:00-07:00",
        "index": "2",
    }


def test_trap_4_and_20_guid_id_and_slug_outlive_every_change() -> None:
    before = talks()
    moved = replace(
        before,
        sessions=tuple(replace(one, title="Other", room="b", abstract="") for one in before.sessions),
        presentations=tuple(replace(one, position=9, room=None) for one in before.presentations),
    )
    keys = ("guid", "id", "slug")
    found = [{tuple(one[key] for key in keys) for one in events(made)} for made in (before, moved)]
    later = {tuple(one[key] for key in keys) for one in events(before, replace(CONTEXT, edition="2022"))}

    assert found[0] == found[1]
    assert len(found[0]) == 3
    assert not found[0] & later


def test_trap_20_newcomer_moves_no_number_though_both_have_the_same() -> None:
    first, other = "00000000-0000-0000-0000-000000000000", str(UUID(int=LAST_NUMBER - FIRST_NUMBER))

    assert number_of_guid(first) == number_of_guid(other) == FIRST_NUMBER
    assert assign_numbers([first, other]) == {first: FIRST_NUMBER, other: FIRST_NUMBER + 2}
    assert assign_numbers([other, first]) == {other: FIRST_NUMBER, first: FIRST_NUMBER + 2}
    assert assign_numbers([first], odd=True) == {first: FIRST_NUMBER + 1}


def test_trap_20_oldest_of_the_edition_are_numbered_first_drafts_too() -> None:
    mine, draft = (str(UUID(int=key * (LAST_NUMBER - FIRST_NUMBER))) for key in (1, 2))
    made = program(sessions=(session(mine, title="Mine"),))
    known = replace(CONTEXT, uids=lambda kind: [draft, mine] if kind == "session" else [])

    assert [(one["guid"], one["id"]) for one in events(made)] == [(mine, FIRST_NUMBER)]
    assert [(one["guid"], one["id"]) for one in events(made, known)] == [(mine, FIRST_NUMBER + 2)]


def test_cancelled_event_stays_and_says_so() -> None:
    gone = session("s1", status="cancelled", cancellation_reason="The room leaks.", abstract="Why.")
    found = event(program(sessions=(gone,)))

    assert found["guid"] == event(program(sessions=(session("s1"),)))["guid"]
    assert (found["title"], found["abstract"]) == ("Cancelled: Session s1", "Cancelled: The room leaks.")


@pytest.mark.parametrize(("minutes", "words", "in_xml"), [(0, "00:00", "00:00"), (10_000, "166:40", "99:59")])
def test_odd_event_breaks_no_file(minutes: int, words: str, in_xml: str) -> None:
    odd_one = session(
        "s1", title="\x00\x07<&>\ufffe", abstract="]]>\x0b\r\n\x1b", end=START + timedelta(minutes=minutes)
    )
    found, twin = event(program(sessions=(odd_one,))), xml(program(sessions=(odd_one,))).find(".//event")

    assert (found["title"], found["abstract"], found["room"]) == ("<&>", "]]>", "No room")
    assert (found["duration"], datetime.fromisoformat(found["end"])) == (words, odd_one.end)
    assert twin is not None
    assert (twin.findtext("title"), twin.findtext("duration")) == ("<&>", in_xml)


def test_people_are_speakers_as_printed() -> None:
    own = SpeakerRecord(person=PersonRef(name="B. O.", uid="bo"))
    found = event(program(presentations=(talk("t", title="T", start=START, speakers=(own,)),)))

    assert [(one["name"], one["url"]) for one in found["persons"]] == [
        ("B. O.", "https://conf.example/people/bo/")
    ]


def test_edition_without_dates_or_events_has_a_day() -> None:
    assert [day["date"] for day in head(Program())["days"]] == ["2021-01-01"]
    assert (
        xml(program(edition=edition(start_date=date(2021, 4, 6), end_date=date(2031, 4, 6)))).find("day")
        is not None
    )
