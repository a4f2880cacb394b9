"""An event as a file has it, whichever it is: a typed look at one object, and what does not fit is told."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

from django.utils.translation import gettext

from exchange.files import Source
from exchange.formats.frab.wording import LINE_END
from exchange.problems import Where
from exchange.reading.fields import UnfitError, checked_text, moment
from exchange.reading.findings import Findings, short
from exchange.reading.shapes import in_words

DURATION = re.compile(r"(\d{1,5}):(\d\d)(?::(\d\d))?\Z")
CLOCK = re.compile(r"(\d\d):(\d\d)(?::\d\d)?\Z")
MAX_NUMBER = 100_000_000


def is_too_large(source: Source, findings: Findings) -> bool:
    """Tell of a file that no schedule needs, before anything is made of it."""
    if len(source.content) <= MAX_NUMBER:
        return False
    said = gettext("The file is larger than %(megabytes)s MB, which no schedule is.")
    findings.problem(Where(source.name), "", said % {"megabytes": MAX_NUMBER // 1_000_000})
    return True


@dataclass(frozen=True, slots=True)
class Raw:
    """One object of a file."""

    content: dict[str, Any]
    where: Where
    findings: Findings

    def problem(self, field: str, message: str) -> None:
        self.findings.problem(self.where, field, message)

    def text(self, field: str) -> str:
        """Return a text without control characters; nothing where there is none."""
        value = self.content.get(field)
        if value is None:
            return ""
        if not isinstance(value, str):
            said = gettext("This must be text in quotation marks, not %(value)s.")
            self.problem(field, said % {"value": in_words(value)})
            return ""
        try:
            return LINE_END.sub("\n", checked_text(value)).strip()
        except UnfitError as error:
            self.problem(field, str(error))
            return ""

    def line(self, field: str) -> str:
        return " ".join(self.text(field).split())

    def number(self, field: str) -> int | None:
        value = self.content.get(field)
        if value is None or (type(value) is int and abs(value) < 2**63):
            return value
        said = gettext("This must be a whole number, not %(value)s.")
        self.problem(
            field, said % {"value": f'"{short(value)}"' if isinstance(value, str) else in_words(value)}
        )
        return None

    def parts(self, field: str) -> list["Raw"]:
        """Return the objects of a list; each is told by its place in it."""
        found = self.content.get(field)
        if found is None:
            return []
        if not isinstance(found, list):
            said = gettext("This must be a list, not %(value)s.")
            self.problem(field, said % {"value": in_words(found)})
            return []
        return [raw for index, part in enumerate(found) if (raw := self._part(part, f"{field}[{index}]"))]

    def _part(self, part: object, place: str) -> "Raw | None":
        if isinstance(part, dict):
            return Raw(part, Where(self.where.file, f"{self.where.place}.{place}"), self.findings)
        self.problem(place, gettext("This must be an object, not %(value)s.") % {"value": in_words(part)})
        return None

    # Times

    def start(self, day: date | None, day_start: time, zone: tzinfo) -> datetime | None:
        """Return when the event begins: its date, or its clock on the day that it stands under."""
        try:
            if self.content.get("date"):
                return moment(self.text("date"), zone)
            clock = CLOCK.match(self.text("start"))
            if clock is None or day is None:
                raise UnfitError(gettext("The time is missing. Write it as 2026-07-08T10:00:00+09:00."))
            wall = f"{clock[1]}:{clock[2]}"
            later = timedelta(days=1 if wall < f"{day_start:%H:%M}" else 0)
            return moment(f"{day + later} {wall}", zone)
        except UnfitError as error:
            self.problem("date", str(error))
            return None

    def end(self, start: datetime, zone: tzinfo) -> datetime:
        """Return when the event ends: as stated, or after its duration."""
        try:
            if self.content.get("end"):
                return moment(self.text("end"), zone)
            match = DURATION.match(self.text("duration"))
            if match is None:
                raise UnfitError(
                    gettext('"%(text)s" is not a duration. Write it as 00:45.')
                    % {"text": short(self.text("duration"))}
                )
            hours, minutes, seconds = (int(part or 0) for part in match.groups())
            # Of moments, not of clocks: a night may have an hour more or less.
            lasts = timedelta(hours=hours, minutes=minutes, seconds=seconds)
            return (start.astimezone(UTC) + lasts).astimezone(start.tzinfo)
        except UnfitError as error:
            self.problem("end" if self.content.get("end") else "duration", str(error))
            return start
