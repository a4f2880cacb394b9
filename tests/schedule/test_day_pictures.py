"""Tests of the small pictures of days: positions and number of sessions, and sessions left out."""

from datetime import UTC, date, datetime, timedelta

from conference.models import Edition
from schedule.day_pictures import Bar, SessionSpan, day_pictures

EDITION = Edition(timezone="UTC", day_start_hour=4)
NINE = datetime(2026, 7, 6, 9, tzinfo=UTC)


def span(start: float, end: float, kind: str = "oral", *, day: int = 0, **fields: bool) -> SessionSpan:
    """Return a session; its start and end are given in hours after 9:00."""
    begin, finish = (NINE + timedelta(days=day, hours=hours) for hours in (start, end))
    return SessionSpan(1, begin, finish, kind, kind, **{"is_part": False, "is_off": False, **fields})


def test_days_share_hours_and_scale() -> None:
    pictures = day_pictures([span(0, 2), span(0, 2), span(2, 4, day=1)], EDITION)

    assert [(picture.date, picture.session_count) for picture in pictures] == [
        (date(2026, 7, 6), 2),
        (date(2026, 7, 7), 1),
    ]
    assert pictures[0].bars == [Bar("oral", "0.0", "0.0", "99.2", "34.0")]
    assert pictures[1].bars == [Bar("oral", "100.0", "10.0", "99.2", "24.0")]


def test_simultaneous_sessions_are_stacked() -> None:
    (day,) = day_pictures([span(0, 1), span(0, 1, "poster")], EDITION)

    assert day.bars == [
        Bar("oral", "0.0", "17.0", "199.2", "16.2"),
        Bar("poster", "0.0", "0.0", "199.2", "16.2"),
    ]


def test_breaks_parts_and_cancelled_sessions_are_not_drawn() -> None:
    rows = [span(0, 1), span(1, 2, "break"), span(0, 1, is_part=True), span(2, 3, is_off=True)]

    (day,) = day_pictures(rows, EDITION)

    assert (day.session_count, len(day.bars)) == (1, 1)


def test_zero_length_session_is_counted_but_not_drawn() -> None:
    (day,) = day_pictures([span(0, 0)], EDITION)

    assert (day.session_count, day.bars) == (1, [])
