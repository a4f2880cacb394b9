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
    """A span, in minutes of the day, with the number of parallel sessions by kind."""

    start: float
    end: float
    kinds: Counter[str]


def day_pictures(sessions: Iterable[SessionSpan], edition: Edition) -> list[DayPicture]:
    """Return the picture of each day with sessions; all have the same hours and the same scale."""
    by_day: dict[date, list[SessionSpan]] = {}
    for session in sessions:
        by_day.setdefault(edition.day_of(session.start), []).append(session)
    shown = {day: [one for one in rows if one.is_drawn] for day, rows in sorted(by_day.items())}
    blocks = {day: list(_blocks(rows, edition.day_bounds(day)[0])) for day, rows in shown.items()}
    found = [block for day in blocks for block in blocks[day]]
    first, last = min((one.start for one in found), default=0), max((one.end for one in found), default=1)
    max_sessions = max((one.kinds.total() for one in found), default=1)
    return [
        DayPicture(day, len(rows), list(_bars(blocks[day], first, last - first, max_sessions)))
        for day, rows in shown.items()
    ]


def _blocks(sessions: Sequence[SessionSpan], midnight: datetime) -> Iterator[Block]:
    """Yield a block for each span between two moments at which something begins or ends."""

    def minute(moment: datetime) -> float:
        return (moment - midnight).total_seconds() / 60

    for start, end in pairwise(sorted({moment for one in sessions for moment in (one.start, one.end)})):
        kinds = Counter(one.kind for one in sessions if one.start <= start < one.end)
        if kinds:
            yield Block(minute(start), minute(end), kinds)


def _bars(blocks: Iterable[Block], first: float, length: float, max_sessions: int) -> Iterator[Bar]:
    """Yield the bars of each block, with its kinds stacked."""
    for start, end, kinds in blocks:
        x, width = (start - first) / length * WIDTH, (end - start) / length * WIDTH
        # Scale by the square root: one talk must remain visible next to thirty workshops.
        whole = max(MIN_HEIGHT, (kinds.total() / max_sessions) ** 0.5 * HEIGHT)
        foot = float(HEIGHT)
        for kind, number in sorted(kinds.items()):
            height = whole * number / kinds.total()
            sizes = (x, foot - height, max(width - GAP, GAP), max(height - GAP * (len(kinds) > 1), GAP))
            yield Bar(kind, *(f"{size:.1f}" for size in sizes))
            foot -= height
