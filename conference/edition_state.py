"""The state of an edition at a moment, in words: "Starts in 12 days", "Day 2 of 6 · 11:20 in Seoul"."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext, ngettext

from conference.models import Edition
from content import times

# Above these numbers, count in months, or in years.
MAX_DAYS, MAX_MONTHS = 60, 23
DAYS_IN_MONTH = 30.4


@dataclass(frozen=True, slots=True)
class EditionState:
    """`clock` is the time at the venue while the edition runs, otherwise empty. A script updates it."""

    text: str
    is_ahead: bool = False
    is_running: bool = False
    is_over: bool = False
    clock: str = ""
    # The text after the clock: "in Seoul", or the zone.
    clock_suffix: str = ""


def edition_state(edition: Edition, at: datetime) -> EditionState:
    today = edition.day_of(at)
    if today < edition.start_date:
        return EditionState(_time_until((edition.start_date - today).days), is_ahead=True)
    if today > edition.end_date:
        message = gettext("Ended on %(date)s") % {"date": times.full_date(edition.end_date)}
        return EditionState(message, is_over=True)
    day_count = (edition.end_date - edition.start_date).days + 1
    message = gettext("Today")
    if day_count > 1:
        day_number = (today - edition.start_date).days + 1
        message = gettext("Day %(number)d of %(count)d") % {"number": day_number, "count": day_count}
    if edition.city and edition.mode != Edition.Mode.VIRTUAL:
        clock_suffix = gettext("in %(city)s") % {"city": edition.city}
    else:
        clock_suffix = times.zone_label(at, edition.zone)
    return EditionState(
        message,
        is_running=True,
        clock=times.clock_time(at, edition.zone),
        clock_suffix=clock_suffix,
    )


def _time_until(days: int) -> str:
    if days == 1:
        return gettext("Starts tomorrow")
    if days <= MAX_DAYS:
        return ngettext("Starts in %(count)d day", "Starts in %(count)d days", days) % {"count": days}
    months = round(days / DAYS_IN_MONTH)
    if months > MAX_MONTHS:
        years = round(months / 12)
        return ngettext("Starts in %(count)d year", "Starts in %(count)d years", years) % {"count": years}
    return ngettext("Starts in %(count)d month", "Starts in %(count)d months", months) % {"count": months}
