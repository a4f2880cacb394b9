"""Helpers that read the demo's source files as plain JSON."""

import json
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from django.core.management import call_command

type Json = dict[str, Any]

DEMO = Path(__file__).parents[2] / "demo"
YEARS = (2021, 2022, 2023)
LISTS = (
    "institutions", "people", "pages", "sponsors", "announcements", "topics", "rooms", "papers", "awards",
    "sessions", "presentations",
)  # fmt: skip


@cache
def program(year: int) -> Json:
    """Return one year's program. The result is cached, so do not change it."""
    content: Json = json.loads((DEMO / f"mlsys-{year}.json").read_text(encoding="utf-8"))
    return content


def import_demo(*years: int) -> None:
    """Import these years of the demo, or all."""
    for year in years or YEARS:
        path = DEMO / f"mlsys-{year}.json"
        call_command("import_program", "program_json", str(path), edition=str(year), verbosity=0)


def by_key(year: int, kind: str) -> dict[str, Json]:
    """Return the records of one kind by uid or slug."""
    return {row.get("uid") or row["slug"]: row for row in program(year)[kind]}


def author_names(paper: Json) -> list[str]:
    """Return the authors of a paper as printed, in order."""
    return [author["person"]["name"] for author in paper["authors"]]


def person_references(year: int) -> Iterator[Json]:
    """Yield the references to people: authors of papers, and roles in sessions."""
    for paper in program(year)["papers"]:
        yield from (author["person"] for author in paper["authors"])
    for session in program(year)["sessions"]:
        yield from (role["person"] for role in session.get("roles", []))


def pages_in(menu: list[Json]) -> Iterator[str]:
    """Yield the slugs of the pages in a menu, at any level."""
    for entry in menu:
        if entry["kind"] == "page":
            yield entry["target"]
        yield from pages_in(entry.get("children", []))


def span(row: Json, session: Json | None = None) -> tuple[datetime, datetime]:
    """Return start and end of a session, or of a presentation, whose times may be its session's."""
    row_with_times = row if "start" in row or session is None else session
    return datetime.fromisoformat(row_with_times["start"]), datetime.fromisoformat(row_with_times["end"])
