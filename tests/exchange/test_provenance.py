"""Tests of the three-way merge: all combinations of base, ours and theirs; the stored base values."""

from datetime import UTC, datetime
from typing import Any

import pytest

from conference.models import Edition
from exchange.imports.compare import (
    FieldConflict,
    Merge,
    Successors,
    imported_rows,
    load_last_imports,
    merge,
    with_successors,
)
from exchange.imports.kinds import KINDS
from exchange.imports.load import load
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


def part(person: str | None, *institutions: str, **more: Any) -> dict[str, Any]:
    return {"person": person, "institutions": [*institutions], **more}


MERGED = Successors({"gone": "kept"}, {"tech": "mit"})


@pytest.mark.parametrize(
    ("successors", "authors", "expected"),
    [
        (MERGED, [part("gone"), part("zed")], [part("kept"), part("zed")]),
        (MERGED, [part("zed", "tech", "eth")], [part("zed", "mit", "eth")]),
        (MERGED, [part("zed", "tech", "mit", "eth")], [part("zed", "mit", "eth")]),
        (Successors({}, {"tech": "mit"}), [part("gone", "tech")], [part("gone", "mit")]),
        (Successors({"gone": "kept"}, {}), [part("gone", "tech")], [part("kept", "tech")]),
        (Successors({}, {}), [part("gone", "tech")], [part("gone", "tech")]),
        # A person who is already listed stays listed once, with the values of the first entry.
        (MERGED, [part("kept", name="K."), part("gone", name="G.")], [part("kept", name="K.")]),
        (MERGED, [part("gone", name="G."), part("kept", name="K.")], [part("kept", name="G.")]),
    ],
)
def test_what_was_merged_is_remembered_as_what_stays(
    successors: Successors, authors: list[Any], expected: list[Any]
) -> None:
    values = {"title": "Old", "keywords": ["gone", "tech"], "authors": authors}

    assert with_successors(values, KINDS["paper"], successors) == {**values, "authors": expected}


def test_lists_without_people_and_lists_never_imported_are_left_as_they_are() -> None:
    link = {"kind": "pdf", "url": "https://a.example/"}

    assert with_successors({"materials": [link, link]}, KINDS["paper"], MERGED) == {"materials": [link, link]}


def test_awards_of_papers_and_of_who_was_merged_are_remembered() -> None:
    one, other = ({"paper": paper, "edition": "2021"} for paper in ("gone", None))
    values = {"grants": [{**one, "person": None}, {**other, "person": "gone"}]}

    assert with_successors(values, KINDS["award"], MERGED) == {
        "grants": [{**one, "person": None}, {**other, "person": "kept"}]
    }


# Stored values


@pytest.fixture
def two_years(db: None) -> tuple[Edition, Edition]:
    """Import four rooms into each of two editions, one paper into the first and two into the second."""
    for year, number in ((2021, 1), (2022, 2)):
        rooms = tuple(RoomRecord(slug=f"r{n}", name=f"R{n}") for n in range(4))
        papers = [paper(f"p{year}-{n}") for n in range(number)]
        load(program(*papers, rooms=rooms, edition=edition(slug=str(year), year=year)), str(year))
    first, second = Edition.objects.order_by("year")
    return first, second


def test_imported_rows_are_those_of_one_kind_in_one_edition(two_years: tuple[Edition, Edition]) -> None:
    for one in two_years:
        assert imported_rows(KINDS["paper"], one) == set(one.papers.values_list("pk", flat=True))
        assert imported_rows(KINDS["room"], one) == set(one.rooms.values_list("pk", flat=True))


def test_remembered_is_what_came_in_with_these_rows_of_this_kind(two_years: tuple[Edition, Edition]) -> None:
    wanted = Paper.objects.get(uid="p2022-1")
    found = load_last_imports(KINDS["paper"], [wanted.pk])

    assert {key: memory.values["title"] for key, memory in found.items()} == {wanted.pk: "On p2022-1"}
    assert found[wanted.pk].key == Provenance.objects.get(kind="paper", object_id=wanted.pk).pk


def test_open_conflicts_are_the_undecided_ones_of_these_rows(two_years: tuple[Edition, Edition]) -> None:
    first, second = Provenance.objects.filter(kind="paper", edition=two_years[1])
    assert first.run is not None
    common: dict[str, Any] = {"label": "P", "run": first.run}
    wanted = Conflict.objects.create(provenance=first, field="title", **common)
    Conflict.objects.create(
        provenance=first, field="abstract", resolved_at=datetime(2021, 1, 1, tzinfo=UTC), **common
    )
    Conflict.objects.create(provenance=second, field="title", **common)

    found = load_last_imports(KINDS["paper"], [first.object_id])
    assert {key: memory.conflicts for key, memory in found.items()} == {first.object_id: {"title": wanted}}
