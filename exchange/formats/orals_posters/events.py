"""One row of an `orals-posters.json` file, read into typed values, and the links in and out of such files.

Such files come from elsewhere: fields that are not needed may be absent, and new ones are noted, not refused.
"""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import parse_qs, quote, urlsplit

from django.utils.translation import gettext

from exchange.problems import Findings, Where, short
from exchange.reading.links import MAX_MATERIAL_URL_CHARS, is_web_address
from exchange.reading.person_names import is_placeholder, note_placeholder
from exchange.reading.textfiles import JsonObject, describe_type
from exchange.reading.values import InvalidValueError, clean_text, parse_datetime, tidy
from exchange.records import MaterialRecord

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


class InputRow:
    """One appearance of a paper. Empty text means null; `field_names` are the names of the row's fields."""

    def __init__(self, row: JsonObject) -> None:
        self.where, self.field_names = row.where, frozenset(row.content)
        self.name = _read_line(row, "name", gettext("The title is missing."))
        self.id = _read_number(row, "id", gettext("The number of the event is missing.")) or 0
        self.uid = row.text("uid").strip()
        event_type = row.text("eventtype").lower()
        self.kind = next((kind for kind in KINDS if kind in event_type), "")
        if not self.kind:
            message = gettext('This must be Poster, Oral or Spotlight, not "%(words)s".')
            row.problem("eventtype", message, words=short(event_type))
        self.authors = tuple(filter(None, map(_read_author, row.objects("authors"))))
        self.abstract = row.text("abstract") if row.has("abstract") else None
        self.topic = split_topic(_read_line(row, "topic"))
        if len(self.topic) > MAX_TOPIC_LEVELS:
            message = gettext("This topic has more than %(count)s levels.")
            row.problem("topic", message, count=MAX_TOPIC_LEVELS)
        keywords = (word for word in row.items("keywords") if isinstance(word, str))
        cleaned = (clean_text(word, row.where, f"{row.path}keywords", row.findings) for word in keywords)
        self.keywords = tuple(filter(None, (_decode_entities(word, row, "keywords") for word in cleaned)))
        self.decision, self.session = _read_line(row, "decision"), _read_line(row, "session")
        self.parent_id = _read_number(row, "parent_id")
        self.room, self.board = _read_room(row), _read_line(row, "poster_position")
        self.start, self.end = _read_time(row, "starttime"), _read_time(row, "endtime")
        self.start2, self.end2 = _read_time(row, "starttime2"), _read_time(row, "endtime2")
        self.url, self.paper_url = row.text("url").strip(), row.text("paper_url").strip()
        self.pdf_url = row.text("paper_pdf_url").strip()
        self.media = tuple(map(_read_medium, row.objects("eventmedia")))
        self.sourceurl = row.text("sourceurl").strip()
        self.visible = row.content.get("visible") is not False
        self.related = tuple(
            event_id for event_id in row.items("related_events_ids") if type(event_id) is int
        )


def split_topic(topic: str) -> tuple[str, ...]:
    """Return the names in `Computer Vision->Other`, from the top down."""
    return tuple(filter(None, map(tidy, topic.split("->"))))


def escape_entities(text: str) -> str:
    """Escape text that looks like an HTML entity, so that reading returns the text unchanged."""
    return ENTITY.sub(lambda match: f"&amp;{match[0][1:]}", text)


def read_event(row: object, where: Where, findings: Findings) -> InputRow | None:
    """Return the event of a row; add a finding and return None if it is not one."""
    if not isinstance(row, dict):
        findings.problem(where, "", gettext("This must be an object, not %(row)s."), row=describe_type(row))
        return None
    for name in sorted(row.keys() - FIELDS):
        message = gettext('The field "%(name)s" is not known to this format and was left out.')
        findings.note("warning", Where(where.file), message, name=short(name))
    problem_count = findings.problem_count
    event = InputRow(JsonObject(row, where, findings))
    return event if findings.problem_count == problem_count else None


