"""A day as rooms side by side: a column for each room, a row from each moment of change to the next.

Pure: knows no models and no clock. What is public was decided before.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from math import ceil
from typing import Any, Protocol

from schedule.timetable import Timed, instant

# Rows grow with their length in steps of five minutes, up to two hours.
STEP, MOST_STEPS = 5, 24

# A moment, and whether what takes no time at it has happened.
type Edge = tuple[datetime, int]


class Placed(Timed, Protocol):
    """Whatever lasts from a start to an end in a room, or in none."""

    @property
    def room(self) -> Any: ...


@dataclass(slots=True)
class GridColumn[T: Placed]:
    """A room, or `None` for what has none; lanes side by side where its sessions overlap."""

    room: Any
    lanes: list[list[T]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class GridCell[T: Placed]:
    """A session over so many rows and lanes, or an empty place."""

    session: T | None = None
    rows: int = 1
    lanes: int = 1


@dataclass(frozen=True, slots=True)
class GridRow[T: Placed]:
    """What begins, or stays empty, at one moment."""

    start: datetime
    steps: int
    cells: list[GridCell[T]]


@dataclass(frozen=True, slots=True)
class Grid[T: Placed]:
    """Columns in the order of the rooms, and rows by time."""

    columns: list[GridColumn[T]]
    rows: list[GridRow[T]]


def begin(session: Timed) -> Edge:
    return instant(session.start), 0


def finish(session: Timed) -> Edge:
    """Return the edge that it lasts to; what takes no time has a row of its own."""
    end = instant(session.end)
    return end, int(end == instant(session.start))


def overlap(one: Timed, other: Timed) -> bool:
    return begin(one) < finish(other) and begin(other) < finish(one)


def spanning[T: Placed](sessions: Sequence[T]) -> list[T]:
    """Return what has no room while no room is in use: a coffee break is everybody's.

    Beside a single room nothing spans: it would seem to take place there.
    """
    placed = [session for session in sessions if session.room is not None]
    if len({session.room.pk for session in placed}) < 2:
        return []
    free = [
        session
        for session in sessions
        if session.room is None and not any(overlap(session, other) for other in placed)
    ]
    return [one for one in free if not any(overlap(one, other) for other in free if other is not one)]


def columns[T: Placed](sessions: Iterable[T]) -> list[GridColumn[T]]:
    """Give each room a column, in the chairs' order, and what has no room the last one."""
    found: dict[Any, GridColumn[T]] = {}
    for session in sorted(sessions, key=begin):
        column = found.setdefault(session.room and session.room.pk, GridColumn(session.room))
        free = (lane for lane in column.lanes if finish(lane[-1]) <= begin(session))
        lane = next(free, None)
        if lane is None:
            column.lanes.append([session])
        else:
            lane.append(session)
    return sorted(found.values(), key=rank)


def rank(column: GridColumn[Any]) -> tuple[bool, int, str]:
    room = column.room
    return (room is None, room.position, room.name) if room else (True, 0, "")


def grid[T: Placed](sessions: Iterable[T]) -> Grid[T]:
    """Lay the sessions of a day out. Rows in which nothing goes on are left out."""
    given = list(sessions)
    across = spanning(given)
    sides = columns(session for session in given if session not in across)
    rooms = [lane for column in sides if column.room is not None for lane in column.lanes]
    loose = [lane for column in sides if column.room is None for lane in column.lanes]
    edges = sorted({edge for session in given for edge in (begin(session), finish(session))})
    spans = [span for span in pairwise(edges) if any(runs(session, span[0]) for session in given)]
    rows = []
    for first, last in spans:
        is_shared = any(runs(session, first) for session in across)
        cells = [cell(lane, first, spans) for lane in ([across] if is_shared else rooms)]
        if is_shared and cells[0]:
            cells = [replace(cells[0], lanes=len(rooms))]
        cells += [cell(lane, first, spans) for lane in loose]
        steps = ceil((last[0] - first[0]).total_seconds() / 60 / STEP)
        shown = [one for one in cells if one is not None]
        rows.append(GridRow(first[0], min(max(steps, 1), MOST_STEPS), shown))
    return Grid(sides, rows)


def runs(session: Timed, edge: Edge) -> bool:
    return begin(session) <= edge < finish(session)


def cell[T: Placed](lane: Iterable[T], edge: Edge, spans: Sequence[tuple[Edge, Edge]]) -> GridCell[T] | None:
    """Return the cell of a lane that begins in this row; `None` where one from above still lasts."""
    here = next((session for session in lane if runs(session, edge)), None)
    if here is None:
        return GridCell()
    if begin(here) != edge:
        return None
    return GridCell(here, sum(runs(here, first) for first, _ in spans))
