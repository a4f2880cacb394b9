"""The page cache: hits do not reach Django, commits invalidate pages, personal pages are not cached."""

import gzip
import threading
from datetime import UTC, datetime, timedelta
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import brotli
import pytest
from django.db import DatabaseError
from django.utils import timezone
from pytest_django import Settings

from conference.models import Edition
from pagecache.entries import HEADERS_BYTES, TAG_BYTES
from pagecache.keys import Key
from pagecache.middleware import PageCache
from pagecache.revisions import SITE, CacheState
from papers.models import Paper
from tests import factories
from tests.api.reading import application
from tests.pagecache.wsgi_site import BODY, Site, fetch

pytestmark = pytest.mark.django_db


@pytest.fixture
def edition() -> Edition:
    return factories.make_edition()


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def cache(site: Site, edition: Edition, monkeypatch: pytest.MonkeyPatch) -> PageCache:
    """Return a page cache that reads the revisions at every request, so that no test has to wait."""
    monkeypatch.setattr("pagecache.revisions.POLL_SECONDS", -1.0)
    return PageCache(site)


def test_second_request_is_served_from_the_cache(cache: PageCache, site: Site) -> None:
    first, second = fetch(cache), fetch(cache)
    assert first == second
    assert first[0] == "200 OK"
    assert first[2] == BODY
    assert site.requested_paths == ["/2021/"]


def test_change_is_visible_in_the_next_request(cache: PageCache, site: Site, edition: Edition) -> None:
    before = fetch(cache)
    site.body = BODY + b"changed"
    factories.make_paper(edition)
    after = fetch(cache)
    assert after[2] == site.body
    assert after[1]["ETag"] != before[1]["ETag"]
    assert len(site.requested_paths) == 2


def test_pages_without_times_are_cached_while_an_edition_runs(
    cache: PageCache, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conference.cache_lifetimes.LIFETIME_WHILE_RUNNING", 0.0)
    year = timezone.now().year
    factories.make_edition(year, start_date=timezone.now().date(), end_date=timezone.now().date())
    paths = [
        f"/{year}/{page}" for page in ("", "sessions/s1/x/", "schedule/", "papers/p1/x/", "schedule.ics")
    ]
    for path in (*paths, *paths):
        fetch(cache, path)

    assert sorted(site.requested_paths) == sorted([*paths, *paths[:3]])


def test_edit_in_one_edition_keeps_pages_of_others_cached(
    cache: PageCache, site: Site, edition: Edition
) -> None:
    other = factories.make_edition(2026)
    fetch(cache, "/2021/")
    factories.make_paper(other)
    fetch(cache, "/2021/")
    assert site.requested_paths == ["/2021/"]


def test_end_of_an_embargo_is_visible_without_an_edit(cache: PageCache, site: Site) -> None:
    until = datetime.now(UTC) + timedelta(seconds=0.2)
    edition = factories.make_edition(2027, papers_public_from=until)
    fetch(cache, "/2027/papers/")
    threading.Event().wait(max(0.0, (until - datetime.now(UTC)).total_seconds()) + 0.05)
    fetch(cache, "/2027/papers/")
    assert site.requested_paths == ["/2027/papers/"] * 2
    assert Paper.objects.filter(edition=edition).count() == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"HTTP_COOKIE": "sessionid=abc"},
        {"HTTP_COOKIE": 'consent={"all": true}; sessionid=abc'},
        {"HTTP_COOKIE": "agenda=abc"},
        {"HTTP_AUTHORIZATION": "Bearer abc"},
        {"REQUEST_METHOD": "POST", "HTTP_COOKIE": "a=b"},
        {"HTTP_HOST": "evil.example"},
        {"HTTP_HOST": ""},
        {"PATH_INFO": "/admin/"},
        {"QUERY_STRING": "q=words"},
        {"QUERY_STRING": "topic=a&topic=b"},
        {"QUERY_STRING": "page=" + 500 * "1"},
    ],
    ids=[
        "session",
        "json",
        "agenda",
        "token",
        "post",
        "host",
        "empty host",
        "admin",
        "words",
        "repeated",
        "long",
    ],
)
def test_personal_and_other_uncacheable_requests_bypass_the_cache(
    cache: PageCache, site: Site, headers: dict[str, str]
) -> None:
    path, query = headers.pop("PATH_INFO", "/2021/"), headers.pop("QUERY_STRING", "")
    fetch(cache, path, query, **headers)
    fetch(cache, path, query, **headers)
    assert len(site.requested_paths) == 2


