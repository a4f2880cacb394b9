"""Many-to-many relations in the history: not columns, so `save` and `update` do not report them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import models
from django.db.models.signals import m2m_changed
from django.dispatch import receiver

from content import revision
from content.models import Content
from content.recording import advance_for_links, row_editions, together
from content.row_values import held_rows, linked, links, part_of, read_keys

if TYPE_CHECKING:
    from django.db.models import Model


@contextmanager
def linking(model: type[models.Model], name: str, keys: Iterable[int]) -> Iterator[None]:
    """Record the changes of a many-to-many relation that the block writes directly."""
    rows = list(keys)
    before = linked(model, name, rows)
    with together() as log:
        yield
        after = linked(model, name, rows)
        differing = [key for key in rows if before[key] != after[key]]
        standing = read_keys(model, differing, part_of(model))
        editions = row_editions(model, differing)
        for key in differing:
            values = {**standing.get(key, {}), name: before[key]}
            log.changed(model, key, values, {name: after[key]}, editions.get(key))


@receiver(m2m_changed)
def _links_change(sender: "type[Model]", instance: "Model | Content", action: str, **more: object) -> None:
    """Record changes of a row's many-to-many relation. Forms write them after the row."""
    if not isinstance(instance, Content):
        return
    model = type(instance)
    name = next(name for name, field in links(model).items() if field.remote_field.through is sender)
    now = linked(model, name, [instance.pk])[instance.pk]
    if action.startswith("pre_"):
        vars(instance)["_linked_before"] = now
        return
    before = vars(instance).pop("_linked_before", now)
    if before != now:
        with together() as log:
            values = {**held_rows(instance, part_of(model)), name: before}
            log.changed(model, instance.pk, values, {name: now}, instance.stamped_edition())
        if links(model)[name].model is model:
            revision.advance([instance.stamped_edition()])
        advance_for_links(model, name, {*before} ^ {*now})
