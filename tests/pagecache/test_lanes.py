"""New pages are written few at a time and do not end together: a wave of them holds no reader up long."""

import threading
from datetime import UTC, datetime
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from pagecache import middleware, revisions
from pagecache.middleware import PageCache, spread
from pagecache.shared_pages import SharedPages
from tests.pagecache.cached_pages import BODY, ask

SOON = 10


class Slow:
    """A WSGI application that answers when it is let go, and counts how many answers it is at."""

    def __init__(self) -> None:
        self.let_go, self._lock = threading.Event(), threading.Condition()
        self.working = self.most = 0

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        self._count(1)
        self.let_go.wait(SOON)
        self._count(-1)
        start_response("200 OK", [("Content-Type", "text/html")])
        return [BODY]

    def _count(self, more: int) -> None:
        with self._lock:
            self.working += more
            self.most = max(self.most, self.working)
            self._lock.notify_all()

    def is_at(self, number: int) -> bool:
        """Whether it soon is at so many answers."""
        with self._lock:
            return self._lock.wait_for(lambda: self.working == number, SOON)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Slow:
    stamp = revisions.Stamp((("2021", 1),), 1, (True, True, True))
    state = revisions.State(stamp, datetime.now(UTC), 60.0)
    monkeypatch.setattr(revisions, "read_states", lambda at: {"": state})
    return Slow()


def readers(cache: PageCache, number: int, answers: list[Any]) -> list[threading.Thread]:
    """Let so many readers ask for a page each."""
    pages = (f"/2021/papers/{one}/title/" for one in range(number))
    found = [threading.Thread(target=lambda page=page: answers.append(ask(cache, page))) for page in pages]
    for reader in found:
        reader.start()
    return found


def test_few_pages_are_written_at_once_and_kept_ones_are_not_held_up(site: Slow) -> None:
    cache, answers = PageCache(site, shared=SharedPages(None)), list[Any]()
    site.let_go.set()
    kept = ask(cache)
    site.let_go.clear()
    waiting = readers(cache, 6, answers)

    assert site.is_at(middleware.LANES)
    assert ask(cache) == kept
    assert answers == []
    site.let_go.set()
    for reader in waiting:
        reader.join()
    assert [answer[2] for answer in answers] == [BODY] * 6
    assert site.most == middleware.LANES


def test_who_waits_for_long_goes_on(site: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "LANE_WAIT", 0.05)
    answers = list[Any]()
    waiting = readers(PageCache(site, shared=SharedPages(None)), 4, answers)

    assert site.is_at(4)
    site.let_go.set()
    for reader in waiting:
        reader.join()
    assert [answer[2] for answer in answers] == [BODY] * 4


def test_what_was_written_together_does_not_end_together() -> None:
    parts = [spread((f"/2021/papers/{number}/", "")) for number in range(1000)]

    assert 0.6 < min(parts) < 0.61
    assert 0.99 < max(parts) <= 1
    tenths = [sum(edge <= part < edge + 0.04 for part in parts) for edge in (0.6, 0.7, 0.8, 0.9)]
    assert min(tenths) > 50
