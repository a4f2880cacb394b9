"""Tests of lightweight rows of talks: their values, their number, and the number of queries."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from schedule.models import Session
from schedule.rows import TALKS_SHOWN, attach_talks
from tests import factories as make

pytestmark = pytest.mark.django_db


def filled(edition: Edition, **options: Any) -> list[Session]:
    sessions = list(edition.sessions.with_place().order_by("pk"))
    attach_talks(sessions, edition.presentations.published(), **options)
    return sessions


def crowd(edition: Edition, number: int) -> Session:
    session: Session = make.make_session(edition, kind="poster")
    for _ in range(number):
        make.make_presentation(session, make.make_paper(edition, ["Ada", "Bob"]), kind="poster")
    return session


def test_of_too_many_talks_the_first_stand_there(edition: Edition) -> None:
    crowd(edition, TALKS_SHOWN + 2)
    few = crowd(edition, 3)
    shown = filled(edition, max_talks=TALKS_SHOWN + 1)

    assert [len(session.talks) for session in shown] == [TALKS_SHOWN, 3]
    assert len(filled(edition, max_talks=2, full_session=few)[1].talks) == 3


@pytest.mark.parametrize("number", [1, 3])
def test_talks_take_five_questions_however_many(edition: Edition, number: int) -> None:
    crowd(edition, number)
    sessions = list(edition.sessions.with_place())
    with CaptureQueriesContext(connection) as asked:
        attach_talks(sessions, edition.presentations.published(), max_talks=9, abstracts=True, materials=True)

    assert len(asked) == 5


def test_without_sessions_nothing_is_asked(edition: Edition) -> None:
    with CaptureQueriesContext(connection) as asked:
        attach_talks([], edition.presentations.published(), max_talks=9)

    assert len(asked) == 0


def test_rows_say_what_models_say(edition: Edition) -> None:
    session = make.make_session(edition)
    paper = make.make_paper(edition, ["Ada", "Bob"], title="On *form*", abstract="**Bold**")
    talk = make.make_presentation(session, paper, board="7")
    row = filled(edition, max_talks=9, abstracts=True)[0].talks[0]

    names = ("uid", "kind", "board", "starts", "cancelled", "shown_title_html", "shown_abstract_html")
    assert [getattr(row, name) for name in names] == [getattr(talk, name) for name in names]
    assert (str(row), row.get_absolute_url()) == (str(talk), talk.get_absolute_url())
    assert row.get_kind_display == talk.get_kind_display()
    people = row.paper.shown_authors if row.paper else ()
    assert [author.shown_name for author in people] == ["Ada", "Bob"]


def test_talk_without_paper_leads_to_its_session(edition: Edition) -> None:
    session = make.make_session(edition, status="cancelled")
    make.make_presentation(session, title="Opening words")
    row = filled(edition, max_talks=9)[0].talks[0]

    assert (row.get_absolute_url(), row.cancelled, row.paper) == (session.get_absolute_url(), True, None)
