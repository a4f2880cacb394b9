"""Rooms side by side: each session once, in its room, from its start to its end, whatever else goes on."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from schedule.timetable import Grid, grid

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2026, 10, 24, 8, tzinfo=UTC)


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


A, B = Place(1, 2, "A"), Place(2, 1, "B")


def event(name: str, begin: float, length: float, room: Place | None) -> Event:
    start = START + timedelta(minutes=begin)
    return Event(name, start, start + timedelta(minutes=length), room)


def drawn(layout: Grid[Event]) -> list[str]:
    """Each row in a line: "A2" is session A over two rows, "A2x3" over three lanes too, "-" is free."""
    rows = []
    for row in layout.rows:
        cells = [
            f"{cell.session.name}{cell.rows}{f'x{cell.lanes}' * (cell.lanes > 1)}" if cell.session else "-"
            for cell in row.cells
        ]
        rows.append(" ".join(cells))
    return rows


def test_parallel_sessions_stand_side_by_side_in_the_order_of_the_rooms() -> None:
    layout = grid([event("one", 0, 60, A), event("two", 0, 60, B)])

    assert [column.room for column in layout.columns] == [B, A]
    assert drawn(layout) == ["two1 one1"]


def test_long_session_spans_the_rows_of_short_ones() -> None:
    layout = grid([event("long", 0, 90, A), event("s", 0, 30, B), event("t", 30, 60, B)])

    assert drawn(layout) == ["s1 long2", "t1"]
    assert [row.steps for row in layout.rows] == [6, 12]


def test_rows_without_anything_are_left_out() -> None:
    layout = grid([event("one", 0, 60, A), event("two", 300, 60, A)])

    assert drawn(layout) == ["one1", "two1"]


def test_overlapping_sessions_of_a_room_get_lanes_of_their_own() -> None:
    layout = grid([event("one", 0, 60, A), event("two", 30, 60, A), event("three", 60, 30, A)])

    assert [len(column.lanes) for column in layout.columns] == [2]
    assert drawn(layout) == ["one2 -", "two2", "three1"]


def test_touching_sessions_share_a_lane() -> None:
    layout = grid([event("one", 0, 60, A), event("two", 60, 60, A)])

    assert [len(column.lanes) for column in layout.columns] == [1]


def test_break_without_a_room_spans_all_of_them() -> None:
    layout = grid([event("one", 0, 60, A), event("two", 0, 60, B), event("coffee", 60, 30, None)])

    assert [column.room for column in layout.columns] == [B, A]
    assert drawn(layout) == ["two1 one1", "coffee1x2"]


def test_session_without_a_room_beside_others_has_the_last_column() -> None:
    layout = grid([event("desk", 0, 120, None), event("one", 0, 60, A)])

    assert [column.room for column in layout.columns] == [A, None]
    assert drawn(layout) == ["one1 desk2", "-"]


def test_nothing_without_a_room_seems_to_stand_in_the_only_one() -> None:
    layout = grid([event("desk", 0, 30, None), event("one", 30, 60, A)])

    assert [column.room for column in layout.columns] == [A, None]
    assert drawn(layout) == ["- desk1", "one1 -"]


def test_break_spans_the_rooms_beside_a_desk_that_stays_open() -> None:
    layout = grid(
        [
            event("desk", 0, 75, None),
            event("one", 0, 60, A),
            event("two", 0, 60, B),
            event("coffee", 60, 30, None),
        ]
    )

    assert [column.room for column in layout.columns] == [B, A, None]
    assert drawn(layout) == ["two1 one1 desk2", "coffee2x2", "-"]


def test_day_without_any_room_has_one_column() -> None:
    layout = grid([event("one", 0, 60, None), event("two", 60, 60, None)])

    assert [column.room for column in layout.columns] == [None]
    assert drawn(layout) == ["one1", "two1"]


def test_what_takes_no_time_has_a_row_of_its_own() -> None:
    layout = grid([event("one", 0, 60, A), event("gong", 60, 0, B), event("two", 60, 60, A)])

    assert drawn(layout) == ["- one1", "gong1 two2", "-"]


def test_night_over_midnight_and_clock_change_keeps_its_real_length() -> None:
    late = datetime(2026, 10, 24, 23, 30, tzinfo=BERLIN)
    night = Event("night", late, datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1), A)
    again = Event("again", datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=0), night.end, B)
    layout = grid([night, again])

    assert drawn(layout) == ["- night2", "again1"]
    assert [row.steps for row in layout.rows] == [24, 12]


def test_empty_day_has_neither_rows_nor_columns() -> None:
    layout: Grid[Event] = grid([])

    assert (layout.rows, layout.columns) == ([], [])
