"""Tests of the grid of a day: rows of five minutes, one or more columns for each room."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedule.day_grid import DayGrid, day_grid

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2026, 10, 23, 8, tzinfo=UTC)


@dataclass(frozen=True)
class Place:
    pk: int
    position: int
    name: str


@dataclass(frozen=True)
class Event:
    name: str
    start: datetime
    end: datetime
    room: Place | None


A, B, C = Place(1, 1, "A"), Place(2, 2, "B"), Place(3, 3, "C")


def event(name: str, begin: float, length: float, room: Place | None) -> Event:
    start = START + timedelta(minutes=begin)
    return Event(name, start, start + timedelta(minutes=length), room)


def laid(*events: Event) -> DayGrid[Event]:
    found = day_grid(events, UTC)
    assert found is not None
    return found


def places(grid: DayGrid[Event]) -> list[tuple[str, int, int, int, int]]:
    """Return the name, row, row span, column and column span of each session, in reading order."""
    return [(one.session.name, one.row, one.rows, one.column, one.columns) for one in grid.slots]


def test_heights_are_minutes_and_columns_are_rooms() -> None:
    grid = laid(event("two", 90, 30, A), event("one", 0, 60, B))

    assert (grid.hours, grid.columns, grid.rows) == (2, 2, 24)
    assert [(head.room, head.column, head.columns) for head in grid.rooms] == [(A, 1, 1), (B, 2, 1)]
    assert places(grid) == [("one", 1, 12, 2, 1), ("two", 19, 6, 1, 1)]


def test_grid_begins_and_ends_at_full_hours_of_the_venue() -> None:
    late = event("one", 20, 60, A)
    grid = day_grid([late], ZoneInfo("Asia/Kathmandu"))  # 13:45 at the venue when it is 08:00 UTC
    assert grid is not None

    assert (grid.first, grid.hours) == (START + timedelta(minutes=15), 2)
    assert places(grid) == [("one", 2, 12, 1, 1)]


def test_sides_name_each_hour_and_starts_apart_from_them() -> None:
    grid = laid(event("one", 0, 30, A), event("two", 30, 25, A), event("three", 55, 65, A))

    assert [(time.row, time.is_hour) for time in grid.times] == [(1, True), (7, False), (13, True)]
    assert [slot.names_start for slot in grid.slots] == [False, False, True]


def test_session_extends_over_the_columns_of_its_room_that_are_free() -> None:
    grid = laid(
        event("all", 0, 60, A),
        event("first", 60, 60, A),
        event("second", 60, 30, A),
        event("third", 75, 15, A),
        event("late", 90, 30, A),
        event("other", 60, 60, B),
    )

    assert [(head.room, head.column, head.columns) for head in grid.rooms] == [(A, 1, 3), (B, 4, 1)]
    assert [(name, column, columns) for name, _, _, column, columns in places(grid)] == [
        ("all", 1, 3),
        ("first", 1, 1),
        ("second", 2, 1),
        ("other", 4, 1),
        ("third", 3, 1),
        ("late", 2, 2),
    ]


def test_overlapping_sessions_of_a_room_lie_side_by_side_below_one_head() -> None:
    grid = laid(event("one", 0, 60, A), event("two", 30, 60, A), event("three", 0, 60, B))

    assert [(head.room, head.column, head.columns) for head in grid.rooms] == [(A, 1, 2), (B, 3, 1)]
    assert places(grid) == [("one", 1, 12, 1, 1), ("three", 1, 12, 3, 1), ("two", 7, 12, 2, 1)]


def test_break_without_a_room_spans_all_of_them() -> None:
    grid = laid(event("one", 0, 60, A), event("two", 0, 60, B), event("coffee", 60, 30, None))

    assert places(grid)[-1] == ("coffee", 13, 6, 1, 2)


def test_what_has_no_room_beside_others_has_the_last_column() -> None:
    grid = laid(event("one", 0, 60, A), event("desk", 0, 120, None))

    assert [head.room for head in grid.rooms] == [A, None]
    assert places(grid) == [("one", 1, 12, 1, 1), ("desk", 1, 24, 2, 1)]


def test_nothing_without_a_room_seems_to_stand_in_the_only_one() -> None:
    grid = laid(event("desk", 0, 30, None), event("one", 30, 60, A))

    assert [head.room for head in grid.rooms] == [A, None]
    assert places(grid) == [("desk", 1, 6, 2, 1), ("one", 7, 12, 1, 1)]


def test_break_spans_the_rooms_beside_a_desk_that_stays_open() -> None:
    desk, coffee = event("desk", 0, 75, None), event("coffee", 60, 30, None)
    grid = laid(desk, event("one", 0, 60, A), event("two", 0, 60, B), coffee)

    assert [head.room for head in grid.rooms] == [A, B, None]
    assert places(grid)[-1] == ("coffee", 13, 6, 1, 2)


@pytest.mark.parametrize(("other", "place"), [(C, (1, 2)), (B, (4, 1))])
def test_session_in_several_rooms_spans_them_unless_one_is_in_use(
    other: Place, place: tuple[int, int]
) -> None:
    both = event("both", 60, 60, None)
    rooms = [event(room.name, 0, 30, room) for room in (A, B, C)]
    grid = day_grid(
        [both, *rooms, event("other", 60, 60, other)], UTC, lambda one: [1, 2] if one == both else []
    )
    assert grid is not None
    (slot,) = [one for one in grid.slots if one.session == both]

    assert (slot.column, slot.columns) == place


def test_rounding_lets_nothing_overlap_that_touches() -> None:
    grid = laid(event("one", 0, 2, A), event("two", 2, 2, A), event("three", 4, 60, A))

    assert [slot[1:3] for slot in places(grid)] == [(1, 1), (2, 1), (3, 11)]


def test_what_takes_no_time_has_a_row() -> None:
    assert places(laid(event("gong", 0, 0, A))) == [("gong", 1, 1, 1, 1)]


def test_what_lasts_for_days_ends_with_the_grid() -> None:
    grid = laid(event("hackathon", 0, 10_000, A))

    assert (grid.hours, places(grid)) == (25, [("hackathon", 1, 300, 1, 1)])


def test_repeated_hour_has_its_rows() -> None:
    night = Event(
        "night", datetime(2026, 10, 25, 0, tzinfo=BERLIN), datetime(2026, 10, 25, 4, tzinfo=BERLIN), A
    )
    grid = day_grid([night], BERLIN)
    assert grid is not None

    assert (grid.hours, grid.slots[0].rows) == (5, 60)


def test_line_at_now_is_inside_or_nowhere() -> None:
    grid = laid(event("one", 0, 60, A))
    moments = [START + timedelta(minutes=minutes) for minutes in (-10, 0, 31, 59, 61)]

    assert [grid.row_at(moment) for moment in moments] == [None, 1, 7, None, None]


@pytest.mark.parametrize(("rooms", "fits"), [(1, 2), (3, 4), (6, 6), (8, 8), (9, 0)])
def test_grid_of_eight_rooms_fits_and_more_pan(rooms: int, fits: int) -> None:
    assert laid(*(event(str(n), 0, 60, Place(n, n, str(n))) for n in range(rooms))).fits == fits


def test_day_without_sessions_has_no_grid() -> None:
    assert day_grid([], UTC) is None


sessions = st.lists(
    st.builds(
        event,
        st.text("abc", max_size=3),
        st.integers(0, 900),
        st.integers(0, 300),
        st.sampled_from([A, B, C, None]),
    ),
    min_size=1,
    max_size=20,
)


@given(sessions)
def test_each_session_has_a_place_of_its_own(events: list[Event]) -> None:
    grid = laid(*events)
    taken: set[tuple[int, int]] = set()
    for slot in grid.slots:
        assert slot.row >= 1
        assert slot.row + slot.rows - 1 <= grid.rows
        assert slot.column + slot.columns - 1 <= grid.columns
        if slot.session.start < slot.session.end:
            own = {
                (row, column)
                for row in range(slot.row, slot.row + slot.rows)
                for column in range(slot.column, slot.column + slot.columns)
            }
            assert not own & taken
            taken |= own
    assert len(grid.slots) == len(events)
