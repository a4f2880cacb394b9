"""Cached searches: equal ones run once, and never on an outdated search index."""

from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from django.test import Client

from conference.models import Edition
from operations.indexing import update
from pagecache.entries import cache_control
from pagecache.keys import MAX_SEARCH_LENGTH, cache_key
from pagecache.middleware import PageCache
from pagecache.tags import edition_slug
from papers.models import Paper
from tests import factories as make
from tests.pagecache.wsgi_site import fetch

pytestmark = pytest.mark.django_db


@pytest.fixture
def paper() -> Paper:
    return make.make_paper(make.make_edition(), ["Ada Lovelace"], uid="p1", title="Steam engines")


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> PageCache:
    """Return a page cache in front of the whole site, which reads the revisions at every request."""
    monkeypatch.setattr("pagecache.revisions.POLL_SECONDS", -1.0)
    client, asked = Client(), list[str]()

    def site(environ: Any, start_response: Any) -> list[bytes]:
        asked.append(address := f"{environ['PATH_INFO']}?{environ['QUERY_STRING']}")
        response = client.get(address)
        start_response(f"{response.status_code} {response.reason_phrase}", [*response.headers.items()])
        return [response.getvalue()]

    made = PageCache(site)
    vars(made)["asked"] = asked
    return made


def times(cache: PageCache) -> int:
    """Return the number of requests that reached Django."""
    return len(vars(cache)["asked"])


def found(cache: PageCache, query: str = "q=steam", path: str = "/search/") -> bool:
    return b"Steam" in fetch(cache, path, query)[2].replace(b"<mark>", b"").replace(b"</mark>", b"")


@pytest.mark.parametrize("path", ["/search/", "/2021/search/", "/search/suggest", "/2021/search/suggest"])
def test_question_of_many_is_answered_once(paper: Paper, cache: PageCache, path: str) -> None:
    first, second = (fetch(cache, path, query) for query in ("q=steam&kind=", "kind=&q=%73team"))

    assert (first, times(cache)) == (second, 1)
    assert first[1]["Cache-Control"] == cache_control(1)


def retitled(paper: Paper) -> None:
    paper.title = "Looms"
    paper.save()


def withdrawn(paper: Paper) -> None:
    Paper.objects.filter(pk=paper.pk).update(status="withdrawn")


def hidden(paper: Paper) -> None:
    Edition.objects.filter(pk=paper.edition_id).update(papers_public_from=None)


@pytest.mark.parametrize("change", [retitled, withdrawn, hidden])
@pytest.mark.parametrize("path", ["/search/", "/2021/search/", "/search/suggest"])
def test_commit_is_seen_by_the_next_reader(paper: Paper, cache: PageCache, path: str, change: Any) -> None:
    assert found(cache, path=path)

    change(paper)

    assert not found(cache, path=path)


def test_person_hidden_by_another_edition_is_in_no_search(cache: PageCache) -> None:
    here, there = make.make_edition(2021), make.make_edition(2022)
    paper = make.make_paper(there, ["Ada Steam"])
    make.make_paper(here, [paper.authorships.get().person], status="draft")
    assert found(cache)

    paper.edition.delete()

    assert not found(cache)
    assert edition_slug("/2021/search/", "q=steam") == edition_slug("/search/", "") == ""


def test_response_of_a_stale_index_is_not_cached(paper: Paper, cache: PageCache) -> None:
    found(cache)
    Paper.objects.filter(pk=paper.pk).update(title="Looms")
    with update._busy:
        answer = fetch(cache, "/search/", "q=looms")
    assert answer[1]["Cache-Control"] == "private, no-cache"

    assert b"<mark>Looms</mark>" in fetch(cache, "/search/", "q=looms")[2]
    assert times(cache) == 3


def test_response_of_a_lagging_replica_is_not_cached(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    update.refresh()
    monkeypatch.setattr(
        "operations.indexing.update.settings", SimpleNamespace(DATABASES={"default": {}, "replica": {}})
    )
    assert update.refreshed()

    with mock.patch.object(update, "refresh", return_value=True):
        retitled(paper)
        assert not update.refreshed()


def test_long_unknown_and_signed_in_searches_are_not_cached() -> None:
    def key(query: str, cookie: str = "") -> object:
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/search/", "QUERY_STRING": query}
        return cache_key(environ | {"HTTP_HOST": "127.0.0.1", "HTTP_COOKIE": cookie})

    longest = f"q={'x' * (MAX_SEARCH_LENGTH - 2)}"
    assert [key(longest), key("q=x&page=2")] == [("/search/", longest), ("/search/", "page=2&q=x")]
    assert key("q=x&utm_source=mail") == ("/search/", "q=x")
    assert [key(f"{longest}x"), key("q=x&letter=a"), key("q=x&q=y"), key("q=x", "sessionid=1")] == [None] * 4
