"""Wall clocks of a program day: which moment a chair means by 14:30 there. Pure but for its messages."""

from datetime import date, datetime, time, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from editorial.form_fields import moment_of, to_the_minute
from schedule.timetable import instant

DAY = timedelta(days=1)
BACKWARDS = _("It ends before it starts.")
PAST_THE_DAY = _("It ends before it starts. What runs past %(hour)s, where the next day begins, has a form.")


class Program(Protocol):
    """An edition: its zone, and when its days begin."""

    @property
    def zone(self) -> ZoneInfo: ...
    @property
    def day_start_hour(self) -> int: ...
    def day_of(self, time: datetime) -> date: ...
    def day_bounds(self, day: date) -> tuple[datetime, datetime]: ...


def wall(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return what a clock in the zone shows, to the minute, as a form does."""
    return to_the_minute(moment).astimezone(zone).replace(tzinfo=None)


def moment_on(program: Program, day: date, clock: time, stored: datetime | None = None) -> datetime:
    """Return the moment of a clock time on a program day: before its first hour it is the night after.

    Raises `ValidationError` where the clocks skip that time or have it twice, unless `stored` shows it.
    """
    is_night = clock.hour < program.day_start_hour
    naive = datetime.combine(day + DAY if is_night else day, clock)
    return moment_of(naive, program.zone, stored)


def end_after(program: Program, start: datetime, clock: time, before: tuple[datetime, datetime]) -> datetime:
    """Return the end that a clock time means for what begins at `start`: the first one from there on.

    `before` is what the row holds: what lasted whole days more still does. An end beyond the program day
    is a slip, unless it was there before.
    """
    begin, (was_start, was_end) = wall(start, program.zone), before
    was = wall(was_start, program.zone), wall(was_end, program.zone)
    if (begin, clock) == (was[0], was[1].time()):
        return was_end
    naive = datetime.combine(begin.date(), clock)
    naive += DAY * ((naive < begin) + (was[1] - was[0]) // DAY)
    end = moment_of(naive, program.zone, was_end)
    if instant(end) < instant(start):
        raise ValidationError(BACKWARDS)
    if runs_over(program, start, end) and not runs_over(program, was_start, was_end):
        raise ValidationError(PAST_THE_DAY, params={"hour": f"{program.day_start_hour:02}:00"})
    return end


def runs_over(program: Program, start: datetime, end: datetime) -> bool:
    """Tell whether something lasts beyond the program day on which it begins."""
    return instant(end) > program.day_bounds(program.day_of(start))[1]
