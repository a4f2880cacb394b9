"""Formatting of dates, times and time zones, for templates, the admin and files. Pure functions."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.utils import dateformat
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

# The years of dates that people enter. Further ones are typing errors, and Python can't convert the first
# and last day of its calendar to every zone.
YEARS = range(1900, 2201)
BAD_YEAR = _("The year must be between 1900 and 2200.")


def validate_year(day: date) -> None:
    """Raise `ValidationError` for a date or moment whose year is out of range."""
    if day.year not in YEARS:
        raise ValidationError(BAD_YEAR, code="year")


def zone_label(moment: datetime, zone: ZoneInfo) -> str:
    """Return the zone's abbreviation at that moment: "PDT", or "GMT+5:45" for a zone without letters."""
    local = moment.astimezone(zone)
    label = local.tzname() or ""
    if label.isalpha():
        return label
    offset = local.utcoffset()
    minutes = int(offset.total_seconds() // 60) if offset else 0
    hours, remaining_minutes = divmod(abs(minutes), 60)
    sign = "-" if minutes < 0 else "+"
    return (
        f"GMT{sign}{hours}" + (f":{remaining_minutes:02d}" if remaining_minutes else "") if minutes else "GMT"
    )


def zone_words(zone: ZoneInfo, first: date, last: date) -> str:
    """Return "Los Angeles time (PDT)"; with both abbreviations if the clocks change between these days."""
    noons = [datetime(day.year, day.month, day.day, 12, tzinfo=zone) for day in (first, last)]
    labels = list(dict.fromkeys(zone_label(noon, zone) for noon in noons))
    label = labels[0]
    if len(labels) > 1:
        label = gettext("%(first)s, then %(second)s") % {"first": labels[0], "second": labels[1]}
    town = zone.key.rpartition("/")[2].replace("_", " ")
    return label if town == label else gettext("%(town)s time (%(zone)s)") % {"town": town, "zone": label}


def clock_time(moment: datetime, zone: ZoneInfo) -> str:
    """Return the wall time in the zone, such as "08:15"."""
    return dateformat.format(moment.astimezone(zone), "H:i")


def program_day(moment: datetime, zone: ZoneInfo, first_hour: int) -> date:
    """Return the day of a moment, with days that begin at `first_hour`; earlier, it is the previous day."""
    local = moment.astimezone(zone)
    return local.date() - timedelta(days=1 if local.hour < first_hour else 0)


def day_name(day: date) -> str:
    """Return "Tuesday 6 April 2021"."""
    # Translators: as Django’s date filter reads it; a backslash before letters of words: j \d\e F.
    return dateformat.format(day, pgettext("date: Tuesday 6 April 2021", "l j F Y"))


def short_day(day: date) -> str:
    """Return "Tue 6 Apr"."""
    # Translators: as Django’s date filter reads it; a backslash before letters of words: j \d\e F.
    return dateformat.format(day, pgettext("date: Tue 6 Apr", "D j M"))


def month_day(day: date) -> str:
    """Return "6 April"."""
    # Translators: as Django’s date filter reads it; a backslash before letters of words: j \d\e F.
    return dateformat.format(day, pgettext("date: 6 April", "j F"))


def full_date(day: date) -> str:
    """Return "6 April 2021"."""
    # Translators: as Django’s date filter reads it; a backslash before letters of words: j \d\e F.
    return dateformat.format(day, pgettext("date: 6 April 2021", "j F Y"))


def date_range(first: date, last: date) -> str:
    """Return "5 to 9 April 2021", naming month and year only as often as needed."""
    if first == last:
        return full_date(first)
    if first.year != last.year:
        return format_span(full_date(first), full_date(last))
    if first.month != last.month:
        # Translators: begin and end of "30 March to 2 April 2021"; some languages name the year first.
        start_format = pgettext("date: begin of a span within a year", "j F")
        end_format = pgettext("date: end of a span within a year", "j F Y")
    else:
        # Translators: begin and end of "5 to 9 April 2021"; some languages name year and month first.
        start_format = pgettext("date: begin of a span within a month", "j")
        end_format = pgettext("date: end of a span within a month", "j F Y")
    return format_span(dateformat.format(first, start_format), dateformat.format(last, end_format))


def format_span(start: str, end: str) -> str:
    """Return two formatted times or dates as a span, such as "08:00 to 08:15"."""
    return gettext("%(start)s to %(end)s") % {"start": start, "end": end}


def day_and_time(day: date, time_text: str) -> str:
    """Return "Tue 6 Apr, 08:15"."""
    return gettext("%(day)s, %(time)s") % {"day": short_day(day), "time": time_text}


def end_time(start: datetime, end: datetime, zone: ZoneInfo) -> str:
    """Return the end of a span, "08:15"; with its day, "Fri 9 Apr, 18:00", if the span is a day or longer."""
    time_text = clock_time(end, zone)
    if end - start < timedelta(days=1):
        return time_text
    return day_and_time(end.astimezone(zone).date(), time_text)


def time_range(start: datetime, end: datetime, zone: ZoneInfo) -> str:
    """Return "08:00 to 08:15 PDT"; both zone names if the clocks change in between."""
    first, last = zone_label(start, zone), zone_label(end, zone)
    start_text = clock_time(start, zone) if first == last else f"{clock_time(start, zone)} {first}"
    if end == start:
        return f"{clock_time(start, zone)} {first}"
    return format_span(start_text, f"{end_time(start, end, zone)} {last}")


def time_range_in_other_zone(start: datetime, end: datetime, zone: ZoneInfo, other: ZoneInfo) -> str:
    """Return the span in another zone, "Wed 7 Apr, 00:15 to 01:15 JST"; empty if the UTC offsets agree.

    A day is included if it differs from the day in `zone`.
    """

    def with_day(moment: datetime, time_text: str) -> str:
        local = moment.astimezone(other).date()
        return time_text if local == moment.astimezone(zone).date() else day_and_time(local, time_text)

    if start.astimezone(zone).utcoffset() == start.astimezone(other).utcoffset():
        return ""
    first, last = zone_label(start, other), zone_label(end, other)
    start_text = with_day(start, clock_time(start, other))
    if start == end:
        return f"{start_text} {first}"
    is_same_day = start.astimezone(other).date() == end.astimezone(other).date()
    end_text = f"{clock_time(end, other)} {last}"
    return format_span(
        start_text if first == last else f"{start_text} {first}",
        end_text if is_same_day else with_day(end, end_text),
    )


def day_and_time_range(start: datetime, end: datetime, zone: ZoneInfo) -> str:
    """Return "Tue 6 Apr, 08:00 to 08:15 PDT"."""
    return day_and_time(start.astimezone(zone).date(), time_range(start, end, zone))
