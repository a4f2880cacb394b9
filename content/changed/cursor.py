"""Up to which moment a reader has seen all changes, though transactions commit later than they stamp rows."""

from datetime import UTC, datetime, timedelta

from django.db import connection

# How far the clocks of the site's machines may be apart.
CLOCKS = timedelta(seconds=10)
JUST_AFTER = timedelta(microseconds=1)
OLDEST_WRITER = """
    SELECT min(xact_start) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()
"""


def seen_until(newest_revision: datetime, newest_opening: datetime, at: datetime) -> datetime:
    """Return a moment before which all changes are committed. Call it before rows are read. One query.

    `newest_revision` is the time of the newest revision that is visible. `newest_opening`, no earlier, is
    that when something also became public by time: nothing has changed between it and `at`.
    """
    if connection.vendor == "sqlite":
        # It has one writer at a time, who stamps rows after the commit of the one before.
        return _settled(newest_revision, at)
    with connection.cursor() as cursor:
        cursor.execute(OLDEST_WRITER)
        oldest_writer: datetime | None = cursor.fetchone()[0]
    settled = _settled(newest_opening, at)
    return min(settled, oldest_writer.astimezone(UTC) - CLOCKS) if oldest_writer else settled


def _settled(newest: datetime, at: datetime) -> datetime:
    """Return a moment that later changes cannot precede; it moves only once while nothing changes."""
    return min(newest + JUST_AFTER if newest < at - CLOCKS else newest - CLOCKS, at - CLOCKS)
