"""Times in the timetable editor: what a clock there means, how sessions move, talks spread over one. Pure.

Times pass as they do for those who sit there: what the clocks do meanwhile lengthens nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from editorial.form_fields import moment_of, to_the_minute
from schedule.timetable import instant

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
BACKWARDS = _("It ends before it starts.")
PAST_THE_DAY = _("It ends before it starts. What runs past %(hour)s, where the next day begins, has a form.")


def wall(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return what a clock in the zone shows, to the minute, as a form does."""
    return to_the_minute(moment).astimezone(zone).replace(tzinfo=None)


def moment_on(edition: Edition, day: date, clock: time, stored: datetime | None = None) -> datetime:
    """Return the moment of a clock time on a program day: before its first hour it is the night after.

    Raises `ValidationError` where the clocks skip that time or have it twice, unless `stored` shows it.
    """
    is_night = clock.hour < edition.day_start_hour
    naive = datetime.combine(day + DAY if is_night else day, clock)
    return moment_of(naive, edition.zone, stored)


def end_after(edition: Edition, start: datetime, clock: time, before: tuple[datetime, datetime]) -> datetime:
    """Return the end that a clock time means for what begins at `start`: the first one from there on.

    `before` is what the row holds: what lasted whole days more still does. An end beyond the program day
    is a slip, unless it was there before.
    """
    begin, (was_start, was_end) = wall(start, edition.zone), before
    was = wall(was_start, edition.zone), wall(was_end, edition.zone)
    if (begin, clock) == (was[0], was[1].time()):
        return was_end
    naive = datetime.combine(begin.date(), clock)
    naive += DAY * ((naive < begin) + (was[1] - was[0]) // DAY)
    end = moment_of(naive, edition.zone, was_end)
    if instant(end) < instant(start):
        raise ValidationError(BACKWARDS)
    if runs_over(edition, start, end) and not runs_over(edition, was_start, was_end):
        raise ValidationError(PAST_THE_DAY, params={"hour": f"{edition.day_start_hour:02}:00"})
    return end


def runs_over(edition: Edition, start: datetime, end: datetime) -> bool:
    """Tell whether something lasts beyond the program day on which it begins."""
    return instant(end) > edition.day_bounds(edition.day_of(start))[1]


def later(moment: datetime, by: timedelta) -> datetime:
    """Return the moment after that much time, whatever the clocks do meanwhile."""
    return instant(moment) + by


@dataclass(frozen=True, slots=True)
class Placement:
    start: datetime
    end: datetime
    room: int | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Placement):
            return NotImplemented
        mine, theirs = ((instant(one.start), instant(one.end), one.room) for one in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    def shifted(self, by: timedelta) -> "Placement":
        return replace(self, start=later(self.start, by), end=later(self.end, by))


def delay(before: Placement, after: Placement) -> timedelta:
    """Return by how much a move puts the beginning off."""
    return instant(after.start) - instant(before.start)


def follow(before: Placement, after: Placement, parts: Mapping[int, Placement]) -> dict[int, Placement]:
    """Return where the parts of a whole go when it moves: at their distance, in its room if they share it."""
    found = {}
    for key, part in parts.items():
        room = after.room if part.room == before.room else part.room
        moved = replace(part.shifted(delay(before, after)), room=room)
        if moved != part:
            found[key] = moved
    return found


class TooShortError(Exception):
    """The session does not hold a minute for each talk: so many there are, and so many are needed."""

    def __init__(self, there: int, needed: int) -> None:
        super().__init__(f"{needed} minutes needed, {there} there")
        self.there, self.needed = there, needed


def spread(
    start: datetime, end: datetime, pauses: Sequence[int], minutes: int | None = None, gap: int = 0
) -> list[tuple[datetime, datetime]]:
    """Return start and end of as many talks as there are `pauses`. Raises `TooShortError`.

    Without `minutes` all share the time to `end` equally, in whole minutes. `gap` follows each talk but the
    last; `pauses` are further minutes after each talk, in order.
    """
    if not pauses:
        return []
    between = [gap + pause for pause in pauses[:-1]]
    lengths = [minutes] * len(pauses) if minutes else shares(start, end, len(pauses), sum(between))
    spans = []
    for length, rest in zip(lengths, [*between, 0], strict=True):
        spans.append((start, later(start, length * MINUTE)))
        start = later(start, (length + rest) * MINUTE)
    return spans


def shares(start: datetime, end: datetime, number: int, between: int) -> list[int]:
    """Return equal shares of the time that is left, in whole minutes; the rest goes to where it falls."""
    there = int((instant(end) - instant(start)) / MINUTE)
    left = there - between
    if left < number:
        raise TooShortError(there, number + between)
    marks = [left * place // number for place in range(number + 1)]
    return [after - before for before, after in pairwise(marks)]
