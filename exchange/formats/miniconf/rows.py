"""The objects of a site's CSV, YAML and JSON files with text values, and the times in them."""

import html
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Findings, Where
from exchange.reading.papers import escape_markdown
from exchange.reading.textfiles import UNREADABLE, describe_place, is_too_large, read_json, scalar
from exchange.reading.values import InvalidValueError, clean_text, parse_datetime, tidy

TAG = re.compile(r"<[^<>]*>")
MAX_JSON_DEPTH = 40
MAX_JSON_BYTES = 100_000_000
STARTS, ENDS = ("start_time", "start", "begin"), ("end_time", "end", "finish")
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
    _assumed_zone_counts: Counter[str] = field(default_factory=Counter)

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
