"""Search for active payloads in responses: in headers, and in files that are not pages."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import icalendar
from bibtexparser.entrypoint import parse_string
from defusedxml import ElementTree

from tests.attack.payloads import WORD

# First characters that a spreadsheet interprets as the start of a formula.
FORMULAS = tuple("=+-@\t\r")

type Document = tuple[str, str, str]


def in_headers(headers: Any) -> Iterator[str]:
    for name, value in headers.items():
        if WORD in name.lower() or "\r" in value or "\n" in value:
            yield f"header {name}"


def in_table(body: bytes) -> Iterator[str]:
    for row in csv.reader(io.StringIO(body.decode("utf-8-sig"), newline="")):
        yield from (f"cell {cell[:30]!r}" for cell in row if cell.startswith(FORMULAS))


def in_workbook(body: bytes) -> Iterator[str]:
    with zipfile.ZipFile(io.BytesIO(body)) as packed:
        for name in packed.namelist():
            if name.endswith(".csv"):
                yield from in_table(packed.read(name))
            if not name.endswith((".xml", ".rels")):
                continue
            root = ElementTree.fromstring(packed.read(name))
            tags = {str(one.tag).rpartition("}")[2] for one in root.iter()}
            yield from (f"{name}: <{tag}>" for tag in tags & {"f", "hyperlink", WORD})


def in_calendar(body: bytes) -> Iterator[str]:
    parsed = icalendar.Calendar.from_ical(body)
    for part in parsed.walk():
        if part.errors:
            yield f"errors {part.errors}"
        yield from (f"property {key}" for key in part if WORD in key.lower())
    if body.count(b"\r\n") != body.count(b"\n"):
        yield "a line that ends in itself"
    lines = body.replace(b"\r\n ", b"").split(b"\r\n")
    if lines.count(b"BEGIN:VEVENT") != lines.count(b"END:VEVENT"):
        yield "an event that ends early"


def in_references(body: bytes) -> Iterator[str]:
    library = parse_string(body.decode())
    yield from (f"block {block.raw}" for block in library.failed_blocks)
    yield from (f"entry {entry.key}" for entry in library.entries if entry.key == WORD)


def in_lines(body: bytes) -> Iterator[str]:
    """Yield the injected lines of an RIS file, whose lines are a tag and a value."""
    yield from (f"line {line}" for line in body.decode().splitlines() if line.startswith((WORD, "END:")))


READERS: dict[str, Callable[[bytes], Iterator[str]]] = {
    "text/csv": in_table,
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": in_workbook,
    "application/zip": in_workbook,
    "text/calendar": in_calendar,
    "application/x-bibtex": in_references,
    "application/x-research-info-systems": in_lines,
}
# Types that a browser renders, with the type as which it parses them.
SHOWN = {
    "text/html": "text/html",
    "application/atom+xml": "application/xml",
    "application/xml": "application/xml",
}
SHOWN |= {
    "text/xml": "application/xml",
    "image/svg+xml": "application/xml",
    "application/calendar+xml": "application/xml",
}
SHOWN |= {"application/opensearchdescription+xml": "application/xml"}
# Types that contain no entered text, or that browsers do not render as HTML.
PLAIN = {"text/plain", "image/png", "text/css", "text/javascript"}


def fragments(name: str, value: Any, key: str = "") -> Iterator[Document]:
    """Yield the HTML fields in a response of the API, recursively."""
    if isinstance(value, dict):
        for inner, one in value.items():
            yield from fragments(name, one, inner)
    elif isinstance(value, list):
        for one in value:
            yield from fragments(name, one, key)
    elif isinstance(value, str) and key.endswith("html"):
        yield f"{name} {key}", "text/html", value


def is_json(kind: str) -> bool:
    return kind.endswith("json") and kind.startswith("application/")


def documents(name: str, kind: str, body: bytes) -> Iterator[Document]:
    """Yield the parts of a response that a browser has to check."""
    if kind in SHOWN:
        yield name, SHOWN[kind], body.decode()
    elif is_json(kind):
        yield from fragments(name, json.loads(body))


def faults(name: str, response: Any, body: bytes) -> Iterator[str]:
    """Yield the faults of a response that are visible without a browser."""
    kind = response.headers["Content-Type"].partition(";")[0]
    found = [*in_headers(response.headers)]
    if kind in READERS:
        found += READERS[kind](body)
    elif not (kind in SHOWN or kind in PLAIN or is_json(kind)):
        found.append(f"unknown type {kind}")
    if response.headers.get("X-Content-Type-Options") != "nosniff":
        found.append("may be sniffed")
    yield from (f"{name}: {one}" for one in found)
