"""Tests of parity: each field of the content models is exported to files, or exempt for a stated reason.

A format carries a field if its file differs once the field is unstated.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from content.models import Content
from exchange.files import Format
from exchange.formats import formats, writable
from exchange.formats.program_json import LIST_RECORDS
from exchange.imports.kinds import KINDS, Kind, Listing
from exchange.records import UNSTATED, Program, Record, stated
from tests.exchange.formats.test_citations import CONTEXT
from tests.exchange.programs import START, complete_program, complete_session, complete_talk

DOCS = (Path(__file__).parents[2] / "docs" / "formats.md").read_text("utf-8")
COMPLETE = ("program_json", "tables", "xlsx")
PICTURE = "a file of this site, which no single text file can hold; it is put up again by hand"
REGISTRY = "it lies in a list of the person's own in `PersonRecord`"
DESK = "it says what the chairs of this site decided about two rows that no file tells apart"
# Content models that are neither a kind of record nor a list in one.
EXEMPT_MODELS = {
    "schedule.SessionKind": (
        "`session_kinds` and `presentation_kinds` carry it; it belongs to a conference, so an import adds it"
        " and changes none"
    ),
    "people.PersonName": REGISTRY,
    "people.PersonIdentifier": REGISTRY,
    "people.PersonDistinction": DESK,
    "people.InstitutionDistinction": DESK,
    "schedule.Release": (
        "it says what this site announced when, compared with what it showed then: a record of what happened,"
        " like history, and nothing that another site could claim; pages, feeds and the API tell it"
    ),
}
EXEMPT_FIELDS = {
    "conference.Conference.logo": PICTURE,
    "conference.Edition.hero": PICTURE,
    "conference.Edition.logo": PICTURE,
    "conference.Edition.venue_picture": PICTURE,
    "conference.Edition.revision": "it counts the changes made here",
    "conference.Edition.changed_at": "it stamps the changes made here",
    "conference.Sponsor.logo": PICTURE,
    "people.Person.photo": PICTURE,
    "people.Person.email": "addresses of people never travel",
    "people.Institution.merged_into": "what is merged is not there any more; files name the one that stays",
    "people.Person.merged_into": "who is merged is not there any more; files name the one that stays",
    "papers.Paper.teaser": PICTURE,
    "papers.Paper.thumbnail": "it is made of the teaser or of a PDF",
    "papers.Paper.announced_at": "it says since when this site has shown the paper, and belongs to releases",
}
# Fields of list rows that records express in another way.
SAID_OTHERWISE = {
    "conference.MenuItem.position": "order of the list",
    "conference.MenuItem.parent": "nesting",
    "papers.Authorship.institutions": "slugs",
}


def full() -> Program:
    """Return a program in which every field has a visible value, with canceled sessions."""
    off = {"status": "cancelled", "cancellation_reason": "Ill."}
    links: dict[str, Any] = {
        "stream_url": "https://s.test/",
        "chat_url": "https://c.test/",
        "abstract": "About.",
    }
    talk = complete_talk("x3", kind="talk", title="Own", session="w", abstract="Mine.", **off)
    timed = replace(talk, start=START, end=START.replace(minute=59), recording_url="https://v.test/")
    made = complete_program()
    speakers = stated(made.presentations[1].speakers, ())
    alone = complete_session("off", "panel", speakers[0].person, **off)
    sessions = [replace(one, **links) for one in (*made.sessions, alone)]
    talks = (*made.presentations, replace(timed, speakers=speakers))
    papers = tuple(replace(one, status="withdrawn") for one in made.papers)
    return replace(made, sessions=tuple(sessions), presentations=talks, papers=papers)


def stored(model: type[Content]) -> set[str]:
    own = {field.name for field in [*model._meta.fields, *model._meta.many_to_many]}
    return own - {"id", *model.derived_fields}


def uncarried() -> Iterator[str]:
    """Yield the model fields that no record has, as "app.Model.field"."""
    listings: list[tuple[Kind, Listing]] = [(kind, one) for kind in KINDS.values() for one in kind.listings]
    for kind in KINDS.values():
        edition = {"edition"} if kind.is_in_edition else set()
        missing = stored(kind.model) - {kind.key, *kind.plain_fields, *kind.references} - edition
        yield from (f"{kind.model._meta.label}.{name}" for name in missing)
    for _kind, listing in listings:
        columns = {path.partition("__")[0].removesuffix("_id") for path in listing.columns.values()}
        missing = stored(listing.model) - columns - {listing.owner, "position"}
        yield from (f"{listing.model._meta.label}.{name}" for name in missing)


def test_every_field_of_content_travels_or_is_exempt_with_its_reason() -> None:
    assert {*uncarried()} - SAID_OTHERWISE.keys() == EXEMPT_FIELDS.keys()
    assert all([*EXEMPT_FIELDS.values(), *EXEMPT_MODELS.values()])


def test_every_model_of_content_travels_or_is_exempt_with_its_reason() -> None:
    models = {kind.model for kind in KINDS.values()}
    models |= {listing.model for kind in KINDS.values() for listing in kind.listings}
    labels = {model._meta.label for model in apps.get_models() if issubclass(model, Content)}

    assert labels - {model._meta.label for model in models} == EXEMPT_MODELS.keys()


def test_fields_of_records_are_those_of_the_program_json() -> None:
    made = json.loads(files(formats()["program_json"], full())[0][1])
    for kind in KINDS.values():
        rows = made[kind.plural] if kind.plural else [made[kind.name]]
        written = {name for row in rows for name in row}

        assert written >= {kind.key, *kind.fields}, kind.name
    lists = {kind.plural for kind in KINDS.values()} - {""}
    assert {*LIST_RECORDS} == lists | {"session_kinds", "presentation_kinds"}


def files(fmt: Format, made: Program) -> list[tuple[str, bytes]]:
    assert fmt.write
    return [(file.name, b"".join(file.chunks)) for file in fmt.write(made, CONTEXT)]


def optional(record: type[Record]) -> list[str]:
    return [field.name for field in fields(record) if field.default is UNSTATED]


def without(made: Program, kind: Kind, name: str) -> Program:
    left: Any = {name: UNSTATED}
    part = kind.plural or kind.name
    rows = getattr(made, part)
    changed: Any = tuple(replace(row, **left) for row in rows) if kind.plural else replace(rows, **left)
    parts: Any = {part: changed}
    return replace(made, **parts)


@cache
def carried(name: str) -> str:
    """Describe the fields that a format carries, in the words of the documentation."""
    fmt, made = writable()[name], full()
    whole, said = files(fmt, made), []
    for kind in KINDS.values():
        names = optional(kind.record)
        found = [one for one in names if files(fmt, without(made, kind, one)) != whole]
        missing = [one for one in names if one not in found]
        short = f"all but {', '.join(missing)}" if missing else "all"
        if found:
            said.append(f"{kind.name}: {short if len(missing) < len(found) else ', '.join(found)}")
    return "; ".join(said)


@pytest.mark.parametrize("name", sorted(writable()))
def test_trap_5_unchanged_program_gives_the_same_bytes(name: str) -> None:
    first, again = (files(writable()[name], full()) for _ in range(2))

    assert first == again
    assert all(content for _, content in first)


@pytest.mark.parametrize("name", sorted(writable()))
def test_parity_of_formats_is_as_documented(name: str) -> None:
    whole = "; ".join(f"{kind}: all" for kind in KINDS)
    said = carried(name)

    assert (said == whole) == (name in COMPLETE)
    rows = [line.split(" | ") for line in DOCS.splitlines() if re.match(r"\| `\w+`.* \| .* \|$", line)]
    assert ("everything" if name in COMPLETE else said) in [
        cells[1].removesuffix(" |") for cells in rows if f"`{name}`" in cells[0]
    ]
