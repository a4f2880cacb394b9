"""The structure of a timetable: days, blocks with one start, overlaps, columns of rooms, the lobby's screen.

Pure: uses neither models nor the current time. The given sessions are already limited to public ones.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from heapq import heappop, heappush
from itertools import groupby, islice, pairwise
from typing import Any, Protocol

from papers.rows import natural_sort_key

# An edition with more days than this, usually because of a wrong date, shows only days with sessions.
MAX_STRIP_DAYS = 31
# The text before the number or letter of a session in a series: "Session 1A", "Track B".
NUMBERED = re.compile(r"(\D{0,40}?)(?:[0-9]|(?<=\w\s)[A-Z]\b)")


class Timed(Protocol):
    """Protocol of objects with a start and an end, both with a time zone."""

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
        """The common end of the sessions; `None` if they differ."""
        ends = {instant(session.end) for session in self.sessions}
        return self.sessions[0].end if len(ends) == 1 else None


@dataclass(frozen=True, slots=True)
class ProgramDay[T: Timed]:
    date: date
    blocks: list[Block[T]]


def instant(moment: datetime) -> datetime:
    """Return the moment in UTC. Within one zone, Python compares wall times, wrongly when clocks go back."""
    return moment.astimezone(UTC)


def start_instant(session: Timed) -> datetime:
    return instant(session.start)


def sort_series[T](sessions: Iterable[T]) -> list[T]:
    """Sort the sessions of a series, such as "Session 1A", "Session 1B", "Session 10", among their positions.

    The positions of all other sessions do not change.
    """
    ordered = list(sessions)
    series: dict[str, list[int]] = {}
    for index, session in enumerate(ordered):
        if match := NUMBERED.match(str(session)):
            series.setdefault(match[1].casefold(), []).append(index)
    for indexes in series.values():
        members = sorted(
            (ordered[index] for index in indexes), key=lambda session: natural_sort_key(str(session))
        )
        for index, session in zip(indexes, members, strict=True):
            ordered[index] = session
    return ordered


def blocks[T: Timed](sessions: Iterable[T]) -> list[Block[T]]:
    """Group sessions by start; within a block, only series are reordered."""
    groups = [list(group) for _, group in groupby(sorted(sessions, key=start_instant), key=start_instant)]
    return [Block(group[0].start, sort_series(group)) for group in groups]


def days[T: Timed](sessions: Iterable[T], day_of: Callable[[datetime], date]) -> list[ProgramDay[T]]:
    """Split sessions into program days, each session on the day of its start."""
    by_day: dict[date, list[T]] = {}
    for session in sessions:
        by_day.setdefault(day_of(session.start), []).append(session)
    return [ProgramDay(day, blocks(by_day[day])) for day in sorted(by_day)]


def nest(sessions: Iterable[Any], *, same_room: bool = False) -> list[Any]:
    """Put parts into `shown_parts` of their session if it is among the given ones; return the others.

    With `same_room`, a part in another room than its session's is not put into it.
    """
    all_sessions = list(sessions)
    sessions_by_key = {session.pk: session for session in all_sessions}
    top_level = []
    for session in all_sessions:
        session.shown_parts = []
    for session in all_sessions:
        parent = sessions_by_key.get(session.parent_id)
        if parent is None or (same_room and session.room_id not in {None, parent.room_id}):
            top_level.append(session)
        else:
            parent.shown_parts.append(session)
    return top_level


def day_strip(first: date, last: date, days_with_sessions: Iterable[date]) -> list[date]:
    """Return the days to choose from: all days of the edition, and other days with sessions."""
    length = (last - first).days + 1
    edition_days = [
        first + timedelta(days=offset) for offset in range(length if length <= MAX_STRIP_DAYS else 0)
    ]
    return sorted({*edition_days, *days_with_sessions})


def read_day(text: str) -> date | None:
    """Return the day of an address such as "2021-04-06"; `None` for any other spelling."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.isoformat() == text else None


def neighbors[T](items: Iterable[T], item: T) -> tuple[T | None, T | None]:
    """Return the items before and after `item`; `None` at the ends, or if it is not among them."""
    padded = [None, *items, None]
    index = padded.index(item) if item in padded else 0
    return (padded[index - 1], padded[index + 1]) if index else (None, None)


# Overlaps, for visitors' agendas and for clashes


class TimeSpan(Timed, Protocol):
    """A timed row; `within` are the keys of the row itself and of the sessions that contain it."""

    @property
    def within(self) -> frozenset[str]: ...


