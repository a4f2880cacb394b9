"""What was taken back is served by no process after the promised seconds, also if it was idle meanwhile."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError
from django.utils import timezone
from pytest_django import Settings

from conference.cache_lifetimes import read_cache_states
from pagecache import clock as page_cache_clock
from pagecache.middleware import PageCache
from pagecache.revisions import CacheStates
from papers.models import Paper
from people.models import Person, PersonName
from tests import factories
from tests.api.reading import application
from tests.pagecache.wsgi_site import BODY, Clock, Site, fetch

pytestmark = pytest.mark.django_db

STALE_SECONDS, IDLE_SECONDS = 10.0, 240.0
# Addresses that name the author of the paper.
ADDRESSES = [
    "/2021/papers/p1/notes/",
    "/people/zed/zed-quokka/",
    "/2021/papers/",
    "/2021/schedule/2021-04-06/",
    "/2021/sessions/s1/engines/",
    "/2021/presentations/a1.ics",
    "/2021/papers/p1.ics",
    "/people/zed.ics",
    "/2021/papers.csv",
    "/2021/papers.bib",
    "/people/",
    "/api/v1/papers/?edition=2021",
    "/api/v1/papers/2021/p1/",
    "/api/v1/people/zed/",
]
# A part of the author's name, in lower case as the bodies below.
WORD = b"quokka"


@pytest.fixture(autouse=True)
def _stale(settings: Settings) -> None:
    settings.PAGE_CACHE_STALE_SECONDS = STALE_SECONDS


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Replace the clock of the page cache."""
    replacement = Clock()
    monkeypatch.setattr("pagecache.clock.now", replacement.now)
    return replacement


@pytest.fixture
def paper() -> Paper:
    edition = factories.make_edition()
    zed = factories.make_person("Zed Quokka", uid="zed")
    paper = factories.make_paper(edition, [zed], uid="p1", title="Notes")
    session = factories.make_session(edition, uid="s1", title="Engines")
    factories.make_presentation(session, paper, uid="a1")
    return paper


def read(cache: PageCache, address: str) -> tuple[str, dict[str, str], bytes]:
    """Return the response, without the address in its body, which error pages repeat."""
    path, _, query = address.partition("?")
    status, headers, body = fetch(cache, path, query)
    return status, headers, body.lower().replace(path.encode(), b"")


def withdraw(paper: Paper) -> None:
    paper.status = "draft"
    paper.save()


def embargo(paper: Paper) -> None:
    paper.edition.papers_public_from = timezone.now() + timedelta(days=1)
    paper.edition.schedule_public_from = paper.edition.papers_public_from
    paper.edition.save()


def hide_name(paper: Paper) -> None:
    """Rename the author, who stays public."""
    zed = Person.objects.get(uid="zed")
    zed.name, zed.family = "Zed Bee", "Bee"
    zed.save()
    PersonName.objects.create(person=zed, name="Zed Quokka", hidden=True)


@pytest.mark.parametrize("take_back", [withdraw, embargo, Paper.delete, hide_name])
def test_idle_process_serves_nothing_that_was_taken_back(
    paper: Paper, clock: Clock, take_back: Callable[[Paper], Any]
) -> None:
    cache = PageCache(application)
    before = {address: read(cache, address) for address in ADDRESSES}
    clock.wait(1.0)
    take_back(paper)
    clock.wait(IDLE_SECONDS)
    after = {address: read(cache, address)[2] for address in ADDRESSES}
    cache.close()

    assert [address for address, (status, *_) in before.items() if status != "200 OK"] == []
    assert [address for address, (*_, body) in before.items() if WORD not in body] == []
    assert [address for address, body in after.items() if WORD in body] == []


def test_both_processes_stop_in_time_if_one_is_idle(paper: Paper, clock: Clock) -> None:
    sites = Site(), Site()
    busy, idle = (PageCache(site) for site in sites)
    for cache in (busy, idle):
        fetch(cache)
    factories.make_room(paper.edition)
    for site in sites:
        site.body = b"new"
    bodies = []
    for _ in range(12):
        bodies.append(fetch(busy)[2])
        clock.wait(1.0)
    fetch(busy)
    last_bodies = [fetch(busy)[2], fetch(idle)[2]]
    busy.close()
    idle.close()

    assert bodies[0] == BODY
    assert last_bodies == [b"new", b"new"]


def test_stale_response_of_a_process_that_just_read_the_revisions(paper: Paper, clock: Clock) -> None:
    site = Site()
    cache = PageCache(site)
    fetch(cache)
    factories.make_room(paper.edition)
    site.body = b"new"
    # A change within the last nine seconds.
    clock.wait(9.0)
    stale = fetch(cache)
    cache.close()
    new = fetch(cache)

    assert (stale[2], new[2]) == (BODY, b"new")


