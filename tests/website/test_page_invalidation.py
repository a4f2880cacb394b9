"""A change of papers invalidates every page that shows the changed text, and no other page."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from bench.generate import fill
from conference.models import Edition
from content.invalidation import tags_between
from pagecache.keys import Key
from pagecache.tags import is_linking_page, response_tags
from papers.models import Paper
from people.models import Person
from schedule.querysets import MAX_LISTED_TALKS

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

NEW_TITLES = ["Aardvarks first of all", "Zzz last of all", r"Sparse $\alpha$ again"]


@pytest.fixture(scope="module")
def _program(made_once: Callable[..., Any]) -> None:
    made_once(lambda: fill(30, seed=3))


@pytest.fixture
def edition(_program: None) -> Edition:
    """Return an edition with poster sessions, talks, awards and speakers."""
    return Edition.objects.get()


@pytest.fixture(scope="module")
def unedited_pages() -> dict[str, bytes]:
    """Return the pages before an edit, which the first test fills."""
    return {}


def page_urls(edition: Edition) -> Iterator[str]:
    root = edition.get_absolute_url()
    yield root
    for day in sorted(edition.sessions.published().program_days(edition.day_of)):
        yield f"{root}schedule/{day}/"
    for row in (*edition.papers.published(), *edition.sessions.published()):
        yield row.get_absolute_url()
    for talk in edition.presentations.published()[:10]:
        yield f"{root}presentations/{talk.uid}.ics"
    for person in Person.objects.published()[:12]:
        yield person.get_absolute_url()


def change_titles(papers: list[Paper]) -> None:
    for paper, title in zip(papers, NEW_TITLES, strict=True):
        paper.title, paper.abstract, paper.doi = title, f"{title}.", f"10.1000/{paper.pk}"
        paper.save()


def change_abstracts(papers: list[Paper]) -> None:
    for paper in papers:
        paper.abstract, paper.lay_summary = "In short.", "In plain words."
        paper.doi, paper.pages = f"10.1000/{paper.pk}", "1--9"
    Paper.objects.bulk_update(papers, ["abstract", "lay_summary", "doi", "pages"])


@pytest.mark.parametrize("max_listed_talks", [100, 5], ids=["with abstracts", "large sessions without"])
@pytest.mark.parametrize("edit", [change_titles, change_abstracts])
def test_pages_that_stay_valid_after_an_edit_are_unchanged(
    edition: Edition,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    unedited_pages: dict[str, bytes],
    edit: Callable[[list[Paper]], None],
    max_listed_talks: int,
) -> None:
    papers = [*edition.papers.published()[2::10]]
    if not unedited_pages:
        unedited_pages.update((path, client.get(path).getvalue()) for path in page_urls(edition))
    before, requested = dict(unedited_pages), {*unedited_pages}
    if max_listed_talks != MAX_LISTED_TALKS:
        # Only these pages depend on the limit. All others are the same as in the other test.
        monkeypatch.setattr("schedule.views.MAX_LISTED_TALKS", max_listed_talks)
        requested = {path for path in before if re.search(r"/(sessions|schedule)/", path)}
        before |= {path: client.get(path).getvalue() for path in requested}
    assert all(is_linking_page(path, {edition.slug}) for path in before)

    old = Edition.objects.get()
    edit(papers)
    new = Edition.objects.get()
    invalidated = tags_between(new.pk, old.revision, new.revision, old.changed_at)
    expected = {f"papers:{edition.slug}", *(f"paper:{paper.uid}" for paper in papers)}
    if edit is change_titles:
        expected.update(f"title:{paper.uid}" for paper in papers)
    assert invalidated == expected

    tags = {path: response_tags(Key(path, ""), page, [edition.slug]) for path, page in before.items()}
    valid = [path for path in before if tags[path].isdisjoint(invalidated)]
    assert len(before) > len(valid) > len(before) / 2
    if edit is change_abstracts:
        # Pages of the papers, and pages that may show abstracts.
        paper_pages = {paper.get_absolute_url() for paper in papers}
        others = {*before} - {*valid} - paper_pages
        assert [path for path in others if not re.search(r"/(sessions|schedule)/|\.ics$", path)] == []
    unchanged = {path for path in valid if path in requested}
    assert [path for path in unchanged if client.get(path).getvalue() != before[path]] == []


def test_first_abstract_invalidates_the_session_page(edition: Edition, client: Client) -> None:
    Paper.objects.update(abstract="", abstract_html="")
    session = edition.sessions.published().filter(presentations__paper__isnull=False)[0]
    path, paper = session.get_absolute_url(), session.presentations.exclude(paper=None)[0].paper
    page = client.get(path).getvalue()
    paper.abstract = "In short."
    paper.save()

    assert b"In short." in client.get(path).getvalue()
    assert f"paper:{paper.uid}" in response_tags(Key(path, ""), page, [edition.slug])
