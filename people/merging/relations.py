"""Rows that point at one person or institution, made to point at another, whatever models they are of.

The relations are found by reflection: upper floors stay unnamed. Everything becomes history.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import UniqueConstraint

from content import revision
from content.models import Ordered
from content.ordering import reorder
from content.relations import linking
from content.row_values import recorded_fields

if TYPE_CHECKING:
    from content.models import Content


@dataclass(frozen=True, slots=True)
class Dropped:
    """A row dropped because the survivor is already on its parent: that parent, and the person."""

    thing: str
    name: str


@dataclass(slots=True)
class Moved:
    """What became of the rows: how many moved, which were dropped."""

    count: int = 0
    dropped: list[Dropped] = field(default_factory=list)


def relations(model: type[models.Model]) -> Iterator[Any]:
    """Yield the relations by which other content points at rows of a model."""
    for relation in model._meta.related_objects:
        if hasattr(relation.related_model, "unrecorded_fields"):
            yield relation


def move_all(there: Any, here: object) -> Moved:
    """Let everything that points at one row point at another of its model."""
    moved = Moved()
    for relation in relations(type(there)):
        if relation.many_to_many:
            _move_links(relation.remote_field, there, here, moved)
        else:
            rows = relation.related_model._default_manager.filter(**{relation.field.name: there})
            move(rows, relation.field.name, here, moved)
    return moved


def move(rows: Any, name: str, here: object, moved: Moved) -> None:
    """Let these rows point at `here`. Where a row like it points there already, that one takes it in."""
    standing = _standing(rows.model, name, here)
    keys: list[int] = []
    for row in rows.order_by("pk"):
        twin = next((found[k] for of, found in standing if (k := of(row)) in found), None)
        if twin is None:
            keys.append(row.pk)
            for of, found in standing:
                found[of(row)] = row
        else:
            moved.dropped.append(Dropped(_thing(row), str(row)))
            _take_in(twin, row)
    if keys:
        moved.count += rows.model._default_manager.filter(pk__in=keys).update(**{name: here})


def _standing(model: Any, name: str, here: object) -> list[tuple[Any, dict[Any, Any]]]:
    """Return for each rule of uniqueness what makes a row the same, and the rows that are here."""
    rules = [one for one in model._meta.constraints if isinstance(one, UniqueConstraint)]
    found = []
    for rule in rules:
        others = [model._meta.get_field(one).attname for one in rule.fields if one != name]
        if name in rule.fields and rule.condition is None:
            # Bound now: the loop goes on.
            def same(row: "Content", columns: list[str] = others) -> tuple[Any, ...]:
                return tuple(getattr(row, column) for column in columns)

            rows = model._default_manager.filter(**{name: here})
            found.append((same, {same(row): row for row in rows}))
    return found


def _thing(row: "Content") -> str:
    """Return the parent of a row."""
    owner = getattr(row, str(getattr(row, "siblings_of", "")), None)
    return str(owner or row._meta.verbose_name)


def _take_in(kept: Any, gone: Any) -> None:
    """Delete a row whose twin stays: the twin gets the earlier place, and what it did not say itself."""
    changed = [name for name in _own_fields(kept) if _filled(kept, gone, name)]
    for link in kept._meta.local_many_to_many:
        getattr(kept, link.name).add(*getattr(gone, link.name).all())
    if isinstance(kept, Ordered):
        _close_ranks(kept, gone)
    else:
        gone.delete()
    if changed:
        kept.refresh_from_db(fields=["position"] if isinstance(kept, Ordered) else [])
        kept.save(update_fields=changed)


def _own_fields(row: "Content") -> list[str]:
    model: Any = type(row)
    fields = recorded_fields(model)
    return [name for name, one in fields.items() if not one.is_relation and name != "position"]


def _filled(kept: object, gone: object, name: str) -> bool:
    """Fill a field from the other row if it allows that; return whether it changed."""
    mine, theirs = getattr(kept, name), getattr(gone, name)
    if isinstance(mine, bool):
        joined: Any = mine or theirs
    elif isinstance(mine, list):
        joined = [*mine, *(one for one in theirs if one not in mine)]
    else:
        joined = mine or theirs
    setattr(kept, name, joined)
    return bool(joined != mine)


def _close_ranks(kept: Any, gone: Any) -> None:
    siblings = kept.siblings()
    order = list(siblings.order_by("position", "pk").values_list("pk", flat=True))
    if order.index(gone.pk) < order.index(kept.pk):
        order.remove(kept.pk)
        order[order.index(gone.pk)] = kept.pk
    else:
        order.remove(gone.pk)
    gone.delete()
    reorder(type(kept)._default_manager.filter(pk__in=order), order)


def _move_links(link: Any, there: Any, here: Any, moved: Moved) -> None:
    """Let rows of another model that lead to `there` by a relation to many lead to `here`."""
    through, near, far = link.remote_field.through, link.m2m_column_name(), link.m2m_reverse_name()
    keys = list(through._base_manager.filter(**{far: there.pk}).values_list(near, flat=True))
    with linking(link.model, link.name, keys):
        standing = through._base_manager.filter(**{far: here.pk, f"{near}__in": keys})
        both = set(standing.values_list(near, flat=True))
        through._base_manager.filter(**{far: there.pk, f"{near}__in": both}).delete()
        moved.count += through._base_manager.filter(**{far: there.pk}).update(**{far: here.pk})
    revision.advance(_editions(link.model, keys))


def _editions(model: Any, keys: Iterable[int]) -> set[int | None]:
    editions: set[int | None] = model._default_manager.filter(pk__in=list(keys)).stamped_editions()
    return editions
