"""The grid of a day's sessions: rows of five minutes, and one or more columns for each room.

Pure: uses neither models nor the current time. Rows and columns are numbered from 1, as in CSS grids.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from math import ceil
from typing import Any

from schedule.timetable import GridColumn, Placed, instant, overlaps, room_columns, sessions_spanning_rooms

MINUTES_PER_ROW = 5
ROWS_PER_HOUR = 60 // MINUTES_PER_ROW
# A day, and the hour that repeats when clocks go back. Longer sessions are cut off at the end of the grid.
MAX_HOURS = 25
# A start gets its own label if it is at least this many rows from other labels.
ROWS_BETWEEN_TIMES = 4
# Numbers of columns for which `static/css/plenary/grid.css` defines the required width of the window.
FITTING_COLUMNS = (2, 4, 6, 8)


@dataclass(frozen=True, slots=True)
class GridRoom:
    """The head of a room's columns; `room` is `None` above sessions without a room."""

    room: Any
    column: int
    columns: int


@dataclass(frozen=True, slots=True)
class GridTime:
    """A time label of a row, such as 09:00 or 10:30."""

    moment: datetime
    row: int
    is_hour: bool


@dataclass(frozen=True, slots=True)
class GridSlot[T: Placed]:
    """A session with its rows and columns; `names_start` is set if no time label shows its start."""

    session: T
    row: int
    rows: int
    column: int
    columns: int
    names_start: bool


@dataclass(frozen=True, slots=True)
class DayGrid[T: Placed]:
    """The grid of a day; `slots` are in reading order, by time and then room."""

    first: datetime
    hours: int
    columns: int
    rooms: list[GridRoom]
    times: list[GridTime]
    slots: list[GridSlot[T]]

    @property
    def rows(self) -> int:
        return self.hours * ROWS_PER_HOUR

    @property
    def fits(self) -> int:
        """The smallest of `FITTING_COLUMNS` that has all columns; 0 if there are too many."""
        return next((number for number in FITTING_COLUMNS if self.columns <= number), 0)

    def row_at(self, moment: datetime) -> int | None:
        """Return the row of a moment, `None` outside of the grid."""
        row = _rows_between(self.first, moment) + 1
        return row if instant(moment) >= instant(self.first) and row <= self.rows else None


type RoomsOf[T] = Callable[[T], Collection[Any]]


def day_grid[T: Placed](
    sessions: Iterable[T], zone: tzinfo, rooms_of: RoomsOf[T] = lambda _: ()
) -> DayGrid[T] | None:
    """Return the grid of a day's sessions; `None` if there are none.

    A session extends over the columns of its room that are free at its time. A session without a room, such
    as a coffee break, spans all rooms if none is in use. `rooms_of` returns the keys of rooms in which a
    session without a room takes place; it spans these if they are free.
    """
    all_sessions = list(sessions)
    if not all_sessions:
        return None
    spanning = sessions_spanning_rooms(all_sessions)
    in_rooms = [session for session in all_sessions if session.room is not None]
    wide: dict[int, tuple[int, int]] = {}
    heads = _room_heads(room_columns(in_rooms))
    for session in all_sessions:
        rooms = rooms_of(session) if session.room is None else ()
        if covered := [head for head in heads if head.room.pk in rooms]:
            first, last = covered[0].column, covered[-1].column + covered[-1].columns
            covered_rooms = {head.room.pk for head in heads if first <= head.column < last}
            if not any(overlaps(session, other) for other in in_rooms if other.room.pk in covered_rooms):
                wide[id(session)] = first, last - first
    grid_columns = room_columns(
        session for session in all_sessions if session not in spanning and id(session) not in wide
    )
    heads = _room_heads(grid_columns)
    room_column_count = sum(head.columns for head in heads if head.room is not None)
    columns_by_id = wide | {
        id(session): (1, max(room_column_count, 1)) for session in spanning if id(session) not in wide
    }
    for head, grid_column in zip(heads, grid_columns, strict=True):
        for number, lane in enumerate(grid_column.lanes):
            next_lanes = grid_column.lanes[number + 1 :]
            columns_by_id |= {
                id(session): (head.column + number, 1 + _free_columns(session, next_lanes))
                for session in lane
            }
    return _build_grid(all_sessions, columns_by_id, heads, zone)


def _room_heads(grid_columns: Sequence[GridColumn[Any]]) -> list[GridRoom]:
    heads, column = [], 1
    for grid_column in grid_columns:
        heads.append(GridRoom(grid_column.room, column, len(grid_column.lanes)))
        column += len(grid_column.lanes)
    return heads


def _free_columns[T: Placed](session: T, lanes: Sequence[Sequence[T]]) -> int:
    """Return the number of following columns of its room over which a session can extend."""
    occupied = (any(overlaps(session, other) for other in lane) for lane in lanes)
    return next((number for number, is_occupied in enumerate(occupied) if is_occupied), len(lanes))


def _build_grid[T: Placed](
    sessions: Sequence[T], columns_by_id: dict[int, tuple[int, int]], heads: list[GridRoom], zone: tzinfo
) -> DayGrid[T]:
    start = min(instant(session.start) for session in sessions)
    local = start.astimezone(zone)
    first = start - timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
    last = max(instant(session.end) for session in sessions)
    hours = min(max(ceil((last - first) / timedelta(hours=1)), 1), MAX_HOURS)
    last_row = hours * ROWS_PER_HOUR
    times = [GridTime(first + timedelta(hours=hour), hour * ROWS_PER_HOUR + 1, True) for hour in range(hours)]
    labeled_rows = {time.row for time in times}
    for moment in sorted({instant(session.start) for session in sessions}):
        row = _rows_between(first, moment) + 1
        if all(abs(row - other) >= ROWS_BETWEEN_TIMES for other in labeled_rows):
            times.append(GridTime(moment, row, False))
            labeled_rows.add(row)
    labeled_moments = {time.moment for time in times}
    # Consecutive sessions must not overlap because of the rounding to rows.
    end_by_column: dict[int, int] = {}
    slots = []
    for session in sorted(sessions, key=lambda session: (instant(session.start), columns_by_id[id(session)])):
        column, width = columns_by_id[id(session)]
        own_columns = range(column, column + width)
        row = _rows_between(first, session.start) + 1
        row = min(max([row, *(end_by_column.get(number, 0) for number in own_columns)]), last_row)
        end = min(max(_rows_between(first, session.end) + 1, row + 1), last_row + 1)
        end_by_column |= dict.fromkeys(own_columns, end)
        slots.append(
            GridSlot(session, row, end - row, column, width, instant(session.start) not in labeled_moments)
        )
    column_count = max([1, *(column + width - 1 for column, width in columns_by_id.values())])
    return DayGrid(first, hours, column_count, heads, sorted(times, key=lambda time: time.row), slots)


def _rows_between(first: datetime, moment: datetime) -> int:
    return round((instant(moment) - instant(first)) / timedelta(minutes=MINUTES_PER_ROW))
