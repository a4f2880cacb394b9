"""Invalidation: a cached page is rendered again after a change of its content, and after no other change."""

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from django.db import models
from pytest_django import Settings

from conference.models import Edition
from pagecache.middleware import PageCache
from papers.models import Paper
from tests import factories
from tests.pagecache.wsgi_site import BODY, Clock, Site, fetch

pytestmark = pytest.mark.django_db

HOME, DAY, LIST = "/2021/", "/2021/schedule/2021-04-05/", "/2021/papers/"
LINK = b'<a href="/2021/papers/17/title/">'


@pytest.fixture
def paper() -> Paper:
    return factories.make_paper(factories.make_edition(), uid="17")


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def cache(site: Site, paper: Paper, monkeypatch: pytest.MonkeyPatch) -> Iterator[PageCache]:
    """Yield a page cache that reads the revisions at every request."""
    monkeypatch.setattr("pagecache.revisions.POLL_SECONDS", -1.0)
    cache = PageCache(site)
    yield cache
    cache.close()


def retitle(paper: Paper) -> None:
    paper.title += " again"
    paper.save()


def test_page_without_the_paper_stays_valid(cache: PageCache, site: Site, paper: Paper) -> None:
    before = fetch(cache)
    retitle(paper)
    assert fetch(cache) == before
    assert site.requested_paths == [HOME]


@pytest.mark.parametrize(
    ("path", "query", "body"),
    [
        (LIST, "", BODY),
        ("/search/", "", BODY),
        (DAY, "view=grid", BODY),
        (HOME, "", BODY + LINK),
        ("/2021/papers/17/title/", "", BODY),
    ],
    ids=["list", "search", "parameters", "link", "its own page"],
)
def test_page_that_shows_the_paper_is_rendered_again(
    cache: PageCache, site: Site, paper: Paper, path: str, query: str, body: bytes
) -> None:
    site.body = body
    fetch(cache, path, query)
    retitle(paper)
    fetch(cache, path, query)
    fetch(cache, path, query)
    assert site.requested_paths == [path, path]


def test_other_change_between_changes_of_titles_invalidates_all_pages(
    cache: PageCache, site: Site, paper: Paper
) -> None:
    fetch(cache)
    retitle(paper)
    factories.make_room(paper.edition)
    retitle(paper)
    fetch(cache)
    assert len(site.requested_paths) == 2


def test_new_edition_and_new_person_invalidate_every_page(cache: PageCache, site: Site, paper: Paper) -> None:
    fetch(cache)
    factories.make_edition(2022)
    fetch(cache)
    factories.make_person("Zed")
    fetch(cache)
    assert len(site.requested_paths) == 3


@pytest.mark.parametrize("edits", [0, 1, 2, 5])
def test_page_is_rendered_again_after_the_database_was_restored(
    cache: PageCache, site: Site, paper: Paper, edits: int
) -> None:
    stored = Edition.objects.filter(pk=paper.edition_id)
    before = stored.get()
    retitle(paper)
    fetch(cache)
    models.QuerySet.update(stored, revision=before.revision, changed_at=before.changed_at)
    for _ in range(edits):
        retitle(paper)
    fetch(cache)
    assert len(site.requested_paths) == 2


def test_change_is_noticed_after_the_clock_was_set_back(cache: PageCache, site: Site, paper: Paper) -> None:
    stored = Edition.objects.filter(pk=paper.edition_id)
    models.QuerySet.update(stored, changed_at=stored.get().changed_at + timedelta(days=1))
    site.body = BODY + LINK
    fetch(cache)
    retitle(paper)
    fetch(cache)
    assert len(site.requested_paths) == 2


# Stale while revalidate


@pytest.fixture
def stale(settings: Settings) -> Settings:
    settings.PAGE_CACHE_STALE_SECONDS = 10.0
    return settings


def wait_for_body(cache: PageCache, expected: bytes) -> None:
    """Repeat a request until it returns this body."""
    for _ in range(500):
        if fetch(cache)[2] == expected:
            return
        time.sleep(0.01)
    pytest.fail("the new page never came")


