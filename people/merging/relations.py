"""Rows that point at one person or institution, made to point at another, whatever models they are of.

The relations are found by reflection: upper packages are not named. Everything becomes history.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from django.db.models import ForeignObjectRel, ManyToManyRel, Model, QuerySet, UniqueConstraint

from content import revision
from content.models import Ordered
from content.ordering import reorder
from content.recording import row_editions
from content.relations import linking
from content.row_values import is_recorded, recorded_fields

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


def relations(model: type[Model]) -> "Iterator[tuple[type[Content], ForeignObjectRel]]":
    """Yield the content models that point at rows of a model, and the relation by which they do."""
    for relation in model._meta.related_objects:
        if is_recorded(relation.related_model):
            yield relation.related_model, relation


def parent_of(row: Model) -> "Content | None":
    """Return what a row is listed in, such as the paper of an authorship."""
    parent: Content | None = getattr(row, getattr(row, "siblings_of", ""), None)
    return parent


def move_all(there: Model, here: Model, moved: Moved) -> None:
    """Let everything that points at one row point at another of its model; add what became of it."""
    for model, relation in relations(type(there)):
        name = relation.field.name
        if isinstance(relation, ManyToManyRel):
            _move_links(relation, there, here, moved)
        else:
            move(model._default_manager.filter(**{name: there}), name, here, moved)


def move(rows: "QuerySet[Content]", name: str, here: Model, moved: Moved) -> None:
    """Let these rows point at `here`. Where a row like it points there already, the two become one."""
    rules = _unique_columns(rows.model, name)

    def unique_keys(row: "Content") -> list[tuple[object, ...]]:
        """Return a key for each rule of uniqueness: rows that share one cannot both point at `here`."""
        return [(number, *(getattr(row, one) for one in rule)) for number, rule in enumerate(rules)]

    present = rows.model._default_manager.filter(**{name: here}) if rules else ()
    taken = {key: row for row in present for key in unique_keys(row)}
    keys: list[int] = []
    for row in rows.order_by("pk"):
        remaining = next((taken[key] for key in unique_keys(row) if key in taken), None)
        if remaining is None:
            keys.append(row.pk)
            taken |= dict.fromkeys(unique_keys(row), row)
        else:
            moved.dropped.append(Dropped(str(parent_of(row) or row._meta.verbose_name), str(row)))
            _absorb(remaining, row)
    if keys:
        moved.count += rows.model._default_manager.filter(pk__in=keys).update(**{name: here})


def _unique_columns(model: type[Model], name: str) -> list[list[str]]:
    """Return for each rule of uniqueness with this field its other columns."""
    return [
        [one.attname for one in model._meta.concrete_fields if one.name in rule.fields and one.name != name]
        for rule in model._meta.constraints
        if isinstance(rule, UniqueConstraint) and name in rule.fields and rule.condition is None
    ]


def _absorb(remaining: "Content", duplicate: "Content") -> None:
    """Delete a duplicate; what remains gets the earlier place, and the values that it has not itself."""
    fields = recorded_fields(type(remaining))
    own = [name for name, one in fields.items() if not one.is_relation and name != "position"]
    changed = [name for name in own if _fill(remaining, duplicate, name)]
    for link in remaining._meta.local_many_to_many:
        getattr(remaining, link.name).add(*getattr(duplicate, link.name).all())
    if isinstance(remaining, Ordered):
        _delete_and_renumber(remaining, duplicate)
    else:
        duplicate.delete()
    if changed:
        remaining.refresh_from_db(fields=["position"] if isinstance(remaining, Ordered) else [])
        remaining.save(update_fields=changed)


def _fill(remaining: Model, duplicate: Model, name: str) -> bool:
    """Fill a field from the other row if it allows that; return whether it changed."""
    own_value, other_value = getattr(remaining, name), getattr(duplicate, name)
    if isinstance(own_value, list):
        joined = [*own_value, *(one for one in other_value if one not in own_value)]
    else:
        joined = own_value or other_value
    setattr(remaining, name, joined)
    return bool(joined != own_value)


def _delete_and_renumber(remaining: Ordered, duplicate: Model) -> None:
    """Delete the one row, and give the other the earlier place of the two."""
    order = list(remaining.siblings().order_by("position", "pk").values_list("pk", flat=True))
    if order.index(duplicate.pk) < order.index(remaining.pk):
        order.remove(remaining.pk)
        order[order.index(duplicate.pk)] = remaining.pk
    else:
        order.remove(duplicate.pk)
    duplicate.delete()
    reorder(type(remaining)._default_manager.filter(pk__in=order), order)


def _move_links(relation: ManyToManyRel, there: Model, here: Model, moved: Moved) -> None:
    """Let rows of another model that lead to `there` by a relation to many lead to `here`."""
    link = relation.field
    near, far = link.m2m_column_name(), link.m2m_reverse_name()
    rows = cast(type[Model], relation.through)._base_manager
    keys = list(rows.filter(**{far: there.pk}).values_list(near, flat=True))
    with linking(link.model, link.name, keys):
        both = set(rows.filter(**{far: here.pk, f"{near}__in": keys}).values_list(near, flat=True))
        rows.filter(**{far: there.pk, f"{near}__in": both}).delete()
        moved.count += rows.filter(**{far: there.pk}).update(**{far: here.pk})
    revision.advance(row_editions(link.model, keys).values())
