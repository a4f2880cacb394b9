"""The clock of the server jumps: pages still show all changes, and Last-Modified never goes back."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.test import Client, RequestFactory

from conference.models import Edition
from pagecache.middleware import PageCache
from papers.models import Paper
from tests import factories as make
from tests.connections import keep_connections_open
from website.wsgi import django

pytestmark = pytest.mark.django_db

NOON = datetime(2031, 4, 7, 12, tzinfo=UTC)
JUMPS = [timedelta(hours=-1), timedelta(days=-400), timedelta(days=400), timedelta(seconds=-1)]
PATH = "/2021/papers/"


@pytest.fixture
def paper() -> Paper:
    with time_machine.travel(NOON, tick=False):
        return make.make_paper(make.make_edition(), title="Before")


def cached_page(cache: PageCache) -> str:
    environ = RequestFactory().get(PATH).environ
    with keep_connections_open():
        return b"".join(cache(environ, lambda status, headers, exc_info=None: None)).decode()  # type: ignore[arg-type]


@pytest.mark.parametrize("jump", JUMPS, ids=str)
def test_change_is_shown_after_a_clock_jump(
    jump: timedelta, paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pagecache.revisions.POLL_SECONDS", -1.0)
    cache = PageCache(django)
    with time_machine.travel(NOON, tick=False):
        before = cached_page(cache)
    with time_machine.travel(NOON + jump, tick=False):
        paper.title = "Afterwards"
        paper.save()
        after = cached_page(cache)

    assert ("Before" in before, "Afterwards" in after) == (True, True)


@pytest.mark.parametrize("jump", JUMPS, ids=str)
def test_conditional_request_after_a_clock_jump_gets_the_new_version(
    jump: timedelta, paper: Paper, client: Client
) -> None:
    url = "/2021/papers.bib"
    with time_machine.travel(NOON, tick=False):
        last_modified = client.get(url).headers["Last-Modified"]
        unchanged: Any = client.get(url, headers={"If-Modified-Since": last_modified})
    with time_machine.travel(NOON + jump, tick=False):
        paper.title = "Afterwards"
        paper.save()
        changed: Any = client.get(url, headers={"If-Modified-Since": last_modified})

    assert (unchanged.status_code, changed.status_code) == (304, 200)


def test_changed_at_never_goes_back(paper: Paper) -> None:
    times = []
    for hours in (0, -2, -5, 3):
        with time_machine.travel(NOON + timedelta(hours=hours), tick=False):
            paper.title = f"At {hours}"
            paper.save()
            times.append(Edition.objects.get().changed_at)
    with time_machine.travel(NOON + timedelta(hours=4), tick=False):
        call_command("verify", "--repair", verbosity=0)

    assert times == [
        NOON,
        NOON + timedelta(seconds=1),
        NOON + timedelta(seconds=2),
        NOON + timedelta(hours=3),
    ]
