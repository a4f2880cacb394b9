"""The time zones and program days of an edition, and a summary of one without a model instance."""

from datetime import date, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.conf import settings
from django.urls import reverse

from content import times


class EditionClock:
    """Mixin of classes with the time zones and program days of an edition."""

    __slots__ = ()
    timezone: str
    second_timezone: str
    day_start_hour: int

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def second_zone(self) -> ZoneInfo | None:
        """Return the second zone, for remote participants, or `None`."""
        return ZoneInfo(self.second_timezone) if self.second_timezone else None

    def day_of(self, moment: datetime) -> date:
        """Return the program day of a moment: a talk at 00:30 belongs to the day before."""
        return times.program_day(moment, self.zone, self.day_start_hour)


class _EditionColumns(NamedTuple):
    slug: str
    name: str
    start_date: date
    end_date: date
    timezone: str
    second_timezone: str
    day_start_hour: int


class EditionSummary(EditionClock, _EditionColumns):
    """The values of an edition that rows of lists need, without a model instance."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse(settings.EDITION_VIEW, args=[self.slug])
