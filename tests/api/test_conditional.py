"""Conditional requests, CORS, and the page cache in front of Django (trap 17)."""

import gzip
from datetime import timedelta
from typing import Any

import brotli
import pytest
from django.test import Client
from django.utils import timezone

from api.reader import Reader
from conference.models import Edition
from pagecache.keys import Key, cache_key
from pagecache.middleware import PageCache
from pagecache.tags import edition_slug
from papers.models import Paper
from tests import factories as make
from tests.api.reading import application
from tests.pagecache.wsgi_site import fetch

pytestmark = pytest.mark.django_db
PAPERS = "/api/v1/papers/"


@pytest.fixture
def paper() -> Paper:
    return make.make_paper(make.make_edition(), ["Ada"], uid="p", title="Notes", abstract="Long. " * 100)


def test_etag_gets_304_until_an_edit(client: Client, paper: Paper) -> None:
    etag = client.get(PAPERS)["ETag"]
    response = client.get(PAPERS, HTTP_IF_NONE_MATCH=etag)
    assert (response.status_code, response.content, response["ETag"]) == (304, b"", etag)

    paper.title = "Other notes"
    paper.save()
    assert client.get(PAPERS, HTTP_IF_NONE_MATCH=etag).status_code == 200


def test_last_modified_gets_304(client: Client, paper: Paper) -> None:
    since = client.get(PAPERS)["Last-Modified"]

    assert client.get(PAPERS, HTTP_IF_MODIFIED_SINCE=since).status_code == 304


def test_change_during_a_response_is_not_in_its_last_modified(
    client: Client, paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, objects = client.get(PAPERS)["Last-Modified"], Reader.objects

    def objects_before_a_change(self: Reader, *arguments: Any) -> Any:
        rows = objects(self, *arguments)
        Edition._base_manager.update(changed_at=timezone.now() + timedelta(hours=1))
        return rows

    monkeypatch.setattr(Reader, "objects", objects_before_a_change)
    assert client.get(PAPERS)["Last-Modified"] == before


@pytest.mark.parametrize(
    ("accepted", "encoding", "decode"),
    [("gzip, br", "br", brotli.decompress), ("gzip", "gzip", gzip.decompress)],
)
def test_uncached_response_is_compressed(
    client: Client, paper: Paper, accepted: str, encoding: str, decode: Any
) -> None:
    path = f"{PAPERS}?q=notes"
    response = client.get(path, HTTP_ACCEPT_ENCODING=accepted)
    assert response["Content-Encoding"] == encoding
    assert decode(response.content) == client.get(path).content
    not_modified = client.get(path, HTTP_ACCEPT_ENCODING=accepted, HTTP_IF_NONE_MATCH=response["ETag"])
    assert not_modified.status_code == 304


@pytest.mark.parametrize(("path", "status"), [("", 200), ("?yaer=1", 400), ("2021/none/", 404)])
def test_cors_allows_any_origin_to_read(client: Client, paper: Paper, path: str, status: int) -> None:
    response = client.get(PAPERS + path, HTTP_ORIGIN="https://app.example")

    assert response.status_code == status
    assert response["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in response


def test_cors_preflight_allows_reading_with_a_token(client: Client, paper: Paper) -> None:
    response = client.options(PAPERS, HTTP_ORIGIN="https://app.example")

    assert (response.status_code, response.content) == (204, b"")
    assert response["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
    assert (
        response["Access-Control-Allow-Headers"] == "Accept, Authorization, If-None-Match, If-Modified-Since"
    )
    assert "Access-Control-Allow-Credentials" not in response


def test_responses_to_signed_in_users_are_not_cached(admin_client: Client, paper: Paper) -> None:
    response = admin_client.get(PAPERS)

    assert response["Cache-Control"] == "private, no-store"
    assert {"Authorization", "Cookie"} <= set(response["Vary"].split(", "))


def test_anonymous_response_is_cached_until_an_edit(paper: Paper) -> None:
    cache = PageCache(application)
    first, second = (fetch(cache, PAPERS, "edition=2021") for _ in range(2))
    assert first == second
    assert first[0] == "200 OK"
    Paper.objects.filter(pk=paper.pk).update(title="Other notes")
    cache.revisions.expire()
    assert b"Other notes" in fetch(cache, PAPERS, "edition=2021")[2]


def test_cached_response_is_compressed_and_has_cors_headers(paper: Paper) -> None:
    cache = PageCache(application)
    _, headers, _ = fetch(cache, PAPERS, HTTP_ACCEPT_ENCODING="br", HTTP_ORIGIN="https://app.example")
    assert (headers["Content-Encoding"], headers["Access-Control-Allow-Origin"]) == ("br", "*")
    status, not_modified_headers, _ = fetch(cache, PAPERS, HTTP_IF_NONE_MATCH=headers["ETag"])
    assert (status, not_modified_headers["Access-Control-Allow-Origin"]) == ("304 Not Modified", "*")


@pytest.mark.parametrize(
    ("query", "is_cached"),
    [
        ("topic=a&expand=awards", True),
        ("cursor=x", True),
        ("q=word", False),
        ("changed_since=2021-01-01", False),
    ],
)
def test_searches_and_times_are_not_cached(query: str, is_cached: bool) -> None:
    environ: dict[str, Any] = {"REQUEST_METHOD": "GET", "PATH_INFO": PAPERS, "QUERY_STRING": query}

    assert (cache_key({**environ, "HTTP_HOST": "localhost"}) is not None) == is_cached


def test_response_to_an_unknown_parameter_is_not_cached(paper: Paper) -> None:
    cache = PageCache(application)

    assert [fetch(cache, PAPERS, "yaer=1")[0] for _ in range(2)] == ["400 Bad Request"] * 2
    assert cache.entries.get(Key(PAPERS, "yaer=1")) is None


@pytest.mark.parametrize(
    ("path", "query", "slug"),
    [
        ("/2021/papers/", "", "2021"),
        ("/api/v1/papers/", "edition=2021", "2021"),
        ("/api/v1/papers/", "edition=2021&expand=authors,awards", "2021"),
        ("/api/v1/papers/", "edition=2021&expand=authors.person", ""),
        ("/api/v1/papers/", "edition=2021&fields=authors.person.papers", ""),
        ("/api/v1/papers/", "edition=2021&fields=title,authors", "2021"),
        ("/api/v1/papers/2021/p/", "", "2021"),
        ("/api/v1/papers/", "", ""),
        ("/api/v1/people/", "edition=2021", ""),
        ("/api/v1/people/2021/", "", ""),
        ("/api/v1/editions/2021/", "", ""),
        ("/api/v1/", "", ""),
    ],
)
def test_response_depends_on_one_edition_if_it_shows_no_other(path: str, query: str, slug: str) -> None:
    assert edition_slug(path, query) == slug
