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
class Room:
    pk: int
    position: int
    name: str


@dataclass(frozen=True)
class Event:
    name: str
    start: datetime
    end: datetime
    room: Room | None


A, B, C = Room(1, 1, "A"), Room(2, 2, "B"), Room(3, 3, "C")


def event(name: str, begin: float, length: float, room: Room | None) -> Event:
    start = START + timedelta(minutes=begin)
    return Event(name, start, start + timedelta(minutes=length), room)


def grid_of(*events: Event) -> DayGrid[Event]:
    grid = day_grid(events, UTC)
    assert grid is not None
    return grid


def slot_positions(grid: DayGrid[Event]) -> list[tuple[str, int, int, int, int]]:
    """Return the name, row, row span, column and column span of each session, in reading order."""
    return [(slot.session.name, slot.row, slot.rows, slot.column, slot.columns) for slot in grid.slots]


def test_rows_are_five_minutes_and_columns_are_rooms() -> None:
    grid = grid_of(event("two", 90, 30, A), event("one", 0, 60, B))

    assert (grid.hours, grid.columns, grid.rows) == (2, 2, 24)
    assert [(head.room, head.column, head.columns) for head in grid.rooms] == [(A, 1, 1), (B, 2, 1)]
    assert slot_positions(grid) == [("one", 1, 12, 2, 1), ("two", 19, 6, 1, 1)]


def test_grid_begins_and_ends_at_full_hours_of_the_venue() -> None:
    session = event("one", 20, 60, A)
    grid = day_grid([session], ZoneInfo("Asia/Kathmandu"))  # 13:45 at the venue when it is 08:00 UTC
    assert grid is not None

    assert (grid.first, grid.hours) == (START + timedelta(minutes=15), 2)
    assert slot_positions(grid) == [("one", 2, 12, 1, 1)]


def test_time_labels_are_hours_and_starts_that_are_not_close_to_one() -> None:
    grid = grid_of(event("one", 0, 30, A), event("two", 30, 25, A), event("three", 55, 65, A))

    assert [(time.row, time.is_hour) for time in grid.times] == [(1, True), (7, False), (13, True)]
    assert [slot.names_start for slot in grid.slots] == [False, False, True]


def test_session_spans_the_free_columns_of_its_room() -> None:
    grid = grid_of(
        event("all", 0, 60, A),
        event("first", 60, 60, A),
        event("second", 60, 30, A),
        event("third", 75, 15, A),
        event("late", 90, 30, A),
        event("other", 60, 60, B),
    )

    assert [(head.room, head.column, head.columns) for head in grid.rooms] == [(A, 1, 3), (B, 4, 1)]
    assert [(name, column, columns) for name, _, _, column, columns in slot_positions(grid)] == [
        ("all", 1, 3),
        ("first", 1, 1),
        ("second", 2, 1),
        ("other", 4, 1),
        ("third", 3, 1),
        ("late", 2, 2),
    ]


def test_overlapping_sessions_of_a_room_are_in_adjacent_columns() -> None:
    grid = grid_of(event("one", 0, 60, A), event("two", 30, 60, A), event("three", 0, 60, B))

    assert [(head.room, head.column, head.columns) for head in grid.rooms] == [(A, 1, 2), (B, 3, 1)]
    assert slot_positions(grid) == [("one", 1, 12, 1, 1), ("three", 1, 12, 3, 1), ("two", 7, 12, 2, 1)]


def test_break_without_a_room_spans_all_rooms() -> None:
    grid = grid_of(event("one", 0, 60, A), event("two", 0, 60, B), event("coffee", 60, 30, None))

    assert slot_positions(grid)[-1] == ("coffee", 13, 6, 1, 2)


def test_session_without_a_room_beside_others_is_in_the_last_column() -> None:
    grid = grid_of(event("one", 0, 60, A), event("desk", 0, 120, None))

    assert [head.room for head in grid.rooms] == [A, None]
    assert slot_positions(grid) == [("one", 1, 12, 1, 1), ("desk", 1, 24, 2, 1)]


