"""What lies at the same time: found by a sweep, the same as by comparing all with all."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedule.timetable import nested, overlap, overlapping

MORNING = datetime(2026, 10, 25, 0, 0, tzinfo=UTC)  # In Berlin the hour from 02:00 comes twice.
ZONES = [UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kathmandu")]


@dataclass(frozen=True, slots=True)
class Spell:
    name: str
    start: datetime
    end: datetime
    within: frozenset[str]


@st.composite
def spells(draw: st.DrawFn) -> list[Spell]:
    """Spans of any zone, with many equal and touching ends, some of them part of another."""
    rows = []
    for number in range(draw(st.integers(0, 12))):
        start, length = draw(st.integers(0, 8)), draw(st.integers(0, 4))
        begin = MORNING + timedelta(minutes=30 * start)
        zone = draw(st.sampled_from(ZONES))
        end = (begin + timedelta(minutes=30 * length)).astimezone(zone)
        wholes = draw(st.sets(st.sampled_from("wxyz"), max_size=2))
        rows.append(Spell(f"{number}", begin.astimezone(zone), end, frozenset({f"{number}", *wholes})))
    return rows


def pairs(found: list[tuple[Spell, Spell]]) -> list[frozenset[str]]:
    return sorted((frozenset(one.name for one in pair) for pair in found), key=sorted)


@given(spells())
def test_sweep_finds_what_comparing_all_with_all_finds(rows: list[Spell]) -> None:
    slow = [
        (one, other)
        for place, one in enumerate(rows)
        for other in rows[place + 1 :]
        if overlap(one, other) and not nested(one, other)
    ]

    assert pairs(overlapping(rows)) == pairs(slow)
    assert pairs(overlapping(rows[::-1])) == pairs(slow)


@given(spells(), st.integers(1, 3))
def test_limit_leaves_pairs_out_and_invents_none(rows: list[Spell], most: int) -> None:
    everything, some = pairs(overlapping(rows)), pairs(overlapping(rows, most))
    caught = {name for pair in everything for name in pair}

    assert [pair for pair in some if pair not in everything] == []
    assert len(some) <= most * len(rows)
    assert bool(some) is bool(caught)


@pytest.mark.parametrize(
    ("minutes", "found"),
    [(((0, 60), (0, 60)), 1), (((0, 60), (0, 15)), 1), (((0, 60), (59, 70)), 1), (((0, 60), (60, 70)), 0)],
    ids=["equal", "same minute", "overlapping", "touching"],
)
def test_trap_conflict_warning_vanishes_when_both_talks_start_at_the_same_minute(
    minutes: tuple[tuple[int, int], tuple[int, int]], found: int
) -> None:
    rows = [
        Spell(
            str(number),
            MORNING + timedelta(minutes=first),
            MORNING + timedelta(minutes=last),
            frozenset(str(number)),
        )
        for number, (first, last) in enumerate(minutes)
    ]

    assert len(overlapping(rows)) == found


def test_thousands_at_one_moment_are_told_by_a_few_pairs() -> None:
    rows = [Spell(str(n), MORNING, MORNING, frozenset({str(n)})) for n in range(3_000)]

    assert len(overlapping(rows, 5)) < 5 * 3_000
