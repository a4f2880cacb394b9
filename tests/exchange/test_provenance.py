"""The three-way merge, as a table: every combination of base, ours and theirs."""

import pytest

from exchange.loading.provenance import Clash, Merge, merge

A, B, C = "a", "b", "c"


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        (A, A, A, Merge(agreed=["x"], memory={"x": A})),
        (A, A, B, Merge(agreed=["x"], taken={"x": B}, memory={"x": B})),
        (A, B, A, Merge(kept={"x": Clash(A, B, A)}, memory={"x": A})),
        (A, B, B, Merge(agreed=["x"], memory={"x": B})),
        (A, B, C, Merge(clashes={"x": Clash(A, B, C)}, memory={"x": A})),
        (A, "", A, Merge(kept={"x": Clash(A, "", A)}, memory={"x": A})),
        (A, "", B, Merge(clashes={"x": Clash(A, "", B)}, memory={"x": A})),
        ([A, B], [A, B], [B, A], Merge(agreed=["x"], taken={"x": [B, A]}, memory={"x": [B, A]})),
        (False, False, True, Merge(agreed=["x"], taken={"x": True}, memory={"x": True})),
    ],
)
def test_merge_of_a_field_imported_before(
    base: object, ours: object, theirs: object, expected: Merge
) -> None:
    assert merge({"x": ours}, {"x": base}, {"x": theirs}) == expected


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (A, A, Merge(agreed=["x"], memory={"x": A})),
        (A, B, Merge(clashes={"x": Clash(None, A, B)})),
        ("", B, Merge(agreed=["x"], taken={"x": B}, memory={"x": B})),
        (None, B, Merge(agreed=["x"], taken={"x": B}, memory={"x": B})),
        ([], [B], Merge(agreed=["x"], taken={"x": [B]}, memory={"x": [B]})),
        (False, True, Merge(clashes={"x": Clash(None, False, True)})),
        (0, 7, Merge(clashes={"x": Clash(None, 0, 7)})),
    ],
)
def test_merge_of_a_field_never_imported(ours: object, theirs: object, expected: Merge) -> None:
    assert merge({"x": ours}, {}, {"x": theirs}) == expected


def test_merge_leaves_unstated_fields_alone() -> None:
    assert merge({"x": A, "y": B}, {"y": C}, {"x": A}) == Merge(agreed=["x"], memory={"x": A, "y": C})
