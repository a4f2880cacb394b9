"""Which of the things that a visitor wants to see get in each other's way. Pure."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Protocol

from schedule.timetable import instant


class Planned(Protocol):
    """What lasts from a start to an end. `within`: keys of the wholes that it is part of, its own too."""

    @property
    def start(self) -> Any: ...
    @property
    def end(self) -> Any: ...
    @property
    def within(self) -> frozenset[str]: ...


def overlap(one: Planned, other: Planned) -> bool:
    """Whether both take place at some moment. What only touches does not; what begins together does."""
    starts, ends = (instant(one.start), instant(other.start)), (instant(one.end), instant(other.end))
    return starts[0] == starts[1] or (starts[0] < ends[1] and starts[1] < ends[0])


def clashes[P: Planned](planned: Iterable[P]) -> list[tuple[P, P]]:
    """Return the pairs that overlap, by time. A whole does not clash with its parts."""
    rows = sorted(planned, key=lambda one: (instant(one.start), instant(one.end)))
    found = []
    for place, one in enumerate(rows):
        for other in rows[place + 1 :]:
            if instant(other.start) > instant(one.end):
                break
            if overlap(one, other) and not (one.within <= other.within or other.within <= one.within):
                found.append((one, other))
    return found


def touching[P: Planned](planned: Sequence[P]) -> list[tuple[P, P]]:
    """Return the neighbours in time of which one begins as the other ends."""
    rows = sorted(planned, key=lambda one: (instant(one.start), instant(one.end)))
    return [(one, other) for one, other in pairwise(rows) if instant(one.end) == instant(other.start)]
