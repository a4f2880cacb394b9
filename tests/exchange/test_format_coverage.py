"""Tests of the fields in files: each field of the content models is exported, or exempt with a reason.

A format covers a field if its file changes when the field is unstated.
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

from content.changed.dated import is_dated
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
PICTURE = "it is a file, which a text file cannot contain; it is uploaded again by hand"
WAITS = "what waits for a release is not public, and files hold what is"
PART_OF_PERSON = "`PersonRecord` has a list of them"
CHAIR_DECISION = "it is a decision of the chairs of this site about two rows, which no file distinguishes"
# Content models that are neither a kind of record nor a list in one.
EXEMPT_MODELS = {
    "schedule.SessionKind": (
        "`session_kinds` and `presentation_kinds` contain it; it belongs to a conference, so an import adds"
        " kinds but changes none"
    ),
    "people.PersonName": PART_OF_PERSON,
    "people.PersonIdentifier": PART_OF_PERSON,
    "people.PersonDistinction": CHAIR_DECISION,
    "people.InstitutionDistinction": CHAIR_DECISION,
    "schedule.UnreleasedChange": WAITS,
    "schedule.Release": (
        "it records what this site announced and when, like history, so it is not true of another site;"
        " pages, feeds and the API show it"
    ),
}
EXEMPT_FIELDS = {
    "conference.Conference.logo": PICTURE,
    "conference.Edition.hero": PICTURE,
    "conference.Edition.logo": PICTURE,
    "conference.Edition.venue_picture": PICTURE,
    "conference.Edition.revision": "it counts the changes on this site",
    "conference.Edition.changed_at": "it is the time of the last change on this site",
    "conference.Sponsor.logo": PICTURE,
    **{
        f"{model._meta.label}.{column}": "it tells when the row came or changed on this site"
        for model in apps.get_models()
        if is_dated(model)
        for column in model.date_columns()
        if model._meta.label not in EXEMPT_MODELS
    },
    "people.Person.photo": PICTURE,
    "people.Person.email": "email addresses of people are never exported",
    "people.Institution.merged_into": "merged institutions are not exported; files name the remaining one",
    "people.Person.merged_into": "merged people are not exported; files name the remaining one",
    "papers.Paper.teaser": PICTURE,
    "papers.Paper.thumbnail": "it is generated from the teaser or a PDF",
    "papers.Paper.on_release": WAITS,
    "schedule.Presentation.on_release": WAITS,
    "schedule.Session.on_release": WAITS,
    "schedule.SessionRole.on_release": WAITS,
    "schedule.Speaker.on_release": WAITS,
    "papers.Paper.announced_at": "it is when this site first showed the paper; it belongs to releases",
}
# Fields of list rows that records express in another way, and the way.
EXPRESSED_OTHERWISE = {
    "conference.MenuItem.position": "order of the list",
    "conference.MenuItem.parent": "nesting",
    "papers.Authorship.institutions": "slugs",
}


def full_program() -> Program:
    """Return a program in which every field has a visible value, with canceled sessions."""
    canceled = {"status": "cancelled", "cancellation_reason": "Ill."}
    links: dict[str, Any] = {
        "stream_url": "https://s.test/",
        "chat_url": "https://c.test/",
        "abstract": "About.",
    }
    canceled_talk = complete_talk("x3", kind="talk", title="Own", session="w", abstract="Mine.", **canceled)
    timed_talk = replace(
        canceled_talk, start=START, end=START.replace(minute=59), recording_url="https://v.test/"
    )
    base = complete_program()
    speakers = stated(base.presentations[1].speakers, ())
    canceled_session = complete_session("off", "panel", speakers[0].person, **canceled)
    sessions = [replace(record, **links) for record in (*base.sessions, canceled_session)]
    talks = (*base.presentations, replace(timed_talk, speakers=speakers))
    papers = tuple(replace(record, status="withdrawn") for record in base.papers)
    return replace(base, sessions=tuple(sessions), presentations=talks, papers=papers)


def stored_fields(model: type[Content]) -> set[str]:
    names = {field.name for field in [*model._meta.fields, *model._meta.many_to_many]}
    return names - {"id", *model.derived_fields}


def missing_fields() -> Iterator[str]:
    """Yield the model fields that no record has, as "app.Model.field"."""
    listings: list[tuple[Kind, Listing]] = [
        (kind, listing) for kind in KINDS.values() for listing in kind.listings
    ]
    for kind in KINDS.values():
        edition = {"edition"} if kind.is_in_edition else set()
        missing = stored_fields(kind.model) - {kind.key, *kind.plain_fields, *kind.references} - edition
        yield from (f"{kind.model._meta.label}.{name}" for name in missing)
    for _kind, listing in listings:
        columns = {path.partition("__")[0].removesuffix("_id") for path in listing.columns.values()}
        missing = stored_fields(listing.model) - columns - {listing.owner, "position"}
        yield from (f"{listing.model._meta.label}.{name}" for name in missing)


def test_every_content_field_is_exported_or_exempt_with_a_reason() -> None:
    assert {*missing_fields()} - EXPRESSED_OTHERWISE.keys() == EXEMPT_FIELDS.keys()
    assert all([*EXEMPT_FIELDS.values(), *EXEMPT_MODELS.values()])


def test_every_content_model_is_exported_or_exempt_with_a_reason() -> None:
    models = {kind.model for kind in KINDS.values()}
    models |= {listing.model for kind in KINDS.values() for listing in kind.listings}
    labels = {model._meta.label for model in apps.get_models() if issubclass(model, Content)}

    assert labels - {model._meta.label for model in models} == EXEMPT_MODELS.keys()


def test_program_json_has_every_field_of_each_record() -> None:
    data = json.loads(written_files(formats()["program_json"], full_program())[0][1])
    for kind in KINDS.values():
        rows = data[kind.plural] if kind.plural else [data[kind.name]]
        exported_names = {name for row in rows for name in row}

        assert exported_names >= {kind.key, *kind.fields}, kind.name
    lists = {kind.plural for kind in KINDS.values()} - {""}
    assert {*LIST_RECORDS} == lists | {"session_kinds", "presentation_kinds"}


def written_files(fmt: Format, program: Program) -> list[tuple[str, bytes]]:
    assert fmt.write
    return [(file.name, b"".join(file.chunks)) for file in fmt.write(program, CONTEXT)]


def optional_fields(record: type[Record]) -> list[str]:
    return [field.name for field in fields(record) if field.default is UNSTATED]


def without_field(program: Program, kind: Kind, name: str) -> Program:
    unstated: Any = {name: UNSTATED}
    part = kind.plural or kind.name
    rows = getattr(program, part)
    new_rows: Any = (
        tuple(replace(row, **unstated) for row in rows) if kind.plural else replace(rows, **unstated)
    )
    parts: Any = {part: new_rows}
    return replace(program, **parts)


@cache
def coverage(name: str) -> str:
    """Describe the fields that a format covers, as docs/formats.md does."""
    fmt, program = writable()[name], full_program()
    expected, parts = written_files(fmt, program), []
    for kind in KINDS.values():
        names = optional_fields(kind.record)
        covered = [
            name for name in names if written_files(fmt, without_field(program, kind, name)) != expected
        ]
        missing = [name for name in names if name not in covered]
        text = f"all but {', '.join(missing)}" if missing else "all"
        if covered:
            parts.append(f"{kind.name}: {text if len(missing) < len(covered) else ', '.join(covered)}")
    return "; ".join(parts)


@pytest.mark.parametrize("name", sorted(writable()))
def test_trap_5_unchanged_program_gives_the_same_bytes(name: str) -> None:
    first, second = (written_files(writable()[name], full_program()) for _ in range(2))

    assert first == second
    assert all(content for _, content in first)


@pytest.mark.parametrize("name", sorted(writable()))
def test_coverage_of_formats_is_as_documented(name: str) -> None:
    everything = "; ".join(f"{kind}: all" for kind in KINDS)
    covered = coverage(name)

    assert (covered == everything) == (name in COMPLETE)
    rows = [line.split(" | ") for line in DOCS.splitlines() if re.match(r"\| `\w+`.* \| .* \|$", line)]
    assert ("everything" if name in COMPLETE else covered) in [
        cells[1].removesuffix(" |") for cells in rows if f"`{name}`" in cells[0]
    ]
