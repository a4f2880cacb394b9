"""Writing sessions and presentations over REST: times, rooms, people and clashes."""

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from papers.models import Paper
from schedule.models import Presentation, Session
from tests import factories as make
from tests.api.writing import Writer
from tests.schedule.unreleased.waiting import open_plan

pytestmark = pytest.mark.django_db
TALK = "presentations/2021/talk/"


@pytest.fixture
def writer() -> Writer:
    return Writer()


@pytest.fixture
def session() -> Session:
    edition = make.make_edition()
    room = make.make_room(edition, slug="hall")
    return make.make_session(edition, uid="morning", room=room, title="Morning")


def test_session_is_created_with_its_people_and_room(writer: Writer, session: Session) -> None:
    make.make_person("Ada Chair", uid="ada")
    body = writer.create(
        "sessions",
        edition="2021",
        id="noon",
        kind="panel",
        title="Noon",
        start="2021-04-06T12:00:00-07:00",
        end="2021-04-06T20:00:00Z",
        room="hall",
        status="published",
        people=[{"person": "ada", "role": "chair"}, {"person": "ada", "role": "speaker"}],
    )

    assert (body["start"], body["end"]) == ("2021-04-06T12:00:00-07:00", "2021-04-06T13:00:00-07:00")
    assert body["room"]["id"] == "hall"
    assert [(role["role"], role["name"]) for role in body["people"]] == [
        ("chair", "Ada Chair"),
        ("speaker", "Ada Chair"),
    ]
    assert body["written"]["start"] == "2021-04-06T12:00:00-07:00"
    assert body["warnings"] == []


def test_clash_is_a_warning_and_does_not_block(writer: Writer, session: Session) -> None:
    body = writer.create(
        "sessions",
        edition="2021",
        id="other",
        title="Other",
        start="2021-04-06T08:30:00-07:00",
        end="2021-04-06T09:30:00-07:00",
        room="hall",
    )

    (warning,) = body["warnings"]
    assert (warning["kind"], warning["severity"]) == ("room", "serious")
    assert "double-booked" in warning["message"]
    assert {(row["kind"], row["id"]) for row in warning["rows"]} == {
        ("sessions", "morning"),
        ("sessions", "other"),
        ("rooms", "hall"),
    }
    assert {row["url"] for row in warning["rows"]} == {
        f"http://127.0.0.1:8000/api/v1/{name}/"
        for name in ("sessions/2021/morning", "sessions/2021/other", "rooms/2021/hall")
    }
    assert writer.patch("sessions/2021/other/", start="2021-04-06T09:00:00-07:00")["warnings"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"start": "2021-04-06T09:00:00"}, "start"),
        ({"start": "2021-04-06"}, "start"),
        ({"start": "9999-12-31T23:59:59-14:00"}, "start"),
        ({"start": "0001-01-01T00:00:00+14:00"}, "start"),
        ({"start": None}, "start"),
        ({"end": "2021-04-06T07:00:00-07:00"}, "end"),
        ({"room": "2022/hall"}, "room"),
        ({"parent": "morning"}, "parent"),
        ({"stream_url": "javascript:alert(1)"}, "stream_url"),
        ({"people": [{"person": "ada", "role": "king"}]}, "people.0.role"),
        ({"day": "2021-04-06"}, "day"),
    ],
)
def test_rejected_session_names_the_field(
    writer: Writer, session: Session, body: dict[str, Any], field: str
) -> None:
    make.make_room(make.make_edition(2022), slug="hall")
    make.make_person("Ada", uid="ada")
    error = writer.patch("sessions/2021/morning/", 400, title="Other", **body)

    assert [*error["errors"]] == [field]
    assert Session.objects.get(uid="morning").title == "Morning"


def test_presentation_is_scheduled_and_moved(writer: Writer, session: Session) -> None:
    make.make_paper(session.edition, ["Ada"], uid="p", title="Notes")
    created = writer.create("presentations", edition="2021", id="talk", paper="p", kind="poster")
    assert (created["start"], created["session"], created["title"]) == (None, None, "Notes")
    scheduled = writer.patch(
        TALK,
        session="morning",
        start="2021-04-06T08:15:00-07:00",
        end="2021-04-06T08:30:00-07:00",
        room="2021/hall",
        board="7",
    )

    talk = Presentation.objects.get(uid="talk")
    assert (talk.session, talk.room, talk.board) == (session, session.room, "7")
    assert scheduled["start"] == "2021-04-06T08:15:00-07:00"
    assert writer.patch(TALK, start=None, end=None)["start"] == "2021-04-06T08:00:00-07:00"
    assert writer.patch(TALK, session=None, room=None)["session"] is None


