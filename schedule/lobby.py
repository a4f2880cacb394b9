"""What is on now and next in each room, for a screen in the lobby. Pure: knows no models and no clock."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from schedule.grid import GridColumn, columns
from schedule.timetable import Timed, instant


@dataclass(frozen=True, slots=True)
class RoomStatus:
    """A room (`None`: what has none), what runs in it, and what begins there next."""

    room: Any
    now: list[Any]
    next: list[Any]


def room_statuses(sessions: Iterable[Any], at: datetime) -> list[RoomStatus]:
    """Return a board for each room of the given day's sessions, in the chairs' order."""
    return [room_status(column, at) for column in columns(sessions)]


def room_status(column: GridColumn[Any], at: datetime) -> RoomStatus:
    there = sorted((session for lane in column.lanes for session in lane), key=starting_next)
    ahead = [session for session in there if session.start > at and not session.cancelled]
    now = [session for session in there if session.start <= at < session.end and not session.cancelled]
    return RoomStatus(
        column.room, now, [one for one in ahead if starting_next(one) == starting_next(ahead[0])]
    )


def starting_next(session: Timed) -> datetime:
    return instant(session.start)
