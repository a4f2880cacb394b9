"""Memory that is free again goes back to the system: after large answers, and not for each of them."""

import platform
import threading
from typing import Any

import pytest

from pagecache import freed, middleware, revisions
from pagecache.freed import Freed, trim
from pagecache.middleware import PageCache
from tests import factories as make
from tests.pagecache.cached_pages import Site, ask


@pytest.fixture
def trims(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []
    monkeypatch.setattr(freed, "trim", lambda: found.append)
    return found


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The timers that were started, to be let off by hand."""
    found: list[Any] = []

    class Timer(threading.Timer):
        def start(self) -> None:
            found.append(self)

    monkeypatch.setattr("pagecache.freed.threading.Timer", Timer)
    return found


def test_it_is_given_back_after_the_last_of_several(
    trims: list[int], timers: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("pagecache.freed.time.monotonic", lambda: now[0])
    giving = Freed()
    for later in (0, freed.SOON - 0.5):
        now[0] += later
        giving.give_back_soon()
    now[0] += 0.5
    timers[0].function()
    assert ([timer.interval for timer in timers], trims) == ([freed.SOON, freed.SOON - 0.5], [])
    now[0] += freed.SOON - 0.5
    timers[1].function()
    giving.give_back_soon()
    assert (len(timers), trims) == (3, [0])
    assert {timer.daemon for timer in timers} == {True}


def test_answer_does_not_fail_where_no_thread_is_left(
    trims: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Timer(threading.Timer):
        left = 0

        def start(self) -> None:
            if not self.left:
                raise RuntimeError("can't start new thread")
            monkeypatch.setattr(freed, "SOON", 0.0)
            self.function()

    monkeypatch.setattr("pagecache.freed.threading.Timer", Timer)
    giving = Freed()
    giving.give_back_soon()
    Timer.left = 1
    giving.give_back_soon()
    assert trims == [0]


def test_it_is_given_back_by_itself(trims: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freed, "SOON", 0.01)
    Freed().give_back_soon()
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(10)
    assert trims == [0]


@pytest.mark.django_db
@pytest.mark.parametrize(("size", "times"), [(middleware.LARGE, 0), (middleware.LARGE + 1, 1)])
def test_large_answers_leave_much(
    timers: list[Any], monkeypatch: pytest.MonkeyPatch, size: int, times: int
) -> None:
    make.make_edition()
    monkeypatch.setattr(revisions, "READ_EVERY", -1.0)
    site = Site()
    site.body = size * b"x"
    assert len(ask(PageCache(site))[2]) == size
    assert len(timers) == times


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library can")
def test_the_c_library_is_asked() -> None:
    assert trim()(0) in (0, 1)


def test_where_the_c_library_cannot_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagecache.freed.ctypes.CDLL", lambda name: object())
    trim.cache_clear()
    try:
        assert trim()(0) is None
    finally:
        trim.cache_clear()