def test_position_of_a_presentation_shifts_the_others(writer: Writer, session: Session) -> None:
    for uid in ("a", "b", "c"):
        make.make_presentation(session, uid=uid)
    writer.patch("presentations/2021/c/", position=1)
    order = Presentation.objects.order_by("position").values_list("position", "uid")

    assert list(order) == [(1, "c"), (2, "a"), (3, "b")]
    make.make_presentation(make.make_session(session.edition, uid="later"), uid="d")
    assert writer.patch("presentations/2021/c/", session="later")["position"] == 2


def test_speakers_of_a_talk_keep_their_order(writer: Writer, session: Session) -> None:
    for uid in ("ada", "bo"):
        make.make_person(uid.title(), uid=uid)
    people = [{"person": "bo", "affiliation": "Here"}, {"person": "ada"}]
    body = writer.create(
        "presentations", edition="2021", id="talk", title="Keynote", kind="talk", speakers=people
    )

    assert [(speaker["name"], speaker["affiliation"]) for speaker in body["speakers"]] == [
        ("Bo", "Here"),
        ("Ada", ""),
    ]


def test_talk_requires_a_paper_or_a_title(writer: Writer, session: Session) -> None:
    error = writer.create("presentations", 400, edition="2021", id="talk")

    assert error["errors"] == {"body": ["Choose a paper, or enter a title."]}


def test_cancelled_session_has_a_reason_and_deleted_one_unschedules_talks(
    writer: Writer, session: Session
) -> None:
    make.make_presentation(session, uid="talk")
    body = writer.patch(
        "sessions/2021/morning/", status="cancelled", cancellation_reason="The speaker is ill."
    )
    assert (body["cancelled"], body["cancellation_reason"]) == (True, "The speaker is ill.")
    writer.delete("sessions/2021/morning/")
    assert Presentation.objects.get().session is None


@pytest.mark.parametrize("count", [1, 3])
def test_query_count_does_not_grow_with_the_presentations(
    writer: Writer, session: Session, django_assert_num_queries: DjangoAssertNumQueries, count: int
) -> None:
    for number in range(count):
        make.make_presentation(session, uid=f"t{number}", speakers=[f"Ann {number}"])
    version = writer.get("sessions/2021/morning/")["ETag"]
    with django_assert_num_queries(50):
        writer.request("patch", "sessions/2021/morning/", {"title": "Other"}, 200, HTTP_IF_MATCH=version)


@pytest.mark.parametrize("room", ["http://[", {"url": "http://[x]y/"}, "//a\u2100b"])
def test_malformed_address_of_a_room_is_refused(writer: Writer, session: Session, room: Any) -> None:
    errors = writer.patch("sessions/2021/morning/", 400, room=room)["errors"]

    assert errors["room"][0].startswith("Write <edition>/<id>")


def test_schedule_change_waits_and_is_answered_with_202(writer: Writer, session: Session) -> None:
    paper = make.make_paper(session.edition, uid="p1")
    open_plan(session.edition)
    change = writer.patch("sessions/2021/morning/", 202, title="Other")
    room = writer.create("rooms", edition="2021", id="annex", name="Annex")
    title_change = writer.patch("papers/2021/p1/", title="Other")
    session.refresh_from_db()
    paper.refresh_from_db()

    assert change["unreleased"]["fields"] == {"title": {"before": "Morning", "after": "Other"}}
    assert change["title"] == "Morning"
    assert room["name"] == "Annex"
    assert (session.title, paper.status, title_change["title"]) == ("Morning", "published", "Other")


def test_api_hides_at_once_and_publishes_nothing_before_the_release(writer: Writer, session: Session) -> None:
    make.make_paper(session.edition, uid="p1")
    make.make_paper(session.edition, uid="p2", status="draft")
    open_plan(session.edition)
    writer.patch("papers/2021/p1/", status="withdrawn")
    writer.patch("sessions/2021/morning/", status="draft")
    writer.patch("papers/2021/p2/", 202, status="published")
    writer.create("papers", 202, edition="2021", id="p3", title="New", status="published")
    writer.create("papers", edition="2021", id="p4", title="New", status="draft")

    session.refresh_from_db()
    statuses = dict(Paper.objects.values_list("uid", "status"))
    assert (session.status, statuses) == (
        "draft",
        {"p1": "withdrawn", "p2": "draft", "p3": "draft", "p4": "draft"},
    )
