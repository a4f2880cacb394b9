"""Tests of the querysets of sessions and presentations."""

from datetime import datetime, timedelta

import pytest

from conference.models import Edition
from schedule.models import Presentation, Session, SessionRole
from schedule.rows import attach_talks
from tests import factories as make
from tests.pseudolocale import pseudolocale

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def titles(sessions: object) -> list[str]:
    return [str(session) for session in sessions]  # type: ignore[attr-defined]


def test_in_order_sorts_by_room_position_and_sessions_without_room_last(edition: Edition) -> None:
    second, first = make.make_room(edition, "A", position=2), make.make_room(edition, "B", position=1)
    make.make_session(edition, title="none")
    make.make_session(edition, title="second", room=second)
    make.make_session(edition, title="first", room=first)

    assert titles(edition.sessions.in_order()) == ["first", "second", "none"]


def test_running_excludes_the_end_and_cancelled_sessions(edition: Edition) -> None:
    make.make_session(edition, title="on")
    make.make_session(edition, title="off", status="cancelled")

    assert titles(edition.sessions.published().running(make.MORNING)) == ["on"]
    assert titles(edition.sessions.published().running(make.MORNING + HOUR)) == []


def test_parts_of_a_cancelled_session_are_neither_running_nor_next(edition: Edition) -> None:
    workshop = make.make_session(edition, title="workshop", status="cancelled")
    make.make_session(edition, title="first part", parent=workshop)
    make.make_session(edition, title="second part", parent=workshop, start=make.MORNING + HOUR)
    sessions = edition.sessions.published()

    assert titles(sessions.running(make.MORNING)) == []
    assert titles(sessions.next_after(make.MORNING)) == []
    assert sessions.first_after(make.MORNING) is None


def test_next_after_returns_all_sessions_of_the_next_start(edition: Edition) -> None:
    make.make_session(edition, title="now")
    make.make_session(edition, title="coffee", kind="break", start=make.MORNING + HOUR)
    make.make_session(edition, title="parallel", start=make.MORNING + HOUR)
    make.make_session(edition, title="cancelled", start=make.MORNING + HOUR / 2, status="cancelled")
    make.make_session(edition, title="later", start=make.MORNING + 2 * HOUR)

    assert sorted(titles(edition.sessions.published().next_after(make.MORNING))) == ["coffee", "parallel"]


def test_next_after_stays_on_the_program_day(edition: Edition) -> None:
    night = datetime(2021, 4, 7, 0, 30, tzinfo=edition.zone)
    make.make_session(edition, title="party", start=night)
    make.make_session(edition, title="morning", start=night + 8 * HOUR)

    assert titles(edition.sessions.published().next_after(night - HOUR)) == ["party"]
    assert titles(edition.sessions.published().next_after(night)) == []


def test_program_days_follow_the_editions_day(edition: Edition) -> None:
    night = datetime(2021, 4, 7, 0, 30, tzinfo=edition.zone)
    make.make_session(edition, start=night)
    make.make_session(edition, start=night - HOUR)

    assert [str(day) for day in edition.sessions.program_days(edition.day_of)] == ["2021-04-06"]


def test_talk_counts_leave_out_drafts(edition: Edition) -> None:
    session = make.make_session(edition)
    make.make_presentation(session, make.make_paper(edition), kind="poster")
    make.make_presentation(session)
    make.make_presentation(session, status="draft")
    make.make_presentation(session, make.make_paper(edition, status="draft"))
    counted = edition.sessions.with_talk_counts().get()

    assert (counted.talk_count, counted.poster_count) == (2, 1)


def test_talks_are_empty_unless_attached(edition: Edition) -> None:
    session = make.make_session(edition)
    make.make_presentation(session)

    assert edition.sessions.get(pk=session.pk).talks == []


def test_people_by_role_keeps_the_order_with_plural_labels(edition: Edition) -> None:
    session = make.make_session(edition)
    for name, role in (("Zed", "speaker"), ("Mia", "moderator"), ("Abe", "speaker")):
        make.add_role(session, name, role)
    groups = edition.sessions.with_people().get().people_by_role

    assert [(label, [role_row.name for role_row in people]) for label, people in groups] == [
        ("Speakers", ["Zed", "Abe"]),
        ("Moderator", ["Mia"]),
    ]


def test_plural_labels_of_roles_are_translated(edition: Edition) -> None:
    session = make.make_session(edition)
    for role in SessionRole.Role.values:
        for _ in range(2):
            make.add_role(session, make.make_person(), role)
    with pseudolocale():
        groups = edition.sessions.with_people().get().people_by_role

    assert [label for label, _ in groups] == [f"⟦{role.title()}s⟧" for role in SessionRole.Role.values]


def test_hidden_name_is_replaced_by_the_display_name(edition: Edition) -> None:
    person = make.make_person("Ada New")
    person.names.create(name="Ada Old", hidden=True)
    session = make.make_session(edition)
    make.add_role(session, person, name="Ada Old")
    talk = make.make_presentation(session)
    talk.speakers.create(person=person, name="Ada Old")
    read_session = edition.sessions.with_people().get()
    attach_talks([read_session], edition.presentations.published(), max_talks=9)

    assert read_session.shown_roles[0].shown_name == "Ada New"
    assert read_session.talks[0].shown_speakers[0].shown_name == "Ada New"


def test_presentation_is_cancelled_with_its_session_and_its_workshop(edition: Edition) -> None:
    workshop = make.make_session(edition, status="cancelled")
    talk = make.make_presentation(make.make_session(edition, parent=workshop))

    assert Session.objects.get(pk=workshop.pk).cancelled
    assert Presentation.objects.get(pk=talk.pk).cancelled
    assert not make.make_presentation(make.make_session(edition)).cancelled
