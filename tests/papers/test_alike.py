"""Posters like a paper's own on the same program day."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from pagecache import per_revision
from papers.models import Paper
from papers.related import DayTalk, PosterIndex, most_similar_posters, related
from papers.rows import TalkRow
from tests import factories as make
from tests.reading import read

pytestmark = pytest.mark.django_db


def hall() -> dict[str, Any]:
    """A poster on compilers and caches; others on the same evening, and one on the next."""
    edition = make.make_edition()
    topic = make.make_topic(edition)
    evening = make.make_session(edition, kind="poster", title="Evening")
    next_day = make.make_session(edition, kind="poster", start=make.MORNING + timedelta(days=1))
    found: dict[str, Any] = {"edition": edition}
    for name, session, fields in (
        ("own", evening, {"topic": topic, "keywords": ["Caches", "TPU"]}),
        ("keywords", evening, {"keywords": ["caches", "tpu", "disks"]}),
        ("keyword", evening, {"keywords": ["TPU"]}),
        ("both", evening, {"topic": topic, "keywords": ["caches"]}),
        ("neither", evening, {"keywords": ["disks"]}),
        ("next day", next_day, {"topic": topic}),
        ("draft", evening, {"topic": topic, "status": "draft"}),
    ):
        found[name] = make.make_paper(edition, ["Ada"], title=name, uid=name.replace(" ", "-"), **fields)
        make.make_presentation(session, found[name], kind="poster", board="7")
    return found


def fetched(paper: Any) -> Paper:
    full: Paper = Paper.objects.in_full().get(pk=paper.pk)
    return full


def titles(paper: Any, **options: Any) -> list[str]:
    return [poster.paper.title for poster in related(fetched(paper), **options).posters]


def test_likest_come_first_and_other_days_not_at_all() -> None:
    posters = hall()

    assert titles(posters["own"]) == ["both", "keywords", "keyword"]
    assert titles(posters["own"], most=1) == ["both"]
    assert titles(posters["neither"]) == ["keywords"]
    assert titles(posters["next day"]) == []


def talk(key: int, paper: int, starts: datetime, position: int) -> DayTalk:
    row = TalkRow(str(key), "poster", "Poster", "poster", start=starts, position=position)
    return DayTalk(key, paper, None, True, None, frozenset(["tpu"]), row)


def test_of_equals_the_first_that_one_meets_comes_first_and_each_paper_once() -> None:
    later = make.MORNING + timedelta(hours=1)
    rows = [(3, 30, later, 1), (2, 20, make.MORNING, 2), (1, 10, make.MORNING, 2), (4, 10, make.MORNING, 1)]
    talks = [talk(*row) for row in rows]
    found = most_similar_posters([PosterIndex(talks[:2]), PosterIndex(talks[1:])], None, {"tpu"})

    assert [poster.key for poster in found] == [4, 2, 3]


def test_paper_without_poster_or_words_has_none() -> None:
    edition = make.make_edition()
    talk = make.make_paper(edition, keywords=["caches"])
    make.make_presentation(make.make_session(edition), talk)
    plain = make.make_paper(edition)
    make.make_presentation(make.make_session(edition, kind="poster"), plain, kind="poster")
    papers = [fetched(talk), fetched(plain)]

    assert [related(paper).posters for paper in papers] == [[], []]


def test_queries_do_not_grow(django_assert_num_queries: Any) -> None:
    posters = hall()
    for most in (1, 3):
        paper = fetched(posters["own"])
        per_revision.clear()
        with django_assert_num_queries(6):
            related(paper, most=most)


def test_paper_page_leads_on_to_them(client: Client) -> None:
    page = read(client, hall()["own"].get_absolute_url())

    assert "2 Posters like this one on the same day" in page.outline
    start = page.outline.index("2 Posters like this one on the same day")
    assert page.outline[start + 1 : start + 4] == ["3 both", "3 keywords", "3 keyword"]


def test_in_a_session_over_two_days_each_poster_is_of_its_own_day() -> None:
    edition, next_day = make.make_edition(), make.MORNING + timedelta(days=1)
    long = make.make_session(edition, kind="poster", end=next_day + timedelta(days=1))
    for title, start in (("One", None), ("Two", next_day), ("Three", next_day)):
        paper = make.make_paper(edition, title=title, keywords=["TPU"])
        make.make_presentation(long, paper, kind="poster", start=start)
    paper = make.make_paper(edition, title="Four", keywords=["TPU"])
    make.make_presentation(make.make_session(edition, kind="poster", start=next_day), paper, kind="poster")

    found = {paper.title: sorted(titles(paper)) for paper in edition.papers.all()}
    assert found == {"One": [], "Two": ["Four", "Three"], "Three": ["Four", "Two"], "Four": []}
