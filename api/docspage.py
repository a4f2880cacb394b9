"""The page that describes the API to people, made from the description for programs."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from api.handbook import Chapter, chapters
from api.pagination import MAX_EXPANDED_ROWS, MOST, USUAL
from api.schema import schema
from api.writing.schema import CODES

# As the demo answers, which stands at the usual address.
DEMO_URL = "http://127.0.0.1:8000"


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
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
