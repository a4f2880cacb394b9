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
from api.pagination import MOST, MOST_EXPANDED, USUAL
from api.schema import schema

# As the demo answers, which stands at the usual address.
DEMO_URL = "http://127.0.0.1:8000"


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Show how the API is asked, with examples, and every resource."""
    context = {
        "chapters": all_chapters(),
        "examples": examples(),
        "site_url": settings.SITE_URL,
        "usual": USUAL,
        "most": MOST,
        "most_expanded": MOST_EXPANDED,
        "limit": settings.API_REQUESTS_PER_MINUTE,
        "limit_of_token": settings.API_REQUESTS_PER_MINUTE_AND_TOKEN,
    }
    return render(request, "api/docs.html", context)


@cache
def all_chapters() -> list[Chapter]:
    return chapters(schema())


def examples() -> list[dict[str, Any]]:
    """Return what the demo answers to a few questions, each with the command that asks it."""
    text = (Path(__file__).parent / "examples.json").read_text("utf-8")
    found: list[dict[str, Any]] = json.loads(text)
    for one in found:
        one["command"] = f"curl '{DEMO_URL}{one['path']}'"
        one["text"] = json.dumps(one["answer"], indent=2, ensure_ascii=False)
    return found
