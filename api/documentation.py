"""The documentation page of the API, made from the OpenAPI document."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from api.pagination import MAX_EXPANDED_ROWS, MAX_PAGE_SIZE, PAGE_SIZE
from api.resources import RESOURCES
from api.schema import CODES, Json, parts_of, schema
from api.shapes import Resource, list_url

# The address of the demo site, used in examples.
DEMO_URL = "http://127.0.0.1:8000"


@cache
def chapters() -> list[Json]:
    return [chapter(schema(), resource) for _name, resource in sorted(RESOURCES.items())]


def chapter(document: Json, resource: Resource) -> Json:
    """Return the template context of a resource: addresses, parameters, fields, and fields of its parts."""
    root = list_url(resource.name).removeprefix(settings.SITE_URL)
    schemas, reading = document["components"]["schemas"], document["paths"][root]["get"]
    names = [name for name, many in resource.manys.items() if many.is_part]
    parts = [list(describe_fields(schemas[part.title])) for part in parts_of(resource)]
    return {
        "name": resource.name,
        "text": reading["summary"],
        "addresses": [path for path in document["paths"] if path.startswith(root)],
        "parameters": [describe_field(one["name"], one["schema"], one) for one in reading["parameters"]],
        "fields": list(describe_fields(schemas[resource.title])),
        "parts": list(zip(names, parts, strict=True)),
        # The fields of a body that creates a row; empty if rows are created only in the admin.
        "written": list(describe_fields(schemas.get(f"{resource.title}Body", {}), gettext("needed"))),
    }


def describe_fields(described: Json, required: str = "") -> Iterator[Json]:
    """Yield the properties of an object schema; the text `required` is appended to the required ones."""
    for name, one in described.get("properties", {}).items():
        is_marked = required and name in described.get("required", ())
        yield describe_field(name, one, one, f"; {required}" if is_marked else "")


def describe_field(name: str, values: Json, described: Json, mark: str = "") -> Json:
    return {"name": name, "values": describe_schema(values) + mark, "text": described.get("description", "")}


def describe_schema(described: Json) -> str:
    """Return a short text about the values that a schema allows."""
    match described:
        case {"$ref": reference}:
            return str(reference).rpartition("/")[2]
        case {"anyOf": schemas}:
            return " or ".join(dict.fromkeys(describe_schema(one) for one in schemas))
        case {"enum": values}:
            return ", ".join(values)
        case {"type": "array", "items": items}:
            return f"list of {describe_schema(items)}"
    types = described["type"]
    words = " or ".join(types) if isinstance(types, list) else str(types)
    return f"{words}, {described['format']}" if "format" in described else words


@require_safe
def docs_page(request: HttpRequest) -> HttpResponse:
    """Show how to use the API, with examples, and all resources."""
    context = {
        "chapters": chapters(),
        "examples": reading_examples(),
        "writing": writing_examples(),
        "statuses": sorted(CODES.items()),
        "site_url": settings.SITE_URL,
        "usual": PAGE_SIZE,
        "most": MAX_PAGE_SIZE,
        "most_expanded": MAX_EXPANDED_ROWS,
        "limit": settings.API_REQUESTS_PER_MINUTE,
        "limit_of_token": settings.API_REQUESTS_PER_MINUTE_AND_TOKEN,
    }
    return render(request, "api/docs.html", context)


def read_examples(file: str) -> list[Json]:
    found: list[Json] = json.loads((Path(__file__).parent / file).read_text("utf-8"))
    return found


def reading_examples() -> list[Json]:
    """Return the demo's responses to a few requests, each with the command that sends it."""
    found = read_examples("examples.json")
    for one in found:
        one["command"] = f"curl '{DEMO_URL}{one['path']}'"
        one["text"] = json.dumps(one["answer"], indent=2, ensure_ascii=False)
    return found


def writing_examples() -> list[Json]:
    """Return a sequence of changes of the demo, each with the commands that make it."""
    return [{**one, "command": change_command(one)} for one in read_examples("examples-writing.json")]


def change_command(one: Json) -> str:
    """Return the shell commands of a change; all but POST first read the ETag and send it as If-Match."""
    url = f"'{DEMO_URL}{one['path']}'"
    sent = [f"curl -X {one['method']}", '-H "Authorization: Bearer $TOKEN"', url]
    lines = []
    if one["method"] != "POST":
        read = f'curl -sI -X GET -H "Authorization: Bearer $TOKEN" {url}'
        lines = [f"ETAG=$({read} | sed -n 's/^etag: //Ip' | tr -d '\\r')"]
        sent.insert(2, '-H "If-Match: $ETAG"')
    if one["body"] is not None:
        body = json.dumps(one["body"], ensure_ascii=False, indent=1)
        sent = [*sent[:-1], "-H 'Content-Type: application/json'", url, f"-d '{body}'"]
    return "\n".join([*lines, " \\\n  ".join(sent)])
