"""One row of an `orals-posters.json` file, read into typed values. Knows no other row and no record of ours.

Such files come from elsewhere: fields that are not needed may be absent, and new ones are noted, not refused.
"""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from exchange.problems import Findings, Where, short
from exchange.reading.papers import tidy
from exchange.reading.shapes import in_words
from exchange.reading.values import UnfitError, checked_text, moment

ENTITY = re.compile(r"&(?=#\d+;|#[xX][0-9a-fA-F]+;|[A-Za-z][A-Za-z0-9]*;)[^;]+;")
# Every field of the format, in the order of its files.
FIELDS = (
    *("id", "uid", "name", "authors", "abstract", "topic", "keywords", "decision", "session", "eventtype"),
    *("event_type", "room_name", "virtualsite_url", "url", "sourceid", "sourceurl", "starttime", "endtime"),
    *("starttime2", "endtime2", "diversity_event", "paper_url", "paper_pdf_url", "children_url", "children"),
    *("children_ids", "parent1", "parent2", "parent2_id", "parent_id", "eventmedia"),
    *("show_in_schedule_overview", "visible", "poster_position", "schedule_html", "latitude", "longitude"),
    *("related_events", "related_events_ids"),
)
KINDS = ("poster", "oral", "spotlight")
MAX_TOPIC_LEVELS = 10


@dataclass(frozen=True, slots=True)
class EventAuthor:
    name: str
    id: int | None
    url: str
    institution: str


@dataclass(frozen=True, slots=True)
class EventMedia:
    name: str
    type: str
    url: str
    visible: bool


@dataclass(frozen=True, slots=True)
class InputRow:
    """One appearance of a paper. Empty text means null; `named` holds the fields of the row."""

    where: Where
    named: frozenset[str]
    id: int
    uid: str
    kind: str
    name: str
    authors: tuple[EventAuthor, ...]
    abstract: str | None
    topic: tuple[str, ...]
    keywords: tuple[str, ...]
    decision: str
    session: str
    parent_id: int | None
    room: str
    start: datetime | None
    end: datetime | None
    start2: datetime | None
    end2: datetime | None
    board: str
    url: str
    paper_url: str
    pdf_url: str
    media: tuple[EventMedia, ...]
    sourceurl: str
    visible: bool
    related: tuple[int, ...]


def levels(topic: str) -> tuple[str, ...]:
    """Return the names in `Computer Vision->Other`, from the top down."""
    return tuple(filter(None, map(tidy, topic.split("->"))))


def encoded(text: str) -> str:
    """Return text that reads back the same: only what looks like an entity is encoded."""
    return ENTITY.sub(lambda found: f"&amp;{found[0][1:]}", text)


def read_event(row: object, where: Where, findings: Findings) -> InputRow | None:
    """Return the event of a row; add a finding and return None if it is not one."""
    if not isinstance(row, dict):
        findings.problem(where, "", gettext("This must be an object, not %(row)s."), row=in_words(row))
        return None
    for name in sorted(row.keys() - FIELDS):
        message = gettext('The field "%(name)s" is not known to this format and was left out.')
        findings.note("warning", Where(where.file), message, name=short(name))
    reader = RowReader(row, where, findings)
    if not (reader.name("name") or reader.has_misfits):
        reader.misfit("name", "The title is missing.")
    event = reader.event()
    return None if reader.has_misfits else event