def _read_room(row: JsonObject) -> str:
    name = _read_line(row, "room_name")
    return "" if is_placeholder(name) else name


def _read_author(row: JsonObject) -> EventAuthor | None:
    """Return an author; `None` for a placeholder such as TBA."""
    name = _read_line(row, "fullname", gettext("The author's name is missing."))
    if is_placeholder(name):
        note_placeholder(name, row.where, row.findings)
        return None
    return EventAuthor(name, _read_number(row, "id"), row.text("url").strip(), _read_line(row, "institution"))


def _read_medium(row: JsonObject) -> MaterialRecord:
    url, label = row.text("uri").strip() or row.text("file").strip(), _read_line(row, "name")
    is_visible = row.content.get("visible") is not False
    kind = media_kind(row.text("type"), label, url)
    return MaterialRecord(where=row.where, kind=kind, url=url, label=label, visible=is_visible)


def _read_line(row: JsonObject, name: str, missing_message: str = "") -> str:
    """Return text on one line, with HTML entities decoded once. `missing_message` reports an empty one."""
    problem_count = row.findings.problem_count
    text = _decode_entities(row.text(name), row, name)
    if missing_message and not text and row.findings.problem_count == problem_count:
        row.problem(name, missing_message)
    return text


def _decode_entities(text: str, row: JsonObject, name: str) -> str:
    if "&" in text:
        decoded = ENTITY.sub(lambda match: html.unescape(match[0]), text)
        text = clean_text(decoded, row.where, f"{row.path}{name}", row.findings)
        if any(html.unescape(match[0]) != match[0] for match in ENTITY.finditer(text)):
            message = gettext("%(field)s still holds an HTML entity; it was encoded twice: %(text)s")
            row.findings.note("doubt", row.where, message, field=f"{row.path}{name}", text=short(text))
    return tidy(text)


def _read_number(row: JsonObject, name: str, missing_message: str = "") -> int | None:
    """Return a number, which may be written as text. `missing_message`: the problem if there is none."""
    value, problem_count = row.content.get(name), row.findings.problem_count
    if isinstance(value, str) and (not value or (value.isascii() and value.isdigit())):
        number = int(value[:18]) if value else None
    else:
        number = row.number(name)
    if missing_message and not number and row.findings.problem_count == problem_count:
        row.problem(name, missing_message)
    return number


def _read_time(row: JsonObject, name: str) -> datetime | None:
    text = row.text(name).strip()
    try:
        return parse_datetime(text) if text else None
    except InvalidValueError as error:
        row.problem(name, str(error))
        return None


# Links


FALLBACK_HOST = "orals-posters"
MAX_URL_CHARS = 2000
PUBLIC_HOST = re.compile(r"(?:[a-z0-9-]+\.)+(?!local$|internal$|lan$)[a-z]{2,}\Z")
BARE_ADDRESS = re.compile(r"www\.\S+|[\w-]+(\.[\w-]+)*\.[a-z]{2,}/\S*\Z")
CODE_HOSTS = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "huggingface.co")
# The `type` of a medium by kind of material. The types PDF and URL do not determine the kind.
TYPED_KINDS = ("slides", "poster", "video", "code", "data", "review", "project")
TYPE_BY_KIND = {"pdf": "PDF", **{kind: kind.capitalize() for kind in TYPED_KINDS}, "other": "URL"}
# Words in the name of a medium, the most specific first.
KIND_BY_WORD = {
    **dict.fromkeys(("slides", "slide deck"), "slides"),
    "poster": "poster",
    "openreview": "review",
    **dict.fromkeys(("video", "recording"), "video"),
    **dict.fromkeys(("code", "github"), "code"),
    **{kind: kind for kind in ("data", "project", "pdf")},
}


def public_host(address: str) -> str:
    """Return the host of an address, without `www.`; empty for relative addresses and internal hosts."""
    if len(address) > MAX_URL_CHARS:
        return ""
    try:
        host = (urlsplit(address).hostname or "").lower().removeprefix("www.")
    except ValueError:
        return ""
    return host if PUBLIC_HOST.match(host) else ""


