"""What of a set of spans lies at the same time, and what follows on without a pause. Pure.

For visitors' agendas and for the chairs' `clashes`; what an overlap means is theirs to say.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from heapq import heappop, heappush
from itertools import pairwise
from typing import Protocol

from schedule.timetable import instant


class TimeSpan(Protocol):
    """What lasts from a start to an end. `within`: keys of the wholes that it is part of, its own too."""

    @property
    def start(self) -> datetime: ...
    @property
    def end(self) -> datetime: ...
    @property
    def within(self) -> frozenset[str]: ...


def overlap(one: TimeSpan, other: TimeSpan) -> bool:
    """Whether both take place at some moment. What only touches does not; what begins together does."""
    starts, ends = (instant(one.start), instant(other.start)), (instant(one.end), instant(other.end))
    return starts[0] == starts[1] or (starts[0] < ends[1] and starts[1] < ends[0])


def nested(one: TimeSpan, other: TimeSpan) -> bool:
    """Whether one is the other, or a whole that the other is part of."""
    return one.within <= other.within or other.within <= one.within


def overlapping[P: TimeSpan](planned: Iterable[P], most: int | None = None) -> list[tuple[P, P]]:
    """Return the pairs that overlap, by time. A whole does not overlap with its parts.

    Takes time for what there is and what is found, not for all pairs. With `most`, a row is paired with at
    most so many of those that go on when it begins: thousands at one moment are a mistake, shown by a few.
    """
    rows = sorted(planned, key=lambda one: (instant(one.start), instant(one.end)))
    # What goes on, the first to end on top; of those that end together, the first to begin.
    going: list[tuple[datetime, datetime, int]] = []
    found = []
    for place, one in enumerate(rows):
        start = instant(one.start)
        while going and going[0][0] <= start and going[0][1] < start:
            heappop(going)
        told = 0
        for _, _, other in going:
            if told == most:
                break
            if not nested(rows[other], one):
                found.append((other, place))
                told += 1
        heappush(going, (instant(one.end), start, place))
    return [(rows[one], rows[other]) for one, other in sorted(found)]


def back_to_back[P: TimeSpan](planned: Sequence[P]) -> list[tuple[P, P]]:
    """Return the neighbors in time of which one begins as the other ends."""
    rows = sorted(planned, key=lambda one: (instant(one.start), instant(one.end)))
    return [(one, other) for one, other in pairwise(rows) if instant(one.end) == instant(other.start)]
