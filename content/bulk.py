"""Bulk changes: plan which rows change and which are skipped for what reason, then write in a few queries.

Each row is validated by its model's `clean_fields` and `clean`. Permissions are checked elsewhere.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import batched
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Case, QuerySet, Value, When

from content import revision
from content.history import recording
from content.ordering import PARKED_FROM, close_gaps, is_ordered, owner_keys
from content.row_values import BATCH_ROWS, to_json_value

if TYPE_CHECKING:
    from content.models import Content

POSITION = "position"
# An update with different values has a branch for each row and column: larger batches are no faster.
UPDATE_BATCH_ROWS = 200

# The new values by field name; of a foreign key, the instance.
type Values = dict[str, Any]


@dataclass(slots=True)
class BulkChange:
    """The planned change of one row: new values, or a new row. The page groups rows by `summary`."""

    row: Any
    summary: str
    values: Values = field(default_factory=dict)
    new_row: Any = None


@dataclass
class BulkPlan:
    """The plan of a bulk change of the chosen rows."""

    lines: list[BulkChange] = field(default_factory=list)
    same: "list[Content]" = field(default_factory=list)
    # Pairs of a row and the reason.
    skipped: "list[tuple[Content, str]]" = field(default_factory=list)
    # Reasons why no row can be changed.
    problems: list[str] = field(default_factory=list)

    @cached_property
    def digest(self) -> str:
        """Return a digest of the plan, to verify that the plan executed is the plan shown."""
        changes = [
            [line.row.pk, line.summary, {name: to_json_value(value) for name, value in line.values.items()}]
            for line in self.lines
        ]
        left = [[row.pk, reason] for row, reason in self.skipped]
        return hashlib.sha256(json.dumps([changes, left], default=str).encode()).hexdigest()[:32]


def defer_long_texts[M: models.Model](rows: QuerySet[M], *wanted: str) -> QuerySet[M]:
    """Select the relations that validation reads, and defer long texts except the fields `wanted`."""
    keys = (key for key in rows.model._meta.concrete_fields if key.many_to_one)
    relations = {key.name: key.related_model for key in keys if hasattr(key.related_model, "derive")}
    left = [name for name in long_texts(rows.model) if name not in wanted]
    for relation, target in relations.items():
        left += [f"{relation}__{name}" for name in long_texts(target)]
    rules: tuple[str, ...] = getattr(rows.model, "rule_relations", ())
    rows = rows.select_related(*relations) if relations else rows
    return rows.prefetch_related(*rules).defer(*left)


def long_texts(model: type[models.Model] | None) -> list[str]:
    fields = model._meta.concrete_fields if model else ()
    return [f.name for f in fields if isinstance(f, models.TextField)]


def column_value(row: models.Model, name: str) -> object:
    """Return a field's value as in its column: for a foreign key, the primary key."""
    field = row._meta.get_field(name)
    return getattr(row, getattr(field, "attname", name))


def apply_and_validate(row: "Content", values: Values) -> str:
    """Set these values on an instance; return the validation errors as text, or an empty string."""
    for name, value in values.items():
        setattr(row, name, value)
    others = {f.name for f in row._meta.concrete_fields if f.name not in values or f.is_relation}
    try:
        row.clean_fields(exclude=others)
        row.clean()
    except ValidationError as error:
        return " ".join(error.messages)
    return ""


def plan_changes[M: "Content"](
    rows: Iterable[M], wanted: Callable[[M], Values], summarize: Callable[[M, Values], str]
) -> BulkPlan:
    """Compare rows with their new values. `summarize` is called before the values are set."""
    plan = BulkPlan()
    for row in rows:
        news = {
            name: value
            for name, value in wanted(row).items()
            if column_value(row, name) != (value.pk if isinstance(value, models.Model) else value)
        }
        if not news:
            plan.same.append(row)
            continue
        summary = summarize(row, news)
        if reason := apply_and_validate(row, news):
            plan.skipped.append((row, reason))
        else:
            plan.lines.append(BulkChange(row, summary, news))
    return plan


def write(lines: list[BulkChange]) -> None:
    """Write the values to rows of one model: a few queries for 500 rows.

    The fields of a row from which text is derived must not be deferred.
    """
    lines = [line for line in lines if line.values]
    if not lines:
        return
    model = type(lines[0].row)
    placing = {POSITION, getattr(model, "siblings_of", POSITION)}
    moving = [line.row.pk for line in lines if placing & line.values.keys()]
    with recording.single_change_set(), revision.lock():
        left = owner_keys(model, moving) if is_ordered(model) else set()
        differing: dict[tuple[str, ...], list[tuple[Content, Values]]] = {}
        for values, found in _alike(lines):
            if len(found) > 1 and not values.keys() & {*model.derived_from}:
                for batch in batched(found, BATCH_ROWS, strict=False):
                    model._default_manager.filter(pk__in=[row.pk for row in batch]).update(**values)
            else:
                differing.setdefault(tuple(sorted(values)), []).extend((row, values) for row in found)
        for names, rows in differing.items():
            _write_differing(model, names, rows)
        _place(model, [line for line in lines if POSITION in line.values])
        if is_ordered(model):
            close_gaps({model: left | owner_keys(model, moving)})


def _write_differing(
    model: "type[Content]", names: tuple[str, ...], rows: "list[tuple[Content, Values]]"
) -> None:
    """Write values of the same fields that differ from row to row."""
    derives = {*names} & {*model.derived_from}
    if len(rows) == 1 and not derives:
        row, values = rows[0]
        model._default_manager.filter(pk=row.pk).update(**values)
        return
    for row, values in rows:
        for name, value in values.items():
            setattr(row, name, value)
    owned: Any = model._default_manager.all()
    # Django's own method derives no fields, and therefore reads no deferred text.
    update = owned.bulk_update if derives else partial(QuerySet.bulk_update, owned)
    update([row for row, _values in rows], names, batch_size=UPDATE_BATCH_ROWS)


def _alike(lines: list[BulkChange]) -> "Iterable[tuple[Values, list[Content]]]":
    groups: dict[str, tuple[Values, list[Content]]] = {}
    for line in lines:
        values = {name: value for name, value in line.values.items() if name != POSITION}
        if values:
            key = json.dumps({name: to_json_value(value) for name, value in values.items()}, default=str)
            groups.setdefault(key, (values, []))[1].append(line.row)
    return groups.values()


def _place(model: "type[Content]", lines: list[BulkChange]) -> None:
    """Move rows to positions, which are unique: `close_gaps` sorts them before the rows there now."""
    owned: QuerySet[models.Model] = model._base_manager.none()
    if is_ordered(model):
        owned = model._base_manager.filter(**{f"{model.siblings_of}__isnull": False})
    for batch in batched(lines, BATCH_ROWS, strict=False):
        here = {*owned.filter(pk__in=[line.row.pk for line in batch]).values_list("pk", flat=True)}
        # Use twice the offset of other rows that change places, so that positions stay unique.
        places = [
            When(pk=line.row.pk, then=Value(line.values[POSITION] + 2 * PARKED_FROM * (line.row.pk in here)))
            for line in batch
        ]
        position = Case(*places, output_field=models.PositiveIntegerField())
        chosen = model._default_manager.filter(pk__in=[line.row.pk for line in batch])
        chosen.update(**{POSITION: position})


def create_rows(lines: list[BulkChange]) -> None:
    made: dict[type[Content], list[Content]] = {}
    for line in lines:
        if line.new_row is not None:
            made.setdefault(type(line.new_row), []).append(line.new_row)
    for model, rows in made.items():
        model._default_manager.bulk_create(rows, batch_size=BATCH_ROWS)