def test_reader_waits_for_a_reading_of_another_after_idle_time(
    paper: Paper, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site()
    cache = PageCache(site)
    fetch(cache)
    factories.make_room(paper.edition)
    states, may_finish, has_started = read_cache_states(timezone.now()), threading.Event(), threading.Event()
    site.body = b"new"
    clock.wait(IDLE_SECONDS)

    def read_slowly(at: datetime) -> CacheStates:
        has_started.set()
        may_finish.wait(10)
        return states

    monkeypatch.setattr("conference.cache_lifetimes.read_cache_states", read_slowly)
    # No thread but this one can see the rows of the test.
    monkeypatch.setattr("pagecache.revisions.changed_tags", lambda old, new: None)
    bodies: list[bytes] = []
    readers = [threading.Thread(target=lambda: bodies.append(fetch(cache)[2])) for _ in range(2)]
    for reader in readers:
        reader.start()
    has_started.wait(10)
    readers[0].join(0.1)
    readers[1].join(0.1)
    while_reading = [*bodies]
    may_finish.set()
    for reader in readers:
        reader.join()
    cache.close()

    assert (while_reading, bodies) == ([], [b"new", b"new"])


def fail(at: datetime) -> CacheStates:
    raise OperationalError("the server closed the connection")


class Outage:
    """The database, which a test can stop and start for the readings of the page cache."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        # It would close the connection with the test's transaction.
        monkeypatch.setattr("pagecache.revisions.close_old_connections", lambda: None)

    def begin(self) -> None:
        self.monkeypatch.setattr("conference.cache_lifetimes.read_cache_states", fail)

    def end(self) -> None:
        self.monkeypatch.setattr("conference.cache_lifetimes.read_cache_states", read_cache_states)


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> Outage:
    return Outage(monkeypatch)


def test_page_taken_back_before_or_during_an_outage_is_not_served_after_it(
    paper: Paper, clock: Clock, outage: Outage
) -> None:
    site = Site()
    cache = PageCache(site)
    fetch(cache)
    outage.begin()
    clock.wait(1.0)
    during = fetch(cache)
    factories.make_room(paper.edition)
    site.body = b"new"
    clock.wait(20.0)
    outage.end()
    after = fetch(cache)
    cache.close()

    assert (during[2], after[2]) == (BODY, b"new")
    assert "s-maxage=1, stale-while-revalidate=1, stale-if-error=0" in during[1]["Cache-Control"]


@pytest.mark.parametrize(("idle_seconds", "outage_seconds"), [(IDLE_SECONDS, 0.0), (1.0, 61.0)])
def test_page_that_may_be_outdated_is_not_served_during_an_outage(
    paper: Paper, clock: Clock, outage: Outage, idle_seconds: float, outage_seconds: float
) -> None:
    site = Site()
    cache = PageCache(site)
    fetch(cache)
    outage.begin()
    clock.wait(idle_seconds)
    fetch(cache)
    clock.wait(outage_seconds)
    site.status, site.body = "503 Service Unavailable", b"Back in a moment"
    response = fetch(cache)
    cache.close()

    assert response[2] == site.body


def test_shared_caches_store_a_response_for_long_only_if_it_is_current(
    paper: Paper, clock: Clock, settings: Settings
) -> None:
    settings.SHARED_CACHE_SECONDS = 3600
    site = Site()
    cache = PageCache(site)
    application_of_site = cache.application

    def change_while_rendering(environ: Any, start_response: Any) -> Any:
        factories.make_room(paper.edition)
        clock.wait(1.0)
        return application_of_site(environ, start_response)

    cache.application = change_while_rendering
    outdated = fetch(cache)[1]["Cache-Control"]
    cache.application = application_of_site
    clock.wait(STALE_SECONDS)
    current = fetch(cache)[1]["Cache-Control"]
    cache.close()

    assert outdated == "public, max-age=0, s-maxage=1, stale-while-revalidate=1, stale-if-error=0"
    assert current.endswith("stale-while-revalidate=10, stale-if-error=10")
    assert "s-maxage=1," not in current


def test_clock_counts_the_time_that_the_machine_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.clock_gettime", lambda clock_id: {7: 86_400.0}[clock_id])
    assert page_cache_clock.now() == 86_400.0


def test_no_error_but_the_databases_is_hidden(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_otherwise(at: datetime) -> CacheStates:
        raise ZeroDivisionError

    monkeypatch.setattr("conference.cache_lifetimes.read_cache_states", fail_otherwise)
    with pytest.raises(ZeroDivisionError):
        fetch(PageCache(Site()))
    assert issubclass(OperationalError, DatabaseError)
