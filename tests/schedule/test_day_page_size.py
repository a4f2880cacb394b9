"""Tests of the size of a large day page, which links to poster sessions instead of listing posters."""

import gzip
from datetime import timedelta

import pytest
from django.test import Client

from conference.models import Edition
from content.revision import lock
from papers.models import Authorship, Paper
from schedule.models import Presentation, Session
from schedule.querysets import MAX_LISTED_TALKS
from tests import factories as make

pytestmark = pytest.mark.django_db

TITLE = "Learning to Plan with Sparse Mixtures of Experts under Distribution Shift, Part"


def add_papers(edition: Edition, counts: dict[Session, int]) -> None:
    """Add so many papers by the same four people to each session."""
    people = [make.make_person(f"Wilhelmina Authorson {letter}") for letter in "ABCD"]
    papers: list[Paper] = []
    presentations = []
    for session, count in counts.items():
        kind = "poster" if session.kind == "poster" else "oral"
        for position in range(1, count + 1):
            number = len(papers)
            paper = Paper(edition=edition, uid=f"p{number}", title=f"{TITLE} {number}", status="published")
            papers.append(paper)
            presentations.append(
                Presentation(
                    edition=edition,
                    session=session,
                    paper=paper,
                    kind=kind,
                    status="published",
                    position=position,
                )
            )
    Paper.objects.bulk_create(papers)
    Authorship.objects.bulk_create(
        Authorship(paper=paper, person=person, name=person.name, position=position)
        for paper in papers
        for position, person in enumerate(people, 1)
    )
    Presentation.objects.bulk_create(presentations)


@pytest.fixture
def large_edition(edition: Edition) -> Edition:
    """Create a day of two sessions with more posters than are listed, and five oral sessions in 12 rooms."""
    with lock():
        rooms = [make.make_room(edition, f"Ballroom {number}") for number in range(12)]
        counts: dict[Session, int] = {}
        for hours in (0, 6):
            start = make.MORNING + timedelta(hours=hours)
            counts[make.make_session(edition, start=start, kind="poster")] = MAX_LISTED_TALKS + 1
        for hours in range(5):
            start = make.MORNING + timedelta(hours=hours)
            for room in rooms:
                counts[make.make_session(edition, start=start, room=room)] = 5
        add_papers(edition, counts)
    return edition


@pytest.mark.usefixtures("large_edition")
def test_day_page_of_a_large_conference_has_at_most_150_kb_compressed(client: Client) -> None:
    for query in ("", "?view=grid"):
        response = client.get(f"/2021/schedule/2021-04-06/{query}")

        assert response.content.count(b"Ballroom 11") > 4
        assert len(gzip.compress(response.content)) <= 150_000
