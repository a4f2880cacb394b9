"""Memory that is free again goes back to the system: after large answers, and not for each of them."""

import platform

import pytest

from conference import caching, freed, stamps
from conference.caching import PageCache
from conference.freed import Freed, trim
from tests import factories as make
from tests.conference.kept import Site, ask


@pytest.fixture
def trims(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []
    monkeypatch.setattr(freed, "trim", lambda: found.append)
    return found


def test_it_is_given_back_now_and_then(trims: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("conference.freed.time.monotonic", lambda: now[0])
    giving, counts = Freed(), []
    for later in (0, freed.EVERY - 1, 1, 1):
        now[0] += later
        giving.give_back()
        counts.append(len(trims))
    assert counts == [1, 1, 2, 2]


@pytest.mark.django_db
@pytest.mark.parametrize(("size", "times"), [(caching.LARGE, 0), (caching.LARGE + 1, 1)])
def test_large_answers_leave_much(
    trims: list[int], monkeypatch: pytest.MonkeyPatch, size: int, times: int
) -> None:
    make.make_edition()
    monkeypatch.setattr(stamps, "READ_EVERY", -1.0)
    site = Site()
    site.body = size * b"x"
    assert len(ask(PageCache(site))[2]) == size
    assert len(trims) == times


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library can")
def test_the_c_library_is_asked() -> None:
    assert trim()(0) in (0, 1)


def test_where_the_c_library_cannot_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conference.freed.ctypes.CDLL", lambda name: object())
    trim.cache_clear()
    try:
        assert trim()(0) is None
    finally:
        trim.cache_clear()
