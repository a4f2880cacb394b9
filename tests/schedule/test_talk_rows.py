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


def sessions_with_talks(edition: Edition, **options: Any) -> list[Session]:
    sessions = list(edition.sessions.with_place().order_by("pk"))
    attach_talks(sessions, edition.presentations.published(), **options)
    return sessions


def make_poster_session(edition: Edition, count: int) -> Session:
    session: Session = make.make_session(edition, kind="poster")
    for _ in range(count):
        make.make_presentation(session, make.make_paper(edition, ["Ada", "Bob"]), kind="poster")
    return session


def test_only_the_first_of_too_many_talks_are_attached(edition: Edition) -> None:
    make_poster_session(edition, TALKS_SHOWN + 2)
    full_session = make_poster_session(edition, 3)
    sessions = sessions_with_talks(edition, max_talks=TALKS_SHOWN + 1)

    assert [len(session.talks) for session in sessions] == [TALKS_SHOWN, 3]
    assert len(sessions_with_talks(edition, max_talks=2, full_session=full_session)[1].talks) == 3


@pytest.mark.parametrize("count", [1, 3])
def test_attaching_talks_makes_5_queries(edition: Edition, count: int) -> None:
    make_poster_session(edition, count)
    sessions = list(edition.sessions.with_place())
    with CaptureQueriesContext(connection) as queries:
        attach_talks(sessions, edition.presentations.published(), max_talks=9, abstracts=True, materials=True)

    assert len(queries) == 5


def test_no_sessions_make_no_queries(edition: Edition) -> None:
    with CaptureQueriesContext(connection) as queries:
        attach_talks([], edition.presentations.published(), max_talks=9)

    assert len(queries) == 0


def test_row_has_the_values_of_the_model(edition: Edition) -> None:
    session = make.make_session(edition)
    paper = make.make_paper(edition, ["Ada", "Bob"], title="On *form*", abstract="**Bold**")
    talk = make.make_presentation(session, paper, board="7")
    row = sessions_with_talks(edition, max_talks=9, abstracts=True)[0].talks[0]

    names = ("uid", "kind", "board", "starts", "cancelled", "shown_title_html", "shown_abstract_html")
    assert [getattr(row, name) for name in names] == [getattr(talk, name) for name in names]
    assert (str(row), row.get_absolute_url()) == (str(talk), talk.get_absolute_url())
    assert row.get_kind_display == talk.get_kind_display()
    people = row.paper.shown_authors if row.paper else ()
    assert [author.shown_name for author in people] == ["Ada", "Bob"]


def test_talk_without_paper_links_to_its_session(edition: Edition) -> None:
    session = make.make_session(edition, status="cancelled")
    make.make_presentation(session, title="Opening words")
    row = sessions_with_talks(edition, max_talks=9)[0].talks[0]

    assert (row.get_absolute_url(), row.cancelled, row.paper) == (session.get_absolute_url(), True, None)
