"""Talks one after another over a session: equal shares, or so many minutes each, and pauses. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from schedule.editing.placing import later
from schedule.timetable import instant

MINUTE = timedelta(minutes=1)


class TooShortError(Exception):
    """The session does not hold a minute for each talk: so many there are, and so many are needed."""

    def __init__(self, there: int, needed: int) -> None:
        super().__init__(f"{needed} minutes needed, {there} there")
        self.there, self.needed = there, needed


@dataclass(frozen=True, slots=True)
class Spread:
    """How talks are spread: from when to when, for how long each, with what between them.

    Without `minutes` all share the time to `end` equally, in whole minutes. `gap` follows each talk but the
    last; `pauses` are further minutes after each talk, in order.
    """

    start: datetime
    end: datetime
    minutes: int | None = None
    gap: int = 0


def spread(how: Spread, pauses: Sequence[int]) -> list[tuple[datetime, datetime]]:
    """Return start and end of as many talks as there are `pauses`. Raises `TooShortError`.

    Time passes as it does for those who sit there: what the clocks do meanwhile lengthens nothing.
    """
    if not pauses:
        return []
    number = len(pauses)
    between = [how.gap + pause for pause in pauses[:-1]]
    lengths = [how.minutes] * number if how.minutes else shares(how, number, sum(between))
    spans, begin = [], how.start
    for length, rest in zip(lengths, [*between, 0], strict=True):
        end = later(begin, length * MINUTE)
        spans.append((begin, end))
        begin = later(end, rest * MINUTE)
    return spans


def shares(how: Spread, number: int, between: int) -> list[int]:
    """Return equal shares of the time that is left, in whole minutes; the rest goes to where it falls."""
    there = int((instant(how.end) - instant(how.start)) / MINUTE)
    left = there - between
    if left < number:
        raise TooShortError(there, number + between)
    marks = [left * place // number for place in range(number + 1)]
    return [after - before for before, after in pairwise(marks)]
