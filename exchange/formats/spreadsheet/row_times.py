"""The times of a row: its own and those of its session, in the zone of the edition."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from exchange.files import Context
from exchange.formats.spreadsheet.cell_tests import HOURS, MINUTES
from exchange.formats.spreadsheet.cells import Row
from exchange.problems import Findings, Where, short
from exchange.reading.values import InvalidValueError, clean_text, parse_datetime
from exchange.reading.written_times import WrittenTime, parse_written_time

LATE_HOUR, EARLY_HOUR = 18, 8


@dataclass(slots=True)
class Span:
    """A start and an end, each `None` if unknown. `day` is set whenever the start is."""

    start: datetime | None = None
    end: datetime | None = None
    day: date | None = None


class RowTimes:
    """Reader of the cells with times. Reports invalid ones."""

    def __init__(self, context: Context, findings: Findings, zone: ZoneInfo) -> None:
        self.context, self.findings, self.zone = context, findings, zone

    def _parse_cell(self, cell: str, where: Where, name: str) -> WrittenTime:
        if not cell:
            return WrittenTime()
        try:
            text = clean_text(cell, where, name, self.findings)
            return parse_written_time(text, self.context.days, self.zone)
        except InvalidValueError as error:
            self.findings.problem(where, name, str(error))
            return WrittenTime()

    def day(self, row: Row) -> date | None:
        """Return the day that a row names in any of its columns of times, without reporting anything."""
        for name in ("date", "start", "session_start"):
            try:
                written = parse_written_time(row.get(name), self.context.days) if row.get(name) else None
            except InvalidValueError:
                continue
            if written and written.day:
                return written.day
        return None

    def session_span(self, row: Row) -> Span:
        """Return the times of the session itself, if columns state them."""
        if not row.get("session_start"):
            return Span()
        return self._read_span(row, ("session_start", "session_end"), None)

    def row_span(self, row: Row, day: date | None) -> Span:
        """Return the times of a row itself. `day`: that of its session."""
        first, last = self.context.days or (None, None)
        return self._read_span(row, ("start", "end"), day or (first if first == last else None))

    def _read_span(self, row: Row, names: tuple[str, str], fallback: date | None) -> Span:
        where = row.where
        written_start, written_end = (self._parse_cell(row.get(name), where, name) for name in names)
        written_date = self._parse_cell(row.get("date"), where, "date")
        start_clock = written_start.start or (written_date.start if names[0] == "start" else None)
        day = written_start.day or written_date.day or written_end.day or fallback
        if start_clock is None:
            return Span(day=day)
        if day is None:
            message = gettext("“%(time)s” has no date. Choose a column with the date.")
            self.findings.problem(where, names[0], message, time=short(row.get(names[0]) or row.get("date")))
            return Span()
        start = self._parse_moment(
            day, start_clock, written_start.offset or written_end.offset, where, names[0]
        )
        end_clock = written_end.start or written_start.end or written_date.end
        end = None
        if end_clock is not None:
            is_night = (
                end_clock < start_clock and start_clock.hour >= LATE_HOUR and end_clock.hour < EARLY_HOUR
            )
            end_day = written_end.day or day + timedelta(days=1 if is_night else 0)
            end = self._parse_moment(
                end_day, end_clock, written_end.offset or written_start.offset, where, names[1]
            )
        elif start and row.get("duration") and names[0] == "start":
            end = start + self._parse_duration(row.get("duration"), where)
        return Span(start, end, day)

    def _parse_moment(self, day: date, clock: time, offset: str, where: Where, name: str) -> datetime | None:
        offset = f"{offset[:3]}:{offset[-2:]}" if offset and offset != "Z" else offset
        try:
            text = f"{day.isoformat()} {clock.isoformat('seconds')}{offset}"
            return parse_datetime(text, self.zone).astimezone(UTC)
        except InvalidValueError as error:
            self.findings.problem(where, name, str(error))
            return None

    def _parse_duration(self, cell: str, where: Where) -> timedelta:
        if match := MINUTES.match(cell):
            return timedelta(minutes=int(match[1]))
        if match := HOURS.match(cell):
            return timedelta(hours=int(match[1]), minutes=int(match[2]))
        message = gettext("“%(text)s” is not a duration. Write minutes, such as 20.")
        self.findings.problem(where, "duration", message, text=short(cell))
        return timedelta()
