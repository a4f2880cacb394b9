"""Posters like a paper's own on the same program day."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from pagecache import per_revision
from papers.models import Paper
from papers.related import find_related
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
    full: Paper = Paper.objects.with_details().get(pk=paper.pk)
    return full


def titles(paper: Any) -> list[str]:
    return [poster.paper.title for poster in find_related(fetched(paper)).posters]


def test_likest_come_first_and_other_days_not_at_all() -> None:
    posters = hall()

    assert titles(posters["own"]) == ["both", "keywords", "keyword"]
    assert titles(posters["neither"]) == ["keywords"]
    assert titles(posters["next day"]) == []


def test_of_equals_the_first_that_one_meets_comes_first_and_each_paper_once() -> None:
    edition, later = make.make_edition(), make.MORNING + timedelta(hours=1)
    session = make.make_session(edition, kind="poster", title="Evening")
    papers = {name: make.make_paper(edition, title=name, keywords=["TPU"]) for name in ("Own", "C", "B", "A")}
    make.make_presentation(session, papers["Own"], kind="poster")
    rows = [("C", later, 1), ("B", make.MORNING, 2), ("A", make.MORNING, 2), ("A", make.MORNING, 1)]
    for name, starts, position in rows:
        talk = make.make_presentation(session, papers[name], kind="poster", start=starts)
        type(talk).objects.filter(pk=talk.pk).update(position=position)

    assert titles(papers["Own"]) == ["A", "B", "C"]


def test_paper_without_poster_or_words_has_none() -> None:
    edition = make.make_edition()
    talk = make.make_paper(edition, keywords=["caches"])
    make.make_presentation(make.make_session(edition), talk)
    plain = make.make_paper(edition)
    make.make_presentation(make.make_session(edition, kind="poster"), plain, kind="poster")
    papers = [fetched(talk), fetched(plain)]

    assert [find_related(paper).posters for paper in papers] == [[], []]


def test_queries_do_not_grow(django_assert_num_queries: Any) -> None:
    posters = hall()
    for number in (1, 3):
        Paper.objects.filter(title="keyword").update(status="published" if number == 3 else "draft")
        paper = fetched(posters["own"])
        per_revision.clear()
        with django_assert_num_queries(6):
            find_related(paper)


def test_paper_page_leads_on_to_them(client: Client) -> None:
    page = read(client, hall()["own"].get_absolute_url())

    assert "2 Similar posters on the same day" in page.outline
    start = page.outline.index("2 Similar posters on the same day")
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
