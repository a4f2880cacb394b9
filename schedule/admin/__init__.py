"""The admin of the timetable: rooms, sessions, presentations, releases."""

from schedule.admin import availability, invitations, sessions

__all__ = ["availability", "invitations", "sessions"]
