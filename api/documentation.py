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
from api.schema import CODES, Json, schema
from api.shapes import Resource, list_url

# The address of the demo site, used in examples.
DEMO_URL = "http://127.0.0.1:8000"


@cache
def chapters() -> list[Json]:
    return [chapter(schema(), resource) for _name, resource in sorted(RESOURCES.items())]


def chapter(document: Json, resource: Resource) -> Json:
    """Return the template context of a resource: addresses, parameters, fields, and fields of its parts."""
    root = list_url(resource.name).removeprefix(settings.SITE_URL)
    schemas, list_operation = document["components"]["schemas"], document["paths"][root]["get"]
    return {
        "name": resource.name,
        "text": list_operation["summary"],
        "addresses": [path for path in document["paths"] if path.startswith(root)],
        "parameters": [
            describe_field(parameter["name"], parameter["schema"], parameter["description"])
            for parameter in list_operation["parameters"]
        ],
        "fields": list(describe_fields(schemas[resource.title])),
        "parts": [
            (name, list(describe_fields(schemas[relation.resource.title])))
            for name, relation in resource.to_many.items()
            if relation.is_part
        ],
        # The fields of a body that creates a row; empty if rows are created only in the admin.
        "written": list(describe_fields(schemas.get(f"{resource.title}Body", {}), gettext("needed"))),
    }


def describe_fields(object_schema: Json, required: str = "") -> Iterator[Json]:
    """Yield the properties of an object schema; the text `required` is appended to the required ones."""
    for name, property_schema in object_schema.get("properties", {}).items():
        is_marked = required and name in object_schema.get("required", ())
        description = property_schema.get("description", "")
        yield describe_field(name, property_schema, description, f"; {required}" if is_marked else "")


def describe_field(name: str, schema: Json, description: str, suffix: str = "") -> Json:
    return {"name": name, "values": describe_schema(schema) + suffix, "text": description}


def describe_schema(value_schema: Json) -> str:
    """Return a short text about the values that a schema allows."""
    match value_schema:
        case {"$ref": reference}:
            return str(reference).rpartition("/")[2]
        case {"anyOf": schemas}:
            return " or ".join(dict.fromkeys(describe_schema(alternative) for alternative in schemas))
        case {"enum": values}:
            return ", ".join(values)
        case {"type": "array", "items": items}:
            return f"list of {describe_schema(items)}"
    types = value_schema["type"]
    text = " or ".join(types) if isinstance(types, list) else str(types)
    return f"{text}, {value_schema['format']}" if "format" in value_schema else text


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
    examples: list[Json] = json.loads((Path(__file__).parent / file).read_text("utf-8"))
    return examples


def reading_examples() -> list[Json]:
    """Return the demo's responses to a few requests, each with the command that sends it."""
    examples = read_examples("examples.json")
    for example in examples:
        example["command"] = f"curl '{DEMO_URL}{example['path']}'"
        example["text"] = json.dumps(example["answer"], indent=2, ensure_ascii=False)
    return examples


def writing_examples() -> list[Json]:
    """Return a sequence of changes of the demo, each with the commands that make it."""
    return [
        {**example, "command": change_command(example)} for example in read_examples("examples-writing.json")
    ]


def change_command(example: Json) -> str:
    """Return the shell commands of a change; all but POST first read the ETag and send it as If-Match."""
    url = f"'{DEMO_URL}{example['path']}'"
    command = [f"curl -X {example['method']}", '-H "Authorization: Bearer $TOKEN"', url]
    lines = []
    if example["method"] != "POST":
        read_command = f'curl -sI -X GET -H "Authorization: Bearer $TOKEN" {url}'
        lines = [f"ETAG=$({read_command} | sed -n 's/^etag: //Ip' | tr -d '\\r')"]
        command.insert(2, '-H "If-Match: $ETAG"')
    if example["body"] is not None:
        body = json.dumps(example["body"], ensure_ascii=False, indent=1)
        command = [*command[:-1], "-H 'Content-Type: application/json'", url, f"-d '{body}'"]
    return "\n".join([*lines, " \\\n  ".join(command)])
