"""A small chart of each day of the program: the number of parallel sessions by time and kind."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import pairwise
from typing import NamedTuple

from conference.models import Edition
from schedule.querysets import BREAK_KINDS

WIDTH, HEIGHT, GAP = 200, 34, 0.8
# The minimum height of a bar, such as of a single session.
MIN_HEIGHT = 7.0


class SessionSpan(NamedTuple):
    """The data of a session for a picture."""

    pk: int
    start: datetime
    end: datetime
    kind: str
    counts_as: str
    is_part: bool
    is_off: bool

    @property
    def is_drawn(self) -> bool:
        """Return whether it is drawn: not if it is canceled, a break, or part of another session."""
        return not self.is_off and not self.is_part and self.counts_as not in BREAK_KINDS


class Bar(NamedTuple):
    """A rectangle: sessions of one kind that take place at the same time."""

    kind: str
    x: str
    y: str
    width: str
    height: str


@dataclass(slots=True)
class DayPicture:
    date: date
    session_count: int = 0
    bars: list[Bar] = field(default_factory=list)


class Block(NamedTuple):
    """A span, in minutes since the start of the program day, with the number of parallel sessions by kind."""

    start: float
    end: float
    kinds: Counter[str]


def day_pictures(sessions: Iterable[SessionSpan], edition: Edition) -> list[DayPicture]:
    """Return the picture of each day with sessions; all have the same hours and the same scale."""
    by_day: dict[date, list[SessionSpan]] = {}
    for session in sessions:
        by_day.setdefault(edition.day_of(session.start), []).append(session)
    drawn_by_day = {
        day: [session for session in rows if session.is_drawn] for day, rows in sorted(by_day.items())
    }
    blocks_by_day = {
        day: list(_blocks(rows, edition.day_bounds(day)[0])) for day, rows in drawn_by_day.items()
    }
    all_blocks = [block for day in blocks_by_day for block in blocks_by_day[day]]
    first = min((block.start for block in all_blocks), default=0)
    last = max((block.end for block in all_blocks), default=1)
    max_sessions = max((block.kinds.total() for block in all_blocks), default=1)
    return [
        DayPicture(day, len(rows), list(_bars(blocks_by_day[day], first, last - first, max_sessions)))
        for day, rows in drawn_by_day.items()
    ]


def _blocks(sessions: Sequence[SessionSpan], day_start: datetime) -> Iterator[Block]:
    """Yield a block for each span between two moments at which something begins or ends."""

    def minutes_into_day(moment: datetime) -> float:
        return (moment - day_start).total_seconds() / 60

    for start, end in pairwise(
        sorted({moment for session in sessions for moment in (session.start, session.end)})
    ):
        kinds = Counter(session.kind for session in sessions if session.start <= start < session.end)
        if kinds:
            yield Block(minutes_into_day(start), minutes_into_day(end), kinds)


def _bars(blocks: Iterable[Block], first: float, length: float, max_sessions: int) -> Iterator[Bar]:
    """Yield the bars of each block, with its kinds stacked."""
    for start, end, kinds in blocks:
        x, width = (start - first) / length * WIDTH, (end - start) / length * WIDTH
        # Scale by the square root: one talk must remain visible next to thirty workshops.
        total_height = max(MIN_HEIGHT, (kinds.total() / max_sessions) ** 0.5 * HEIGHT)
        bottom = float(HEIGHT)
        for kind, number in sorted(kinds.items()):
            height = total_height * number / kinds.total()
            sizes = (x, bottom - height, max(width - GAP, GAP), max(height - GAP * (len(kinds) > 1), GAP))
            yield Bar(kind, *(f"{size:.1f}" for size in sizes))
            bottom -= height