@pytest.mark.usefixtures("stale")
def test_readers_get_the_old_page_while_one_thread_renders_the_new_one(
    cache: PageCache, site: Site, paper: Paper
) -> None:
    fetch(cache)
    factories.make_room(paper.edition)
    may_finish, site.body = threading.Event(), BODY + b"new"
    application, threads = cache.application, set[str]()

    def slow(environ: WSGIEnvironment, start_response: StartResponse) -> Any:
        threads.add(threading.current_thread().name)
        may_finish.wait(10)
        return application(environ, start_response)

    cache.application = slow
    bodies = [fetch(cache)[2] for _ in range(5)]
    may_finish.set()
    wait_for_body(cache, site.body)

    assert bodies == [BODY] * 5
    assert site.requested_paths == [HOME, HOME]
    assert len(threads) == 1
    assert threading.current_thread().name not in threads


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Replace the clock of the page cache."""
    replacement = Clock()
    monkeypatch.setattr("pagecache.clock.now", replacement.now)
    return replacement


@pytest.mark.usefixtures("stale")
def test_readers_wait_for_the_new_page_after_the_stale_seconds(
    cache: PageCache, site: Site, paper: Paper, clock: Clock
) -> None:
    fetch(cache)
    factories.make_room(paper.edition)
    cache.revisions.poll()
    clock.wait(10.1)
    site.body = BODY + b"new"
    assert fetch(cache)[2] == site.body


@pytest.mark.usefixtures("stale")
def test_stale_seconds_count_from_the_first_of_several_changes(
    cache: PageCache, site: Site, paper: Paper, clock: Clock
) -> None:
    fetch(cache)
    for seconds in (0.0, 6.0, 5.0):
        clock.wait(seconds)
        factories.make_room(paper.edition, f"Room {seconds}")
        cache.revisions.poll()
    clock.wait(1.0)
    site.body = BODY + b"new"
    assert fetch(cache)[2] == site.body


@pytest.mark.usefixtures("stale")
def test_shared_caches_keep_a_stale_page_for_one_second(
    cache: PageCache, paper: Paper, settings: Settings
) -> None:
    settings.SHARED_CACHE_SECONDS = 120
    fresh_header = fetch(cache)[1]["Cache-Control"]
    factories.make_room(paper.edition)
    stale_header = fetch(cache)[1]["Cache-Control"]
    assert "s-maxage=120" in fresh_header
    assert "s-maxage=1," in stale_header


@pytest.mark.usefixtures("stale")
def test_deleted_page_is_404_after_one_stale_response(cache: PageCache, site: Site, paper: Paper) -> None:
    fetch(cache)
    paper.delete()
    site.status, site.body = "404 Not Found", b"gone"
    assert fetch(cache)[0] == "200 OK"
    wait_for_body(cache, b"gone")
    assert fetch(cache)[0] == "404 Not Found"


@pytest.mark.usefixtures("stale")
def test_older_page_never_replaces_a_newer_one(
    cache: PageCache, site: Site, paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a rendering that started before a change end after one that started later."""
    may_finish, has_started = threading.Event(), threading.Event()
    application, bodies = cache.application, iter([b"old" * 200, b"new" * 200])
    monkeypatch.setattr("pagecache.middleware.WAIT_SECONDS", 0.05)
    cache.revisions.poll()

    def render(environ: WSGIEnvironment, start_response: StartResponse) -> Any:
        body = next(bodies)
        if body.startswith(b"old"):
            has_started.set()
            may_finish.wait(10)
        application(environ, start_response)
        return [body]

    cache.application = render
    # The other thread must not use the database.
    poll = cache.revisions.poll
    monkeypatch.setattr(cache.revisions, "poll", lambda: True)
    slow = threading.Thread(target=lambda: fetch(cache))
    slow.start()
    has_started.wait(10)
    factories.make_room(paper.edition)
    poll()
    assert fetch(cache)[2].startswith(b"new")
    may_finish.set()
    slow.join()
    assert fetch(cache)[2].startswith(b"new")
