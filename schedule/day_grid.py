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
    given = list(sessions)
    if not given:
        return None
    across = sessions_spanning_rooms(given)
    placed = [one for one in given if one.room is not None]
    wide: dict[int, tuple[int, int]] = {}
    heads = _room_heads(room_columns(placed))
    for one in given:
        if one.room is None and (covered := [head for head in heads if head.room.pk in rooms_of(one)]):
            first, last = covered[0].column, covered[-1].column + covered[-1].columns
            inside = {head.room.pk for head in heads if first <= head.column < last}
            if not any(overlaps(one, other) for other in placed if other.room.pk in inside):
                wide[id(one)] = first, last - first
    sides = room_columns(one for one in given if one not in across and id(one) not in wide)
    heads = _room_heads(sides)
    in_rooms = sum(head.columns for head in heads if head.room is not None)
    places = wide | {id(one): (1, max(in_rooms, 1)) for one in across if id(one) not in wide}
    for head, side in zip(heads, sides, strict=True):
        for number, lane in enumerate(side.lanes):
            beside = side.lanes[number + 1 :]
            places |= {id(one): (head.column + number, 1 + _free_columns(one, beside)) for one in lane}
    return _build_grid(given, places, heads, zone)


def _room_heads(sides: Sequence[GridColumn[Any]]) -> list[GridRoom]:
    heads, column = [], 1
    for side in sides:
        heads.append(GridRoom(side.room, column, len(side.lanes)))
        column += len(side.lanes)
    return heads


def _free_columns[T: Placed](session: T, lanes: Sequence[Sequence[T]]) -> int:
    """Return the number of following columns of its room over which a session can extend."""
    taken = (any(overlaps(session, other) for other in lane) for lane in lanes)
    return next((number for number, is_taken in enumerate(taken) if is_taken), len(lanes))


def _build_grid[T: Placed](
    given: Sequence[T], places: dict[int, tuple[int, int]], heads: list[GridRoom], zone: tzinfo
) -> DayGrid[T]:
    start = min(instant(one.start) for one in given)
    local = start.astimezone(zone)
    first = start - timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
    last = max(instant(one.end) for one in given)
    hours = min(max(ceil((last - first) / timedelta(hours=1)), 1), MAX_HOURS)
    final = hours * ROWS_PER_HOUR
    times = [GridTime(first + timedelta(hours=hour), hour * ROWS_PER_HOUR + 1, True) for hour in range(hours)]
    written = {time.row for time in times}
    for moment in sorted({instant(one.start) for one in given}):
        row = _rows_between(first, moment) + 1
        if all(abs(row - other) >= ROWS_BETWEEN_TIMES for other in written):
            times.append(GridTime(moment, row, False))
            written.add(row)
    exact = {time.moment for time in times}
    # Consecutive sessions must not overlap because of the rounding to rows.
    ends: dict[int, int] = {}
    slots = []
    for one in sorted(given, key=lambda one: (instant(one.start), places[id(one)])):
        column, width = places[id(one)]
        own = range(column, column + width)
        row = _rows_between(first, one.start) + 1
        row = min(max([row, *(ends.get(number, 0) for number in own)]), final)
        end = min(max(_rows_between(first, one.end) + 1, row + 1), final + 1)
        ends |= dict.fromkeys(own, end)
        slots.append(GridSlot(one, row, end - row, column, width, instant(one.start) not in exact))
    columns_count = max([1, *(column + width - 1 for column, width in places.values())])
    return DayGrid(first, hours, columns_count, heads, sorted(times, key=lambda time: time.row), slots)


def _rows_between(first: datetime, moment: datetime) -> int:
    return round((instant(moment) - instant(first)) / timedelta(minutes=MINUTES_PER_ROW))
