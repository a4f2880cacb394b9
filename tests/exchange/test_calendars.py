"""Tests of calendars of one talk, paper, session or person: events of the full calendar, few queries."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from people.models import Person, PersonName
from tests import factories as make
from tests.website.sample_program import MARKER, add_hidden_rows, make_public_program

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def events_by_uid(client: Client, path: str) -> dict[str, bytes]:
    """Return the events of a calendar as raw bytes, by UID."""
    response = client.get(path)
    assert response.status_code == 200, path
    blocks = [block.partition(b"END:VEVENT")[0] for block in response.getvalue().split(b"BEGIN:VEVENT")[1:]]
    return {block.partition(b"UID:")[2].partition(b"@")[0].decode(): block for block in blocks}


def add_talks(session: Any, person: Person, count: int) -> None:
    """Add talks with their own times, rooms, speakers and authors; the second of each pair is canceled."""
    edition = session.edition
    for number in range(count):
        paper = make.make_paper(edition, ["Li"], uid=f"q{number}", title=f"A $x$; b {number}")
        make.add_author(paper, person, name="Ada Byron")
        room = make.make_room(edition, f"Hall {number}", virtual=bool(number % 2))
        fields: dict[str, Any] = {"start": session.start, "end": session.start + HOUR, "room": room}
        make.make_presentation(session, paper, uid=f"x{number}", board="B, 7", **fields)
        fields |= {"status": "cancelled", "cancellation_reason": "Ill.", "abstract": "Word " * 200}
        make.make_presentation(session, paper, [person, "Bo"], uid=f"y{number}", **fields)


@pytest.fixture
def public_program() -> dict[str, Any]:
    """Create a public program with a workshop, a session in it, talks, and a name that was hidden later."""
    program = make_public_program()
    edition, person = program["edition"], program["person"]
    Edition.objects.filter(pk=edition.pk).update(venue="Halle, Süd")
    workshop = make.make_session(edition, uid="whole", kind="workshop", title="Whole", status="cancelled")
    program["part"] = make.make_session(edition, uid="part", parent=workshop, room=program["room"])
    make.add_role(program["part"], person, "chair", name="Ada Byron")
    add_talks(program["part"], person, 2)
    PersonName.objects.create(person=person, name="ADA BYRON", hidden=True)
    return program


CALENDAR_EVENTS = [
    ("/2021/presentations/x0.ics", ["presentation.2021.x0"]),
    ("/2021/presentations/y1.ics", ["presentation.2021.y1"]),
    ("/2021/papers/q1.ics", ["presentation.2021.x1", "presentation.2021.y1"]),
    ("/2021/sessions/t1.ics", ["session.2021.t1"]),
    (
        "/2021/sessions/whole.ics",
        [
            *(f"presentation.2021.{uid}" for uid in ("x0", "x1", "y0", "y1")),
            "session.2021.part",
            "session.2021.whole",
        ],
    ),
]


@pytest.mark.usefixtures("public_program")
def test_events_equal_those_of_the_full_calendar(client: Client, subtests: pytest.Subtests) -> None:
    full_calendar = events_by_uid(client, "/2021/schedule.ics")
    for path, expected in CALENDAR_EVENTS:
        with subtests.test(path=path):
            assert events_by_uid(client, path) == {uid: full_calendar[uid] for uid in expected}


@pytest.mark.usefixtures("public_program")
def test_person_calendar_has_the_events_of_the_full_calendar(client: Client) -> None:
    all_events = events_by_uid(client, "/2021/schedule.ics") | events_by_uid(client, "/2021/papers/p1.ics")
    calendar = events_by_uid(client, "/people/ada.ics")
    talks = ("a1", "x0", "x1", "y0", "y1")
    expected = [*(f"presentation.2021.{uid}" for uid in talks), "session.2021.part", "session.2021.t1"]

    assert calendar == {uid: all_events[uid] for uid in expected}


def test_hidden_name_is_in_no_calendar(client: Client, public_program: dict[str, Any]) -> None:
    add_hidden_rows(
        public_program["edition"], public_program["paper"], public_program["person"], public_program["part"]
    )
    for path in ("/2021/presentations/x0.ics", "/2021/sessions/part.ics", "/people/ada.ics"):
        content = client.get(path).getvalue().replace(b"\r\n ", b"")
        assert b"Ada Lovelace" in content
        assert b"Byron" not in content
        assert MARKER.encode() not in content


def test_calendar_of_a_hidden_presentation_is_404(client: Client, public_program: dict[str, Any]) -> None:
    add_hidden_rows(
        public_program["edition"], public_program["paper"], public_program["person"], public_program["part"]
    )
    paths = (f"/2021/presentations/{uid}.ics" for uid in ("none", f"{MARKER.lower()}-a"))

    assert {client.get(path).status_code for path in paths} == {404}


QUERY_COUNTS = {
    "presentations/x0.ics": 12,
    "papers/q0.ics": 12,
    "sessions/part.ics": 13,
    "schedule.ics": 12,
    "schedule.xml": 33,
    "schedule.xcal": 12,
}


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("path", QUERY_COUNTS)
def test_query_count_is_the_same_for_1_and_3_rows(client: Client, path: str, count: int) -> None:
    person = make.make_person("Ada Lovelace", uid="ada")
    for year in range(2021, 2021 + count):
        session = make.make_session(make.make_edition(year), uid="part", parent=None)
        make.add_role(session, person, "chair")
        add_talks(session, person, count)
    with CaptureQueriesContext(connection) as queries:
        client.get(f"/2021/{path}").getvalue()

    assert len(queries) == QUERY_COUNTS[path]


@pytest.mark.parametrize("count", [1, 3])
def test_person_query_count_is_the_same_for_1_and_3_rows(client: Client, count: int) -> None:
    person = make.make_person("Ada Lovelace", uid="ada")
    for year in range(2021, 2023):
        add_talks(make.make_session(make.make_edition(year), uid="part"), person, count)
    make.make_edition(2023)
    with CaptureQueriesContext(connection) as queries:
        client.get("/people/ada.ics").getvalue()

    assert len(queries) == 26
