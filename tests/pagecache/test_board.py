"""Processes of one server: once one has shown a change, no other shows what was before."""

from pathlib import Path

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from pagecache import revisions
from pagecache.board import Board, mark_of
from pagecache.revisions import Stamps
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Stamps]:
    """Two processes that have read the stamps, and are not due to read them again."""
    monkeypatch.setattr(revisions, "READ_EVERY", 3600.0)
    make.make_edition(2021)
    both = [Stamps(Board(tmp_path / "of processes" / "board")) for _ in range(2)]
    for one in (*both, *both):
        one.of("2021")
    return both


def revision(one: Stamps) -> int:
    state = one.of("2021")
    assert state is not None
    return dict(state.stamp.revisions)["2021"]


def test_change_that_one_has_read_is_read_by_the_other_at_once(both: list[Stamps]) -> None:
    make.make_paper(Edition.objects.get())
    now = Edition.objects.get().revision
    assert [revision(one) for one in both] == [now - 1, now - 1]

    both[0].forget()
    assert [revision(one) for one in both] == [now, now]


def test_those_that_agree_ask_nothing(both: list[Stamps]) -> None:
    both[0].forget()
    revision(both[0])
    with CaptureQueriesContext(
        connection,
    ) as queries:
        for one in (*both, *both):
            one.of("2021")
    assert len(queries) == 0


def test_what_cannot_be_read_is_not_asked_for_again_and_again(
    both: list[Stamps], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def away(at: object) -> None:
        asked.append(at)
        raise DatabaseError

    make.make_paper(Edition.objects.get())
    both[0].forget()
    now = revision(both[0])
    monkeypatch.setattr(revisions, "read_states", away)
    assert [revision(both[1]) for _ in range(3)] == [now - 1] * 3
    assert len(asked) == 1


def test_what_another_puts_up_during_a_reading_is_read_next(
    both: list[Stamps], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = both
    reading = revisions.read_states

    def slowly(at: object) -> object:
        found = reading(at)  # type: ignore[arg-type]
        monkeypatch.setattr(revisions, "read_states", reading)
        make.make_paper(Edition.objects.get())
        other.forget()
        other.of("2021")
        return found

    monkeypatch.setattr(revisions, "read_states", slowly)
    one.forget()
    first = revision(one)
    assert [revision(one), revision(other)] == [first + 1, first + 1]


def test_board_without_a_file_that_can_be_had_is_the_process_own(tmp_path: Path) -> None:
    (tmp_path / "board").mkdir()
    for file in (None, tmp_path / "board"):
        one, other = Board(file), Board(file)
        one.mark = 7
        assert (one.mark, other.mark) == (7, 0)


def test_mark_is_the_same_in_every_process() -> None:
    assert mark_of(("2021", 3)) == 9_841_413_811_090_697_742
    assert mark_of(("2021", 4)) != mark_of(("2021", 3))
