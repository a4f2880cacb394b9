"""Positions from 1 to n among the rows of one owner, to which the foreign key `siblings_of` points.

All writers of positions lock in one order: the owner first, then its rows by key (`lock_owners`). So they
wait for each other instead of ending in a deadlock, and writers of other owners do not wait.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import batched
from typing import TYPE_CHECKING, Any, TypeGuard

from django.db import connection, models, transaction

from content import revision
from content.array_lookup import AnyOf
from content.history import recording
from content.row_values import BATCH_ROWS, PARKED_FROM, is_recorded, position_key, related_model
from content.unreleased.plan import publishing

if TYPE_CHECKING:
    from content.models import Content, Ordered


def lock_owners(model: type[models.Model], owners: Iterable[int | None]) -> None:
    """Let other writers of these owners' ordered rows wait until the transaction ends. One query.

    Call it before one of the rows is locked or written. Every change updates its edition at the end, so an
    edition is not locked itself: all would wait. Its rows are locked instead.
    """
    keys = {key for key in owners if key is not None}
    if keys and is_ordered(model) and connection.features.has_select_for_update:
        if has_container(model):
            _lock(model._base_manager.filter(AnyOf(f"{model.siblings_of}_id", keys)))
        else:
            _lock(related_model(model, model.siblings_of)._base_manager.filter(AnyOf("pk", keys)))


def _lock(rows: models.QuerySet[models.Model]) -> None:
    # This weaker lock still allows new foreign keys to the rows.
    list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk"))


def has_container(model: "type[Ordered]") -> bool:
    """Return whether the owner is an edition or a conference."""
    return bool(getattr(related_model(model, model.siblings_of), "is_container", False))


def lock_owners_to_save(row: "Ordered") -> None:
    """Lock the owner of a row that is about to be saved, and the one that it leaves. One query."""
    model = type(row)
    if connection.features.has_select_for_update and not has_container(model):
        column = f"{model.siblings_of}_id"
        stored = model._base_manager.filter(pk=row.pk).values(column)
        owners = related_model(model, model.siblings_of)._base_manager
        _lock(owners.filter(models.Q(pk=getattr(row, column)) | models.Q(pk__in=stored)))


def lock_owners_of(rows: models.QuerySet[Any]) -> None:
    """Lock the owners of these rows, which may be of a model without an order. Two queries."""
    if is_ordered(model := rows.model) and connection.features.has_select_for_update:
        lock_owners(model, rows.order_by().values_list(f"{model.siblings_of}_id", flat=True).distinct())


@transaction.atomic
def reorder(rows: Any, keys: Sequence[int]) -> None:
    """Give the rows positions 1..n in the order of `keys`.

    `rows` are all siblings; rows that `keys` does not name follow in their old order.
    """
    lock_owners_of(rows)
    renumber(rows, keys)


def renumber(rows: Any, keys: Sequence[int]) -> None:
    """Give the rows positions as `reorder` does; their owner is locked."""
    with recording.single_change_set(), revision.lock():
        # Other writers, such as bulk actions, may have locked some of the rows.
        current_keys = [*rows.positions(lock=True)]
        requested_keys, existing_keys = {*keys}, {*current_keys}
        ordered_keys = [
            *(key for key in keys if key in existing_keys),
            *(key for key in current_keys if key not in requested_keys),
        ]
        rows.set_positions({key: position for position, key in enumerate(ordered_keys, start=1)})


@transaction.atomic
def move_to(row: "Ordered", position: int) -> None:
    """Move a row to a position among its siblings, and renumber them; 0 is the end."""
    lock_owners(type(row), [getattr(row, f"{row.siblings_of}_id")])
    keys = [key for key in row.siblings().positions() if key != row.pk]
    keys.insert(position - 1 if position else len(keys), row.pk)
    renumber(type(row)._default_manager.filter(pk__in=keys), keys)
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


def lock_all_owners(owners_by_model: "Mapping[type[Ordered], Iterable[int]]") -> None:
    """Lock the owners of rows of several models: sessions before their presentations."""
    for model in sorted(owners_by_model, key=_level):
        lock_owners(model, owners_by_model[model])


def _level(model: "type[Ordered]") -> int:
    """Return 1 for a model whose owner has no order, 2 for one whose owner is of such a model, and so on."""
    owner = related_model(model, model.siblings_of)
    return 1 + (_level(owner) if is_ordered(owner) else 0)


def owners_losing_rows(
    deleted_keys: "Mapping[type[Content], Iterable[int]]",
) -> "dict[type[Ordered], set[int]]":
    """Lock the owners that lose ordered rows; return them by model, without those that are deleted."""
    losing_owners = {
        model: owner_keys(model, keys) for model, keys in deleted_keys.items() if is_ordered(model)
    }
    lock_all_owners(losing_owners)
    for model, owners in losing_owners.items():
        owner = related_model(model, model.siblings_of)
        owners -= {*deleted_keys.get(owner, ())} if is_recorded(owner) else set()
    return {model: owners for model, owners in losing_owners.items() if owners}


@transaction.atomic
def close_gaps(owners_by_model: "Mapping[type[Ordered], Iterable[int]]") -> None:
    """Renumber the rows of these owners 1 to n; rows from `PARKED_FROM` on get their old position back.

    This concerns the stored positions alone; the order does not change, so that nothing waits for a release.
    """
    lock_all_owners(owners_by_model)
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
                renumber(siblings, [key for _, key in owner_rows])
