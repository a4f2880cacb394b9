"""Parse dates and times as people write them in spreadsheets. Ambiguous ones are refused.

The days of the edition determine which number of `7/8/2026` is the month. A date without a year, a weekday or
"Day 2" means one of these days. Numbers are serial dates of spreadsheet programs.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

from django.utils.translation import gettext

from exchange.problems import short
from exchange.reading.values import YEAR_RANGE, InvalidValueError, check_year, tidy

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
NUMBERS = re.compile(r"(\d{1,2})([/.-])(\d{1,2})(?:\2(\d{4}|\d{2}))?\.?(?![\d:])")
MONTH_NAME = rf"({'|'.join(MONTHS)})[a-z]*\.?"
MONTH_FIRST = re.compile(rf"\b{MONTH_NAME}\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}}))?", re.IGNORECASE)
DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.)?[\s-]+(?:of\s+)?{MONTH_NAME}(?:,?[\s-]+(\d{{4}}))?", re.IGNORECASE
)
WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAYS)})[a-z]*\.?,?", re.IGNORECASE)
NTH_DAY = re.compile(r"\bday\s+(\d{1,2})\b", re.IGNORECASE)
# Serial dates of spreadsheets, in days since the end of 1899: 1954 to 2064.
SERIAL = re.compile(r"\d{5}(?:\.\d+)?\Z")
FRACTION = re.compile(r"0?\.\d+\Z")
SERIAL_RANGE = range(20_000, 60_000)
FIRST_SERIAL = datetime(1899, 12, 30)  # noqa: DTZ001 - a wall time
CLOCK = re.compile(
    r"(?<![\d:.+-])(\d{1,2})(?:[:.h](\d{2})(?::(\d{2})(?:\.\d+)?)?)?\s*([ap])?\.?(?:m\b\.?)?(?![\d:])",
    re.IGNORECASE,
)
OFFSET = re.compile(r"\d\s?(Z|[+-]\d\d:?\d\d)\Z")
SPAN_OR_OFFSET = re.compile(r"(\d{1,2}:\d\d)-(\d\d:\d\d)\Z")
SPAN_SEPARATOR = re.compile(r"\s*(?:–|—|\s-\s|(?<=\d)-(?=\d)|\bto\b|\buntil\b)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WrittenTime:
    """The parts that a cell states: a day, a start time, an end time, an offset from UTC."""

    day: date | None = None
    start: time | None = None
    end: time | None = None
    offset: str = ""


def parse_written_time(
    text: str, days: tuple[date, date] | None = None, zone: tzinfo | None = None
) -> WrittenTime:
    """Read a cell of dates and times. Raises `InvalidValueError`.

    `days`: first and last of the edition. `zone`: that of the edition.
    """
    text = tidy(text)
    if SERIAL.match(text) and int(float(text)) in SERIAL_RANGE:
        moment = FIRST_SERIAL + timedelta(seconds=round(float(text) * 86_400))
        return WrittenTime(moment.date(), moment.time() if "." in text else None)
    if FRACTION.match(text):
        return WrittenTime(start=(FIRST_SERIAL + timedelta(seconds=round(float(text) * 86_400))).time())
    day, clock_text = _parse_day(text, days)
    # Without an ISO date, `-` separates start and end.
    offset = OFFSET.search(clock_text) if ISO.match(text) else None
    if offset and day and _is_span(clock_text.strip(), day, zone):
        offset = None
    clock_text = clock_text[: offset.start(1)] if offset else clock_text
    clock_text = clock_text.replace("T", " ", 1).strip(" ,;()") if day else clock_text.strip(" ,;()")
    parts = [part for part in SPAN_SEPARATOR.split(clock_text) if part.strip(" ,")]
    clocks = [_parse_clock(part, text) for part in parts][:2]
    if not (day or clocks):
        raise _invalid_time(text)
    start, end = [*clocks, None, None][:2]
    if start and end:
        start = _adjust_start_to_end(clock_text, start, end)
    return WrittenTime(day, start, end, offset[1] if offset else "")


def _is_span(clock_text: str, day: date, zone: tzinfo | None) -> bool:
    """Return whether `10:00-11:00` is a start and a later end, not a start with the offset of the zone."""
    match = SPAN_OR_OFFSET.match(clock_text)
    if not match or match[1].zfill(5) >= match[2]:
        return False
    try:
        start = datetime.combine(day, time.fromisoformat(match[1].zfill(5)), zone)
    except ValueError:
        return False
    return zone is None or f"{start:%:z}" != f"-{match[2]}"


def _adjust_start_to_end(clock_text: str, start: time, end: time) -> time:
    """Return the start of `1:30-3:00 pm`, which is in the same half of the day as the end."""
    start_text, *_ = SPAN_SEPARATOR.split(clock_text)
    is_afternoon = end.hour >= 12 and "pm" in clock_text.lower().replace(".", "")
    if is_afternoon and start.hour < 12 and not re.search("[ap]", start_text, re.IGNORECASE):
        afternoon_start = start.replace(hour=start.hour + 12)
        return afternoon_start if afternoon_start <= end else start
    return start


def _invalid_time(text: str) -> InvalidValueError:
    message = gettext("“%(text)s” is not a date or time. Write it as 2026-07-08 10:00.")
    return InvalidValueError(message, text=short(text))


def _parse_clock(part: str, text: str) -> time:
    match = CLOCK.search(part)
    remainder = (part[: match.start()] + part[match.end() :]).strip(" ,;()") if match else part
    if not match or not (match[2] or match[4]) or re.search(r"\w", remainder):
        raise _invalid_time(text)
    hour, minute = int(match[1]), int(match[2] or 0)
    if match[4]:
        if not 1 <= hour <= 12:
            raise _invalid_time(text)
        hour = hour % 12 + (12 if match[4] in "pP" else 0)
    try:
        return time(hour, minute, int(match[3] or 0))
    except ValueError:
        raise _invalid_time(text) from None


def _parse_day(text: str, days: tuple[date, date] | None) -> tuple[date | None, str]:
    """Return the day that a text names, and the text without it."""

    def remove_match(match: re.Match[str]) -> str:
        return WEEKDAY.sub("", text[: match.start()] + text[match.end() :])

    if match := ISO.match(text):
        return _make_date(text, match[1], match[2], match[3]), remove_match(match)
    if match := MONTH_FIRST.search(text):
        return _date_from_month_name(text, match[3], match[1], match[2], days), remove_match(match)
    if match := DAY_FIRST.search(text):
        return _date_from_month_name(text, match[3], match[2], match[1], days), remove_match(match)
    without_weekday = WEEKDAY.sub("", text).strip()
    if (match := NUMBERS.match(without_weekday)) and (match[4] or match[2] != "-"):
        day = _date_from_numbers(text, match, days)
        if day:
            return day, without_weekday[match.end() :]
    if days and (match := NTH_DAY.search(text)):
        return _check_in_edition(days[0] + timedelta(days=int(match[1]) - 1), days, text), remove_match(match)
    if match := WEEKDAY.match(text):
        weekday = WEEKDAYS.index(match[1].casefold())
        matching_days = [day for day in _days_between(days) if day.weekday() == weekday]
        if len(matching_days) != 1:
            message = gettext("“%(text)s” is not one day of this edition. Write the date as 2026-07-08.")
            raise InvalidValueError(message, text=short(text))
        return matching_days[0], text[match.end() :]
    return None, text


def _days_between(days: tuple[date, date] | None) -> list[date]:
    return (
        [days[0] + timedelta(days=offset) for offset in range((days[1] - days[0]).days + 1)] if days else []
    )


def _check_in_edition(day: date, days: tuple[date, date], text: str) -> date:
    if not days[0] <= day <= days[1]:
        message = gettext("“%(text)s” is not a day of this edition, which has %(count)s.")
        raise InvalidValueError(message, text=short(text), count=len(_days_between(days)))
    return day


def _make_date(text: str, year: str | int, month: str | int, day: str | int) -> date:
    try:
        result = date(int(year), int(month), int(day))
    except ValueError:
        message = gettext("“%(text)s” is not in the calendar.")
        raise InvalidValueError(message, text=short(text)) from None
    return check_year(result)


def _date_from_month_name(
    text: str, year: str | None, name: str, day: str, days: tuple[date, date] | None
) -> date:
    month = MONTHS.index(name[:3].casefold()) + 1
    if year:
        return _make_date(text, year, month, day)
    if days is None:
        message = gettext("“%(text)s” does not say the year. Write it as 2026-07-08.")
        raise InvalidValueError(message, text=short(text))
    years = sorted({days[0].year, days[1].year})
    dates = [_make_date(text, edition_year, month, day) for edition_year in years]
    return next((candidate for candidate in dates if days[0] <= candidate <= days[1]), dates[0])


def _date_from_numbers(text: str, match: re.Match[str], days: tuple[date, date] | None) -> date | None:
    """Return the date of `8.7.2026` (day first) or `7/8/2026` (by the edition's days), or None for a time."""
    first, separator, second = int(match[1]), match[2], int(match[3])
    is_clock = separator == "." and not match[0].endswith(".")  # such as 10.30
    if not match[4] and (is_clock or days is None):
        return None
    year = int(match[4] or 0)
    years = (
        [year + 2000 if year < 100 else year]
        if match[4]
        else sorted({edition_day.year for edition_day in days or ()})
    )
    orders = [(second, first)] if separator == "." else [(first, second), (second, first)]
    candidates = [
        date(candidate_year, month, day)
        for candidate_year in years
        for month, day in dict.fromkeys(orders)
        if candidate_year in YEAR_RANGE and _is_valid_date(candidate_year, month, day)
    ]
    candidates_in_edition = [day for day in candidates if days and days[0] <= day <= days[1]]
    likely = candidates_in_edition or candidates
    if len(likely) == 1:
        return likely[0]
    if not candidates:
        raise InvalidValueError(gettext("“%(text)s” is not in the calendar."), text=short(text))
    message = gettext("“%(text)s” may be %(first)s or %(second)s. Write it as %(first)s.")
    options = [day.isoformat() for day in candidates]
    raise InvalidValueError(message, text=short(text), first=options[0], second=options[1])


def month_place(text: str, days: tuple[date, date] | None) -> int | None:
    """Return which number of a date such as `7/8/2026` is the month: 0 or 1; None if that doesn't matter."""
    match = NUMBERS.match(WEEKDAY.sub("", text).strip())
    if not match or match[2] == "." or not match[4] or int(match[1]) == int(match[3]):
        return None
    try:
        day = _date_from_numbers(text, match, days)
    except InvalidValueError:
        return None
    return None if day is None else int((day.month, day.day) != (int(match[1]), int(match[3])))


def _is_valid_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


# Any week can be used to test whether a text could name one of its days.
SAMPLE_DAYS = (date(2024, 1, 1), date(2024, 1, 7))
# A longer cell is no date.
MAX_CELL_CHARS = 60


def looks_like_date(text: str) -> bool:
    """Return whether a cell states a day, possibly one that only the edition makes clear."""
    if written := _parse_in_sample_days(text):
        return written.day is not None
    return len(text) <= MAX_CELL_CHARS and bool(_is_day_of_numbers(text) or NTH_DAY.match(text))


def is_full_date(text: str) -> bool:
    """Return whether a cell states a whole date, with its year or the name of its month."""
    if len(text) > MAX_CELL_CHARS:
        return False
    match = NUMBERS.match(text)
    named = MONTH_FIRST.search(text) or DAY_FIRST.search(text)
    return bool(ISO.match(text) or (match and match[4]) or named) and looks_like_date(text)


def _is_day_of_numbers(text: str) -> bool:
    """Return whether a cell is such as `7/8`, `8.7.` or `7/8/2026`, and not a decimal number or a range."""
    match = NUMBERS.match(text)
    if match is None:
        return False
    return bool(match[4]) or (match[2] == "." and match[0].endswith(".")) or match[2] == "/"


def looks_like_time(text: str) -> bool:
    """Return whether a cell states a day, a time of day or both."""
    return _parse_in_sample_days(text) is not None


def _parse_in_sample_days(text: str) -> WrittenTime | None:
    try:
        return parse_written_time(text, SAMPLE_DAYS) if len(text) <= MAX_CELL_CHARS else None
    except InvalidValueError:
        return None
