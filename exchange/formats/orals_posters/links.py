"""Links in and out of an `orals-posters.json` file: which material an address is, and where it points."""

import re
from collections.abc import Iterable
from urllib.parse import parse_qs, quote, urlsplit

from django.utils.translation import gettext

from exchange.formats.orals_posters.rows import InputRow, encoded
from exchange.problems import Findings, short
from exchange.reading.values import tidy
from exchange.records import MaterialRecord

UNKNOWN_HOST = "orals-posters"
MAX_URL_CHARS = 2000
PUBLIC_HOST = re.compile(r"(?:[a-z0-9-]+\.)+(?!local$|internal$|lan$)[a-z]{2,}\Z")
BARE_ADDRESS = re.compile(r"www\.\S+|[\w-]+(\.[\w-]+)*\.[a-z]{2,}/\S*\Z")
CODE_HOSTS = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "huggingface.co")
# How the `type` of a medium is written, by kind of material. PDF and URL alone imply no kind.
TYPES = {
    "pdf": "PDF",
    "slides": "Slides",
    "poster": "Poster",
    "video": "Video",
    "code": "Code",
    "data": "Data",
    "review": "Review",
    "project": "Project",
    "other": "URL",
}
KINDS = {word.lower(): kind for kind, word in TYPES.items() if word not in ("PDF", "URL")}
# Words in the name of a medium, the most telling first.
WORDS = {
    "slides": "slides",
    "slide deck": "slides",
    "poster": "poster",
    "openreview": "review",
    "video": "video",
    "recording": "video",
    "code": "code",
    "github": "code",
    "data": "data",
    "project": "project",
    "pdf": "pdf",
}


def public_host(address: str) -> str:
    """Return the host of an address, without `www.`; nothing for relative addresses and internal hosts."""
    if len(address) > MAX_URL_CHARS:
        return ""
    try:
        host = (urlsplit(address).hostname or "").lower().removeprefix("www.")
    except ValueError:
        return ""
    return host if PUBLIC_HOST.match(host) else ""


def absolute(address: str, host: str) -> str:
    """Return the full address of a link; nothing where it has none."""
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
    """Return the kind of material: from a telling type, else the name, else the file or the host."""
    words = name.lower()
    named = next((kind for word, kind in WORDS.items() if word in words), "")
    is_pdf = type_.lower() == "pdf"
    return KINDS.get(type_.lower()) or named or ("pdf" if is_pdf else link_kind(address)) or "other"


def materials_of(events: Iterable[InputRow], host: str, findings: Findings) -> tuple[MaterialRecord, ...]:
    """Return the materials of a paper's events, each address once."""
    found: dict[str, MaterialRecord] = {}
    for event in events:
        project = "code" if link_kind(absolute(event.url, host)) == "code" else "project"
        links = [("pdf", event.pdf_url, "", True), ("review", event.paper_url, "", True)]
        links += [(project, event.url, "", True)]
        links += [
            (media_kind(medium.type, medium.name, medium.url), medium.url, medium.name, medium.visible)
            for medium in event.media
        ]
        for kind, address, label, visible in links:
            url = absolute(address, host)
            if url:
                material = MaterialRecord(where=event.where, kind=kind, url=url, label=label, visible=visible)
                found.setdefault(url, material)
            elif address:
                message = gettext("This link was left out, because its host is not known: %(address)s")
                findings.note("warning", event.where, message, address=short(address, 120))
    return tuple(found.values())


def track_of(sourceurl: str) -> str:
    """Return the track that a venue group names: nothing for the main one, else `Position Paper Track`."""
    try:
        query = parse_qs(urlsplit(sourceurl[:MAX_URL_CHARS]).query)
    except ValueError:
        return ""
    if "id" not in query:
        return tidy(query.get("track", [""])[0])  # as our own files have it
    group = query["id"][0]
    last = group.rstrip("/").rpartition("/")[2]
    return "" if last == "Conference" else tidy(last.replace("_", " "))


def sorted_links(materials: Iterable[MaterialRecord], site_url: str) -> dict[str, object]:
    """Return the fields that hold a paper's visible materials: the first of a kind has a field of its own."""
    site = site_url.rstrip("/")
    links: dict[str, tuple[str, str]] = {}
    for material in materials:
        url = site + material.url if site and material.url.startswith("/") else material.url
        if material.visible and absolute(url, "") == url:
            label = tidy(material.label)
            kind = media_kind(TYPES.get(material.kind, "URL"), label or material.kind, url)
            links.setdefault(url, (kind, label))
    fields: dict[str, object] = {"paper_pdf_url": None, "paper_url": None, "url": None}
    slots = {"pdf": "paper_pdf_url", "review": "paper_url", "project": "url", "code": "url"}
    media: list[dict[str, object]] = []
    for url, (kind, label) in links.items():
        slot = slots.get(kind, "")
        if slot and fields[slot] is None:
            fields[slot] = url
        else:
            media.append(
                {
                    "type": TYPES[kind],
                    "name": encoded(label or TYPES[kind]),
                    "uri": url,
                    "visible": True,
                    "sortkey": len(media),
                }
            )
    return {**fields, "eventmedia": media}
