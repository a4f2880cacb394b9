"""The shape of a timetable: program days, blocks of one starting time, the order of talks and boards.

Pure: knows no models and no clock. What is public was decided before.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any, Protocol

from papers.board_order import running_order

__all__ = ["running_order"]

# An edition with more days than this (a slip in its dates) shows only the days that have sessions.
MAX_STRIP_DAYS = 31
NO_TIME = datetime.max.replace(tzinfo=UTC)


class Timed(Protocol):
    """Whatever lasts from a start to an end, both with a zone."""

    @property
    def start(self) -> datetime: ...
    @property
    def end(self) -> datetime: ...


@dataclass(frozen=True, slots=True)
class Block[T: Timed]:
    """Sessions that begin at the same moment, in the order given."""

    start: datetime
    sessions: list[T]

    @property
    def end(self) -> datetime | None:
        """The end they share; `None` where each has to name its own."""
        ends = {instant(session.end) for session in self.sessions}
        return self.sessions[0].end if len(ends) == 1 else None


@dataclass(frozen=True, slots=True)
class ProgramDay[T: Timed]:
    """One program day and its blocks."""

    date: date
    blocks: list[Block[T]]


def instant(moment: datetime) -> datetime:
    """Return the moment in UTC: in one zone Python compares wall times, wrong while clocks go back."""
    return moment.astimezone(UTC)


def blocks[T: Timed](sessions: Iterable[T]) -> list[Block[T]]:
    """Gather what begins at the same moment, by time; within a block the given order stays."""

    def begin(session: T) -> datetime:
        return instant(session.start)

    groups = [list(group) for _, group in groupby(sorted(sessions, key=begin), key=begin)]
    return [Block(group[0].start, group) for group in groups]


def days[T: Timed](sessions: Iterable[T], day_of: Callable[[datetime], date]) -> list[ProgramDay[T]]:
    """Split sessions into program days, each session on the day of its start."""
    by_day: dict[date, list[T]] = {}
    for session in sessions:
        by_day.setdefault(day_of(session.start), []).append(session)
    return [ProgramDay(day, blocks(by_day[day])) for day in sorted(by_day)]


def nest(sessions: Iterable[Any], *, beside: bool = False) -> list[Any]:
    """Put parts into `shown_parts` of their session where it is among the given; return the others.

    With `beside`, a part in a room other than its session's stays by itself.
    """
    rows = list(sessions)
    wholes = {session.pk: session for session in rows}
    alone = []
    for session in rows:
        session.shown_parts = []
    for session in rows:
        whole = wholes.get(session.parent_id)
        if whole is None or (beside and session.room_id not in {None, whole.room_id}):
            alone.append(session)
        else:
            whole.shown_parts.append(session)
    return alone


def strip(first: date, last: date, used: Iterable[date]) -> list[date]:
    """Return the days to choose from: all of the edition, and any other on which something happens."""
    length = (last - first).days + 1
    own = [first + timedelta(days=number) for number in range(length if length <= MAX_STRIP_DAYS else 0)]
    return sorted({*own, *used})


def read_day(written: str) -> date | None:
    """Return the day of an address such as "2021-04-06"; `None` for any other spelling."""
    try:
        day = date.fromisoformat(written)
    except ValueError:
        return None
    return day if day.isoformat() == written else None


def neighbors[T](row: Iterable[T], this: T) -> tuple[T | None, T | None]:
    """Return what stands before and after `this` in a row; `None` at the ends, or where it is not in it."""
    around = [None, *row, None]
    place = around.index(this) if this in around else 0
    return (around[place - 1], around[place + 1]) if place else (None, None)
