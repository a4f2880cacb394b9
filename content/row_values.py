"""Rows as the history holds them: plain values by field, and on whose pages a row stands.

Times are UTC in ISO form, a foreign key is its key, a file its name, a relation to many the sorted keys.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import cache
from itertools import batched
from typing import TYPE_CHECKING, Any, TypeIs

from django.db.models import Field, ManyToManyField, Model, QuerySet
from django.db.models.fields.files import FieldFile

if TYPE_CHECKING:
    from content.models import Content

type Values = dict[str, Any]
type Key = tuple[str, int]

BATCH_ROWS = 500


def plain(value: object) -> Any:
    """Return a value as JSON holds it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, FieldFile):
        return value.name or ""
    if isinstance(value, Model):
        return value.pk
    return list(value) if isinstance(value, tuple) else value


def is_recorded(model: type[Model]) -> "TypeIs[type[Content]]":
    """Return whether the history follows rows of this model."""
    return hasattr(model, "unrecorded_fields")


@cache
def recorded_fields(model: "type[Content]") -> dict[str, "Field[Any, Any]"]:
    """Return the columns that the history follows, by name: not what is derived or counted."""
    skipped = {*model.derived_fields, *model.unrecorded_fields}
    columns = (field for field in model._meta.concrete_fields if not field.primary_key)
    return {field.name: field for field in columns if field.name not in skipped}


@cache
def links(model: Any) -> dict[str, "ManyToManyField[Any, Any]"]:
    """Return the relations to many on either side, by the name that this model calls them."""
    found = {field.name: field for field in model._meta.local_many_to_many}
    for relation in model._meta.related_objects:
        if relation.many_to_many and (name := relation.get_accessor_name()):
            found[name] = relation.remote_field
    return found


def linked(model: type[Model], name: str, keys: Iterable[int]) -> dict[int, list[int]]:
    """Return the keys on the far side of a relation to many, for each of these rows."""
    field = links(model)[name]
    near, far = field.m2m_column_name(), field.m2m_reverse_name()
    if field.model is not model:
        near, far = far, near
    through: Any = field.remote_field.through
    found: dict[int, list[int]] = {key: [] for key in keys}
    for batch in batched(found, BATCH_ROWS, strict=False):
        rows = through._base_manager.filter(**{f"{near}__in": batch}).order_by(far)
        for here, there in rows.values_list(near, far):
            found[here].append(there)
    return found


def read(rows: QuerySet[Any], names: Iterable[str]) -> dict[int, Values]:
    """Return these fields of the rows by primary key. One query."""
    wanted = list(names)
    columns = [rows.model._meta.get_field(name).attname for name in wanted]
    found = rows.order_by().values_list("pk", *columns)
    return {key: dict(zip(wanted, map(plain, values), strict=True)) for key, *values in found}


def read_keys(model: type[Model], keys: Iterable[int], names: Iterable[str]) -> dict[int, Values]:
    """Return these fields of the rows with these keys. One query for 500 rows."""
    wanted = list(names)
    found: dict[int, Values] = {}
    for batch in batched(keys, BATCH_ROWS, strict=False):
        found |= read(model._base_manager.filter(pk__in=batch), wanted)
    return found


def held_rows(row: "Content", names: Iterable[str]) -> Values:
    """Return these fields of a row in memory."""
    model: Any = type(row)
    fields = recorded_fields(model)
    return {name: plain(fields[name].to_python(getattr(row, fields[name].attname))) for name in names}


@cache
def part_of(model: "type[Content]") -> tuple[str, ...]:
    """Return the foreign keys to the things on whose forms the row stands, the nearest first."""
    steps = model.edition_lookup.split("__")
    named: tuple[str, ...] = model.part_of
    return named or tuple(steps[:-1][:1])


def owners(model: type[Model], values: Values) -> list[str]:
    """Return the names of the rows on whose pages this one stands, the nearest first."""
    found = []
    for name in part_of(model):
        target: Any = model._meta.get_field(name).related_model
        if values.get(name):
            found.append(f"{target._meta.label_lower}:{values[name]}")
    return found
