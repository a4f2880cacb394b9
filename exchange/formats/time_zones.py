"""Time zones of calendars: yearly rules where a zone has them, as Outlook needs, else dates of changes."""

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from icalendar import Timezone, TimezoneDaylight, TimezoneStandard

WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
# No zone changes twice within a step.
STEP, SECOND = timedelta(days=7), timedelta(seconds=1)
# For how many years after the last event a rule has to hold, because it has no end.
YEARS_AHEAD = 10


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the offset: its onset in the local time before it, and the offsets before and after."""

    onset: datetime
    before: timedelta
    after: timedelta
    name: str

    @property
    def key(self) -> tuple[object, ...]:
        """What is the same each year."""
        return self.onset.month, self.onset.weekday(), self.onset.time(), self.before, self.after

    @property
    def week(self) -> int:
        return (self.onset.day - 1) // 7 + 1

    @property
    def is_last(self) -> bool:
        return self.onset.day + 7 > monthrange(self.onset.year, self.onset.month)[1]


@lru_cache(maxsize=50)
def calendar_zone(key: str, first: int, last: int) -> Timezone:
    """Return a zone for these years. Cached: computing it dominates the time of a small calendar."""
    zone = ZoneInfo(key)
    # The rule of the year before holds in the first months.
    years = [list(changes_in(zone, year)) for year in range(first - 1, last + YEARS_AHEAD + 1)]
    rules = yearly_rules(years)
    if rules is None:
        return Timezone.from_tzinfo(zone, key, date(first, 1, 1), date(last + 1, 1, 2))
    component = Timezone()
    component.add("tzid", key)
    for change, week in rules:
        part = TimezoneDaylight() if change.after > change.before else TimezoneStandard()
        part.add("dtstart", change.onset)
        part.add("tzoffsetfrom", change.before)
        part.add("tzoffsetto", change.after)
        part.add("tzname", change.name)
        day = f"{week}{WEEKDAYS[change.onset.weekday()]}"
        part.add("rrule", {"freq": "yearly", "bymonth": change.onset.month, "byday": day})
        component.add_component(part)
    return component


def changes_in(zone: ZoneInfo, year: int) -> Iterator[Change]:
    """Yield the changes of a zone's offset in a year."""
    moment, end = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    while moment < end:
        next_moment = min(moment + STEP, end)
        before, after = offset(zone, moment), offset(zone, next_moment)
        if before != after:
            low, high = moment, next_moment
            while high - low > SECOND:
                middle = (low + (high - low) / 2).replace(microsecond=0)
                low, high = (middle, high) if offset(zone, middle) == before else (low, middle)
            name = high.astimezone(zone).tzname() or ""
            yield Change((high + before).replace(tzinfo=None), before, after, name)
        moment = next_moment


def offset(zone: ZoneInfo, moment: datetime) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()


def yearly_rules(years: list[list[Change]]) -> list[tuple[Change, int]] | None:
    """Return the first change of each rule with its week, -1 for the last; `None` without such rules."""
    if not years[0] or any([change.key for change in year] != [c.key for c in years[0]] for year in years):
        return None
    rules = []
    for number, change in enumerate(years[0]):
        changes = [year[number] for year in years]
        if len({other.week for other in changes}) == 1:
            rules.append((change, change.week))
        elif all(other.is_last for other in changes):
            rules.append((change, -1))
        else:
            return None
    return rules
