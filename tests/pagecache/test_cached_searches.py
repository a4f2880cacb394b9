"""Cached searches: equal ones run once, and never on an outdated search index."""

from typing import Any

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
def requested_urls() -> list[str]:
    """Return the URLs that the page cache has requested from Django."""
    return []


@pytest.fixture
def cache(requested_urls: list[str], monkeypatch: pytest.MonkeyPatch) -> PageCache:
    """Return a page cache in front of the whole site, which reads the revisions at every request."""
    monkeypatch.setattr("pagecache.revisions.POLL_SECONDS", -1.0)
    client = Client()

    def site(environ: Any, start_response: Any) -> list[bytes]:
        requested_urls.append(url := f"{environ['PATH_INFO']}?{environ['QUERY_STRING']}")
        response = client.get(url)
        start_response(f"{response.status_code} {response.reason_phrase}", [*response.headers.items()])
        return [response.getvalue()]

    return PageCache(site)


def finds_paper(cache: PageCache, query: str = "q=steam", path: str = "/search/") -> bool:
    return b"Steam" in fetch(cache, path, query)[2].replace(b"<mark>", b"").replace(b"</mark>", b"")


@pytest.mark.parametrize("path", ["/search/", "/2021/search/", "/search/suggest", "/2021/search/suggest"])
def test_equal_searches_are_rendered_once(
    paper: Paper, cache: PageCache, requested_urls: list[str], path: str
) -> None:
    first, second = (fetch(cache, path, query) for query in ("q=steam&kind=", "kind=&q=%73team"))

    assert (first, len(requested_urls)) == (second, 1)
    assert first[1]["Cache-Control"] == cache_control(1)


def retitle(paper: Paper) -> None:
    paper.title = "Looms"
    paper.save()


def withdraw(paper: Paper) -> None:
    Paper.objects.filter(pk=paper.pk).update(status="withdrawn")


def hide_papers(paper: Paper) -> None:
    Edition.objects.filter(pk=paper.edition_id).update(papers_public_from=None)


@pytest.mark.parametrize("change", [retitle, withdraw, hide_papers])
@pytest.mark.parametrize("path", ["/search/", "/2021/search/", "/search/suggest"])
def test_change_is_visible_in_the_next_search(paper: Paper, cache: PageCache, path: str, change: Any) -> None:
    assert finds_paper(cache, path=path)

    change(paper)

    assert not finds_paper(cache, path=path)


def test_deleted_edition_removes_its_authors_from_every_search(cache: PageCache) -> None:
    draft_edition, edition = make.make_edition(2021), make.make_edition(2022)
    paper = make.make_paper(edition, ["Ada Steam"])
    make.make_paper(draft_edition, [paper.authorships.get().person], status="draft")
    assert finds_paper(cache)

    paper.edition.delete()

    assert not finds_paper(cache)
    assert edition_slug("/2021/search/", "q=steam") == edition_slug("/search/", "") == ""


def test_response_of_a_stale_index_is_not_cached(
    paper: Paper, cache: PageCache, requested_urls: list[str]
) -> None:
    finds_paper(cache)
    Paper.objects.filter(pk=paper.pk).update(title="Looms")
    with update._busy:
        response = fetch(cache, "/search/", "q=looms")
    assert response[1]["Cache-Control"] == "private, no-cache"

    assert b"<mark>Looms</mark>" in fetch(cache, "/search/", "q=looms")[2]
    assert len(requested_urls) == 3


def test_long_invalid_and_signed_in_searches_are_not_cached() -> None:
    def key(query: str, cookie: str = "") -> object:
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/search/", "QUERY_STRING": query}
        return cache_key(environ | {"HTTP_HOST": "127.0.0.1", "HTTP_COOKIE": cookie})

    longest = f"q={'x' * (MAX_SEARCH_LENGTH - 2)}"
    assert [key(longest), key("q=x&page=2")] == [("/search/", longest), ("/search/", "page=2&q=x")]
    assert key("q=x&utm_source=mail") == ("/search/", "q=x")
    assert [key(f"{longest}x"), key("q=x&letter=a"), key("q=x&q=y"), key("q=x", "sessionid=1")] == [None] * 4
