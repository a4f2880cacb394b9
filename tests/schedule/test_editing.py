"""Tests of the timetable editor's plans: times of a program day, moves, talks spread over a session."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from conference.models import Edition
from schedule.editing import Placement, end_after, moment_on, moved_parts, spread_talks

BERLIN = Edition(timezone="Europe/Berlin", day_start_hour=4)
# The clocks go forward on Sunday 28 March 2027 and back on Sunday 31 October.
SPRING, AUTUMN, PLAIN = date(2027, 3, 27), date(2027, 10, 30), date(2027, 6, 7)


def berlin(*at: int, fold: int = 0) -> datetime:
    return datetime(*at, tzinfo=BERLIN.zone, fold=fold)  # type: ignore[arg-type,misc]


def utc(*at: int) -> datetime:
    return datetime(*at, tzinfo=UTC)  # type: ignore[arg-type,misc]


def shown(moments: Any) -> list[str]:
    """Return spans as wall times in Berlin."""
    return [" ".join(f"{one.astimezone(BERLIN.zone):%d %H:%M}" for one in span) for span in moments]


# Clocks


def test_clock_after_midnight_is_the_night_of_the_program_day() -> None:
    assert moment_on(BERLIN, PLAIN, time(23, 30)) == berlin(2027, 6, 7, 23, 30)
    assert moment_on(BERLIN, PLAIN, time(0, 30)) == berlin(2027, 6, 8, 0, 30)
    assert moment_on(BERLIN, PLAIN, time(4, 0)) == berlin(2027, 6, 7, 4, 0)


def test_clock_that_is_skipped_or_comes_twice_is_refused() -> None:
    with pytest.raises(ValidationError, match="and skip"):
        moment_on(BERLIN, SPRING, time(2, 30))
    with pytest.raises(ValidationError, match="occurs twice"):
        moment_on(BERLIN, AUTUMN, time(2, 30))


def test_clock_that_comes_twice_stays_what_it_was() -> None:
    second = berlin(2027, 10, 31, 2, 30, fold=1)
    assert moment_on(BERLIN, AUTUMN, time(2, 30), second) == second


@pytest.mark.parametrize(
    ("start", "clock", "before", "end"),
    [
        ((10, 0), time(11, 0), ((10, 0), (11, 0)), berlin(2027, 6, 7, 11, 0)),
        ((23, 0), time(1, 0), ((10, 0), (11, 0)), berlin(2027, 6, 8, 1, 0)),
        ((23, 0), time(4, 0), ((10, 0), (11, 0)), berlin(2027, 6, 8, 4, 0)),
        ((10, 0), time(10, 0), ((9, 0), (10, 0)), berlin(2027, 6, 7, 10, 0)),
        # The session lasts 25 hours before and after.
        ((11, 0), time(12, 0), ((10, 0), (35, 0)), berlin(2027, 6, 8, 12, 0)),
        ((11, 0), time(10, 0), ((20, 0), (29, 0)), berlin(2027, 6, 8, 10, 0)),
    ],
)
def test_end_is_the_first_moment_with_that_clock(start: Any, clock: time, before: Any, end: datetime) -> None:
    midnight = berlin(2027, 6, 7)
    was = tuple(midnight + timedelta(hours=hour, minutes=minute) for hour, minute in before)
    assert end_after(BERLIN, berlin(2027, 6, 7, *start), clock, (was[0], was[1])) == end


def test_end_before_the_start_is_a_slip() -> None:
    was = berlin(2027, 6, 7, 10), berlin(2027, 6, 7, 11)
    with pytest.raises(ValidationError, match="The end is before the start"):
        end_after(BERLIN, berlin(2027, 6, 7, 14), time(13, 0), was)


# Moves


def test_session_moves_by_the_time_that_passes() -> None:
    before = Placement(berlin(2027, 3, 28, 1, 30), berlin(2027, 3, 28, 3, 30))
    after = before.shifted(timedelta(hours=1))
    assert shown([(after.start, after.end)]) == ["28 03:30 28 04:30"]


def test_parts_follow_their_whole_into_its_room() -> None:
    before = Placement(utc(2027, 6, 7, 9), utc(2027, 6, 7, 12), 1)
    after = Placement(utc(2027, 6, 8, 9), utc(2027, 6, 8, 12), 2)
    inside = Placement(utc(2027, 6, 7, 10), utc(2027, 6, 7, 11), 1)
    beside = Placement(utc(2027, 6, 7, 10), utc(2027, 6, 7, 11), 3)
    hour = utc(2027, 6, 8, 10), utc(2027, 6, 8, 11)
    assert moved_parts(before, after, {7: inside, 8: beside}) == {
        7: Placement(*hour, 2),
        8: Placement(*hour, 3),
    }
    assert moved_parts(before, before, {7: inside}) == {}


def test_places_are_compared_as_moments() -> None:
    local, same = berlin(2027, 6, 7, 9), utc(2027, 6, 7, 7)
    assert Placement(local, local, 1) == Placement(same, same, 1)
    assert Placement(local, local, 1) != Placement(local, local, 2)


# Talks spread over a session


def test_talks_share_a_session_equally_in_whole_minutes() -> None:
    span = (berlin(2027, 6, 7, 10), berlin(2027, 6, 7, 11))
    assert shown(spread_talks(*span, [0, 0, 0])) == [
        "07 10:00 07 10:20",
        "07 10:20 07 10:40",
        "07 10:40 07 11:00",
    ]
    quarter = (berlin(2027, 6, 7, 10), berlin(2027, 6, 7, 10, 10))
    assert shown(spread_talks(*quarter, [0] * 4)) == [
        "07 10:00 07 10:02",
        "07 10:02 07 10:05",
        "07 10:05 07 10:07",
        "07 10:07 07 10:10",
    ]


def test_pauses_and_gaps_stand_between_talks() -> None:
    span = (berlin(2027, 6, 7, 10), berlin(2027, 6, 7, 12))
    assert shown(spread_talks(*span, [0, 20, 30], gap=5)) == [
        "07 10:00 07 10:30",
        "07 10:35 07 11:05",
        "07 11:30 07 12:00",
    ]


def test_talks_of_given_length_may_run_over() -> None:
    span = (berlin(2027, 6, 7, 23, 30), berlin(2027, 6, 8))
    assert shown(spread_talks(*span, [0, 0], minutes=20)) == ["07 23:30 07 23:50", "07 23:50 08 00:10"]


@pytest.mark.parametrize(
    ("start", "end", "spans"),
    [
        (berlin(2027, 3, 28, 1, 30), berlin(2027, 3, 28, 3, 30), ["28 01:30 28 03:00", "28 03:00 28 03:30"]),
        (
            berlin(2027, 10, 31, 2, 0),
            berlin(2027, 10, 31, 2, 0, fold=1),
            ["31 02:00 31 02:30", "31 02:30 31 02:00"],
        ),
    ],
)
def test_time_passes_as_it_does_when_clocks_change(start: datetime, end: datetime, spans: list[str]) -> None:
    found = spread_talks(start, end, [0, 0])
    lengths = {(last - first) for first, last in found}
    assert shown(found) == spans
    assert lengths == {timedelta(minutes=30)}


def test_session_without_a_minute_for_each_talk_says_so() -> None:
    span = (berlin(2027, 6, 7, 10), berlin(2027, 6, 7, 10, 10))
    with pytest.raises(ValidationError, match="There are 10 minutes, and 13 are needed"):
        spread_talks(*span, [0, 0, 0], gap=5)


def test_nothing_is_spread_over_a_session_without_talks() -> None:
    assert spread_talks(berlin(2027, 6, 7, 10), berlin(2027, 6, 7, 11), []) == []
