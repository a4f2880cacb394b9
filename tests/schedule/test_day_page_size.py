"""Tests of the size of a large day page, which links to poster sessions instead of listing posters."""

import gzip
from datetime import timedelta

import pytest
from django.test import Client

from conference.models import Edition
from content.revision import lock
from papers.models import Authorship, Paper
from schedule import day_size
from schedule.models import Presentation, Session
from schedule.querysets import MAX_LISTED_TALKS
from tests import factories as make
from tests.html_pages import Page

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


@pytest.mark.parametrize(("session_count", "talk_count"), [(50, 20), (100, 10), (180, 6)])
def test_day_page_of_1000_talks_has_at_most_400_kb(
    client: Client, edition: Edition, session_count: int, talk_count: int
) -> None:
    with lock():
        sessions = [make.make_session(edition, uid=f"s{number}") for number in range(session_count)]
        add_papers(edition, dict.fromkeys(sessions, talk_count))
    response = client.get("/2021/schedule/2021-04-06/")
    page = Page(response.text)

    assert len(response.content) <= 400_000
    assert len(page.all("article", "session")) == session_count
    assert {link.attributes["href"] for link in page.all("a", "tool") if "Show all" in link.text} == (
        {session.get_absolute_url() for session in sessions} if session_count < 180 else set()
    )


@pytest.fixture
def folded_day(edition: Edition, monkeypatch: pytest.MonkeyPatch) -> Edition:
    """Create a day with two sessions of four talks, and room for two talks of each."""
    monkeypatch.setattr(day_size, "MAX_DAY_ENTRIES", 6)
    topic = make.make_topic(edition, "Vision", slug="vision")
    for uid in ("one", "two"):
        session = make.make_session(edition, uid=uid, title=uid.capitalize(), abstract="What it is about.")
        for number in range(4):
            start = make.MORNING + timedelta(minutes=60 - number * 15)
            paper = make.make_paper(edition, title=f"{uid} {number}", topic=topic if number > 1 else None)
            make.make_presentation(session, paper, start=start)
    return edition


def listed_talks(client: Client, query: str = "") -> list[str]:
    page = Page(client.get(f"/2021/schedule/2021-04-06/{query}").text)
    return [talk.inside("h4")[0].text for talk in page.all("li", "talk")]


def test_large_day_lists_the_first_talks_of_each_session_in_time(client: Client, folded_day: Edition) -> None:
    page = Page(client.get("/2021/schedule/2021-04-06/").text)

    assert listed_talks(client) == ["one 3", "one 2", "two 3", "two 2"]
    assert [link.text for link in page.all("a", "tool") if "Show" in link.text] == ["Show all 4 talks"] * 2
    assert "Long sessions list their first talks here" in page.main
    assert "What it is about." not in page.main


def test_filter_that_leaves_few_talks_lists_them_all(client: Client, folded_day: Edition) -> None:
    assert listed_talks(client, "?topic=vision") == ["one 3", "one 2", "two 3", "two 2"]
    page = Page(client.get("/2021/schedule/2021-04-06/?topic=vision").text)

    assert "Long sessions" not in page.main
    assert [link.text for link in page.all("a", "tool") if "Show" in link.text] == []


def test_all_talks_are_on_the_page_of_their_session(client: Client, folded_day: Edition) -> None:
    session = Session.objects.get(uid="one")

    assert client.get(session.get_absolute_url()).text.count('<li class="talk') == 4


@pytest.mark.parametrize(
    ("counts", "listed"),
    [
        ([], 100),
        ([100], 100),
        ([5] * 30, 100),
        ([738, 738, *[6] * 24], 100),
        ([5] * 60, 2),
        ([3] * 99 + [4], 1),
        ([0] * 300, 0),
        ([10] * 200, 0),
    ],
)
def test_number_of_listed_talks(counts: list[int], listed: int) -> None:
    assert day_size.talks_listed(counts) == listed
