"""The admin of the timetable: rooms, sessions, presentations, releases."""

from schedule.admin import availability, desk, invitations, sessions, working_copy

__all__ = ["availability", "desk", "invitations", "sessions", "working_copy"]
