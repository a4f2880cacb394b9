"""What rows of a list say of their edition: as plain values, equal where they say the same."""

from datetime import date, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.conf import settings
from django.urls import reverse

from content import times


class EditionClock:
    """Whatever has an edition's clocks: the edition itself, and its face."""

    __slots__ = ()
    timezone: str
    second_timezone: str
    day_start_hour: int

    @property
    def zone(self) -> ZoneInfo:
        """The venue's time zone."""
        return ZoneInfo(self.timezone)

    @property
    def second_zone(self) -> ZoneInfo | None:
        """The zone of those who take part from elsewhere, if there is one."""
        return ZoneInfo(self.second_timezone) if self.second_timezone else None

    def day_of(self, time: datetime) -> date:
        """Return the program day of a moment: a talk at 00:30 belongs to the evening before."""
        return times.program_day(time, self.zone, self.day_start_hour)


class _EditionColumns(NamedTuple):
    slug: str
    name: str
    start_date: date
    end_date: date
    timezone: str
    second_timezone: str
    day_start_hour: int


class EditionSummary(EditionClock, _EditionColumns):
    """An edition as far as something in it shows it: its address, its name, its days, its clocks."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse(settings.EDITION_VIEW, args=[self.slug])


def columns(prefix: str) -> list[str]:
    """Return the columns of a face, from where `prefix` leads to the edition."""
    return [f"{prefix}{name}" for name in EditionSummary._fields]
