"""Conversion of rows to the plain values that the history stores, and lookup of the owners of a row.

A time is an ISO string in UTC, a foreign key the primary key, a file its name, a many-to-many relation the
sorted primary keys.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import cache
from itertools import batched
from typing import TYPE_CHECKING, TypeIs

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Field, ManyToManyField, ManyToManyRel, Model, QuerySet
from django.db.models.fields.files import FieldFile

if TYPE_CHECKING:
    from content.models import Content

type Values = dict[str, object]
type Key = tuple[str, int]

BATCH_ROWS = 500
# An update with different values has a branch for each row and column: larger batches are no faster.
UPDATE_BATCH_ROWS = 200


# An offset beyond any real position, for rows that change places, since positions are unique.
PARKED_FROM = 1_000_000


def position_key(position: int, key: int) -> tuple[int, bool, int]:
    """Return the sort key of a row among its siblings: moved rows, with an offset, come before the others."""
    return position % PARKED_FROM, position < PARKED_FROM, key


def to_json_value(value: object) -> object:
    """Return a field's value in a form that JSON can represent."""
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
    """Return whether the history records rows of this model."""
    return hasattr(model, "unrecorded_fields")


def content_model(label: str) -> "type[Content]":
    """Return the model of recorded rows with this label, such as "papers.paper"."""
    model: type[Content] = apps.get_model(label)
    return model


def date_columns(model: type[Model]) -> tuple[str, ...]:
    """Return the columns with the times at which rows were created and changed."""
    columns: tuple[str, ...] = model.date_columns() if hasattr(model, "date_columns") else ()
    return columns


@cache
def recorded_fields(model: "type[Content]") -> dict[str, "Field[object, object]"]:
    """Return the fields that the history records, by name: no derived fields, counters or primary keys."""
    skipped = {*model.derived_fields, *model.unrecorded_fields, *date_columns(model)}
    columns = (field for field in model._meta.concrete_fields if not field.primary_key)
    return {field.name: field for field in columns if field.name not in skipped}


@cache
def relation_targets(model: "type[Content]") -> "dict[str, type[Content]]":
    """Return the target models of the recorded foreign keys, by field name."""
    fields = recorded_fields(model)
    return {name: field.related_model for name, field in fields.items() if field.is_relation}  # type: ignore[misc]


@cache
def label_relations(model: "type[Content]") -> tuple[str, ...]:
    """Return the relations that labels of the rows read, to fetch them with the rows."""
    if model.label_relations is not None:
        return model.label_relations
    return tuple(name for name, field in recorded_fields(model).items() if field.is_relation)


@cache
def many_to_many_fields(model: type[Model]) -> dict[str, "ManyToManyField[Model, Model]"]:
    """Return the many-to-many fields on either side, by the name of the relation on this model."""
    fields = {field.name: field for field in model._meta.local_many_to_many}
    for relation in model._meta.related_objects:
        if isinstance(relation, ManyToManyRel) and (name := relation.get_accessor_name()):
            fields[name] = relation.field
    return fields


def related_model(model: type[Model], name: str) -> type[Model]:
    """Return the target model of a relation; raise `FieldDoesNotExist` for any other field."""
    target = model._meta.get_field(name).related_model
    if not isinstance(target, type):
        raise FieldDoesNotExist(f"{model._meta.label} has no relation “{name}”.")
    return target


def linked_keys(model: type[Model], name: str, keys: Iterable[int]) -> dict[int, list[int]]:
    """Return the sorted keys related to each of these rows. One query for 500 rows."""
    field = many_to_many_fields(model)[name]
    column, target_column = field.m2m_column_name(), field.m2m_reverse_name()
    if field.model is not model:
        column, target_column = target_column, column
    through: type[Model] = field.remote_field.through  # type: ignore[assignment]
    linked: dict[int, list[int]] = {key: [] for key in keys}
    for batch in batched(linked, BATCH_ROWS, strict=False):
        rows = through._base_manager.filter(**{f"{column}__in": batch}).order_by(target_column)
        for key, linked_key in rows.values_list(column, target_column):
            linked[key].append(linked_key)
    return linked


def read_values(rows: QuerySet[Model], names: Iterable[str]) -> dict[int, Values]:
    """Return these fields of the rows by primary key. One query. Rows to be locked are locked in order."""
    columns = list(names)
    value_rows = rows.order_by(*["pk"] * rows.query.select_for_update).values_list("pk", *columns)
    return {key: dict(zip(columns, map(to_json_value, values), strict=True)) for key, *values in value_rows}


def read_values_by_key(model: type[Model], keys: Iterable[int], names: Iterable[str]) -> dict[int, Values]:
    """Return these fields of the rows with these keys. One query for 500 rows."""
    columns = list(names)
    values_by_key: dict[int, Values] = {}
    for batch in batched(keys, BATCH_ROWS, strict=False):
        values_by_key |= read_values(model._base_manager.filter(pk__in=batch), columns)
    return values_by_key


def values_in_memory(row: "Content", names: Iterable[str]) -> Values:
    """Return these fields of an instance as plain values."""
    fields = recorded_fields(type(row))
    return {name: to_json_value(fields[name].to_python(getattr(row, fields[name].attname))) for name in names}


@cache
def owner_fields(model: "type[Content]") -> tuple[str, ...]:
    """Return the foreign keys to the rows whose forms show this row, the nearest first."""
    steps = model.edition_lookup.split("__")
    part_of: tuple[str, ...] = model.part_of
    return part_of or tuple(steps[:-1][:1])


def owner_names(model: type[Model], values: Values) -> list[str]:
    """Return the names of the rows whose pages show this row, the nearest first."""
    return [
        f"{related_model(model, name)._meta.label_lower}:{values[name]}"
        for name in owner_fields(model)
        if values.get(name)
    ]
