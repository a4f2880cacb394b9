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

from tests.attack.payloads import MARKER

# First characters that a spreadsheet interprets as the start of a formula.
FORMULAS = tuple("=+-@\t\r")

type Document = tuple[str, str, str]


def header_problems(headers: Any) -> Iterator[str]:
    for name, value in headers.items():
        if MARKER in name.lower() or "\r" in value or "\n" in value:
            yield f"header {name}"


def csv_problems(body: bytes) -> Iterator[str]:
    for row in csv.reader(io.StringIO(body.decode("utf-8-sig"), newline="")):
        yield from (f"cell {cell[:30]!r}" for cell in row if cell.startswith(FORMULAS))


def workbook_problems(body: bytes) -> Iterator[str]:
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        for name in archive.namelist():
            if name.endswith(".csv"):
                yield from csv_problems(archive.read(name))
            if not name.endswith((".xml", ".rels")):
                continue
            root = ElementTree.fromstring(archive.read(name))
            tags = {str(element.tag).rpartition("}")[2] for element in root.iter()}
            yield from (f"{name}: <{tag}>" for tag in tags & {"f", "hyperlink", MARKER})


def calendar_problems(body: bytes) -> Iterator[str]:
    calendar = icalendar.Calendar.from_ical(body)
    for component in calendar.walk():
        if component.errors:
            yield f"errors {component.errors}"
        yield from (f"property {key}" for key in component if MARKER in key.lower())
    if body.count(b"\r\n") != body.count(b"\n"):
        yield "a line that ends in itself"
    lines = body.replace(b"\r\n ", b"").split(b"\r\n")
    if lines.count(b"BEGIN:VEVENT") != lines.count(b"END:VEVENT"):
        yield "an event that ends early"


def bibtex_problems(body: bytes) -> Iterator[str]:
    library = parse_string(body.decode())
    yield from (f"block {block.raw}" for block in library.failed_blocks)
    yield from (f"entry {entry.key}" for entry in library.entries if entry.key == MARKER)


def ris_problems(body: bytes) -> Iterator[str]:
    """Yield the injected lines of an RIS file, whose lines are a tag and a value."""
    yield from (f"line {line}" for line in body.decode().splitlines() if line.startswith((MARKER, "END:")))


CHECKS: dict[str, Callable[[bytes], Iterator[str]]] = {
    "text/csv": csv_problems,
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": workbook_problems,
    "application/zip": workbook_problems,
    "text/calendar": calendar_problems,
    "application/x-bibtex": bibtex_problems,
    "application/x-research-info-systems": ris_problems,
}
# Types that a browser renders, with the type as which it parses them.
RENDERED_TYPES = {
    "text/html": "text/html",
    "application/atom+xml": "application/xml",
    "application/xml": "application/xml",
}
RENDERED_TYPES |= {
    "text/xml": "application/xml",
    "image/svg+xml": "application/xml",
    "application/calendar+xml": "application/xml",
}
RENDERED_TYPES |= {"application/opensearchdescription+xml": "application/xml"}
# Types that contain no entered text, or that browsers do not render as HTML.
PLAIN_TYPES = {"text/plain", "image/png", "text/css", "text/javascript"}


def fragments(name: str, value: Any, key: str = "") -> Iterator[Document]:
    """Yield the HTML fields in a response of the API, recursively."""
    if isinstance(value, dict):
        for inner_key, inner_value in value.items():
            yield from fragments(name, inner_value, inner_key)
    elif isinstance(value, list):
        for inner_value in value:
            yield from fragments(name, inner_value, key)
    elif isinstance(value, str) and key.endswith("html"):
        yield f"{name} {key}", "text/html", value


def is_json(content_type: str) -> bool:
    return content_type.endswith("json") and content_type.startswith("application/")


def documents(name: str, content_type: str, body: bytes) -> Iterator[Document]:
    """Yield the parts of a response that a browser has to check."""
    if content_type in RENDERED_TYPES:
        yield name, RENDERED_TYPES[content_type], body.decode()
    elif is_json(content_type):
        yield from fragments(name, json.loads(body))


def response_problems(name: str, response: Any, body: bytes) -> Iterator[str]:
    """Yield the faults of a response that are visible without a browser."""
    content_type = response.headers["Content-Type"].partition(";")[0]
    problems = [*header_problems(response.headers)]
    if content_type in CHECKS:
        problems += CHECKS[content_type](body)
    elif not (content_type in RENDERED_TYPES or content_type in PLAIN_TYPES or is_json(content_type)):
        problems.append(f"unknown type {content_type}")
    if response.headers.get("X-Content-Type-Options") != "nosniff":
        problems.append("may be sniffed")
    yield from (f"{name}: {problem}" for problem in problems)