class RowReader:
    """Reads the fields of a row or nested object; invalid values are reported and read as empty."""

    def __init__(self, row: Mapping[str, object], where: Where, findings: Findings, path: str = "") -> None:
        self.row, self.where, self.findings, self.path = row, where, findings, path
        self.has_misfits = False

    def misfit(self, name: str, message: str) -> None:
        self.has_misfits = True
        self.findings.problem(self.where, self.path + name, message)

    def event(self) -> InputRow:
        return InputRow(
            where=self.where,
            named=frozenset(self.row),
            id=self.number("id") or self._no_id(),
            uid=self.text("uid").strip(),
            kind=self.kind(),
            name=self.name("name"),
            authors=self.parts("authors", _author),
            abstract=self.text("abstract") if self.row.get("abstract") is not None else None,
            topic=self.topic(),
            keywords=self.words("keywords"),
            decision=self.name("decision"),
            session=self.name("session"),
            parent_id=self.number("parent_id"),
            room=self.name("room_name"),
            start=self.time("starttime"),
            end=self.time("endtime"),
            start2=self.time("starttime2"),
            end2=self.time("endtime2"),
            board=self.name("poster_position"),
            url=self.text("url").strip(),
            paper_url=self.text("paper_url").strip(),
            pdf_url=self.text("paper_pdf_url").strip(),
            media=self.parts("eventmedia", _media),
            sourceurl=self.text("sourceurl").strip(),
            visible=self.row.get("visible") is not False,
            related=self.numbers("related_events_ids"),
        )

    def text(self, name: str) -> str:
        value = self.row.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.misfit(name, f"This must be text, not {in_words(value)}.")
            return ""
        return self._clean(value, name)

    def name(self, name: str) -> str:
        """Return text on one line, with HTML entities decoded once."""
        return self._decoded(self.text(name), name)

    def topic(self) -> tuple[str, ...]:
        path = levels(self.name("topic"))
        if len(path) > MAX_TOPIC_LEVELS:
            self.misfit("topic", f"This topic has more than {MAX_TOPIC_LEVELS} levels.")
            return ()
        return path

    def words(self, name: str) -> tuple[str, ...]:
        found = (value for value in self._list(name) if isinstance(value, str))
        return tuple(filter(None, (self._decoded(self._clean(word, name), name) for word in found)))

    def number(self, name: str) -> int | None:
        value = self.row.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value[:18])
        if value is None or value == "":
            return None
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**18:
            return value
        self.misfit(name, f"This must be a whole number, not {in_words(value)}.")
        return None

    def numbers(self, name: str) -> tuple[int, ...]:
        return tuple(one for one in self._list(name) if isinstance(one, int) and not isinstance(one, bool))

    def time(self, name: str) -> datetime | None:
        text = self.text(name).strip()
        try:
            return moment(text) if text else None
        except UnfitError as error:
            self.misfit(name, str(error))
            return None

    def kind(self) -> str:
        words = self.text("eventtype").lower()
        kind = next((kind for kind in KINDS if kind in words), "")
        if not kind:
            self.misfit("eventtype", f'This must be Poster, Oral or Spotlight, not "{short(words)}".')
        return kind

    def parts[P](self, name: str, read: "Callable[[RowReader], P]") -> tuple[P, ...]:
        """Read a list of objects."""
        found = []
        for index, part in enumerate(self._list(name)):
            if not isinstance(part, dict):
                self.misfit(f"{name}[{index}]", f"This must be an object, not {in_words(part)}.")
                continue
            reader = RowReader(part, self.where, self.findings, f"{self.path}{name}[{index}].")
            found.append(read(reader))
            self.has_misfits |= reader.has_misfits
        return tuple(found)

    def _no_id(self) -> int:
        if not self.has_misfits:
            self.misfit("id", "The number of the event is missing.")
        return 0

    def _list(self, name: str) -> list[object]:
        value = self.row.get(name)
        if isinstance(value, list):
            return value
        if value is not None:
            self.misfit(name, f"This must be a list, not {in_words(value)}.")
        return []

    def _clean(self, value: str, name: str) -> str:
        try:
            text = checked_text(value)
        except UnfitError as error:
            self.misfit(name, str(error))
            return ""
        if text != value:
            message = gettext("Control characters were removed from %(path)s%(name)s.")
            self.findings.note("warning", self.where, message, path=self.path, name=name)
        return text

    def _decoded(self, text: str, name: str) -> str:
        if "&" in text:
            text = self._clean(ENTITY.sub(lambda found: html.unescape(found[0]), text), name)
            if any(html.unescape(found[0]) != found[0] for found in ENTITY.finditer(text)):
                message = gettext("%(field)s still holds an HTML entity; it was encoded twice: %(text)s")
                self.findings.note("doubt", self.where, message, field=f"{self.path}{name}", text=short(text))
        return tidy(text)


def _author(reader: RowReader) -> EventAuthor:
    name = reader.name("fullname")
    if not (name or reader.has_misfits):
        reader.misfit("fullname", "The author's name is missing.")
    return EventAuthor(name, reader.number("id"), reader.text("url").strip(), reader.name("institution"))


def _media(reader: RowReader) -> EventMedia:
    url = reader.text("uri").strip() or reader.text("file").strip()
    return EventMedia(reader.name("name"), reader.text("type"), url, reader.row.get("visible") is not False)
