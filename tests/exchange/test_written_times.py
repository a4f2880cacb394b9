"""Tests of dates and times as people type them: unambiguous ones are parsed, ambiguous ones refused."""

import re
from datetime import date, time
from zoneinfo import ZoneInfo

import pytest

from exchange.reading.values import InvalidValueError
from exchange.reading.written_times import looks_like_date, looks_like_time, parse_written_time

DAYS = (date(2026, 7, 6), date(2026, 7, 10))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-07-08", "2026-07-08"),
        ("2026/7/8 9:05", "2026-07-08 09:05"),
        ("2026-07-08T10:00:00+09:00", "2026-07-08 10:00 +09:00"),
        ("2026-07-08 10:00Z", "2026-07-08 10:00 Z"),
        ("2026-07-08 10:00-11:00", "2026-07-08 10:00 11:00"),
        ("2026-07-08 10:00-05:00", "2026-07-08 10:00 -05:00"),
        ("2026-07-08 10:00:00-11:00", "2026-07-08 10:00 -11:00"),
        ("8.7.2026", "2026-07-08"),
        ("8.7.", "2026-07-08"),
        ("7/8/2026", "2026-07-08"),
        ("8/7/2026", "2026-07-08"),
        ("7/8/26", "2026-07-08"),
        ("12/31/2025", "2025-12-31"),
        ("July 8, 2026", "2026-07-08"),
        ("Wed, Jul 8", "2026-07-08"),
        ("8th July", "2026-07-08"),
        ("Wednesday 8 July 2026, 14:00", "2026-07-08 14:00"),
        ("Wednesday", "2026-07-08"),
        ("Day 3", "2026-07-08"),
        ("Day 3, 9:00-10:30", "2026-07-08 09:00 10:30"),
        ("46211", "2026-07-08"),
        ("46211.4166666667", "2026-07-08 10:00"),
        ("0.75", "18:00"),
        ("10:00", "10:00"),
        ("10.30", "10:30"),
        ("10h30", "10:30"),
        ("9am", "09:00"),
        ("12:15 p.m.", "12:15"),
        ("12:15 AM", "00:15"),
        ("14:00–14:20", "14:00 14:20"),
        ("1:30-3:00 pm", "13:30 15:00"),
        ("10:00 - 10:20", "10:00 10:20"),
        ("10:00 to 10:20", "10:00 10:20"),
    ],
)
def test_written_date_and_time_are_parsed(text: str, expected: str) -> None:
    parsed = parse_written_time(text, DAYS)
    times = [f"{time:%H:%M}" for time in (parsed.start, parsed.end) if time]

    assert " ".join(filter(None, [str(parsed.day or ""), *times, parsed.offset])) == expected


@pytest.mark.parametrize(("zone", "offset"), [("Pacific/Honolulu", "-10:00"), ("Asia/Seoul", "")])
def test_offset_of_the_zone_is_not_taken_for_an_end(zone: str, offset: str) -> None:
    parsed = parse_written_time("2026-07-08 08:00-10:00", DAYS, ZoneInfo(zone))

    assert (parsed.end, parsed.offset) == (None if offset else time(10), offset)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3/4/2026", "may be 2026-03-04 or 2026-04-03. Write it as 2026-03-04."),
        ("31.2.2026", "is not in the calendar"),
        ("2026-02-30", "is not in the calendar"),
        ("Sunday", "is not one day of this edition"),
        ("Day 9", "is not a day of this edition, which has 5."),
        ("25:00", "is not a date or time"),
        ("soon", "is not a date or time"),
        ("12", "is not a date or time"),
        ("July 8, 1026", "is not between 1900 and 2200"),
        ("", "is not a date or time"),
    ],
)
def test_ambiguous_or_invalid_time_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidValueError, match=re.escape(message)):
        parse_written_time(text, DAYS)


def test_cells_are_recognized_as_dates_and_times() -> None:
    assert all(map(looks_like_date, ["2026-07-08", "7/8/2026", "July 8", "Day 2", "Mon"]))
    assert not any(map(looks_like_date, ["10:00", "12", "On n bodies", "10.1000/182", "Accept", ""]))
    assert all(map(looks_like_time, ["10:00", "2026-07-08 10:00", "9am"]))
    assert not any(map(looks_like_time, ["12", "Main hall", "A1"]))
