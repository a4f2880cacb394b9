"""Tests of the clashes that a preview of an import lists."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from conference.models import Edition
from exchange.imports.load import Report, load
from exchange.imports.planned_clashes import note_clashes
from exchange.problems import Findings
from exchange.records import PersonRef, Program, RoleRecord, RoomRecord, SpeakerRecord
from schedule.clashes import find_clashes
from schedule.models import Session
from tests import factories as make
from tests.exchange.programs import HOUR, START, author, paper, program, session, talk

pytestmark = pytest.mark.django_db

ADA = PersonRef(name="Ada Lovelace", uid="ada")
HALL = (RoomRecord(slug="hall", name="Hall", capacity=1),)


@pytest.fixture
def edition() -> Edition:
    return make.make_edition()


def clashes(report: Report) -> list[tuple[str, str]]:
    """Return place and message of each clash."""
    return [(str(note.where), note.message) for note in report.notes if note.kind == "clash"]


def preview(**parts: Any) -> list[tuple[str, str]]:
    return clashes(load(Program(**parts), "2021", dry_run=True))


def chair(ref: PersonRef = ADA) -> RoleRecord:
    return RoleRecord(person=ref, role="chair")


def test_room_and_person_of_new_sessions_clash(edition: Edition) -> None:
    first, second = (session(uid, room="hall", roles=(chair(),)) for uid in ("s1", "s2"))

    assert preview(rooms=HALL, sessions=(first, second)) == [
        ("program.json, sessions (s1)", message)
        for message in (
            "Ada Lovelace: in two places at once: Oral session “Session s1”, and Oral session “Session s2”.",
            "Hall is double-booked: Oral session “Session s1” and Oral session “Session s2”.",
        )
    ]
    assert not Session.objects.exists()


def test_only_clashes_that_the_import_adds_are_listed(edition: Edition) -> None:
    load(
        Program(rooms=HALL, sessions=tuple(session(uid, title=uid, room="hall") for uid in ("s1", "s2"))),
        "2021",
    )
    later = session("s3", title="s3", room="hall", start=START + HOUR, end=START + 2 * HOUR)

    assert len(find_clashes(edition).all) == 1
    assert preview(sessions=(later,)) == []
    # A session that moves solves one clash and brings another.
    moved = session("s1", title="s1", start=START + HOUR, end=START + 2 * HOUR)
    assert [message for _, message in preview(sessions=(moved, later))] == [
        "Hall is double-booked: Oral session “s1” and Oral session “s3”."
    ]


def test_speaker_of_a_stored_session_clashes_with_a_new_talk(edition: Edition) -> None:
    ada = make.make_person("Ada Lovelace", uid="ada")
    stored = make.make_session(edition, uid="s1", title="Panel", start=START, end=START + HOUR)
    make.add_role(stored, ada, "panelist")
    other = make.make_session(edition, uid="s2", title="Orals", start=START, end=START + HOUR)
    new_paper = paper("p1", author("Ada Lovelace", "ada", presenting=True))
    talks = (talk("t1", paper="p1", session=other.uid),)

    assert [message for _, message in preview(papers=(new_paper,), presentations=talks)] == [
        "Ada Lovelace: in two places at once: Oral session “Panel”, and Oral “On p1”."
    ]
    withdrawn = replace(new_paper, status="withdrawn")
    assert preview(papers=(withdrawn,), presentations=talks) == []


def test_cancelled_sessions_and_their_talks_do_not_clash(edition: Edition) -> None:
    speakers = (SpeakerRecord(person=ADA),)
    off = session("s1", room="hall", status="cancelled", roles=(chair(),))
    parts: dict[str, Any] = {
        "rooms": HALL,
        "sessions": (off, session("s2", room="hall", roles=(chair(),))),
        "presentations": (talk("t1", title="Off", session="s1", speakers=speakers),),
    }

    assert preview(**parts) == []


def test_clashes_of_a_new_edition_are_listed() -> None:
    make.make_conference()
    sessions = tuple(session(uid, room="hall", kind="workshop") for uid in ("s1", "s2"))
    report = load(program(rooms=HALL, sessions=sessions), "2021", dry_run=True)

    assert [message for _, message in clashes(report)] == [
        "Hall is double-booked: Workshop “Session s1” and Workshop “Session s2”."
    ]


def test_planned_clashes_are_those_after_the_import(edition: Edition) -> None:
    posters = tuple(
        talk(f"t{n}", kind="poster", title=f"Poster {n}", session="s1", board="A1") for n in range(3)
    )
    parts: dict[str, Any] = {
        "rooms": HALL,
        "sessions": (
            session("s1", kind="poster", room="hall"),
            session("s2", kind="workshop", room="hall", end=START + 3 * HOUR),
            session("s3", parent="s2", start=START + 2 * HOUR, end=START + 4 * HOUR),
        ),
        "presentations": (
            *posters,
            talk("early", title="Early", session="s3", start=START, end=START + timedelta(minutes=5)),
        ),
    }
    planned = [message for _, message in preview(**parts)]
    load(Program(**parts), "2021")

    assert sorted(planned) == sorted(clash.message for clash in find_clashes(edition).all)
    assert len({clash.kind for clash in find_clashes(edition).all}) >= 4


@pytest.mark.parametrize("size", [2, 6])
def test_query_count_does_not_depend_on_the_size(
    edition: Edition, django_assert_num_queries: DjangoAssertNumQueries, size: int
) -> None:
    numbers = range(size)
    papers = tuple(paper(f"p{n}", author(f"Ann {n}", f"ann{n}", presenting=True)) for n in numbers)
    load(Program(papers=papers), "2021")
    sessions = tuple(session(f"s{n}", room="hall") for n in numbers)
    talks = tuple(talk(f"t{n}", paper=f"p{n}", session=f"s{n}") for n in numbers)
    plan = load(Program(rooms=HALL, sessions=sessions, presentations=talks), "2021", dry_run=True).plan
    findings = Findings()

    with django_assert_num_queries(10):
        note_clashes(plan, findings)
    assert findings.notes
