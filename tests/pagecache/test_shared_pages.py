"""Pages that processes share: written once for all, never old, and never missed where the cache is away."""

import threading
import time
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from django.core.cache.backends.locmem import LocMemCache

from conference.models import Edition
from pagecache import revisions, shared_pages
from pagecache.middleware import PageCache
from pagecache.shared_cache import SharedCache
from pagecache.shared_pages import SharedPages
from tests import factories
from tests.pagecache.cached_pages import BODY, Site, ask

pytestmark = pytest.mark.django_db


@pytest.fixture
def shared() -> SharedPages:
    cache = LocMemCache("pages of processes", {})
    cache.clear()
    return SharedPages(cache)


@pytest.fixture
def edition(monkeypatch: pytest.MonkeyPatch) -> Edition:
    monkeypatch.setattr(revisions, "READ_EVERY", -1.0)
    return factories.make_edition()


@pytest.fixture
def processes(shared: SharedPages, edition: Edition) -> list[tuple[Site, PageCache]]:
    """Two processes: an application each, with a page cache of its own."""
    sites = [Site(), Site()]
    return [(site, PageCache(site, shared=shared)) for site in sites]


def asked(processes: list[tuple[Site, PageCache]]) -> list[int]:
    return [len(site.asked) for site, _ in processes]


def test_page_is_written_by_one_process_for_all(processes: list[tuple[Site, PageCache]]) -> None:
    (_, first), (_, second) = processes
    answers = [ask(first), ask(second), ask(second)]

    assert answers == [answers[0]] * 3
    assert answers[0][2] == BODY
    assert asked(processes) == [1, 0]


def test_it_goes_out_compressed_with_the_same_etag(processes: list[tuple[Site, PageCache]]) -> None:
    answers = [ask(cache, HTTP_ACCEPT_ENCODING=name) for name in ("br", "gzip") for _, cache in processes]

    assert answers[0] == answers[1]
    assert answers[2] == answers[3]
    assert {answer[1]["Content-Encoding"] for answer in answers} == {"br", "gzip"}


def test_change_is_seen_by_all(processes: list[tuple[Site, PageCache]], edition: Edition) -> None:
    (site, first), (_, second) = processes
    before = [ask(first), ask(second)]
    site.body = BODY + b"changed"
    factories.make_paper(edition)
    after = [ask(first), ask(second)]

    assert [answer[2] for answer in (*before, *after)] == [BODY, BODY, site.body, site.body]
    assert asked(processes) == [2, 0]


def change_words(edition: Edition) -> None:
    paper = edition.papers.get()
    paper.title += " again"
    paper.save()


def test_page_that_does_not_name_what_was_touched_is_not_written_again(
    processes: list[tuple[Site, PageCache]], edition: Edition
) -> None:
    (_, first), (_, second) = processes
    factories.make_paper(edition, uid="17")
    before = ask(first)
    change_words(edition)
    assert [ask(second), ask(first)] == [before, before]
    assert asked(processes) == [1, 0]


def test_page_that_names_it_is_written_once_more(
    processes: list[tuple[Site, PageCache]], edition: Edition
) -> None:
    (site, first), (_, second) = processes
    factories.make_paper(edition, uid="17")
    site.body = BODY + b'<a href="/2021/papers/17/title/">'
    ask(first)
    change_words(edition)
    site.body = BODY + b'<a href="/2021/papers/17/title-again/">'
    assert [ask(cache)[2] for cache in (first, second)] == [site.body, site.body]
    assert asked(processes) == [2, 0]


def test_addresses_and_parameters_are_apart(processes: list[tuple[Site, PageCache]]) -> None:
    (_, first), (_, second) = processes
    for path, query in (("/2021/", ""), ("/2021/papers/", ""), ("/2021/papers/", "page=2")):
        ask(first, path, query)
        ask(second, path, query)

    assert asked(processes) == [3, 0]


def test_new_code_takes_no_page_of_the_old(
    processes: list[tuple[Site, PageCache]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (_, first), (_, second) = processes
    ask(first)
    monkeypatch.setattr(shared_pages, "code", lambda: "another")
    ask(second)

    assert asked(processes) == [1, 1]


def test_files_of_an_installation_are_no_code() -> None:
    names = {folder.name for folder in shared_pages.folders()}
    apps = {"accounts", "api", "conference", "content", "exchange", "operations", "papers", "people"}
    apps |= {"schedule", "search", "website"}

    assert names == apps | {"templates", "static", "locale"}


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        ("404 Not Found", []),
        ("200 OK", [("Set-Cookie", "a=b")]),
        ("200 OK", [("Cache-Control", "private")]),
    ],
)
def test_what_is_not_everybodys_is_not_shared_and_nobody_waits_for_it(
    processes: list[tuple[Site, PageCache]], status: str, headers: list[tuple[str, str]]
) -> None:
    for site, _ in processes:
        site.status, site.headers = status, headers
    began = time.monotonic()
    found = [ask(cache)[0] for _, cache in processes]

    assert found == [status, status]
    assert asked(processes) == [1, 1]
    assert time.monotonic() - began < shared_pages.WAIT


def test_process_waits_for_the_page_that_another_writes(
    shared: SharedPages, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    for patience in ("WAIT", "SLOW"):
        monkeypatch.setattr(f"pagecache.shared_pages.{patience}", 60.0)
    begun, go_on = threading.Event(), threading.Event()

    def slow(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        begun.set()
        go_on.wait(5)
        start_response("200 OK", [("Content-Type", "text/html")])
        return [BODY]

    writing, other, answers = PageCache(slow, shared=shared), Site(), list[Any]()
    waiting = PageCache(other, shared=shared)
    # Threads have no transaction of the test: the stamps are read here.
    for cache in (writing, waiting):
        cache.stamps.of("2021")
        cache.stamps._read_at = float("inf")
    threads = [
        threading.Thread(target=lambda one=one: answers.append(ask(one))) for one in (writing, waiting)
    ]
    threads[0].start()
    begun.wait(5)
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join()

    assert [answer[2] for answer in answers] == [BODY, BODY]
    assert other.asked == []


def test_process_that_died_holds_nobody_up_for_long(
    processes: list[tuple[Site, PageCache]], shared: SharedPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_pages, "WAIT", 0.05)
    (_, first), _ = processes
    state = first.stamps.of("2021")
    assert state
    assert shared.shared
    shared.shared.add(f"{shared_pages.named('/2021/', '', repr(state.stamp))}:turn", True)

    assert ask(first)[2] == BODY


def test_cache_that_is_away_changes_nothing(edition: Edition) -> None:
    away = SharedPages(SharedCache("redis://127.0.0.1:1/0", {"OPTIONS": {"socket_connect_timeout": 0.1}}))
    site = Site()
    cache = PageCache(site, shared=away)

    assert [ask(cache)[2] for _ in range(2)] == [BODY, BODY]
    assert len(site.asked) == 1


def test_cache_that_hangs_is_left_alone(edition: Edition, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_pages, "SLOW", -1)
    calls = list[str]()

    class Hanging(LocMemCache):
        def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
            calls.append(key)
            return default

    cache = PageCache(Site(), shared=SharedPages(Hanging("hanging", {})))
    for path in ("/2021/", "/2021/papers/", "/2021/awards/"):
        assert ask(cache, path)[2] == BODY

    assert len(calls) == 1