def test_session_without_a_room_is_not_in_the_column_of_the_only_room() -> None:
    grid = grid_of(event("desk", 0, 30, None), event("one", 30, 60, A))

    assert [head.room for head in grid.rooms] == [A, None]
    assert slot_positions(grid) == [("desk", 1, 6, 2, 1), ("one", 7, 12, 1, 1)]


def test_break_spans_all_rooms_beside_an_open_registration_desk() -> None:
    desk, coffee = event("desk", 0, 75, None), event("coffee", 60, 30, None)
    grid = grid_of(desk, event("one", 0, 60, A), event("two", 0, 60, B), coffee)

    assert [head.room for head in grid.rooms] == [A, B, None]
    assert slot_positions(grid)[-1] == ("coffee", 13, 6, 1, 2)


@pytest.mark.parametrize(("other", "position"), [(C, (1, 2)), (B, (4, 1))])
def test_session_in_several_rooms_spans_them_unless_one_is_occupied(
    other: Room, position: tuple[int, int]
) -> None:
    both = event("both", 60, 60, None)
    rooms = [event(room.name, 0, 30, room) for room in (A, B, C)]
    grid = day_grid(
        [both, *rooms, event("other", 60, 60, other)], UTC, lambda session: [1, 2] if session == both else []
    )
    assert grid is not None
    (slot,) = [session for session in grid.slots if session.session == both]

    assert (slot.column, slot.columns) == position


def test_rounding_does_not_make_adjacent_sessions_overlap() -> None:
    grid = grid_of(event("one", 0, 2, A), event("two", 2, 2, A), event("three", 4, 60, A))

    assert [slot[1:3] for slot in slot_positions(grid)] == [(1, 1), (2, 1), (3, 11)]


def test_zero_length_session_has_one_row() -> None:
    assert slot_positions(grid_of(event("gong", 0, 0, A))) == [("gong", 1, 1, 1, 1)]


def test_session_of_several_days_is_cut_at_the_end_of_the_grid() -> None:
    grid = grid_of(event("hackathon", 0, 10_000, A))

    assert (grid.hours, slot_positions(grid)) == (25, [("hackathon", 1, 300, 1, 1)])


def test_repeated_dst_hour_has_its_own_rows() -> None:
    night = Event(
        "night", datetime(2026, 10, 25, 0, tzinfo=BERLIN), datetime(2026, 10, 25, 4, tzinfo=BERLIN), A
    )
    grid = day_grid([night], BERLIN)
    assert grid is not None

    assert (grid.hours, grid.slots[0].rows) == (5, 60)


def test_row_of_a_moment_outside_the_grid_is_none() -> None:
    grid = grid_of(event("one", 0, 60, A))
    moments = [START + timedelta(minutes=minutes) for minutes in (-10, 0, 31, 59, 61)]

    assert [grid.row_at(moment) for moment in moments] == [None, 1, 7, None, None]


@pytest.mark.parametrize(("rooms", "fits"), [(1, 2), (3, 4), (6, 6), (8, 8), (9, 0)])
def test_at_most_8_rooms_fit_without_scrolling(rooms: int, fits: int) -> None:
    assert grid_of(*(event(str(n), 0, 60, Room(n, n, str(n))) for n in range(rooms))).fits == fits


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
def test_slots_are_inside_the_grid_and_do_not_overlap(events: list[Event]) -> None:
    grid = grid_of(*events)
    occupied: set[tuple[int, int]] = set()
    for slot in grid.slots:
        assert slot.row >= 1
        assert slot.row + slot.rows - 1 <= grid.rows
        assert slot.column + slot.columns - 1 <= grid.columns
        if slot.session.start < slot.session.end:
            cells = {
                (row, column)
                for row in range(slot.row, slot.row + slot.rows)
                for column in range(slot.column, slot.column + slot.columns)
            }
            assert not cells & occupied
            occupied |= cells
    assert len(grid.slots) == len(events)
