"""Tests of the next appearances of people."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from conference.models import Edition
from people.models import Person
from schedule.next_appearances import next_appearances
from tests import factories as make

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture
def person() -> Person:
    return make.make_person("Ada Lovelace")


@pytest.fixture
def program(edition: Edition, person: Person) -> Edition:
    """Create a poster at 08:00 in Hall A, a talk at 10:00, and a panel that the person chairs at 12:00."""
    posters = make.make_session(edition, kind="poster", room=make.make_room(edition, "Hall A"))
    paper = make.make_paper(edition, [person], uid="p", title="Engines")
    make.make_presentation(posters, paper, kind="poster")
    talks = make.make_session(edition, start=make.MORNING + 2 * HOUR, uid="s", title="Talks")
    make.make_presentation(talks, title="A talk", speakers=[person])
    panel = make.make_session(edition, start=make.MORNING + 4 * HOUR, kind="panel", uid="x", title="Panel")
    make.add_role(panel, person)
    return edition


@pytest.mark.parametrize(
    ("hours", "kind", "room_name", "url", "is_past"),
    [
        (-1, "Poster", "Hall A", "/2021/papers/p/engines/", False),
        (0.5, "Poster", "Hall A", "/2021/papers/p/engines/", False),
        (1, "Talk", "", "/2021/sessions/s/talks/", False),
        (4, "Panel", "", "/2021/sessions/x/panel/", False),
        (100, "Panel", "", "/2021/sessions/x/panel/", True),
    ],
)
def test_next_appearance_or_the_last_past_one_is_returned(
    program: Edition, person: Person, hours: float, kind: str, room_name: str, url: str, is_past: bool
) -> None:
    appearances = next_appearances([person.pk], [program], make.MORNING + hours * HOUR)

    (appearance,) = appearances.values()
    assert (appearance.kind, appearance.room_name) == (kind, room_name)
    assert (appearance.url, appearance.is_past) == (url, is_past)
    assert appearance.edition == program.pk


def test_hidden_and_cancelled_sessions_are_left_out(edition: Edition, person: Person) -> None:
    draft = make.make_session(edition, status="draft")
    make.add_role(draft, person)
    cancelled = make.make_session(edition, status="cancelled")
    make.make_presentation(cancelled, title="A talk", speakers=[person])
    hidden = make.make_paper(edition, [person], status="draft")
    make.make_presentation(make.make_session(edition), hidden)
    make.add_role(make.make_session(make.make_edition(2022, schedule_public_from=None)), person)

    assert next_appearances([person.pk], Edition.objects.all(), timezone.now()) == {}


def test_many_people_make_one_query(
    program: Edition, person: Person, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        next_appearances([person.pk, 12345], [program])
    with django_assert_num_queries(0):
        next_appearances([], [program])
