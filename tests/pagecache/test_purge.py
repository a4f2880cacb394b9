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


class PurgeServer(ThreadingHTTPServer):
    """A shared cache that records the purge requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.requests = 200, list[tuple[str, dict[str, str], Any]]()
        # Statuses of the first responses, if they differ.
        self.statuses: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/purge"

    @property
    def tags(self) -> list[list[str]]:
        return [body["tags"] for _, _, body in self.requests]


class Handler(BaseHTTPRequestHandler):
    server: PurgeServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((f"{self.command} {self.path}", dict(self.headers), body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else self.server.status)
        self.end_headers()

    def do_PURGE(self) -> None:
        self.do_POST()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, to keep the output of tests clean."""


@pytest.fixture
def server(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[PurgeServer]:
    monkeypatch.setattr(purge, "DELAY_SECONDS", 0.05)
    monkeypatch.setattr(purge, "RETRY_SECONDS", (0.05, 0.05))
    server = PurgeServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    settings.PURGE_URL, settings.PURGE_METHOD = server.url, "POST"
    yield server
    purger.wait()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.django_db
def test_commit_purges_the_invalidated_tags(
    server: PurgeServer, django_capture_on_commit_callbacks: Any, settings: Settings
) -> None:
    settings.PURGE_HEADER = "Fastly-Key: secret"
    paper = factories.make_paper(factories.make_edition(2021), uid="17")
    with django_capture_on_commit_callbacks(execute=True):
        paper.title = "Another"
        paper.save()
    purger.wait()

    ((request_line, headers, body),) = server.requests
    assert (request_line, body) == (
        "POST /purge",
        {"tags": ["editions", "paper:17", "papers:2021", "title:17"]},
    )
    assert headers["Surrogate-Key"] == "editions paper:17 papers:2021 title:17"
    assert headers["Cache-Tag"] == "editions,paper:17,papers:2021,title:17"
    assert headers["Fastly-Key"] == "secret"


@pytest.mark.django_db
def test_rolled_back_change_purges_nothing(
    server: PurgeServer, django_capture_on_commit_callbacks: Any
) -> None:
    edition = factories.make_edition(2021)
    with django_capture_on_commit_callbacks(execute=True), suppress(ZeroDivisionError), transaction.atomic():
        factories.make_room(edition)
        raise ZeroDivisionError
    purger.wait()
    assert server.requests == []


@pytest.mark.django_db
def test_nothing_is_purged_without_a_purge_url(
    settings: Settings, django_capture_on_commit_callbacks: Any
) -> None:
    settings.PURGE_URL = ""
    with django_capture_on_commit_callbacks(execute=True):
        factories.make_paper(factories.make_edition(2021))
    assert Paper.objects.count() == 1
    assert purger._thread is None


def test_purge_request_has_one_tag(server: PurgeServer, settings: Settings) -> None:
    settings.PURGE_METHOD = "PURGE"
    purger.add(["edition:2021", "site"])
    purger.wait()
    assert [line for line, _, _ in server.requests] == ["PURGE /purge"] * 2
    assert server.tags == [["edition:2021"], ["site"]]


def test_post_request_has_at_most_30_tags(server: PurgeServer) -> None:
    purger.add(f"paper:{number}" for number in range(40))
    purger.wait()
    assert [len(tags) for tags in server.tags] == [30, 10]


def test_pending_tags_are_combined_and_too_many_become_the_tags_of_the_site(
    server: PurgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    purger.add(["edition:2021"])
    purger.add(["edition:2021", "site"])
    purger.wait()
    monkeypatch.setattr(purge, "MAX_PENDING_TAGS", 3)
    purger.add(f"paper:{number}" for number in range(4))
    purger.wait()
    assert server.tags == [["edition:2021", "site"], ["editions", "site"]]


@pytest.mark.parametrize("status", [403, 500])
def test_refused_purge_is_repeated_then_an_error_and_later_tags_are_sent(
    server: PurgeServer, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.status = status
    purger.add(["site"])
    purger.wait()
    server.status = 200
    purger.add(["edition:2021"])
    purger.wait()
    assert server.tags == [["site"], ["site"], ["site"], ["edition:2021"]]
    levels = [record.levelno for record in caplog.records]
    assert levels == [logging.WARNING, logging.WARNING, logging.WARNING, logging.ERROR]
    assert f"Purging site failed: HTTP Error {status}" in caplog.text


def test_purge_that_failed_once_is_repeated(server: PurgeServer, caplog: pytest.LogCaptureFixture) -> None:
    server.statuses = [500]
    purger.add(["site"])
    purger.wait()
    assert server.tags == [["site"], ["site"]]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_unreachable_cache_is_logged(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.PURGE_URL = "http://127.0.0.1:1/"
    send(["site"])
    assert "Purging site failed" in caplog.text


def test_thread_that_cannot_start_is_logged(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    Purger().add(["site"])
    assert "No thread could be started" in caplog.text
