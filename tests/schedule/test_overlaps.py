"""Tests of the sweep that finds overlaps: it finds the same as comparing all pairs."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedule.timetable import back_to_back, is_nested, overlapping_pairs, overlaps

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
    """Return spans of any zone, with many equal and adjacent ends, some of them part of another."""
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
        if overlaps(one, other) and not is_nested(one, other)
    ]

    assert pairs(overlapping_pairs(rows)) == pairs(slow)
    assert pairs(overlapping_pairs(rows[::-1])) == pairs(slow)


@given(spells(), st.integers(1, 3))
def test_limit_leaves_pairs_out_and_invents_none(rows: list[Spell], most: int) -> None:
    everything, some = pairs(overlapping_pairs(rows)), pairs(overlapping_pairs(rows, most))
    caught = {name for pair in everything for name in pair}

    assert [pair for pair in some if pair not in everything] == []
    assert len(some) <= most * len(rows)
    assert bool(some) is bool(caught)


def spell(name: str, first: int, last: int, whole: str = "") -> Spell:
    start, end = (MORNING + timedelta(minutes=minute) for minute in (first, last))
    return Spell(name, start, end, frozenset({name, whole or name}))


@pytest.mark.parametrize(
    ("one", "other", "is_found"),
    [
        ((0, 60), (0, 60), True),
        ((0, 60), (0, 15), True),
        ((0, 60), (59, 70), True),
        ((0, 60), (15, 30), True),
        ((0, 60), (60, 70), False),
        ((0, 60), (70, 80), False),
        ((0, 0), (0, 60), True),
        ((0, 0), (0, 0), True),
        ((30, 30), (0, 60), True),
        ((60, 60), (0, 60), False),
    ],
)
def test_trap_conflict_warning_vanishes_when_both_talks_start_at_the_same_minute(
    one: tuple[int, int], other: tuple[int, int], is_found: bool
) -> None:
    rows = [spell("a", *one), spell("b", *other)]

    assert bool(overlapping_pairs(rows)) is is_found
    assert bool(overlapping_pairs(rows[::-1])) is is_found


def test_pairs_are_in_the_order_of_time_and_leave_out_wholes() -> None:
    long, first, second = spell("l", 0, 90), spell("a", 10, 20), spell("b", 50, 60)
    whole, part, other = spell("w", 0, 30), spell("p", 0, 20, "w"), spell("q", 10, 20, "w")

    assert overlapping_pairs([second, first, long]) == [(long, first), (long, second)]
    assert overlapping_pairs([whole, part, other]) == [(part, other)]


def test_neighbors_touch() -> None:
    one, next_, later = spell("a", 0, 10), spell("b", 10, 20), spell("c", 30, 40)

    assert back_to_back([one, next_, later]) == [(one, next_)]


def test_thousands_at_one_moment_are_told_by_a_few_pairs() -> None:
    rows = [Spell(str(n), MORNING, MORNING, frozenset({str(n)})) for n in range(3_000)]

    assert len(overlapping_pairs(rows, 5)) < 5 * 3_000
