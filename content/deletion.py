"""Recorded deletion: deleted rows, rows deleted by cascade, and rows that only lose a relation."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import batched
from typing import TYPE_CHECKING

from django.db import models, router
from django.db.models.deletion import Collector

from content import revision
from content.changed import stamping
from content.editions import get_edition_model
from content.history.recording import Log, advance_for_links, editions_by_row
from content.ordering import close_gaps, owners_losing_rows
from content.row_values import (
    BATCH_ROWS,
    is_recorded,
    label_relations,
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
    deleted_keys = _keys_to_delete(collector)
    owners = owners_losing_rows(deleted_keys)
    direct_keys = _keys(rows)
    for deleted_model, keys in deleted_keys.items():
        _record_deleted(log, deleted_model, keys, direct_keys if deleted_model is model else set())
    for deleted_model, keys in deleted_keys.items():
        log.watch.before_write(deleted_model, keys)
        dragging = () if deleted_model is model else deleted_keys.keys()
        stamping.stamp_deleted(log, deleted_model, keys, dragging)
    losing_models = _record_lost_relations(log, collector, deleted_keys)
    changed_models = losing_models.union(
        deleted_model for deleted_model, keys in deleted_keys.items() if keys
    )
    deleted_editions = deleted_keys.get(get_edition_model(), ())
    tied_editions = revision.editions_tied_to(changed_models, [*editions, *deleted_editions])
    with revision.lock():
        counts: tuple[int, dict[str, int]] = collector.delete()
        close_gaps(owners)
        if counts[0] and model.advances_revision:
            revision.advance({*editions, *tied_editions})
    return counts


def _keys(rows: Iterable[models.Model]) -> set[int]:
    """Return the keys of rows; an unevaluated queryset stays unevaluated."""
    if isinstance(rows, models.QuerySet) and rows._result_cache is None:
        return set(rows.order_by().values_list("pk", flat=True))
    return {row.pk for row in rows}


def _keys_to_delete(collector: Collector) -> "dict[type[Content], set[int]]":
    deleted_keys: dict[type[Content], set[int]] = defaultdict(set)
    for model, instances in collector.data.items():
        if is_recorded(model):
            deleted_keys[model].update(row.pk for row in instances)
    for rows in collector.fast_deletes:
        if is_recorded(rows.model):
            deleted_keys[rows.model].update(_keys(rows))
    return deleted_keys


def _record_deleted(log: Log, model: "type[Content]", keys: set[int], direct_keys: set[int]) -> None:
    fields = recorded_fields(model)
    related = label_relations(model)
    linked_by_field = {name: linked_keys(model, name, keys) for name in many_to_many_fields(model)}
    for name, linked in linked_by_field.items():
        advance_for_links(model, name, set().union(*linked.values()))
    for batch in batched(sorted(keys), BATCH_ROWS, strict=False):
        # No writer comes between what is recorded and the deletion.
        rows = model._base_manager.filter(pk__in=batch).select_for_update(no_key=True, of=("self",))
        for row in (rows.select_related(*related) if related else rows).order_by("pk"):
            links = {name: linked[row.pk] for name, linked in linked_by_field.items()}
            log.record_deleted(
                row, {**values_in_memory(row, fields), **links}, dragged=row.pk not in direct_keys
            )


def _record_lost_relations(
    log: Log, collector: Collector, deleted_keys: "dict[type[Content], set[int]]"
) -> "set[type[Content]]":
    """Record the rows that lose their relation to a deleted row; return their models."""
    losing_models: set[type[Content]] = set()
    for (field, value), updates in collector.field_updates.items():
        # These are lists and querysets of rows, unlike in the type stubs.
        row_groups: list[Iterable[models.Model]] = [*updates]  # type: ignore[list-item]
        model = field.model
        if not is_recorded(model) or field.name not in recorded_fields(model):
            continue
        keys = set().union(*map(_keys, row_groups)) - deleted_keys.get(model, set())
        losing_models |= {model} if keys else set()
        stamping.stamp_losing(log, model, keys, [field.name])
        names = dict.fromkeys([field.name, *owner_fields(model)])
        log.watch.before_write(model, keys, [field.name])
        editions = editions_by_row(model, keys)
        for key, values in read_values_by_key(model, keys, names).items():
            log.record_changed(model, key, values, {field.name: value}, editions.get(key))
    return losing_models
