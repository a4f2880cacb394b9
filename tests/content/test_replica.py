"""Reads from the replica: for anonymous visitors, never for signed-in users or requests that write."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from wsgiref.simple_server import demo_app
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment
from wsgiref.util import setup_testing_defaults

import pytest
from django.db import OperationalError

from conference.models import Edition
from content import replica
from content.replica import (
    ReplicaLayer,
    ReplicaRouter,
    ReplicaUse,
    is_reading,
    read_from_replica,
    try_replica,
)
from pagecache.keys import is_anonymous_read
from pagecache.revisions import SITE, CacheState, is_behind

ROUTER = ReplicaRouter()


@pytest.fixture(autouse=True)
def _replica_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("content.replica.settings", SimpleNamespace(DATABASES={"default": {}, "replica": {}}))


def test_replica_is_used_only_inside_read_from_replica() -> None:
    aliases: list[Any] = [ROUTER.db_for_read(Edition)]
    with read_from_replica():
        aliases.append(ROUTER.db_for_read(Edition))
        with read_from_replica(allowed=False):
            aliases.append(ROUTER.db_for_read(Edition))

    assert aliases == ["default", "replica", "default"]
    assert ROUTER.db_for_write(Edition) == "default"
    assert [ROUTER.allow_migrate(name, "papers") for name in ("default", "replica")] == [True, False]


def test_related_rows_are_read_from_the_database_of_their_row() -> None:
    edition = Edition()
    edition._state.db = "default"
    with read_from_replica():
        assert ROUTER.db_for_read(Edition, instance=edition) == "default"
    # A row that a visitor's page has read, in the memory of the process.
    edition._state.db = "replica"
    assert ROUTER.db_for_read(Edition, instance=edition) == "default"


def test_replica_that_was_left_is_read_by_trials_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    use = ReplicaUse()
    monkeypatch.setattr("content.replica.use", use)
    use.leave("does not answer")
    with read_from_replica():
        left = ROUTER.db_for_read(Edition)
        with try_replica():
            tried = ROUTER.db_for_read(Edition)
    use.resume()
    with read_from_replica():
        assert (left, tried, ROUTER.db_for_read(Edition)) == ("default", "replica", "replica")


def test_replica_is_due_after_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 0.0
    monkeypatch.setattr("time.monotonic", lambda: seconds)
    use = ReplicaUse()
    is_due = [use.is_due()]
    use.leave("lags behind")
    is_due.append(use.is_due())
    seconds = 10.0
    assert [*is_due, use.is_due()] == [True, False, True]


class FailingSite:
    """A WSGI application whose pages, or first pieces of downloads, fail when they read from the replica."""

    def __init__(self, is_download: bool) -> None:
        self.is_download = is_download

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if is_reading() and not self.is_download:
            replica.use.leave("does not answer")
            start_response("503 Service Unavailable", [])
            return [b"failed"]
        start_response("200 OK", [("Content-Type", "text/plain")])
        return self.pieces()

    def pieces(self) -> Iterator[bytes]:
        if is_reading():
            raise OperationalError("the connection is closed")
        yield b"rows"


def answer(application: WSGIApplication) -> tuple[list[str], bytes]:
    """Return the statuses and the body of a response to a visitor."""
    statuses: list[str] = []
    environ: dict[str, Any] = {}
    setup_testing_defaults(environ)

    def start_response(status: str, headers: Any, exc_info: Any = None, /) -> Any:
        statuses.append(status)

    with read_from_replica():
        return statuses, b"".join(ReplicaLayer(application)(environ, start_response))


@pytest.mark.parametrize("is_download", [False, True])
def test_request_is_repeated_with_the_primary_database(
    is_download: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("content.replica.use", ReplicaUse())
    assert answer(FailingSite(is_download)) == (["200 OK"], b"rows")


def test_answer_of_the_replica_passes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("content.replica.use", ReplicaUse())
    statuses, text = answer(demo_app)

    assert (statuses, text[:12]) == (["200 OK"], b"Hello world!")


def state(revision: int) -> CacheState:
    at = datetime(2031, 1, 1, tzinfo=UTC)
    return CacheState(1, revision, at, at, 1, 1)


@pytest.mark.parametrize(
    ("states", "known", "is_older"),
    [
        ({SITE: 5, "a": 3}, {}, False),
        ({SITE: 5, "a": 3}, {SITE: 5, "a": 3}, False),
        ({SITE: 5, "a": 4}, {SITE: 5, "a": 3}, False),
        ({SITE: 5, "a": 2}, {SITE: 5, "a": 3}, True),
        ({SITE: 4, "a": 3}, {SITE: 5, "a": 3}, True),
        # An edition that the replica does not have yet, and one that was deleted.
        ({SITE: 5, "a": 3}, {SITE: 5, "a": 3, "b": 1}, True),
        ({SITE: 6, "a": 3}, {SITE: 5, "a": 3, "b": 1}, False),
    ],
)
def test_replica_is_behind(states: dict[str, int], known: dict[str, int], is_older: bool) -> None:
    new, old = ({slug: state(number) for slug, number in side.items()} for side in (states, known))
    assert is_behind(new, old) == is_older


@pytest.mark.parametrize(
    ("environ", "is_anonymous"),
    [
        ({}, True),
        ({"REQUEST_METHOD": "POST"}, False),
        ({"HTTP_COOKIE": "sessionid=x"}, False),
        ({"HTTP_AUTHORIZATION": "Bearer x"}, False),
        ({"HTTP_COOKIE": "theme=dark"}, True),
    ],
)
def test_anonymous_read_is_recognized(environ: dict[str, str], is_anonymous: bool) -> None:
    assert is_anonymous_read({"REQUEST_METHOD": "GET", **environ}) == is_anonymous
