"""Recorded deletion: deleted rows, rows deleted by cascade, and rows that only lose a relation."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import batched
from typing import TYPE_CHECKING

from django.db import models, router
from django.db.models.deletion import Collector

from content import revision
from content.editions import get_edition_model
from content.history.recording import Log, advance_for_links, current_watch, editions_by_row
from content.ordering import close_gaps, owners_losing_rows
from content.row_values import (
    BATCH_ROWS,
    Values,
    is_recorded,
    linked_keys,
    many_to_many_fields,
    owner_fields,
    read_values_by_key,
    recorded_fields,
    values_in_memory,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from content.models import Content


def delete(
    rows: "QuerySet[Content] | list[Content]",
    origin: "Content | QuerySet[Content]",
    log: Log,
    editions: Collection[int | None],
    *,
    using: str | None = None,
    keep_parents: bool = False,
) -> tuple[int, dict[str, int]]:
    """Delete rows as Django does, close the gaps in positions, advance revisions, and log the changes."""
    model = rows.model if isinstance(rows, models.QuerySet) else type(rows[0])
    collector = Collector(using=using or router.db_for_write(model), origin=origin)
    collector.collect(rows, keep_parents=keep_parents)
    going = _going(collector)
    chosen = _keys(rows)
    for kind, keys in going.items():
        _note_rows(log, kind, keys, chosen if kind is model else set())
    losing = _note_losses(log, collector, going)
    changed = losing.union(kind for kind, keys in going.items() if keys)
    years = going.get(get_edition_model(), ())
    owners, tied = owners_losing_rows(going), revision.editions_tied_to(changed, [*editions, *years])
    if (watch := current_watch()) is not None:
        watch.unrecorded += _unrecorded(collector)
    with revision.lock():
        deleted: tuple[int, dict[str, int]] = collector.delete()
        close_gaps(owners)
        if deleted[0]:
            revision.advance({*editions, *tied})
    return deleted


def _keys(rows: Iterable[models.Model]) -> set[int]:
    """Return the keys of rows; an unevaluated queryset stays unevaluated."""
    if isinstance(rows, models.QuerySet) and rows._result_cache is None:
        return set(rows.order_by().values_list("pk", flat=True))
    return {row.pk for row in rows}


def _going(collector: Collector) -> "dict[type[Content], set[int]]":
    going: dict[type[Content], set[int]] = defaultdict(set)
    for model, instances in collector.data.items():
        if is_recorded(model):
            going[model].update(row.pk for row in instances)
    for rows in collector.fast_deletes:
        if is_recorded(rows.model):
            going[rows.model].update(_keys(rows))
    return going


def _unrecorded(collector: Collector) -> list[tuple[type[models.Model], Values]]:
    """Return the columns of rows without a history that will be deleted, or lose a relation."""
    groups: list[tuple[type[models.Model], Iterable[models.Model]]] = [
        *collector.data.items(),
        *((rows.model, rows) for rows in collector.fast_deletes),
    ]
    for (field, _), found in collector.field_updates.items():
        # These are lists and querysets of rows, unlike in the type stubs.
        losses: list[Iterable[models.Model]] = [*found]  # type: ignore[list-item]
        groups += [(field.model, rows) for rows in losses]
    # Copy the queryset, since the collector checks whether its own is evaluated.
    return [
        (model, {one.attname: getattr(row, one.attname) for one in model._meta.concrete_fields})
        for model, rows in groups
        if not is_recorded(model)
        for row in (rows.all() if isinstance(rows, models.QuerySet) else rows)
    ]


def _note_rows(log: Log, model: "type[Content]", keys: set[int], chosen: set[int]) -> None:
    names = recorded_fields(model)
    related = [name for name, field in names.items() if field.is_relation]
    far = {name: linked_keys(model, name, keys) for name in many_to_many_fields(model)}
    for name, found in far.items():
        advance_for_links(model, name, set().union(*found.values()))
    for batch in batched(sorted(keys), BATCH_ROWS, strict=False):
        rows = model._base_manager.filter(pk__in=batch)
        for row in (rows.select_related(*related) if related else rows).order_by("pk"):
            more = {name: found[row.pk] for name, found in far.items()}
            log.record_deleted(row, {**values_in_memory(row, names), **more}, dragged=row.pk not in chosen)


def _note_losses(
    log: Log, collector: Collector, going: "dict[type[Content], set[int]]"
) -> "set[type[Content]]":
    """Record the rows that lose their relation to a deleted row; return their models."""
    losing: set[type[Content]] = set()
    for (field, value), found in collector.field_updates.items():
        # These are lists and querysets of rows, unlike in the type stubs.
        losses: list[Iterable[models.Model]] = [*found]  # type: ignore[list-item]
        model = field.model
        if not is_recorded(model) or field.name not in recorded_fields(model):
            continue
        keys = set().union(*map(_keys, losses)) - going.get(model, set())
        losing |= {model} if keys else set()
        names = dict.fromkeys([field.name, *owner_fields(model)])
        editions = editions_by_row(model, keys)
        for key, values in read_values_by_key(model, keys, names).items():
            log.record_changed(model, key, values, {field.name: value}, editions.get(key))
    return losing
