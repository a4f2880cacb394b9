"""Positions from 1 to n among the rows of one owner, to which the foreign key `siblings_of` points."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import batched
from typing import TYPE_CHECKING, Any, TypeGuard

from django.db import models

from content import revision
from content.history import recording
from content.row_values import BATCH_ROWS, PARKED_FROM, is_recorded, position_key, related_model
from content.unreleased.plan import publishing

if TYPE_CHECKING:
    from content.models import Content, Ordered


def reorder(rows: Any, keys: Sequence[int]) -> None:
    """Give the rows positions 1..n in the order of `keys`.

    `rows` are all siblings; rows that `keys` does not name follow in their old order.
    """
    with recording.single_change_set(), revision.lock():
        current_keys = [*rows.positions()]
        requested_keys, existing_keys = {*keys}, {*current_keys}
        ordered_keys = [
            *(key for key in keys if key in existing_keys),
            *(key for key in current_keys if key not in requested_keys),
        ]
        rows.set_positions({key: position for position, key in enumerate(ordered_keys, start=1)})


def move_to(row: "Ordered", position: int) -> None:
    """Move a row to a position among its siblings, and renumber them; 0 is the end."""
    keys = [key for key in row.siblings().positions() if key != row.pk]
    keys.insert(position - 1 if position else len(keys), row.pk)
    reorder(type(row)._default_manager.filter(pk__in=keys), keys)
    row.position = keys.index(row.pk) + 1


def position_sort_key(new_position: int | None, old_position: int | None) -> tuple[int, int]:
    """Return a sort key for a row with an entered position. Of equal ones, the row that moved up is first.

    Rows without a position are last.
    """
    new, old = new_position or PARKED_FROM, old_position or PARKED_FROM
    return new, (new > old) - (new < old)


def is_ordered(model: type[models.Model]) -> "TypeGuard[type[Ordered]]":
    return hasattr(model, "siblings_of")


def owner_keys(model: "type[Ordered]", keys: Iterable[int]) -> set[int]:
    owners: set[int] = set()
    for batch in batched(keys, BATCH_ROWS, strict=False):
        rows = model._base_manager.filter(pk__in=batch)
        owners.update(rows.values_list(f"{model.siblings_of}_id", flat=True))
    return owners - {None}


def owners_losing_rows(
    deleted_keys: "Mapping[type[Content], Iterable[int]]",
) -> "dict[type[Ordered], set[int]]":
    """Return the owners that lose ordered rows, by model, without owners that are deleted themselves."""
    losing_owners = {
        model: owner_keys(model, keys) for model, keys in deleted_keys.items() if is_ordered(model)
    }
    for model, owners in losing_owners.items():
        owner = related_model(model, model.siblings_of)
        owners -= {*deleted_keys.get(owner, ())} if is_recorded(owner) else set()
    return {model: owners for model, owners in losing_owners.items() if owners}


def close_gaps(owners_by_model: "Mapping[type[Ordered], Iterable[int]]") -> None:
    """Renumber the rows of these owners 1 to n; rows from `PARKED_FROM` on get their old position back.

    This concerns the stored positions alone; the order does not change, so that nothing waits for a release.
    """
    with publishing():
        _close_gaps(owners_by_model)


def _close_gaps(owners_by_model: "Mapping[type[Ordered], Iterable[int]]") -> None:
    for model, owners in owners_by_model.items():
        rows_by_owner: dict[int, list[tuple[int, int]]] = {}
        for batch in batched(owners, BATCH_ROWS, strict=False):
            rows = model._base_manager.filter(**{f"{model.siblings_of}__in": batch}).order_by()
            for owner, position, key in rows.values_list(f"{model.siblings_of}_id", "position", "pk"):
                rows_by_owner.setdefault(owner, []).append((position, key))
        for owner, owner_rows in rows_by_owner.items():
            if sorted(position for position, _ in owner_rows) != list(range(1, len(owner_rows) + 1)):
                owner_rows.sort(key=lambda row: position_key(*row))
                siblings = model._default_manager.filter(**{model.siblings_of: owner})
                reorder(siblings, [key for _, key in owner_rows])
