"""The admin of the timetable: rooms, sessions, presentations, releases."""

from schedule.admin import sessions

__all__ = ["sessions"]
