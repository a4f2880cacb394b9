"""Time zones of calendars: rules as Outlook needs them, which give the same offsets as the zone itself."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from icalendar import Calendar, Timezone

from exchange.formats.time_zones import calendar_zone

REGULAR = ["America/Los_Angeles", "Europe/Berlin", "Europe/Dublin", "Australia/Lord_Howe", "Pacific/Auckland"]


def lines(zone: Timezone) -> list[str]:
    return [*zone.to_ical().decode().splitlines()]


def test_rules_of_los_angeles() -> None:
    assert lines(calendar_zone("America/Los_Angeles", 2026, 2026)) == [
        "BEGIN:VTIMEZONE",
        "TZID:America/Los_Angeles",
        "BEGIN:DAYLIGHT",
        "DTSTART:20250309T020000",
        "RRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=3",
        "TZNAME:PDT",
        "TZOFFSETFROM:-0800",
        "TZOFFSETTO:-0700",
        "END:DAYLIGHT",
        "BEGIN:STANDARD",
        "DTSTART:20251102T020000",
        "RRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=11",
        "TZNAME:PST",
        "TZOFFSETFROM:-0700",
        "TZOFFSETTO:-0800",
        "END:STANDARD",
        "END:VTIMEZONE",
    ]


def test_rules_of_berlin_begin_on_last_sundays() -> None:
    text = lines(calendar_zone("Europe/Berlin", 2026, 2027))

    assert [line for line in text if line.startswith(("DTSTART", "RRULE", "RDATE"))] == [
        "DTSTART:20250330T020000",
        "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3",
        "DTSTART:20251026T030000",
        "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10",
    ]


@pytest.mark.parametrize("key", REGULAR)
def test_rules_give_the_offsets_of_the_zone(key: str) -> None:
    component = calendar_zone(key, 2026, 2026)
    calendar = Calendar()
    calendar.add_component(component)
    read: Any
    (read,) = Calendar.from_ical(calendar.to_ical()).walk("VTIMEZONE")
    # By another name, so that the rules are used and not the zone that is known by its name.
    read["TZID"] = "Rules"
    rules, zone = read.to_tz(lookup_tzid=False), ZoneInfo(key)
    moments = [datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(days=day) for day in range(0, 5 * 365, 5)]
    different = [
        moment for moment in moments
        if moment.astimezone(rules).replace(tzinfo=None) != moment.astimezone(zone).replace(tzinfo=None)
    ]  # fmt: skip

    assert "RRULE" in component.to_ical().decode()
    assert different == []


@pytest.mark.parametrize("key", ["Asia/Seoul", "UTC", "Africa/Casablanca", "America/Santiago"])
def test_zones_without_yearly_rules_have_none(key: str) -> None:
    text = lines(calendar_zone(key, 2026, 2026))

    assert [line for line in text if line.startswith("RRULE")] == []
    assert f"TZID:{key}" in text


def test_years_before_a_rule_changed_have_dates() -> None:
    # The United States moved both days in 2007.
    assert "RRULE" not in calendar_zone("America/Los_Angeles", 2005, 2005).to_ical().decode()
