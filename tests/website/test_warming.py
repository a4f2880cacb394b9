"""The pages that a new process renders before it answers requests, and for how long it does."""

import threading
from datetime import timedelta
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from conference.models import Edition
from pagecache.middleware import PageCache
from schedule.following import Agenda, AgendaStar
from tests.factories import MORNING, make_edition, make_paper, make_presentation, make_session
from tests.pagecache.wsgi_site import Site, fetch
from website.warming import first_pages, warm_at_start

DAY = timedelta(days=1)
TOKEN = "0123456789abcdefghijklmnopqrstuvwxyz"


def fill(edition: Edition, number: int) -> None:
    """Add papers with a talk each, of which the first has most stars, and a session on each of two days."""
    sessions = [
        make_session(edition, uid=f"s{day}", title=f"Day {day}", start=MORNING + day * DAY) for day in (0, 1)
    ]
    for index in range(number):
        paper = make_paper(edition, uid=f"{9 - index}", title=f"Paper {index}")
        talk = make_presentation(sessions[0], paper)
        for stars in range(index, number):
            agenda = Agenda.objects.create(edition=edition, token_digest=f"{index} {stars}")
            AgendaStar.objects.create(agenda=agenda, presentation=talk)


@pytest.mark.django_db
def test_pages_come_in_the_order_in_which_people_ask() -> None:
    edition = make_edition()
    fill(edition, 2)
    removed = make_presentation(edition.sessions.get(uid="s0"), make_paper(edition, uid="1", title="Removed"))
    for number in range(3):
        agenda = Agenda.objects.create(edition=edition, token_digest=f"removed {number}")
        AgendaStar.objects.create(agenda=agenda, presentation=removed, removed_at=timezone.now())
    make_paper(edition, uid="0", status="draft")
    days = ["/2021/schedule/2021-04-07/", "/2021/schedule/2021-04-06/"]
    sessions = ["/2021/sessions/s1/day-1/", "/2021/sessions/s0/day-0/"]
    papers = ["/2021/papers/9/paper-0/", "/2021/papers/8/paper-1/", "/2021/papers/1/removed/"]
    paths = [
        "/",
        "/2021/",
        "/2021/schedule/",
        days[0],
        f"{days[0]}?view=grid",
        days[1],
        f"{days[1]}?view=grid",
    ]

    assert first_pages(edition, at=MORNING + DAY) == [*paths, *sessions, *papers]
    assert first_pages(edition, 8, at=MORNING + DAY) == [*paths, sessions[0]]


@pytest.mark.django_db
@pytest.mark.parametrize("number", [1, 3])
def test_queries_do_not_grow(number: int) -> None:
    edition = make_edition()
    fill(edition, number)
    with CaptureQueriesContext(connection) as queries:
        first_pages(edition, at=MORNING)

    assert len(queries) == 3


@pytest.mark.django_db(transaction=True)
def test_process_has_the_pages_of_the_next_edition_at_start(settings: Settings) -> None:
    settings.WARM_SECONDS = 60
    this_year = timezone.now().year
    edition = make_edition(this_year + 1)
    make_edition(this_year - 1)
    fill(edition, 1)
    site = Site()
    pages = PageCache(site)
    warm_at_start(pages)
    rendered = [*site.requested_paths]
    fetch(pages, f"/{edition.slug}/")

    assert rendered[:2] == ["/", f"/{edition.slug}/"]
    assert site.requested_paths == rendered


@pytest.mark.django_db(transaction=True)
def test_page_that_does_not_end_delays_the_start_for_a_limited_time(settings: Settings) -> None:
    settings.WARM_SECONDS = 0.5
    make_edition()
    is_ended, requested_paths = threading.Event(), []

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        requested_paths.append(environ["PATH_INFO"])
        is_ended.wait(60)
        start_response("200 OK", [])
        return []

    warm_at_start(application)
    was_waiting = not is_ended.is_set()
    is_ended.set()
    for thread in threading.enumerate():
        if thread.name == "warming":
            thread.join(60)

    assert was_waiting
    assert requested_paths == ["/"]
