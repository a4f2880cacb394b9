"""Tests of files that cannot be loaded: all problems have file, row and field; the database is unchanged."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError

from conference.models import Conference, Edition
from exchange.imports import writing
from exchange.imports.load import load
from exchange.problems import ProgramError, Where
from exchange.records import (
    UNSTATED,
    AwardRecord,
    GrantRecord,
    InstitutionRecord,
    MaterialRecord,
    MenuRecord,
    Program,
    RoomRecord,
    SponsorRecord,
    TopicRecord,
)
from tests.exchange.programs import (
    HOUR,
    START,
    author,
    edition,
    paper,
    program,
    program_with_papers,
    session,
    talk,
)

pytestmark = pytest.mark.django_db
LABELS = ("conference", "people", "papers", "schedule", "exchange")


def all_rows() -> dict[str, list[Any]]:
    models = [model for label in LABELS for model in apps.get_app_config(label).get_models()]
    return {model._meta.label: list(model._base_manager.order_by("pk").values()) for model in models}


def problems_of(bad_program: Program) -> list[str]:
    with pytest.raises(ProgramError) as error:
        load(bad_program, "2021")
    # Records created in Python may have no source location.
    return [str(problem).removeprefix(", ") for problem in error.value.problems]


def no_such(kind: str, key: str, hint: str = "") -> str:
    return f"There is no {kind} “{key}” in this file or in edition 2021.{hint} Correct it, or add the {kind}."


@pytest.mark.parametrize(
    ("bad_program", "expected"),
    [
        (
            program(paper("p1", topic="x", where=Where("papers.csv", "row 12"))),
            [f"papers.csv, row 12, topic: {no_such('topic', 'x')}"],
        ),
        (
            program(sessions=(session("s", room="r", parent="w"),)),
            [
                f"program.json, sessions (s), room: {no_such('room', 'r')}",
                f"program.json, sessions (s), parent: {no_such('session', 'w')}",
            ],
        ),
        (
            program(paper("p1"), presentations=(talk("t", paper="p11"),)),
            [f"program.json, presentations (t), paper: {no_such('paper', 'p11', ' Did you mean "p1"?')}"],
        ),
        (program(paper("p1", title="")), ["program.json, papers (p1), title: The title is missing. Add it."]),
        (
            program(paper("p1", status="out")),
            ["program.json, papers (p1), status: “out” is not one of draft, published, withdrawn."],
        ),
        (
            program(sessions=(session("s", end=START - HOUR),)),
            ["program.json, sessions (s), end: The end is before the start."],
        ),
        (
            program(edition=edition(timezone="Mars/Base")),
            [
                (
                    "timezone: “Mars/Base” is not a time zone. "
                    "Use a name such as Europe/Berlin, Asia/Seoul or America/New_York."
                )
            ],
        ),
        (
            program(paper("p1"), paper("p1")),
            [
                (
                    "program.json, papers (p1), uid: “p1”: Another paper is the same: "
                    "program.json, papers (p1). Keep one of them."
                )
            ],
        ),
        (
            program(paper("p1", materials=(MaterialRecord(kind="pdf", url="javascript:x"),))),
            ["program.json, papers (p1), materials[0].url: Enter a valid URL."],
        ),
        (
            program(paper("p1", author("Ada Lovelace", "ada", institutions=("mit",)))),
            [f"program.json, papers (p1), authors[0]: {no_such('institution', 'mit')}"],
        ),
        (
            program(
                awards=(AwardRecord(uid="a", name="A", grants=(GrantRecord(paper="x", edition="2011"),)),)
            ),
            ["grants[0]: There is no paper “x” in edition “2011”. Import that edition first."],
        ),
        (
            program(
                topics=(
                    TopicRecord(slug="a", name="A", parent="b"),
                    TopicRecord(slug="b", name="B", parent="a"),
                )
            ),
            ["parent: A topic can’t be its own parent. Correct the parent."] * 2,
        ),
        (
            program(sessions=(session("a"), session("b", parent="a"), session("c", parent="b"))),
            [
                (
                    "program.json, sessions (c), parent: Sessions have two levels: "
                    "choose one that isn’t part of another session."
                )
            ],
        ),
        (
            program(edition=edition(menu=(MenuRecord(label="X", kind="section", target="paper"),))),
            ['menu[0]: There is no section “paper” of the site. Did you mean "papers"?'],
        ),
        (
            program(
                institutions=(
                    InstitutionRecord(slug="a", name="A", ror="https://ror.org/1"),
                    InstitutionRecord(slug="b", name="B", ror="https://ror.org/1"),
                )
            ),
            ["ror: “https://ror.org/1” belongs to A too ()."],
        ),
        (
            program(rooms=(RoomRecord(slug="a", name="A", capacity=-1),)),
            ["capacity: Ensure this value is greater than or equal to 0."],
        ),
        (program(sponsors=(SponsorRecord(slug="a", position=1),)), ["name: The name is missing. Add it."]),
    ],
)
def test_problem_is_reported_with_place_and_field(bad_program: Program, expected: Sequence[str]) -> None:
    rows_before = all_rows()

    assert problems_of(bad_program) == expected
    assert all_rows() == rows_before


def test_all_problems_are_reported_at_once_up_to_fifty() -> None:
    problems = problems_of(program(*(paper(f"p{n}", title="") for n in range(60))))

    assert len(problems) == 51
    assert problems[-1] == "There are 10 more problems."


def test_bad_row_leaves_the_database_unchanged() -> None:
    load(program_with_papers(3), "2021")
    rows_before = all_rows()
    larger = program_with_papers(6)
    papers = [replace(record, title=f"New {record.uid}") for record in larger.papers]

    problems_of(replace(larger, papers=(*papers[:-1], replace(papers[-1], topic="nowhere"))))

    assert all_rows() == rows_before


def test_failure_while_writing_leaves_the_database_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    load(program_with_papers(3), "2021")
    rows_before = all_rows()

    def fail(*args: object) -> None:
        raise IntegrityError("late")

    monkeypatch.setattr(writing, "_write_provenance", fail)
    problems = problems_of(program_with_papers(6))

    assert all_rows() == rows_before
    assert problems[0].startswith("The database refused the program")


def test_session_may_not_be_moved_below_its_own_part() -> None:
    load(program(sessions=(session("w"), session("x", parent="w"))), "2021")

    assert problems_of(Program(sessions=(session("w", parent="x"),))) == [
        "program.json, sessions (w), parent: A session can’t be its own parent. Correct the parent."
    ]


def test_topics_have_at_most_four_levels() -> None:
    topics = [
        TopicRecord(slug=slug, name=slug, parent=parent) for slug, parent in zip("bcde", "abcd", strict=True)
    ]

    assert problems_of(program(topics=(TopicRecord(slug="a", name="a"), *topics))) == [
        "parent: Topics have at most 4 levels. Choose a higher parent."
    ]


def test_session_with_parts_may_not_become_a_part() -> None:
    load(program(sessions=(session("w"), session("x", parent="w"), session("y", status="draft"))), "2021")

    assert problems_of(Program(sessions=(session("w", parent="y"),))) == [
        (
            "program.json, sessions (w), parent: Sessions have two levels, and this one already has parts. "
            "Leave its parent empty."
        )
    ]


def test_end_before_start_of_an_existing_session_is_refused() -> None:
    load(program(sessions=(session("s"),)), "2021")

    assert problems_of(
        Program(sessions=(replace(session("s"), start=START + timedelta(days=1), end=START),))
    ) == ["program.json, sessions (s), end: The end is before the start."]


def test_new_edition_must_name_its_conference_unless_there_is_only_one() -> None:
    program_without_conference = program(conference=None, edition=edition(conference=UNSTATED))
    first_problems = problems_of(program_without_conference)
    load(program(), "2021")
    load(program(conference=None, edition=edition(slug="2022", year=2022, conference=UNSTATED)), "2022")
    bad_program = {edition_row.slug: edition_row.conference.slug for edition_row in Edition.objects.all()}
    Conference.objects.create(slug="icml", name="ICML")

    message = "The file does not say which conference the edition belongs to. Add it."
    assert bad_program == {"2021": "mlsys", "2022": "mlsys"}
    assert first_problems == [f"conference: {message}"]
    with pytest.raises(ProgramError, match=message):
        load(program(conference=None, edition=edition(slug="2023", conference=UNSTATED)), "2023")


def test_unknown_conference_is_refused() -> None:
    problems = problems_of(program(conference=None, edition=edition(conference="nips")))

    assert problems == ["conference: There is no conference “nips” in this file or here. Add it to the file."]
