"""The admin of the timetable: rooms, sessions, presentations, releases."""

from schedule.admin import availability, desk, invitations, sessions, unreleased

__all__ = ["availability", "desk", "invitations", "sessions", "unreleased"]
