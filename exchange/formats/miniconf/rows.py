"""The objects of a site's CSV, YAML and JSON files with text values, and the times in them."""

import html
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Findings, Where, short
from exchange.reading.papers import escape_markdown
from exchange.reading.textfiles import UNREADABLE, describe_place, is_too_large, read_json, scalar
from exchange.reading.values import InvalidValueError, clean_text, parse_datetime, tidy
from exchange.reading.written_times import parse_written_time

TAG = re.compile(r"<[^<>]*>")
MAX_JSON_DEPTH = 40
MAX_JSON_BYTES = 100_000_000
STARTS = ("start_time", "start", "begin", "starttime")
ENDS = ("end_time", "end", "finish", "endtime")
DAYS = ("start_date", "date", "day")
# A time without a day, which another field names.
CLOCK = re.compile(r"\d{1,2}[:.]\d\d(:\d\d)?( ?[ap]\.?m\.?)?\Z", re.IGNORECASE)
# The superfluous end of `13:30 PM`.
PM_OF_24_HOURS = re.compile(r"(?<=1[3-9][:.]\d\d|2[0-3][:.]\d\d) ?p\.?m\.?\Z", re.IGNORECASE)
# Placeholders for a missing person, text or title.
PLACEHOLDER = re.compile(
    r"(tb[adc]|none|null|n/?a|to be (announced|confirmed|determined))\W*\Z", re.IGNORECASE
)
# Locations that are pages of the site rather than rooms.
ADDRESS = re.compile(r"\Ahttps?:|\A[/#]|\.html?\b", re.IGNORECASE)
TIMESTAMP_PATTERN = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)(?P<separator>[T _])"
    r"(?P<hour>\d\d?)(?P<minutes>:\d\d(:\d\d(\.\d+)?)?) ?(?P<offset>Z|[+-]\d\d(:?\d\d)?)?\Z"
)


def clean_title(title: str) -> str:
    return escape_markdown(tidy(html.unescape(TAG.sub(" ", title))))


@dataclass(frozen=True, slots=True)
class SiteRow:
    """One object of a site's file."""

    content: dict[str, object]
    where: Where

    def text(self, *names: str) -> str:
        """Return the first of these fields that is a single value, as text."""
        return next((scalar(self.content[name]) for name in names if scalar(self.content.get(name))), "")

    @property
    def start(self) -> str:
        """The start time. ACL 2020 calls it `date`, a field that elsewhere may be a day in words."""
        date = self.text("date")
        return self.text(*STARTS) or (date if TIMESTAMP_PATTERN.match(date) else "")

    @property
    def end(self) -> str:
        return self.text(*ENDS)

    @property
    def room(self) -> str:
        """The name of the room. In calendars, `location` may be the address of a page."""
        room = tidy(self.text("room", "location"))
        return "" if ADDRESS.search(room) or PLACEHOLDER.match(room) else room

    def rows(self, name: str) -> "list[SiteRow]":
        """Return the objects of a list, or of an object of objects."""
        value = self.content.get(name)
        items = list(value.values()) if isinstance(value, dict) else value
        return (
            [SiteRow(item, self.where) for item in items if isinstance(item, dict)]
            if isinstance(items, list)
            else []
        )

    def texts(self, name: str) -> list[str]:
        """Return the single values of a list. A value that is no list is the only one."""
        value = self.content.get(name)
        return [scalar(item) for item in (value if isinstance(value, list) else [value]) if scalar(item)]


def site_rows(items: object, file: str) -> list[SiteRow]:
    rows = enumerate(items if isinstance(items, list) else [])
    return [
        SiteRow(row, Where(file, describe_place("", index, row.get("UID"))))
        for index, row in rows
        if isinstance(row, dict)
    ]


def read_json_texts(source: Source, findings: Findings) -> object:
    """Return lists, dicts and texts as YAML files give them, or None for a file that was reported."""
    if is_too_large(source, MAX_JSON_BYTES, findings):
        return None
    content = read_json(source, findings)
    try:
        return None if content is UNREADABLE else _as_texts(content, Where(source.name), findings)
    except InvalidValueError as error:
        findings.problem(Where(source.name), "", str(error))
        return None


def _as_texts(value: object, where: Where, findings: Findings, depth: int = 0) -> object:
    if depth > MAX_JSON_DEPTH:
        raise InvalidValueError(
            gettext("Lists and objects are nested too deeply here for a conference program.")
        )
    if isinstance(value, dict):
        return {name: _as_texts(item, where, findings, depth + 1) for name, item in value.items()}
    if isinstance(value, list):
        return [_as_texts(item, where, findings, depth + 1) for item in value]
    return "" if value is None else clean_text(str(value), where, "", findings)


@dataclass
class Times:
    """Reader of times. Those without an offset are in the zone of the site, and are counted by file."""

    zone: ZoneInfo
    findings: Findings
    # The first and last day of the edition.
    days: tuple[date, date] | None = None
    _assumed_zone_counts: Counter[str] = field(default_factory=Counter)

    def read_span(self, row: SiteRow, where: Where) -> tuple[datetime | None, datetime | None]:
        """Return start and end of a row. A clock is on the day of another field, or on the next one."""
        start_text, end_text = row.start.strip(), row.end.strip()
        start = self._read_moment(row, start_text, where, "start_time")
        if not end_text or start is None:
            return start, None
        end = self._read_moment(row, end_text, where, "end_time")
        if end and end < start and CLOCK.match(end_text):
            end += timedelta(days=1)
        return start, end

    def _read_moment(self, row: SiteRow, text: str, where: Where, field: str) -> datetime | None:
        day_text = row.text(*DAYS)
        if not (CLOCK.match(text) and day_text):
            return self.read(text, where, field)
        try:
            day = parse_written_time(day_text, self.days).day
            clock = parse_written_time(PM_OF_24_HOURS.sub("", text)).start
            if day is None or clock is None:
                raise InvalidValueError(gettext("“%(time)s” has no date."), time=short(text))
        except InvalidValueError as error:
            self.findings.problem(where, field, str(error))
            return None
        return self.read(f"{day} {clock:%H:%M:%S}", where, field)

    def read(self, text: str, where: Where, field: str) -> datetime | None:
        text = text.strip()
        match = TIMESTAMP_PATTERN.match(text)
        if match:
            day = f"{match['year']}-{match['month']:0>2}-{match['day']:0>2}"
            # ACL 2020 writes UTC as `2020-07-06_05:00:00`.
            offset = match["offset"] or ("Z" if match["separator"] == "_" else "")
            if offset not in ("", "Z"):
                digits = offset[1:].replace(":", "")
                offset = f"{offset[0]}{digits[:2]}:{digits[2:] or '00'}"
            text = f"{day}T{match['hour']:0>2}{match['minutes']}{offset}"
            if not offset:
                self._assumed_zone_counts[where.file] += 1
        try:
            return parse_datetime(text, self.zone)
        except InvalidValueError as error:
            self.findings.problem(where, field, str(error))
            return None

    def note(self) -> None:
        for file, count in self._assumed_zone_counts.items():
            message = gettext("%(count)s times name no zone; they were taken as times in %(zone)s.")
            self.findings.note("doubt", Where(file), message, count=count, zone=self.zone.key)
