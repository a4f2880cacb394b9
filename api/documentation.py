"""The documentation page of the API, made from the OpenAPI document."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from api.pagination import MAX_EXPANDED_ROWS, MOST, USUAL
from api.schema import schema
from api.writing.schema import CODES

type Json = Mapping[str, Any]

SCHEMAS = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class HandbookLine:
    """One parameter or field: its name, what it can be, what it means."""

    name: str
    kind: str
    text: str


@dataclass(slots=True)
class Chapter:
    """One resource: its addresses, what narrows its list, what it holds, and what the parts of it hold."""

    name: str
    text: str
    addresses: list[str] = field(default_factory=list)
    parameters: list[HandbookLine] = field(default_factory=list)
    fields: list[HandbookLine] = field(default_factory=list)
    # What a body says that makes or changes one; nothing where only the admin does.
    written: list[HandbookLine] = field(default_factory=list)
    parts: list["Chapter"] = field(default_factory=list)


def chapters(document: Json) -> list[Chapter]:
    """Return a chapter for each resource, in the order of their names."""
    found: dict[str, Chapter] = {}
    for path, ways in document["paths"].items():
        reading = ways["get"]
        name = reading["tags"][0]
        good = reading["responses"]["200"]["content"]["application/json"]["schema"]
        if SCHEMAS not in good.get("$ref", "") or "results" not in schema_of(document, good)["properties"]:
            continue
        chapter = found.setdefault(name, Chapter(name, reading["summary"]))
        chapter.addresses.append(path)
        chapter.parameters = list(parameters(reading))
        one = schema_of(document, schema_of(document, good)["properties"]["results"]["items"])
        chapter.fields, chapter.parts = list(fields(document, one)), list(parts(document, one))
        chapter.written = list(written(document, ways))
    for path, ways in document["paths"].items():
        chapter = found.get(ways["get"]["tags"][0], Chapter("", ""))
        if path not in chapter.addresses:
            chapter.addresses.append(path)
    return [found[name] for name in sorted(found)]


def schema_of(document: Json, reference: Json) -> Json:
    """Return what a reference points at."""
    known: Json = document["components"]["schemas"]
    schema: Json = known[reference["$ref"].removeprefix(SCHEMAS)]
    return schema


def written(document: Json, ways: Json) -> Iterator[HandbookLine]:
    """Return the fields of the body that makes one thing; those that it must have say so."""
    if "post" not in ways:
        return
    body = schema_of(document, ways["post"]["requestBody"]["content"]["application/json"]["schema"])
    for line in fields(document, body):
        must = line.name in body.get("required", ())
        yield HandbookLine(line.name, f"{line.kind}; {gettext('needed')}" if must else line.kind, line.text)


def parameters(reading: Json) -> Iterator[HandbookLine]:
    for one in reading.get("parameters", ()):
        yield HandbookLine(one["name"], kind_of(one["schema"]), one.get("description", ""))


def fields(document: Json, schema: Json) -> Iterator[HandbookLine]:
    for name, one in schema["properties"].items():
        yield HandbookLine(name, kind_of(one, document), one.get("description", ""))


def parts(document: Json, schema: Json) -> Iterator[Chapter]:
    """Return what a thing holds lists of that have no address of their own."""
    for name, one in schema["properties"].items():
        item = one.get("items", {})
        if "$ref" in item and "url" not in schema_of(document, item)["properties"]:
            part = schema_of(document, item)
            yield Chapter(name, one.get("description", ""), fields=list(fields(document, part)))


def kind_of(schema: Json, document: Json | None = None) -> str:
    """Say in a few words what a value can be."""
    if "$ref" in schema:
        return (
            kind_of(schema_of(document, schema), document)
            if document
            else schema["$ref"].removeprefix(SCHEMAS)
        )
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            kinds = [kind_of(one) for one in schema[several]]
            return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return ", ".join(str(value) for value in schema["enum"] if value is not None)
    if schema.get("type") == "array":
        return f"list of {kind_of(schema.get('items', {}))}"
    kinds = schema.get("type", "any")
    kind = " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    return f"{kind}, {schema['format']}" if "format" in schema else kind


# As the demo answers, which stands at the usual address.
DEMO_URL = "http://127.0.0.1:8000"


@require_safe
def docs_page(request: HttpRequest) -> HttpResponse:
    """Show how the API is asked, with examples, and every resource."""
    context = {
        "chapters": all_chapters(),
        "examples": examples(),
        "writing": writing_examples(),
        "statuses": sorted(CODES.items()),
        "site_url": settings.SITE_URL,
        "usual": USUAL,
        "most": MOST,
        "most_expanded": MAX_EXPANDED_ROWS,
        "limit": settings.API_REQUESTS_PER_MINUTE,
        "limit_of_token": settings.API_REQUESTS_PER_MINUTE_AND_TOKEN,
    }
    return render(request, "api/docs.html", context)


@cache
def all_chapters() -> list[Chapter]:
    return chapters(schema())


def _listed(file: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((Path(__file__).parent / file).read_text("utf-8"))
    return found


def writing_examples() -> list[dict[str, Any]]:
    """Return a few changes of the demo, one after the other, each with the commands that make it."""
    found = _listed("examples-writing.json")
    for one in found:
        one["command"] = _change(one)
    return found


def _change(one: dict[str, Any]) -> str:
    """Return the command that makes a change: of what is there already, with the version that was read."""
    sent = [f"curl -X {one['method']}", '-H "Authorization: Bearer $TOKEN"', f"'{DEMO_URL}{one['path']}'"]
    lines = []
    if one["method"] != "POST":
        read = f"curl -sI -X GET -H \"Authorization: Bearer $TOKEN\" '{DEMO_URL}{one['path']}'"
        lines = [f"ETAG=$({read} | sed -n 's/^etag: //Ip' | tr -d '\\r')"]
        sent.insert(2, '-H "If-Match: $ETAG"')
    if one["body"] is not None:
        body = json.dumps(one["body"], ensure_ascii=False, indent=1)
        sent = [*sent[:-1], "-H 'Content-Type: application/json'", sent[-1], f"-d '{body}'"]
    return "\n".join([*lines, " \\\n  ".join(sent)])


def examples() -> list[dict[str, Any]]:
    """Return what the demo answers to a few questions, each with the command that asks it."""
    found = _listed("examples.json")
    for one in found:
        one["command"] = f"curl '{DEMO_URL}{one['path']}'"
        one["text"] = json.dumps(one["answer"], indent=2, ensure_ascii=False)
    return found
