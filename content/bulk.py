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
from content.ordering import close_gaps, is_ordered, lock_owners, owner_keys
from content.row_values import BATCH_ROWS, PARKED_FROM, UPDATE_BATCH_ROWS, to_json_value
from content.unreleased import diversion

if TYPE_CHECKING:
    from content.models import Content

POSITION = "position"

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
        skipped = [[row.pk, reason] for row, reason in self.skipped]
        return hashlib.sha256(json.dumps([changes, skipped], default=str).encode()).hexdigest()[:32]


def defer_long_texts[M: models.Model](rows: QuerySet[M], *needed: str) -> QuerySet[M]:
    """Select the relations that validation reads, and defer long texts except the fields `needed`."""
    foreign_keys = (field for field in rows.model._meta.concrete_fields if field.many_to_one)
    relations = {
        field.name: field.related_model for field in foreign_keys if hasattr(field.related_model, "derive")
    }
    deferred = [name for name in long_texts(rows.model) if name not in needed]
    for relation, target in relations.items():
        deferred += [f"{relation}__{name}" for name in long_texts(target)]
    rule_relations: tuple[str, ...] = getattr(rows.model, "rule_relations", ())
    rows = rows.select_related(*relations) if relations else rows
    return rows.prefetch_related(*rule_relations).defer(*deferred)


def long_texts(model: type[models.Model] | None) -> list[str]:
    fields = model._meta.concrete_fields if model else ()
    return [field.name for field in fields if isinstance(field, models.TextField)]


def column_value(row: models.Model, name: str) -> object:
    """Return a field's value as in its column: for a foreign key, the primary key."""
    field = row._meta.get_field(name)
    return getattr(row, getattr(field, "attname", name))


def apply_and_validate(row: "Content", values: Values) -> str:
    """Set these values on an instance; return the validation errors as text, or an empty string."""
    for name, value in values.items():
        setattr(row, name, value)
    excluded = {
        field.name for field in row._meta.concrete_fields if field.name not in values or field.is_relation
    }
    try:
        row.clean_fields(exclude=excluded)
        row.clean()
    except ValidationError as error:
        return " ".join(error.messages)
    return ""


def plan_changes[M: "Content"](
    rows: Iterable[M], get_values: Callable[[M], Values], summarize: Callable[[M, Values], str]
) -> BulkPlan:
    """Compare rows with their new values. `summarize` is called before the values are set."""
    plan = BulkPlan()
    for row in rows:
        new_values = {
            name: value
            for name, value in get_values(row).items()
            if column_value(row, name) != (value.pk if isinstance(value, models.Model) else value)
        }
        if not new_values:
            plan.same.append(row)
            continue
        summary = summarize(row, new_values)
        if reason := apply_and_validate(row, new_values):
            plan.skipped.append((row, reason))
        else:
            plan.lines.append(BulkChange(row, summary, new_values))
    return plan


def write(lines: list[BulkChange]) -> None:
    """Write the values to rows of one model: a few queries for 500 rows.

    The fields of a row from which text is derived must not be deferred.
    """
    lines = [line for line in lines if line.values]
    if not lines:
        return
    model = type(lines[0].row)
    position_fields = {POSITION, getattr(model, "siblings_of", POSITION)}
    moved_keys = [line.row.pk for line in lines if position_fields & line.values.keys()]
    with recording.single_change_set(), revision.lock():
        old_owners = owner_keys(model, moved_keys) if is_ordered(model) else set()
        if is_ordered(model):
            new_owners = (line.values.get(model.siblings_of) for line in lines)
            lock_owners(model, [*old_owners, *(owner.pk for owner in new_owners if owner)])
        differing_rows: dict[tuple[str, ...], list[tuple[Content, Values]]] = {}
        for values, rows in _group_by_values(lines):
            if len(rows) > 1 and not values.keys() & {*model.derived_from}:
                for batch in batched(rows, BATCH_ROWS, strict=False):
                    model._default_manager.filter(pk__in=[row.pk for row in batch]).update(**values)
            else:
                differing_rows.setdefault(tuple(sorted(values)), []).extend((row, values) for row in rows)
        for names, pairs in differing_rows.items():
            _write_differing(model, names, pairs)
        _write_positions(model, [line for line in lines if POSITION in line.values])
        if is_ordered(model):
            close_gaps({model: old_owners | owner_keys(model, moved_keys)})


def _write_differing(
    model: "type[Content]", names: tuple[str, ...], rows: "list[tuple[Content, Values]]"
) -> None:
    """Write values of the same fields that differ from row to row."""
    sources = {*names} & {*model.derived_from}
    if len(rows) == 1 and not sources:
        row, values = rows[0]
        model._default_manager.filter(pk=row.pk).update(**values)
        return
    for row, values in rows:
        for name, value in values.items():
            setattr(row, name, value)
    queryset: Any = model._default_manager.all()
    # Django's own method derives no fields, and therefore reads no deferred text.
    is_derived = sources or waits(model, [row for row, _values in rows])
    update = queryset.bulk_update if is_derived else partial(QuerySet.bulk_update, queryset)
    update([row for row, _values in rows], names, batch_size=UPDATE_BATCH_ROWS)


def waits(model: "type[Content]", rows: "Iterable[Content]") -> bool:
    """Return whether changes of some of these rows wait for a release."""
    is_waiting = diversion.is_concerned(model, None) and hasattr(model, "waiting_fields")
    return is_waiting and bool(diversion.waiting_editions({row.get_edition_key() for row in rows}))


def _group_by_values(lines: list[BulkChange]) -> "Iterable[tuple[Values, list[Content]]]":
    groups: dict[str, tuple[Values, list[Content]]] = {}
    for line in lines:
        values = {name: value for name, value in line.values.items() if name != POSITION}
        if values:
            key = json.dumps({name: to_json_value(value) for name, value in values.items()}, default=str)
            groups.setdefault(key, (values, []))[1].append(line.row)
    return groups.values()


def _write_positions(model: "type[Content]", lines: list[BulkChange]) -> None:
    """Move rows to positions, which are unique: `close_gaps` sorts them before the rows there now."""
    if lines and waits(model, [line.row for line in lines]):
        for line in lines:
            line.row.position = line.values[POSITION]
        model._default_manager.bulk_update([line.row for line in lines], [POSITION])
        return
    owned_rows: QuerySet[models.Model] = model._base_manager.none()
    if is_ordered(model):
        owned_rows = model._base_manager.filter(**{f"{model.siblings_of}__isnull": False})
    for batch in batched(lines, BATCH_ROWS, strict=False):
        positions = {line.row.pk: line.values[POSITION] for line in batch}
        # Use twice the offset of other rows that change places, so that positions stay unique.
        for key in owned_rows.filter(pk__in=positions).values_list("pk", flat=True):
            positions[key] += 2 * PARKED_FROM
        cases = [When(pk=key, then=Value(position)) for key, position in positions.items()]
        new_position = Case(*cases, output_field=models.PositiveIntegerField())
        model._default_manager.filter(pk__in=positions).update(**{POSITION: new_position})


def create_rows(lines: list[BulkChange]) -> None:
    rows_by_model: dict[type[Content], list[Content]] = {}
    for line in lines:
        if line.new_row is not None:
            rows_by_model.setdefault(type(line.new_row), []).append(line.new_row)
    for model, rows in rows_by_model.items():
        model._default_manager.bulk_create(rows, batch_size=BATCH_ROWS)
