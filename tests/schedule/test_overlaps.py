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
class Span:
    name: str
    start: datetime
    end: datetime
    within: frozenset[str]


@st.composite
def spans(draw: st.DrawFn) -> list[Span]:
    """Return spans of any zone, with many equal and adjacent ends, some of them part of another."""
    rows = []
    for number in range(draw(st.integers(0, 12))):
        start, length = draw(st.integers(0, 8)), draw(st.integers(0, 4))
        begin = MORNING + timedelta(minutes=30 * start)
        zone = draw(st.sampled_from(ZONES))
        end = (begin + timedelta(minutes=30 * length)).astimezone(zone)
        parents = draw(st.sets(st.sampled_from("wxyz"), max_size=2))
        rows.append(Span(f"{number}", begin.astimezone(zone), end, frozenset({f"{number}", *parents})))
    return rows


def sorted_names(pairs: list[tuple[Span, Span]]) -> list[frozenset[str]]:
    return sorted((frozenset(row.name for row in pair) for pair in pairs), key=sorted)


@given(spans())
def test_sweep_finds_the_same_pairs_as_comparing_all(rows: list[Span]) -> None:
    expected = [
        (one, other)
        for index, one in enumerate(rows)
        for other in rows[index + 1 :]
        if overlaps(one, other) and not is_nested(one, other)
    ]

    assert sorted_names(overlapping_pairs(rows)) == sorted_names(expected)
    assert sorted_names(overlapping_pairs(rows[::-1])) == sorted_names(expected)


@given(spans(), st.integers(1, 3))
def test_limit_omits_pairs_and_adds_none(rows: list[Span], limit: int) -> None:
    all_pairs = sorted_names(overlapping_pairs(rows))
    limited_pairs = sorted_names(overlapping_pairs(rows, limit))

    assert [pair for pair in limited_pairs if pair not in all_pairs] == []
    assert len(limited_pairs) <= limit * len(rows)
    assert bool(limited_pairs) is bool(all_pairs)


def span(name: str, first: int, last: int, parent: str = "") -> Span:
    start, end = (MORNING + timedelta(minutes=minute) for minute in (first, last))
    return Span(name, start, end, frozenset({name, parent or name}))


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
    rows = [span("a", *one), span("b", *other)]

    assert bool(overlapping_pairs(rows)) is is_found
    assert bool(overlapping_pairs(rows[::-1])) is is_found


def test_pairs_are_sorted_by_time_without_nested_spans() -> None:
    long, first, second = span("l", 0, 90), span("a", 10, 20), span("b", 50, 60)
    parent, part, other = span("w", 0, 30), span("p", 0, 20, "w"), span("q", 10, 20, "w")

    assert overlapping_pairs([second, first, long]) == [(long, first), (long, second)]
    assert overlapping_pairs([parent, part, other]) == [(part, other)]


def test_back_to_back_spans_are_adjacent() -> None:
    first, second, third = span("a", 0, 10), span("b", 10, 20), span("c", 30, 40)

    assert back_to_back([first, second, third]) == [(first, second)]


def test_limit_bounds_the_pairs_of_thousands_of_simultaneous_spans() -> None:
    rows = [Span(str(n), MORNING, MORNING, frozenset({str(n)})) for n in range(3_000)]

    assert len(overlapping_pairs(rows, 5)) < 5 * 3_000
