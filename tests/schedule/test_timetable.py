"""Tests of the timetable in every zone: each session once, in order, on its program day."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conference.models import Edition
from papers.rows import running_order
from schedule import timetable

BERLIN = ZoneInfo("Europe/Berlin")
MINUTE = timedelta(minutes=1)
ZONES = [
    "America/Los_Angeles",
    "America/Sao_Paulo",
    "Asia/Kathmandu",
    "Asia/Tokyo",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Pacific/Chatham",
    "Pacific/Kiritimati",
]


@dataclass(frozen=True)
class Slot:
    start: datetime
    end: datetime
    name: str = ""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Board:
    board: str
    position: int = 1
    starts: datetime | None = None


def slot(start: datetime, minutes: int = 60, name: str = "") -> Slot:
    return Slot(start, (start.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(start.tzinfo), name)


def edition(timezone: str, hour: int = 4) -> Edition:
    return Edition(timezone=timezone, day_start_hour=hour)


moments = st.integers(0, 20 * 366 * 24 * 60).map(
    lambda minute: datetime(2015, 1, 1, tzinfo=UTC) + minute * MINUTE
)
zones = st.sampled_from(ZONES)
slots = st.lists(st.builds(slot, moments, st.integers(0, 10_000)), max_size=12)


# Properties


@given(slots, zones)
def test_days_hold_every_session_once_in_order(sessions: list[Slot], zone: str) -> None:
    venue = edition(zone)
    local = [Slot(row.start.astimezone(venue.zone), row.end.astimezone(venue.zone)) for row in sessions]
    days = timetable.days(local, venue.day_of)
    listed = [session for day in days for block in day.blocks for session in block.sessions]
    starts = [session.start.astimezone(UTC) for session in listed]

    assert sorted(listed, key=id) == sorted(local, key=id)
    assert starts == sorted(starts)
    assert all(earlier.date < later.date for earlier, later in pairwise(days))


@given(slots)
def test_each_block_has_one_start(sessions: list[Slot]) -> None:
    blocks = timetable.blocks(sessions)

    assert all(earlier.start < later.start for earlier, later in pairwise(blocks))
    assert all({session.start for session in block.sessions} == {block.start} for block in blocks)


@given(moments, zones, st.integers(0, 23))
def test_moment_is_within_the_bounds_of_its_program_day(moment: datetime, zone: str, hour: int) -> None:
    venue = edition(zone, hour)
    first, after = venue.day_bounds(venue.day_of(moment))

    assert first <= moment < after


@given(st.dates(), st.integers(0, 40), st.lists(st.dates(), max_size=5))
def test_day_strip_has_every_day_with_sessions_once_in_order(
    first: date, length: int, used: list[date]
) -> None:
    last = min(first, date.max - timedelta(days=41)) + timedelta(days=length)
    strip = timetable.day_strip(min(first, last), last, used)

    assert strip == sorted(set(strip))
    assert set(used) <= set(strip)


# Examples


def test_blocks_keep_the_input_order_within_one_start() -> None:
    nine, ten = (datetime(2021, 4, 6, hour, tzinfo=UTC) for hour in (9, 10))
    late, second, first = slot(ten, name="late"), slot(nine, name="second"), slot(nine, name="first")

    assert [block.sessions for block in timetable.blocks([late, second, first])] == [[second, first], [late]]


def test_block_has_an_end_only_if_its_sessions_share_it() -> None:
    nine = datetime(2021, 4, 6, 9, tzinfo=UTC)

    assert timetable.blocks([slot(nine), slot(nine)])[0].end == nine + timedelta(hours=1)
    assert timetable.blocks([slot(nine), slot(nine, 30)])[0].end is None
    assert timetable.blocks([slot(nine, 0)])[0].end == nine


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        ("10|2|1B|1A", "1A|1B|2|10"),
        ("Session 2: Zoo|Keynote|session 1: Ant", "session 1: Ant|Keynote|Session 2: Zoo"),
        ("Track C|Track A|A talk|A banquet", "Track A|Track C|A talk|A banquet"),
        ("Oral 2|Poster 1|Oral 1|Poster 0", "Oral 1|Poster 0|Oral 2|Poster 1"),
        ("|Zoo|Ant", "|Zoo|Ant"),
    ],
)
def test_titles_of_a_series_are_sorted_within_their_positions(titles: str, expected: str) -> None:
    assert timetable.sort_series(titles.split("|")) == expected.split("|")


def test_equal_wall_times_at_the_end_of_dst_are_two_blocks() -> None:
    first = datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN)
    second = first.replace(fold=1)

    assert [block.start.fold for block in timetable.blocks([slot(second), slot(first)])] == [0, 1]


def test_trap_3_wrong_day_past_midnight_belongs_to_the_evening_before() -> None:
    late = slot(datetime(2021, 4, 6, 23, 30, tzinfo=BERLIN))
    night = slot(datetime(2021, 4, 7, 0, 30, tzinfo=BERLIN))
    morning = slot(datetime(2021, 4, 7, 4, 0, tzinfo=BERLIN))
    days = timetable.days([morning, night, late], edition("Europe/Berlin").day_of)

    assert [day.date for day in days] == [date(2021, 4, 6), date(2021, 4, 7)]
    assert [block.sessions for block in days[0].blocks] == [[late], [night]]


def test_session_of_several_days_is_on_its_first_day() -> None:
    long = slot(datetime(2021, 4, 6, 9, tzinfo=BERLIN), 10_000)

    assert [day.date for day in timetable.days([long], edition("Europe/Berlin").day_of)] == [date(2021, 4, 6)]


def test_day_strip_of_a_very_long_edition_has_only_days_with_sessions() -> None:
    used = [date(2021, 4, 6)]

    assert timetable.day_strip(date(2021, 4, 5), date(2121, 4, 9), used) == used


@pytest.mark.parametrize("text", ["2021-4-6", "20210406", "2021-W14-2", "2021-02-30", "today", "", "²"])
def test_read_day_refuses_other_spellings(text: str) -> None:
    assert timetable.read_day(text) is None


def test_read_day_reads_an_iso_day() -> None:
    assert timetable.read_day("2021-04-06") == date(2021, 4, 6)


def test_running_order_sorts_boards_naturally() -> None:
    ballrooms = ["A - Position 40", "B - Position 9", "B - Position 10"]
    expected = ["b2", "B10", *(f"Ballroom {board}" for board in ballrooms)]
    talks = running_order([Board(board) for board in sorted(expected)])

    assert [talk.board for talk in talks] == expected


def test_running_order_keeps_a_poster_without_board_after_the_previous_one() -> None:
    boards = [Board("", 1), Board("20", 2), Board("", 3), Board("19", 4)]

    assert [talk.position for talk in running_order(boards)] == [1, 4, 2, 3]


def test_running_order_sorts_by_time_then_board_then_position() -> None:
    nine, ten = (datetime(2021, 4, 6, hour, tzinfo=UTC) for hour in (9, 10))
    late, early = Board("1", starts=ten), Board("2", starts=nine)
    second, first = Board("", 2), Board("", 1)

    assert running_order([second, late, first, early]) == [early, late, first, second]


@given(st.lists(st.text(max_size=60), max_size=8))
def test_running_order_accepts_any_board(boards: list[str]) -> None:
    assert len(running_order([Board(board) for board in boards])) == len(boards)
