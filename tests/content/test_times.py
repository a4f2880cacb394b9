"""Formatted times: they always name the zone, and are correct around clock changes."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from content import times

LOS_ANGELES, BERLIN = ZoneInfo("America/Los_Angeles"), ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("zone", "label"),
    [
        ("America/Los_Angeles", "PDT"),
        ("Asia/Seoul", "KST"),
        ("Asia/Kathmandu", "GMT+5:45"),
        ("America/Sao_Paulo", "GMT-3"),
        ("Africa/Casablanca", "GMT+1"),
        ("UTC", "UTC"),
    ],
)
def test_zone_label_is_an_abbreviation_or_a_gmt_offset(zone: str, label: str) -> None:
    assert times.zone_label(datetime(2021, 7, 6, 12, tzinfo=UTC), ZoneInfo(zone)) == label


def test_day_and_time_range_shows_day_and_zone() -> None:
    start, end = datetime(2022, 8, 29, 21, 15, tzinfo=UTC), datetime(2022, 8, 29, 21, 33, tzinfo=UTC)
    assert times.day_and_time_range(start, end, LOS_ANGELES) == "Mon 29 Aug, 14:15 to 14:33 PDT"


def test_time_range_over_a_clock_change_names_both_zones() -> None:
    start, end = datetime(2026, 3, 29, 0, 30, tzinfo=UTC), datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert times.time_range(start, end, BERLIN) == "01:30 CET to 03:30 CEST"


def test_time_range_of_no_length_is_one_time() -> None:
    moment = datetime(2022, 8, 29, 21, 15, tzinfo=UTC)
    assert times.time_range(moment, moment, LOS_ANGELES) == "14:15 PDT"


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (date(2021, 4, 5), date(2021, 4, 9), "5 to 9 April 2021"),
        (date(2022, 8, 29), date(2022, 9, 1), "29 August to 1 September 2022"),
        (date(2022, 12, 30), date(2023, 1, 2), "30 December 2022 to 2 January 2023"),
        (date(2021, 4, 5), date(2021, 4, 5), "5 April 2021"),
    ],
)
def test_date_range_omits_a_repeated_month_and_year(first: date, last: date, expected: str) -> None:
    assert times.date_range(first, last) == expected


def test_time_range_of_a_day_or_more_names_the_last_day() -> None:
    start = datetime(2022, 8, 29, 15, tzinfo=UTC)
    assert (
        times.time_range(start, start + timedelta(hours=24), LOS_ANGELES) == "08:00 to Tue 30 Aug, 08:00 PDT"
    )
    assert times.time_range(start, start + timedelta(hours=23), LOS_ANGELES) == "08:00 to 07:00 PDT"


@pytest.mark.parametrize(
    ("start", "minutes", "zone", "expected"),
    [
        ((2021, 4, 6, 15), 60, "Asia/Tokyo", "Wed 7 Apr, 00:00 to 01:00 JST"),
        ((2021, 4, 6, 14, 30), 60, "Asia/Tokyo", "23:30 to Wed 7 Apr, 00:30 JST"),
        ((2021, 4, 7, 6, 30), 60, "Asia/Tokyo", "Wed 7 Apr, 15:30 to 16:30 JST"),
        ((2021, 4, 6, 15), 0, "Asia/Kathmandu", "20:45 GMT+5:45"),
        ((2021, 3, 28, 0, 30), 60, "Europe/Berlin", "Sun 28 Mar, 01:30 CET to 03:30 CEST"),
        ((2021, 4, 6, 15), 60, "America/Vancouver", ""),
    ],
)
def test_time_range_in_another_zone_shows_the_day_if_it_differs(
    start: tuple[int, ...], minutes: int, zone: str, expected: str
) -> None:
    begin = datetime(*start, tzinfo=UTC)  # type: ignore[arg-type, misc]
    end = begin + timedelta(minutes=minutes)

    assert times.time_range_in_other_zone(begin, end, LOS_ANGELES, ZoneInfo(zone)) == expected