def absolute_url(address: str, host: str) -> str:
    """Return the absolute address of a link; empty if it cannot have one."""
    if len(address) > MAX_URL_CHARS:
        return ""
    if re.match(r"https?://\S+\Z", address, re.IGNORECASE):
        return address
    if address.startswith("//"):
        return f"https:{address}"
    if BARE_ADDRESS.match(address):
        return f"https://{address}"
    is_path = address and host and not re.match(r"[a-z][a-z0-9+.-]*:|[?#]", address, re.IGNORECASE)
    return f"https://{host}/{quote(address.lstrip('/'), safe='/%?=&#')}" if is_path else ""


def link_kind(address: str) -> str:
    host = public_host(address)
    return "code" if host.endswith(CODE_HOSTS) else "review" if host == "openreview.net" else ""


def media_kind(type_: str, name: str, address: str) -> str:
    """Return the kind of material by its type, else by its name, else by the type of file or the host."""
    lower_name = name.lower()
    named_kind = next((kind for word, kind in KIND_BY_WORD.items() if word in lower_name), "")
    is_pdf = type_.lower() == "pdf"
    specific_kind = type_.lower() if type_.lower() in TYPED_KINDS else named_kind
    return specific_kind or ("pdf" if is_pdf else link_kind(address)) or "other"


def materials_of(events: Iterable[InputRow], host: str, findings: Findings) -> tuple[MaterialRecord, ...]:
    """Return the materials of a paper's events, each address once."""
    material_by_url: dict[str, MaterialRecord] = {}
    for event in events:
        project = "code" if link_kind(absolute_url(event.url, host)) == "code" else "project"
        links = (("pdf", event.pdf_url), ("review", event.paper_url), (project, event.url))
        link_materials = [MaterialRecord(where=event.where, kind=kind, url=url) for kind, url in links if url]
        for material in (*link_materials, *event.media):
            url = absolute_url(material.url, host)
            if is_web_address(url, MAX_MATERIAL_URL_CHARS):
                material_by_url.setdefault(url, replace(material, url=url))
            elif material.url:
                message = gettext("This link was left out, because its host is not known: %(address)s")
                findings.note("warning", event.where, message, address=short(material.url, 120))
    return tuple(material_by_url.values())


def track_of(sourceurl: str) -> str:
    """Return the track that a venue group names, such as `Position Paper Track`; empty for the main one."""
    try:
        query = parse_qs(urlsplit(sourceurl[:MAX_URL_CHARS]).query)
    except ValueError:
        return ""
    if "id" not in query:
        return tidy(query.get("track", [""])[0])  # as in files of this site
    group = query["id"][0]
    group_name = group.rstrip("/").rpartition("/")[2]
    return "" if group_name == "Conference" else tidy(group_name.replace("_", " "))


def link_fields(materials: Iterable[MaterialRecord], site_url: str) -> dict[str, object]:
    """Return the fields for a paper's visible materials. The first of some kinds has its own field."""
    site = site_url.rstrip("/")
    links: dict[str, tuple[str, str]] = {}
    for material in materials:
        url = site + material.url if site and material.url.startswith("/") else material.url
        if material.visible and absolute_url(url, "") == url:
            label = tidy(material.label)
            kind = media_kind(TYPE_BY_KIND.get(material.kind, "URL"), label or material.kind, url)
            links.setdefault(url, (kind, label))
    fields: dict[str, object] = {"paper_pdf_url": None, "paper_url": None, "url": None}
    slots = {"pdf": "paper_pdf_url", "review": "paper_url", "project": "url", "code": "url"}
    media: list[dict[str, object]] = []
    for url, (kind, label) in links.items():
        slot = slots.get(kind, "")
        if slot and fields[slot] is None:
            fields[slot] = url
        else:
            medium_type = TYPE_BY_KIND[kind]
            medium = {"type": medium_type, "name": escape_entities(label or medium_type), "uri": url}
            media.append({**medium, "visible": True, "sortkey": len(media)})
    return {**fields, "eventmedia": media}
