"""Tests of the size of a large day page, which links to poster sessions instead of listing posters."""

import gzip
from datetime import timedelta

import pytest
from django.test import Client

from conference.models import Edition
from papers.models import Authorship, Paper
from people.models import Person
from schedule.models import Presentation, Session
from tests import factories as make

pytestmark = pytest.mark.django_db

TITLE = "Learning to Plan with Sparse Mixtures of Experts under Distribution Shift, Part"


def fill(session: Session, kind: str, number: int, people: list[Person]) -> None:
    """Add `number` papers with four authors each to a session."""
    edition = session.edition
    rows = [
        Paper(edition=edition, uid=f"{session.uid}-{n}", title=f"{TITLE} {n}", status="published")
        for n in range(number)
    ]
    papers = Paper.objects.bulk_create(rows)
    wrote = [
        Authorship(paper=paper, person=person, name=person.name, position=place)
        for paper in papers
        for place, person in enumerate(people, 1)
    ]
    Authorship.objects.bulk_create(wrote)
    shown = [
        Presentation(edition=edition, session=session, paper=paper, kind=kind, status="published", position=n)
        for n, paper in enumerate(papers, 1)
    ]
    Presentation.objects.bulk_create(shown)


@pytest.fixture
def large(edition: Edition) -> Edition:
    """Create a day of two sessions with 800 posters each, and 12 rooms with five oral sessions each."""
    people = [make.make_person(f"Wilhelmina Authorson {letter}") for letter in "ABCD"]
    rooms = [make.make_room(edition, f"Ballroom {number}") for number in range(12)]
    for half in (0, 6):
        start = make.MORNING + timedelta(hours=half)
        fill(make.make_session(edition, start=start, kind="poster"), "poster", 800, people)
    for slot in range(5):
        for room in rooms:
            start = make.MORNING + timedelta(hours=slot)
            fill(make.make_session(edition, start=start, room=room), "oral", 5, people)
    return edition


@pytest.mark.usefixtures("large")
def test_day_of_a_large_conference_is_light(client: Client) -> None:
    for view in ("", "?view=grid"):
        answer = client.get(f"/2021/schedule/2021-04-06/{view}")

        assert answer.content.count(b"Ballroom 11") > 4
        assert len(gzip.compress(answer.content)) <= 150_000
