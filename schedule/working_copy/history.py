"""Pending changes in the form of history pages: unsaved change sets and row changes."""

from collections.abc import Iterable

from conference.models import Edition
from content.history import ChangeSet, RowChange
from content.history.timeline import RowLabels, field_changes, target_label
from schedule.working_copy.models import PendingChanges
from schedule.working_copy.pending import CHANGED, CREATED, Pairs, PendingRow

# Fields of a new row that pages do not list.
HIDDEN_FIELDS = frozenset(("edition", "uid", "position", "slug"))


def as_history(pending: PendingChanges) -> tuple[ChangeSet, list[RowChange]]:
    """Return these changes as an unsaved change set with row changes."""
    fields = ("at", "user_id", "user_name", "origin", "detail")
    change_set = ChangeSet(pk=pending.act, **{name: getattr(pending, name) for name in fields})
    rows = [
        RowChange(
            pk=number,
            change_set=change_set,
            kind=row["kind"],
            model=row["model"],
            object_id=row["key"],
            label=row["label"],
            values=row["values"] if row["kind"] == CHANGED else {},
        )
        for number, row in enumerate(pending.rows, 1)
    ]
    return change_set, rows


def shown_pairs(row: PendingRow) -> Pairs:
    """Return the fields of a row that a page lists."""
    if row.kind == CHANGED:
        return row.values
    if row.kind == CREATED:
        return {
            name: pair
            for name, pair in row.values.items()
            if pair[1] not in (None, "", False) and name not in HIDDEN_FIELDS
        }
    return {}


def referenced_rows(rows: Iterable[PendingRow]) -> list[tuple[str, int]]:
    """Return model label and key of the rows whose labels a list of pending rows needs."""
    keys = []
    for row in rows:
        for name, pair in shown_pairs(row).items():
            target = target_label(row.model, name)
            keys += [(target, value) for value in pair if target and isinstance(value, int)]
    return keys


def change_lines(row: PendingRow, names: RowLabels, edition: Edition) -> list[dict[str, str]]:
    return field_changes(row.model, shown_pairs(row), names, edition)


def merge_labels(public: RowLabels, working: RowLabels) -> RowLabels:
    """Return the labels of public rows, replaced by those of the working copy."""
    merged = RowLabels([])
    merged.labels = public.labels | working.labels
    return merged
