"""Purging by tag after a commit, with a real server on loopback."""

import json
import logging
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.db import transaction
from pytest_django import Settings

from pagecache import purge
from pagecache.purge import Purger, purger, send
from papers.models import Paper
from tests import factories


class Cache(ThreadingHTTPServer):
    """A shared cache that records the purge requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.told = 200, list[tuple[str, dict[str, str], Any]]()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/purge"

    @property
    def tags(self) -> list[list[str]]:
        return [body["tags"] for _, _, body in self.told]


class Handler(BaseHTTPRequestHandler):
    server: Cache

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.told.append((f"{self.command} {self.path}", dict(self.headers), body))
        self.send_response(self.server.status)
        self.end_headers()

    def do_PURGE(self) -> None:
        self.do_POST()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, to keep the output of tests clean."""


@pytest.fixture
def cache(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cache]:
    monkeypatch.setattr(purge, "DELAY_SECONDS", 0.05)
    cache = Cache()
    thread = threading.Thread(target=cache.serve_forever)
    thread.start()
    settings.PURGE_URL, settings.PURGE_METHOD = cache.url, "POST"
    yield cache
    purger.wait()
    cache.shutdown()
    cache.server_close()
    thread.join()


@pytest.mark.django_db
def test_commit_purges_what_it_invalidated(
    cache: Cache, django_capture_on_commit_callbacks: Any, settings: Settings
) -> None:
    settings.PURGE_HEADER = "Fastly-Key: secret"
    paper = factories.make_paper(factories.make_edition(2021), uid="17")
    with django_capture_on_commit_callbacks(execute=True):
        paper.title = "Another"
        paper.save()
    purger.wait()

    ((line, headers, body),) = cache.told
    assert (line, body) == ("POST /purge", {"tags": ["editions", "paper:17", "papers:2021", "title:17"]})
    assert headers["Surrogate-Key"] == "editions paper:17 papers:2021 title:17"
    assert headers["Cache-Tag"] == "editions,paper:17,papers:2021,title:17"
    assert headers["Fastly-Key"] == "secret"


@pytest.mark.django_db
def test_change_that_is_rolled_back_purges_nothing(
    cache: Cache, django_capture_on_commit_callbacks: Any
) -> None:
    edition = factories.make_edition(2021)
    with django_capture_on_commit_callbacks(execute=True), suppress(ZeroDivisionError), transaction.atomic():
        factories.make_room(edition)
        raise ZeroDivisionError
    purger.wait()
    assert cache.told == []


@pytest.mark.django_db
def test_without_an_address_nothing_is_sent(
    settings: Settings, django_capture_on_commit_callbacks: Any
) -> None:
    settings.PURGE_URL = ""
    with django_capture_on_commit_callbacks(execute=True):
        factories.make_paper(factories.make_edition(2021))
    assert Paper.objects.count() == 1
    assert purger._thread is None


def test_purge_names_one_tag_a_request(cache: Cache, settings: Settings) -> None:
    settings.PURGE_METHOD = "PURGE"
    purger.add(["edition:2021", "site"])
    purger.wait()
    assert [line for line, _, _ in cache.told] == ["PURGE /purge"] * 2
    assert cache.tags == [["edition:2021"], ["site"]]


def test_post_names_thirty_tags_a_request(cache: Cache) -> None:
    purger.add(f"paper:{number}" for number in range(40))
    purger.wait()
    assert [len(tags) for tags in cache.tags] == [30, 10]


def test_several_changes_are_sent_together_and_too_many_as_the_site(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    purger.add(["edition:2021"])
    purger.add(["edition:2021", "site"])
    purger.wait()
    monkeypatch.setattr(purge, "MAX_PENDING_TAGS", 3)
    purger.add(f"paper:{number}" for number in range(4))
    purger.wait()
    assert cache.tags == [["edition:2021", "site"], ["editions", "site"]]


@pytest.mark.parametrize("status", [403, 500])
def test_refusal_is_logged_and_later_changes_are_sent(
    cache: Cache, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    cache.status = status
    purger.add(["site"])
    purger.wait()
    cache.status = 200
    purger.add(["edition:2021"])
    purger.wait()
    assert cache.tags == [["site"], ["edition:2021"]]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert f"Purging site failed: HTTP Error {status}" in caplog.text


def test_cache_that_is_away_is_logged(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.PURGE_URL = "http://127.0.0.1:1/"
    send(["site"])
    assert "Purging site failed" in caplog.text


def test_where_no_thread_starts_it_is_logged(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    Purger().add(["site"])
    assert "No thread could be started" in caplog.text