def overlaps(first: Timed, second: Timed) -> bool:
    """Return whether spans overlap. Touching spans do not; those with equal starts always do."""
    starts, ends = (instant(first.start), instant(second.start)), (instant(first.end), instant(second.end))
    return starts[0] == starts[1] or (starts[0] < ends[1] and starts[1] < ends[0])


def is_nested(first: TimeSpan, second: TimeSpan) -> bool:
    """Return whether both are the same row, or one contains the other."""
    return first.within <= second.within or second.within <= first.within


def overlapping_pairs[P: TimeSpan](spans: Iterable[P], max_partners: int | None = None) -> list[tuple[P, P]]:
    """Return the pairs that overlap, by time. A session does not overlap with its parts.

    Does not compare all pairs. `max_partners` limits the earlier partners of each row: if thousands
    overlap by mistake, a few pairs are sufficient to show that.
    """
    rows = sorted(spans, key=lambda span: (instant(span.start), instant(span.end)))
    # A heap of the ongoing rows, by end and then start.
    ongoing: list[tuple[datetime, datetime, int]] = []
    pairs = []
    for index, span in enumerate(rows):
        start = instant(span.start)
        while ongoing and ongoing[0][0] <= start and ongoing[0][1] < start:
            heappop(ongoing)
        partners = (partner for *_, partner in ongoing if not is_nested(rows[partner], span))
        pairs += [(partner, index) for partner in islice(partners, max_partners)]
        heappush(ongoing, (instant(span.end), start, index))
    return [(rows[first], rows[second]) for first, second in sorted(pairs)]


def back_to_back[P: TimeSpan](spans: Sequence[P]) -> list[tuple[P, P]]:
    """Return consecutive pairs of which one begins when the other ends."""
    ordered = sorted(spans, key=lambda span: (instant(span.start), instant(span.end)))
    return [
        (first, second) for first, second in pairwise(ordered) if instant(first.end) == instant(second.start)
    ]


# The columns of a grid: one for each room, or more if its sessions overlap


class Placed(Timed, Protocol):
    @property
    def room(self) -> Any: ...


@dataclass(slots=True)
class GridColumn[T: Placed]:
    """The column of a room (`None` for sessions without one), with several lanes if its sessions overlap."""

    room: Any
    lanes: list[list[T]] = field(default_factory=list)


def sessions_spanning_rooms[T: Placed](sessions: Sequence[T]) -> list[T]:
    """Return the sessions without a room at times when no room is in use, such as coffee breaks.

    With a single room, returns none, because they would seem to take place in it.
    """
    in_rooms = [session for session in sessions if session.room is not None]
    if len({session.room.pk for session in in_rooms}) < 2:
        return []
    candidates = [
        session
        for session in sessions
        if session.room is None and not any(overlaps(session, other) for other in in_rooms)
    ]
    return [
        session
        for session in candidates
        if not any(overlaps(session, other) for other in candidates if other is not session)
    ]


def room_columns[T: Placed](sessions: Iterable[T]) -> list[GridColumn[T]]:
    """Return a column for each room in the chairs' order, and last one for sessions without a room."""
    columns: dict[Any, GridColumn[T]] = {}
    for session in sorted(sessions, key=start_instant):
        column = columns.setdefault(session.room and session.room.pk, GridColumn(session.room))
        lane = next((lane for lane in column.lanes if not overlaps(lane[-1], session)), None)
        if lane is None:
            column.lanes.append(lane := [])
        lane.append(session)

    def sort_key(column: GridColumn[Any]) -> tuple[bool, int, str]:
        room = column.room
        return (False, room.position, room.name) if room else (True, 0, "")

    return sorted(columns.values(), key=sort_key)


# The screen in the lobby


@dataclass(frozen=True, slots=True)
class RoomStatus:
    """A room, or `None` for sessions without one, with its current and its next sessions."""

    room: Any
    now: list[Any]
    next: list[Any]


def room_statuses(sessions: Iterable[Any], at: datetime) -> list[RoomStatus]:
    """Return the status of each room of these sessions, in the chairs' order."""
    statuses = []
    for column in room_columns(sessions):
        taking_place = [session for lane in column.lanes for session in lane if not session.cancelled]
        taking_place.sort(key=start_instant)
        now = [session for session in taking_place if session.start <= at < session.end]
        upcoming = [session for session in taking_place if session.start > at]
        next_sessions = [
            session for session in upcoming if start_instant(session) == start_instant(upcoming[0])
        ]
        statuses.append(RoomStatus(column.room, sort_series(now), sort_series(next_sessions)))
    return statuses
