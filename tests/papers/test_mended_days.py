"""What stands around a paper is mended where a few changed, and says what it would say read anew."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conference.models import Edition
from pagecache import per_revision
from papers.catalogue import Catalogue, catalogue
from papers.day_talks import around
from papers.models import Paper
from papers.related import beside
from tests import factories as make
from tests.papers.catalogues import made_anew, now, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def edition() -> Edition:
    return make.make_edition()


def said_around(paper: Paper, at: datetime) -> Any:
    """What stands beside a paper on its page, as far as its days say it."""
    found = beside(Paper.objects.in_full(at).get(pk=paper.pk), at)
    return [
        [(str(pair.session), pair.before, pair.after) for pair in found.neighbours],
        found.posters,
    ]


def beside_anew(paper: Paper, at: datetime) -> Any:
    """The same, as a process says it that has read nothing yet."""
    per_revision.forget()
    return said_around(paper, at)


def other(edition: Edition) -> Any:
    return edition.presentations.get(paper__title="Other")


def alter_talk(**values: Any) -> Callable[[Edition], None]:
    def change(edition: Edition) -> None:
        talk = other(edition)
        for name, value in values.items():
            setattr(talk, name, value)
        talk.save()

    return change


def retitled(name: str, value: Any) -> Callable[[Edition], None]:
    def change(edition: Edition) -> None:
        paper = other(edition).paper
        setattr(paper, name, value)
        paper.save()

    return change


# Of each whether the day is only mended.
AROUND: dict[str, tuple[Callable[[Edition], object], bool]] = {
    "board": (alter_talk(board="A1"), True),
    "time": (alter_talk(start=make.MORNING + timedelta(days=2)), True),
    "no session": (alter_talk(session=None), True),
    "called off": (alter_talk(status="cancelled"), True),
    "own title": (alter_talk(title="Another name"), True),
    "talk goes": (lambda edition: other(edition).delete(), True),
    "paper withdrawn": (retitled("status", "withdrawn"), True),
    "keywords": (retitled("keywords", ["nothing"]), True),
    "paper's title": (retitled("title", "Another"), True),
    "new": (
        lambda edition: make.make_presentation(
            edition.sessions.get(title="Hall"),
            make.make_paper(edition, ["Mia"], keywords=["tpu"]),
            kind="poster",
            board="A6",
        ),
        True,
    ),
    "many": (lambda edition: edition.presentations.update(board="A7"), False),
    "session": (lambda edition: edition.sessions.get(title="Hall").delete(), False),
    "room": (lambda edition: make.make_room(edition, "Other"), False),
}


@pytest.mark.parametrize(("change", "is_mended"), AROUND.values(), ids=AROUND)
def test_mended_day_says_what_one_says_that_is_read_anew(
    edition: Edition, change: Callable[[Edition], object], is_mended: bool
) -> None:
    hall = make.make_session(edition, kind="poster", title="Hall", room=make.make_room(edition))
    boards = {"First": "A3", "Own": "A5", "Other": "A9"}
    papers = {title: make.make_paper(edition, ["Ada"], title=title, keywords=["TPU"]) for title in boards}
    for title, board in boards.items():
        make.make_presentation(hall, papers[title], kind="poster", board=board)
    at = timezone.now()
    said_around(papers["Own"], at)
    change(edition)
    edition = now(edition)
    span = edition.day_bounds(edition.day_of(make.MORNING))
    with CaptureQueriesContext(connection) as queries:
        around(edition, at, *span)
    names_rows = [re.search(r'"paper_id" IN \(|"id" IN \(', query["sql"]) for query in queries]
    assert [*map(bool, names_rows)] == ([is_mended] if queries else [])
    assert said_around(papers["Own"], at) == beside_anew(papers["Own"], at)


# Runs of edits


def edit(edition: Edition, chance: Random) -> None:
    """Change something of a paper or of its poster, as chairs do."""
    talk = chance.choice([*edition.presentations.order_by("pk")])
    changes: list[tuple[Any, str, list[Any]]] = [
        (talk.paper, "title", [f"{letter}{talk.paper.pk}" for letter in "AÄMZ"]),
        (talk.paper, "status", ["published", "withdrawn"]),
        (talk.paper, "keywords", [["tpu"], ["disks"]]),
        (talk, "board", ["A1", "A12", "A3"]),
        (talk, "status", ["published", "cancelled"]),
        (talk.paper.authorships.get(), "corresponding", [True, False]),
    ]
    thing, name, values = chance.choice(changes)
    setattr(thing, name, chance.choice(values))
    thing.save()


@pytest.mark.parametrize("seed", range(8))
def test_after_a_run_of_edits_all_is_as_made_anew(edition: Edition, seed: int) -> None:
    chance, hall, at = Random(seed), make.make_session(edition, kind="poster"), timezone.now()
    for number in range(7):
        paper = make.make_paper(edition, ["Ada"], title=f"M{number}", keywords=["tpu"])
        paper.authorships.get().institutions.add(make.make_institution(slug=f"{number}"))
        make.make_presentation(hall, paper, kind="poster", board=f"A{number}")

    def shown() -> tuple[Catalogue, list[Paper], list[Any]]:
        papers = [*edition.papers.published(at).order_by("pk")]
        return catalogue(now(edition), at), papers, [said_around(paper, at) for paper in papers]

    found, papers, around_them = shown()
    for _ in range(12):
        for _ in range(chance.randint(1, 3)):
            edit(edition, chance)
        found, papers, around_them = shown()
    assert around_them == [beside_anew(paper, at) for paper in papers]
    assert said(found) == said(made_anew(now(edition), at))