def test_charset_of_a_request_does_not_change_the_page_of_others(
    edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pagecache.revisions.POLL_SECONDS", -1.0)
    factories.make_paper(edition)
    cache = PageCache(application)
    fetch(cache, "/2021/papers/", "page=99", CONTENT_TYPE="text/html; charset=cp037")
    assert fetch(cache, "/2021/papers/", "page=99")[0] == "400 Bad Request"


@pytest.mark.parametrize(
    "condition",
    [{"HTTP_IF_MATCH": '"x"'}, {"HTTP_IF_UNMODIFIED_SINCE": "Sat, 01 Jan 2000 00:00:00 GMT"}],
    ids=str,
)
def test_condition_of_one_reader_does_not_drop_the_page_of_others(
    edition: Edition, monkeypatch: pytest.MonkeyPatch, condition: dict[str, str]
) -> None:
    monkeypatch.setattr("pagecache.revisions.POLL_SECONDS", -1.0)
    cache, key = PageCache(application), Key("/api/v1/papers/", "")
    fetch(cache, *key)
    factories.make_paper(edition)

    assert fetch(cache, *key, **condition)[0] == "200 OK"
    assert cache.entries.get(key)


@pytest.mark.parametrize(
    ("status", "header"),
    [
        ("404 Not Found", None),
        ("302 Found", None),
        ("200 OK", ("Set-Cookie", "csrftoken=x")),
        ("200 OK", ("Cache-Control", "private, max-age=0")),
        ("200 OK", ("Cache-Control", "no-store")),
        ("200 OK", ("Vary", "Accept-Language")),
    ],
)
def test_private_or_unsuccessful_response_is_not_cached(
    cache: PageCache, site: Site, status: str, header: tuple[str, str] | None
) -> None:
    site.status = status
    site.headers += [header] if header else []
    fetch(cache)
    assert fetch(cache)[0] == status
    assert len(site.requested_paths) == 2


def test_parameters_in_any_order_share_a_cache_entry(cache: PageCache, site: Site) -> None:
    fetch(cache, "/2021/papers/", "topic=a&page=2")
    fetch(cache, "/2021/papers/", "page=2&topic=a")
    assert len(site.requested_paths) == 1


@pytest.mark.parametrize("condition", ["HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE"])
def test_conditional_request_gets_304_without_body(
    cache: PageCache, site: Site, edition: Edition, condition: str
) -> None:
    headers = fetch(cache)[1]
    condition_header = {condition: headers["ETag" if condition == "HTTP_IF_NONE_MATCH" else "Last-Modified"]}
    status, response_headers, body = fetch(cache, **condition_header)
    assert (status, body, response_headers["ETag"]) == ("304 Not Modified", b"", headers["ETag"])
    Edition.objects.filter(pk=edition.pk).update(changed_at=datetime.now(UTC) + timedelta(seconds=2))
    site.body = BODY + b"changed"
    assert fetch(cache, **condition_header)[0] == "200 OK"


@pytest.mark.parametrize(
    ("accepted", "encoding", "decode"),
    [
        ("gzip, br", "br", brotli.decompress),
        ("gzip", "gzip", gzip.decompress),
        ("br;q=0, gzip;q=0.5", "gzip", gzip.decompress),
        ("identity", None, bytes),
    ],
)
def test_page_is_compressed_with_an_accepted_encoding(
    cache: PageCache, accepted: str, encoding: str | None, decode: Any
) -> None:
    _, headers, body = fetch(cache, HTTP_ACCEPT_ENCODING=accepted)
    assert headers.get("Content-Encoding") == encoding
    assert decode(body) == BODY
    assert int(headers["Content-Length"]) == len(body)


def test_head_has_the_headers_of_get_and_no_body(cache: PageCache) -> None:
    get, head = fetch(cache), fetch(cache, REQUEST_METHOD="HEAD")
    assert head == (get[0], get[1], b"")


def test_memory_is_bounded_and_the_least_recently_used_page_is_dropped(site: Site, edition: Edition) -> None:
    cache = PageCache(site, max_bytes=3 * (HEADERS_BYTES + TAG_BYTES))
    for path in ("/2021/a", "/2021/b", "/2021/a", "/2021/c", "/2021/a", "/2021/b"):
        fetch(cache, path)
    assert site.requested_paths == ["/2021/a", "/2021/b", "/2021/c", "/2021/b"]


def test_page_is_stored_compressed(cache: PageCache) -> None:
    fetch(cache)
    entry = cache.entries.get(Key("/2021/", ""))

    assert entry is not None
    assert (entry.uncompressed_body, {*entry.bodies}) == (BODY, {"br"})
    assert len(entry.bodies["br"]) < entry.size < len(entry.bodies["br"]) * 3 + HEADERS_BYTES + 1_000


def test_http_requests_bypass_the_cache_if_https_is_required(
    cache: PageCache, site: Site, settings: Settings
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    fetch(cache)
    fetch(cache)
    assert len(site.requested_paths) == 2
    fetch(cache, HTTP_X_FORWARDED_PROTO="https")
    fetch(cache, HTTP_X_FORWARDED_PROTO="https")
    assert len(site.requested_paths) == 3


def test_cached_pages_are_served_while_the_database_is_unavailable(
    cache: PageCache, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(cache)

    def fail(at: datetime) -> None:
        raise DatabaseError

    monkeypatch.setattr("conference.cache_lifetimes.read_cache_states", fail)
    assert fetch(cache)[2] == BODY
    assert len(site.requested_paths) == 1


def test_concurrent_requests_render_a_page_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    state = CacheState(0, 1, now, now, lifetime=60.0, steady=60.0)
    monkeypatch.setattr("conference.cache_lifetimes.read_cache_states", lambda at: {SITE: state})
    barrier, rendered_paths = threading.Barrier(8), []

    def render_slowly(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        rendered_paths.append(environ["PATH_INFO"])
        threading.Event().wait(0.2)
        start_response("200 OK", [("Content-Type", "text/html")])
        return [BODY]

    cache, bodies = PageCache(render_slowly), []

    def read() -> None:
        barrier.wait()
        bodies.append(fetch(cache)[2])

    readers = [threading.Thread(target=read) for _ in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert bodies == [BODY] * 8
    assert rendered_paths == ["/2021/"]
