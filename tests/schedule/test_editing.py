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


def berlin_times(moments: Any) -> list[str]:
    """Return spans as wall times in Berlin."""
    return [" ".join(f"{moment.astimezone(BERLIN.zone):%d %H:%M}" for moment in span) for span in moments]


# Clocks


def test_time_after_midnight_is_in_the_night_of_the_program_day() -> None:
    assert moment_on(BERLIN, PLAIN, time(23, 30)) == berlin(2027, 6, 7, 23, 30)
    assert moment_on(BERLIN, PLAIN, time(0, 30)) == berlin(2027, 6, 8, 0, 30)
    assert moment_on(BERLIN, PLAIN, time(4, 0)) == berlin(2027, 6, 7, 4, 0)


def test_nonexistent_or_ambiguous_time_is_refused() -> None:
    with pytest.raises(ValidationError, match="and skip"):
        moment_on(BERLIN, SPRING, time(2, 30))
    with pytest.raises(ValidationError, match="occurs twice"):
        moment_on(BERLIN, AUTUMN, time(2, 30))


@pytest.mark.parametrize("day", [date.min, date.max])
@pytest.mark.parametrize("clock", [time(0, 30), time(23, 30)])
@pytest.mark.parametrize("zone", ["Europe/Berlin", "Pacific/Honolulu"])
def test_first_and_last_day_of_the_calendar_are_refused(zone: str, day: date, clock: time) -> None:
    with pytest.raises(ValidationError, match="between 1900 and 2200"):
        moment_on(Edition(timezone=zone, day_start_hour=4), day, clock)


def test_unchanged_ambiguous_time_is_kept() -> None:
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
def test_end_follows_the_start_and_keeps_sessions_of_over_a_day(
    start: Any, clock: time, before: Any, end: datetime
) -> None:
    midnight = berlin(2027, 6, 7)
    previous = tuple(midnight + timedelta(hours=hour, minutes=minute) for hour, minute in before)
    assert end_after(BERLIN, berlin(2027, 6, 7, *start), clock, (previous[0], previous[1])) == end


def test_end_before_the_start_is_refused() -> None:
    previous = berlin(2027, 6, 7, 10), berlin(2027, 6, 7, 11)
    with pytest.raises(ValidationError, match="The end is before the start"):
        end_after(BERLIN, berlin(2027, 6, 7, 14), time(13, 0), previous)


# Moves


def test_shift_over_a_dst_change_uses_elapsed_time() -> None:
    before = Placement(berlin(2027, 3, 28, 1, 30), berlin(2027, 3, 28, 3, 30))
    after = before.shifted(timedelta(hours=1))
    assert berlin_times([(after.start, after.end)]) == ["28 03:30 28 04:30"]


def test_parts_move_with_their_parent_and_into_its_room() -> None:
    before = Placement(utc(2027, 6, 7, 9), utc(2027, 6, 7, 12), 1)
    after = Placement(utc(2027, 6, 8, 9), utc(2027, 6, 8, 12), 2)
    same_room = Placement(utc(2027, 6, 7, 10), utc(2027, 6, 7, 11), 1)
    other_room = Placement(utc(2027, 6, 7, 10), utc(2027, 6, 7, 11), 3)
    times = utc(2027, 6, 8, 10), utc(2027, 6, 8, 11)
    assert moved_parts(before, after, {7: same_room, 8: other_room}) == {
        7: Placement(*times, 2),
        8: Placement(*times, 3),
    }
    assert moved_parts(before, before, {7: same_room}) == {}


def test_placements_are_compared_as_moments() -> None:
    local, same = berlin(2027, 6, 7, 9), utc(2027, 6, 7, 7)
    assert Placement(local, local, 1) == Placement(same, same, 1)
    assert Placement(local, local, 1) != Placement(local, local, 2)


# Talks spread over a session


def test_talks_share_a_session_equally_in_whole_minutes() -> None:
    span = (berlin(2027, 6, 7, 10), berlin(2027, 6, 7, 11))
    assert berlin_times(spread_talks(*span, [0, 0, 0])) == [
        "07 10:00 07 10:20",
        "07 10:20 07 10:40",
        "07 10:40 07 11:00",
    ]
    quarter = (berlin(2027, 6, 7, 10), berlin(2027, 6, 7, 10, 10))
    assert berlin_times(spread_talks(*quarter, [0] * 4)) == [
        "07 10:00 07 10:02",
        "07 10:02 07 10:05",
        "07 10:05 07 10:07",
        "07 10:07 07 10:10",
    ]


def test_pauses_and_gaps_are_left_between_talks() -> None:
    span = (berlin(2027, 6, 7, 10), berlin(2027, 6, 7, 12))
    assert berlin_times(spread_talks(*span, [0, 20, 30], gap=5)) == [
        "07 10:00 07 10:30",
        "07 10:35 07 11:05",
        "07 11:30 07 12:00",
    ]


def test_talks_of_given_length_may_end_after_their_session() -> None:
    span = (berlin(2027, 6, 7, 23, 30), berlin(2027, 6, 8))
    assert berlin_times(spread_talks(*span, [0, 0], minutes=20)) == ["07 23:30 07 23:50", "07 23:50 08 00:10"]


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
def test_talks_over_a_dst_change_have_equal_elapsed_time(
    start: datetime, end: datetime, spans: list[str]
) -> None:
    talk_spans = spread_talks(start, end, [0, 0])
    lengths = {(last - first) for first, last in talk_spans}
    assert berlin_times(talk_spans) == spans
    assert lengths == {timedelta(minutes=30)}


def test_session_without_a_minute_for_each_talk_is_refused() -> None:
    span = (berlin(2027, 6, 7, 10), berlin(2027, 6, 7, 10, 10))
    with pytest.raises(ValidationError, match="There are 10 minutes, and 13 are needed"):
        spread_talks(*span, [0, 0, 0], gap=5)


def test_session_without_talks_has_no_talk_times() -> None:
    assert spread_talks(berlin(2027, 6, 7, 10), berlin(2027, 6, 7, 11), []) == []
