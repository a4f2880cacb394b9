"""Rows that are written with their owner as one list: authors, roles, speakers, winners, other names.

The list is all there are, in order: what it has no more is deleted, and positions are 1..n afterwards.
"""

from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import UniqueConstraint
from django.utils.translation import gettext as _

from api.permissions import Asker
from api.writing.declared import Part
from api.writing.refusals import Invalid, forbidden, not_allowed, of_model
from api.writing.told import rows_of
from content.ordering import reorder

type Errors = dict[str, list[str]]


@dataclass(slots=True)
class Plan:
    """What becomes of the rows of a part."""

    wanted: list[Any] = field(default_factory=list)
    new: list[Any] = field(default_factory=list)
    changed: list[Any] = field(default_factory=list)
    gone: list[Any] = field(default_factory=list)
    # Relations to many that get other rows.
    links: list[tuple[Any, str, list[Any]]] = field(default_factory=list)


def write(part: Part, name: str, owner: Any, body: list[dict[str, Any]], asker: Asker) -> None:
    """Make the owner's rows what the list says. Few queries, however long it is."""
    stored = rows_of(part, owner)
    plan = planned(part, name, owner, body, stored)
    check_rules(part, name, plan)
    check_rights(part, plan, owner, asker)
    save(part, owner, plan, stored)


def planned(part: Part, name: str, owner: Any, body: list[dict[str, Any]], stored: list[Any]) -> Plan:
    """Compare the list with what is stored; rows are known again by their key."""
    plan = Plan()
    known = {key_of(part, row): row for row in stored}
    errors: Errors = {}
    for index, values in enumerate(body):
        lacking = [column for column in needed(part) if values.get(column) is None]
        key = tuple(same(values.get(column, default_of(part, column))) for column in part.key)
        if lacking:
            errors |= {f"{name}.{index}.{column}": [_("This is needed.")] for column in lacking}
        elif any(key == key_of(part, row) for row in plan.wanted):
            errors[f"{name}.{index}"] = [_("This stands in the list twice.")]
        else:
            take(part, plan, known.pop(key, None), owner, values)
    if errors:
        raise Invalid(errors)
    plan.gone = list(known.values())
    return plan


def take(part: Part, plan: Plan, row: Any, owner: Any, values: dict[str, Any]) -> None:
    """Give a row the values of its entry; a new row where there is none."""
    plain = {column: value for column, value in values.items() if column not in part.many}
    if row is None:
        row = part.model(**{part.owner: owner, **plain})
        plan.new.append(row)
    elif any(getattr(row, column) != value for column, value in plain.items()):
        for column, value in plain.items():
            setattr(row, column, value)
        plan.changed.append(row)
    plan.wanted.append(row)
    for column in part.many:
        if column in values:
            here = {one.pk for one in getattr(row, column).all()} if row.pk else set()
            if here != {one.pk for one in values[column]}:
                plan.links.append((row, column, values[column]))


def key_of(part: Part, row: Any) -> tuple[Any, ...]:
    return tuple(same(getattr(row, column)) for column in part.key)


def same(value: Any) -> Any:
    """Return a value as rows are told apart by it."""
    return getattr(value, "pk", value)


def needed(part: Part) -> list[str]:
    """Return the key columns without which a row is nothing."""
    fields = {column: part.model._meta.get_field(column) for column in part.key}
    return [name for name, column in fields.items() if not column.null and not column.has_default()]  # type: ignore[union-attr]


def default_of(part: Part, column: str) -> Any:
    found: Any = part.model._meta.get_field(column)
    return found.get_default()


def check_rules(part: Part, name: str, plan: Plan) -> None:
    """Hold rows against the model's rules, as `full_clean()` does.

    What they point at was just read, and what is unique among the owner's rows follows from the keys:
    neither is asked of the database again for each row.
    """
    errors: Errors = {}
    others = [rule for rule in part.model._meta.constraints if not _is_own(part, rule)]
    names = {column: column for column in (*part.fields, *part.references)}
    for row in [*plan.changed, *plan.new]:
        path = f"{name}.{_place(plan, row)}"
        try:
            row.clean_in_memory()
            for rule in others:
                rule.validate(part.model, row)
        except ValidationError as error:
            errors |= of_model(error, names, path)
    if errors:
        raise Invalid(errors)


def _is_own(part: Part, rule: Any) -> bool:
    return isinstance(rule, UniqueConstraint) and part.owner in rule.fields


def _place(plan: Plan, row: Any) -> int:
    return next(index for index, one in enumerate(plan.wanted) if one is row)


def check_rights(part: Part, plan: Plan, owner: Any, asker: Asker) -> None:
    """Refuse what the admin would refuse on the owner's form."""
    relinked = [row for row, _column, _rows in plan.links if row.pk is not None]
    done = {"add": plan.new, "change": [*plan.changed, *relinked], "delete": plan.gone}
    for action, rows in done.items():
        if rows and not asker.may_part(action, part.model, owner):
            raise forbidden(not_allowed(action, part.model))


def save(part: Part, owner: Any, plan: Plan, stored: list[Any]) -> None:
    rows: Any = part.model._default_manager
    if plan.gone:
        rows.filter(pk__in=[row.pk for row in plan.gone]).delete()
    if part.is_ordered:
        last = max((row.position for row in stored), default=0)
        for place, row in enumerate(plan.new, start=last + 1):
            row.position = place
    if plan.new:
        rows.bulk_create(plan.new)
    if plan.changed:
        rows.bulk_update(plan.changed, [*part.fields, *part.references])
    for row, column, values in plan.links:
        getattr(row, column).set(values)
    if part.is_ordered and [row.position for row in plan.wanted] != [*range(1, len(plan.wanted) + 1)]:
        reorder(rows.filter(**{part.owner: owner}), [row.pk for row in plan.wanted])
