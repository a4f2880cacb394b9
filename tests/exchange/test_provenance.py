"""Tests of the three-way merge: all combinations of base, ours and theirs; the stored base values."""

from datetime import UTC, datetime
from typing import Any

import pytest

from conference.models import Edition
from exchange.imports.kinds import KINDS
from exchange.imports.load import load
from exchange.imports.merge import (
    FieldConflict,
    Merge,
    Successors,
    imported_rows,
    load_last_imports,
    merge,
    with_successors,
)
from exchange.models import Conflict, Provenance
from exchange.records import RoomRecord
from papers.models import Paper
from tests.exchange.programs import edition, paper, program

A, B, C = "a", "b", "c"


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        (A, A, A, Merge(agreed=["x"], last_import={"x": A})),
        (A, A, B, Merge(agreed=["x"], updates={"x": B}, last_import={"x": B})),
        (A, B, A, Merge(kept_edits={"x": FieldConflict(A, B, A)}, last_import={"x": A})),
        (A, B, B, Merge(agreed=["x"], last_import={"x": B})),
        (A, B, C, Merge(conflicts={"x": FieldConflict(A, B, C)}, last_import={"x": A})),
        (A, "", A, Merge(kept_edits={"x": FieldConflict(A, "", A)}, last_import={"x": A})),
        (A, "", B, Merge(conflicts={"x": FieldConflict(A, "", B)}, last_import={"x": A})),
        ([A, B], [A, B], [B, A], Merge(agreed=["x"], updates={"x": [B, A]}, last_import={"x": [B, A]})),
        (False, False, True, Merge(agreed=["x"], updates={"x": True}, last_import={"x": True})),
    ],
)
def test_merge_of_a_field_imported_before(
    base: object, ours: object, theirs: object, expected: Merge
) -> None:
    assert merge({"x": ours}, {"x": base}, {"x": theirs}) == expected


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (A, A, Merge(agreed=["x"], last_import={"x": A})),
        (A, B, Merge(conflicts={"x": FieldConflict(None, A, B)})),
        ("", B, Merge(agreed=["x"], updates={"x": B}, last_import={"x": B})),
        (None, B, Merge(agreed=["x"], updates={"x": B}, last_import={"x": B})),
        ([], [B], Merge(agreed=["x"], updates={"x": [B]}, last_import={"x": [B]})),
        (False, True, Merge(conflicts={"x": FieldConflict(None, False, True)})),
        (0, 7, Merge(conflicts={"x": FieldConflict(None, 0, 7)})),
    ],
)
def test_merge_of_a_field_never_imported(ours: object, theirs: object, expected: Merge) -> None:
    assert merge({"x": ours}, {}, {"x": theirs}) == expected


def test_merge_leaves_unstated_fields_alone() -> None:
    assert merge({"x": A, "y": B}, {"y": C}, {"x": A}) == Merge(agreed=["x"], last_import={"x": A, "y": C})


# Stored values of merged rows


def author_entry(person: str | None, *institutions: str, **fields: Any) -> dict[str, Any]:
    return {"person": person, "institutions": [*institutions], **fields}


SUCCESSORS = Successors({"gone": "kept"}, {"tech": "mit"})


@pytest.mark.parametrize(
    ("successors", "authors", "expected"),
    [
        (
            SUCCESSORS,
            [author_entry("gone"), author_entry("zed")],
            [author_entry("kept"), author_entry("zed")],
        ),
        (SUCCESSORS, [author_entry("zed", "tech", "eth")], [author_entry("zed", "mit", "eth")]),
        (SUCCESSORS, [author_entry("zed", "tech", "mit", "eth")], [author_entry("zed", "mit", "eth")]),
        (Successors({}, {"tech": "mit"}), [author_entry("gone", "tech")], [author_entry("gone", "mit")]),
        (Successors({"gone": "kept"}, {}), [author_entry("gone", "tech")], [author_entry("kept", "tech")]),
        (Successors({}, {}), [author_entry("gone", "tech")], [author_entry("gone", "tech")]),
        # A person who is already listed stays listed once, with the values of the first entry.
        (
            SUCCESSORS,
            [author_entry("kept", name="K."), author_entry("gone", name="G.")],
            [author_entry("kept", name="K.")],
        ),
        (
            SUCCESSORS,
            [author_entry("gone", name="G."), author_entry("kept", name="K.")],
            [author_entry("kept", name="G.")],
        ),
    ],
)
def test_merged_rows_are_replaced_by_their_successors(
    successors: Successors, authors: list[Any], expected: list[Any]
) -> None:
    values = {"title": "Old", "keywords": ["gone", "tech"], "authors": authors}

    assert with_successors(values, KINDS["paper"], successors) == {**values, "authors": expected}


def test_lists_without_people_and_missing_lists_are_unchanged() -> None:
    link = {"kind": "pdf", "url": "https://a.example/"}

    assert with_successors({"materials": [link, link]}, KINDS["paper"], SUCCESSORS) == {
        "materials": [link, link]
    }


def test_award_grants_of_merged_people_are_updated() -> None:
    paper_grant, person_grant = ({"paper": paper, "edition": "2021"} for paper in ("gone", None))
    values = {"grants": [{**paper_grant, "person": None}, {**person_grant, "person": "gone"}]}

    assert with_successors(values, KINDS["award"], SUCCESSORS) == {
        "grants": [{**paper_grant, "person": None}, {**person_grant, "person": "kept"}]
    }


# Stored values


@pytest.fixture
def two_editions(db: None) -> tuple[Edition, Edition]:
    """Import four rooms into each of two editions, one paper into the first and two into the second."""
    for year, paper_count in ((2021, 1), (2022, 2)):
        rooms = tuple(RoomRecord(slug=f"r{n}", name=f"R{n}") for n in range(4))
        papers = [paper(f"p{year}-{n}") for n in range(paper_count)]
        load(program(*papers, rooms=rooms, edition=edition(slug=str(year), year=year)), str(year))
    first, second = Edition.objects.order_by("year")
    return first, second


def test_imported_rows_are_those_of_one_kind_in_one_edition(two_editions: tuple[Edition, Edition]) -> None:
    for current in two_editions:
        assert imported_rows(KINDS["paper"], current) == set(current.papers.values_list("pk", flat=True))
        assert imported_rows(KINDS["room"], current) == set(current.rooms.values_list("pk", flat=True))


def test_last_imports_are_those_of_the_requested_rows(two_editions: tuple[Edition, Edition]) -> None:
    requested = Paper.objects.get(uid="p2022-1")
    last_imports = load_last_imports(KINDS["paper"], [requested.pk])

    assert {key: last_import.values["title"] for key, last_import in last_imports.items()} == {
        requested.pk: "On p2022-1"
    }
    assert last_imports[requested.pk].key == Provenance.objects.get(kind="paper", object_id=requested.pk).pk


def test_last_imports_have_the_open_conflicts_of_the_requested_rows(
    two_editions: tuple[Edition, Edition],
) -> None:
    first, second = Provenance.objects.filter(kind="paper", edition=two_editions[1])
    assert first.run is not None
    fields: dict[str, Any] = {"label": "P", "run": first.run}
    open_conflict = Conflict.objects.create(provenance=first, field="title", **fields)
    Conflict.objects.create(
        provenance=first, field="abstract", resolved_at=datetime(2021, 1, 1, tzinfo=UTC), **fields
    )
    Conflict.objects.create(provenance=second, field="title", **fields)

    last_imports = load_last_imports(KINDS["paper"], [first.object_id])
    assert {key: last_import.conflicts for key, last_import in last_imports.items()} == {
        first.object_id: {"title": open_conflict}
    }
