"""Positions from 1 to n among the rows of one owner, to which the foreign key `siblings_of` points."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import batched
from typing import TYPE_CHECKING, TypeGuard

from django.db import models

from content import revision
from content.history import recording
from content.row_values import BATCH_ROWS, is_recorded, related_model

if TYPE_CHECKING:
    from content.models import Content, Ordered

# An offset beyond any real position, for rows that change places, since positions are unique.
PARKED_FROM = 1_000_000


def reorder(rows: models.QuerySet[models.Model], keys: Sequence[int]) -> None:
    """Give the rows positions 1..n in the order of `keys`.

    `rows` are all siblings; rows that `keys` does not name follow in their old order.
    """
    with recording.single_change_set(), revision.lock():
        present: list[int] = list(rows.order_by("position", "pk").values_list("pk", flat=True))
        named, here = {*keys}, {*present}
        wanted = [*(key for key in keys if key in here), *(key for key in present if key not in named)]
        rows.order_by().update(position=models.F("position") + PARKED_FROM)
        places = [models.When(pk=key, then=models.Value(place)) for place, key in enumerate(wanted, start=1)]
        if places:
            rows.order_by().update(position=models.Case(*places, output_field=models.PositiveIntegerField()))


def move_to(row: "Ordered", place: int) -> None:
    """Move a row to a position among its siblings, and renumber them; 0 is the end."""
    others = row.siblings().exclude(pk=row.pk).order_by("position", "pk")
    keys = list(others.values_list("pk", flat=True))
    keys.insert(place - 1 if place else len(keys), row.pk)
    reorder(type(row)._default_manager.filter(pk__in=keys), keys)
    row.position = keys.index(row.pk) + 1


def position_sort_key(entered: int | None, before: int | None) -> tuple[int, int]:
    """Return a sort key for a row with an entered position. Of equal ones, the row that moved up is first.

    Rows without a position are last.
    """
    wanted, was = entered or PARKED_FROM, before or PARKED_FROM
    return wanted, (wanted > was) - (wanted < was)


def is_ordered(model: type[models.Model]) -> "TypeGuard[type[Ordered]]":
    return hasattr(model, "siblings_of")


def owner_keys(model: "type[Ordered]", keys: Iterable[int]) -> set[int]:
    found: set[int] = set()
    for batch in batched(keys, BATCH_ROWS, strict=False):
        rows = model._base_manager.filter(pk__in=batch)
        found.update(rows.values_list(f"{model.siblings_of}_id", flat=True))
    return found - {None}


def owners_losing_rows(going: "Mapping[type[Content], Iterable[int]]") -> "dict[type[Ordered], set[int]]":
    """Return the owners that lose ordered rows, by model, without owners that are deleted themselves."""
    left = {model: owner_keys(model, keys) for model, keys in going.items() if is_ordered(model)}
    for model, owners in left.items():
        owner = related_model(model, model.siblings_of)
        owners -= {*going.get(owner, ())} if is_recorded(owner) else set()
    return {model: owners for model, owners in left.items() if owners}


def close_gaps(touched: "Mapping[type[Ordered], Iterable[int]]") -> None:
    """Renumber the rows of these owners 1 to n; rows from `PARKED_FROM` on get their old position back."""
    for model, owners in touched.items():
        found: dict[int, list[tuple[int, int]]] = {}
        for batch in batched(owners, BATCH_ROWS, strict=False):
            rows = model._base_manager.filter(**{f"{model.siblings_of}__in": batch}).order_by()
            for owner, place, key in rows.values_list(f"{model.siblings_of}_id", "position", "pk"):
                found.setdefault(owner, []).append((place, key))
        for owner, taken in found.items():
            if sorted(place for place, _ in taken) != list(range(1, len(taken) + 1)):
                taken.sort(key=lambda row: (row[0] % PARKED_FROM, row[0] < PARKED_FROM, row[1]))
                siblings = model._default_manager.filter(**{model.siblings_of: owner})
                reorder(siblings, [key for _, key in taken])
