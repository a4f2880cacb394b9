"""Create, change, move and delete rows as a request body says; models validate every write.

Parts, such as the authors of a paper, are written with their owner as one list: rows that are missing from
it are deleted, and positions count from 1.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DEFAULT_DB_ALIAS
from django.db.models import Field, Model, UniqueConstraint
from django.db.models.deletion import Collector, ProtectedError
from django.utils.translation import gettext as _

from api.errors import InvalidBodyError, conflict, forbidden, model_errors, permission_text
from api.permissions import Asker
from api.reader import Reader
from api.writing.bodies import Body
from api.writing.responses import rows_of_part, summary_of
from api.writing.writable import WritablePart, WritableResource
from conference.models import Edition
from content.models import Content, Ordered
from content.ordering import reorder
from content.row_values import is_recorded

POSITION = "position"


def columns(written: WritableResource, body: Body) -> Body:
    """Return what a body says by column: not its parts, its place, its identity."""
    names = {written.called.get(column, column): column for column in written.fields}
    names |= {column: column for column in written.references}
    return {names[name]: value for name, value in body.items() if name in names and name != POSITION}


def create(written: WritableResource, body: Body, edition: Edition | None, asker: Asker) -> Content:
    """Make a row with all that hangs on it."""
    model = written.model
    values = columns(written, body)
    if written.has_edition:
        values["edition"] = edition
    if written.key and "id" in body:
        values[written.key] = body["id"]
        there = {written.key: body["id"], **({"edition": edition} if written.has_edition else {})}
        if model._base_manager.filter(**there).exists():
            said = _("There is a “%(id)s” already; what was deleted or merged keeps its id too.")
            raise conflict(said % {"id": body["id"]}, errors={"id": [_("This is taken.")]})
    row = model(**values)
    validate(written, row)
    check_permissions(asker, row, "add")
    row.save()
    save_parts_and_position(written, row, body, asker)
    return row


def change(written: WritableResource, row: Content, body: Body, asker: Asker) -> None:
    """Change what the body names, and leave the rest as it is."""
    check_fields(written, row, body, asker)
    before = owner_key(row)
    values = columns(written, body)
    for column, value in values.items():
        setattr(row, column, value)
    if isinstance(row, Ordered) and owner_key(row) != before:
        # A new row goes to the end, unless the body has a position.
        row.position = 0
    validate(written, row)
    check_permissions(asker, row, "change")
    if values:
        row.save()
    save_parts_and_position(written, row, body, asker)


def owner_key(row: Model) -> object:
    """Return the key of the thing below which a row has its place, if it has one."""
    return getattr(row, f"{row.siblings_of}_id") if isinstance(row, Ordered) else None


def check_permissions(asker: Asker, row: Content, action: str) -> None:
    """Refuse rows of editions that are not the token's, or in which no role allows this."""
    if not asker.reaches(row, action):
        raise forbidden(_("This token is for another edition."))
    if not asker.may_with(row, action):
        raise forbidden(permission_text(action, type(row)))


def check_fields(written: WritableResource, row: Content, body: Body, asker: Asker) -> None:
    """Refuse what goes beyond the fields that a session chair keeps."""
    allowed = asker.fields(row)
    if allowed is None:
        return
    values = columns(written, body) | ({POSITION: body[POSITION]} if POSITION in body else {})
    errors = {
        written.called.get(column, column): [_("You may not change this field.")]
        for column, value in values.items()
        if column not in allowed and getattr(row, column) != value
    }
    if errors:
        raise InvalidBodyError(errors)


def validate(written: WritableResource, row: Content) -> None:
    try:
        row.full_clean()
    except ValidationError as error:
        raise InvalidBodyError(model_errors(error, written.names)) from None


def save_parts_and_position(written: WritableResource, row: Content, body: Body, asker: Asker) -> None:
    """Write what hangs on the row, and put it in its place."""
    for name, part in written.parts.items():
        if name in body:
            write_part(part, name, row, body[name], asker)
    if isinstance(row, Ordered) and body.get(POSITION):
        move(row, body[POSITION])


def move(row: Ordered, place: int) -> None:
    """Put a row in a place among its siblings; the others make room."""
    others = row.siblings().exclude(pk=row.pk).order_by(POSITION, "pk")
    keys = list(others.values_list("pk", flat=True))
    keys.insert(place - 1, row.pk)
    reorder(type(row)._default_manager.filter(pk__in=keys), keys)


def delete(row: Content, reader: Reader) -> None:
    """Delete a row with what belongs to it, unless something else holds it."""
    try:
        going = Collector(using=row._state.db or DEFAULT_DB_ALIAS, origin=row)
        going.collect([row])
        check_delete_permissions(going, reader.asker)
        row.delete()
    except ProtectedError as error:
        held = {owner_of(one) for one in error.protected_objects}
        raise conflict(
            _("This is not deleted: %(number)d things hold it.") % {"number": len(held)},
            rows=summaries_of(held, reader),
        ) from None


def check_delete_permissions(going: Collector, asker: Asker) -> None:
    """Refuse if the deletion cascades to rows that the user may not delete."""
    # Cascading rows may belong to another edition, such as an award of an old paper.
    collected: Mapping[type[Model], Iterable[Any]] = going.data
    refused = {
        model
        for model, rows in collected.items()
        if is_recorded(model) and not all(asker.may_with(row, "delete") for row in rows)
    }
    refused |= {
        rows.model
        for rows in going.fast_deletes
        if is_recorded(rows.model) and not asker.may_with_all(rows, "delete")
    }
    for model in sorted(refused, key=lambda one: one._meta.label):
        raise forbidden(permission_text("delete", model))


def owner_of(row: Model) -> Model:
    """Return the thing that a row is a part of: of an authorship the paper."""
    found: Model = getattr(row, row.siblings_of) if isinstance(row, Ordered) else row
    return found


def summaries_of(rows: set[Model], reader: Reader) -> list[dict[str, str]]:
    """Return the rows as answers name them, as far as the reader may see them."""
    by_model: dict[type[Model], list[int]] = {}
    for row in rows:
        by_model.setdefault(type(row), []).append(row.pk)
    found: list[dict[str, str]] = []
    for model, keys in by_model.items():
        seen = reader.rows(model).filter(pk__in=keys)
        found += [summary_of(row) for row in seen]
    return sorted(found, key=lambda one: (one["kind"], one["name"], one["url"]))


type Errors = dict[str, list[str]]


@dataclass(slots=True)
class PartPlan:
    """What becomes of the rows of a part."""

    wanted: list[Any] = field(default_factory=list)
    new: list[Any] = field(default_factory=list)
    changed: list[Content] = field(default_factory=list)
    gone: list[Content] = field(default_factory=list)
    # Relations to many that get other rows.
    links: list[tuple[Content, str, list[Model]]] = field(default_factory=list)


def write_part(part: WritablePart, name: str, owner: Content, body: list[Body], asker: Asker) -> None:
    """Make the owner's rows what the list says. Few queries, however long it is."""
    stored = rows_of_part(part, owner)
    plan = plan_part(part, name, owner, body, stored)
    validate_part(part, name, plan)
    check_part_permissions(part, plan, owner, asker)
    save_part(part, owner, plan, stored)


def plan_part(
    part: WritablePart, name: str, owner: Content, body: list[Body], stored: list[Content]
) -> PartPlan:
    """Compare the list with what is stored; rows are known again by their key."""
    plan = PartPlan()
    known = {part_key(part, row): row for row in stored}
    errors: Errors = {}
    for index, values in enumerate(body):
        lacking = [column for column in required_columns(part) if values.get(column) is None]
        key = tuple(comparable(values.get(column, default_of(part, column))) for column in part.key)
        if lacking:
            errors |= {f"{name}.{index}.{column}": [_("This is needed.")] for column in lacking}
        elif any(key == part_key(part, row) for row in plan.wanted):
            errors[f"{name}.{index}"] = [_("This stands in the list twice.")]
        else:
            plan_entry(part, plan, known.pop(key) if key in known else None, owner, values)
    if errors:
        raise InvalidBodyError(errors)
    plan.gone = list(known.values())
    return plan


def plan_entry(part: WritablePart, plan: PartPlan, row: Content | None, owner: Content, values: Body) -> None:
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


def part_key(part: WritablePart, row: Content) -> tuple[object, ...]:
    return tuple(comparable(getattr(row, column)) for column in part.key)


def comparable(value: object) -> object:
    """Return the value that keys are compared by: of a row its primary key."""
    return getattr(value, "pk", value)


def required_columns(part: WritablePart) -> list[str]:
    """Return the key columns without which a row is nothing."""
    fields = {column: part.model._meta.get_field(column) for column in part.key}
    return [
        name
        for name, column in fields.items()
        if isinstance(column, Field) and not column.null and not column.has_default()
    ]


def default_of(part: WritablePart, column: str) -> object:
    field = part.model._meta.get_field(column)
    return field.get_default() if isinstance(field, Field) else None


def validate_part(part: WritablePart, name: str, plan: PartPlan) -> None:
    """Hold rows against the model's rules, as `full_clean()` does.

    Referenced rows were just read, and uniqueness within the owner follows from the keys: neither is
    queried again for each row.
    """
    errors: Errors = {}
    others = [rule for rule in part.model._meta.constraints if not _is_unique_in_owner(part, rule)]
    names = {column: column for column in (*part.fields, *part.references)}
    for row in [*plan.changed, *plan.new]:
        path = f"{name}.{_index(plan, row)}"
        try:
            row.clean_in_memory()
            for rule in others:
                rule.validate(part.model, row)
        except ValidationError as error:
            errors |= model_errors(error, names, path)
    if errors:
        raise InvalidBodyError(errors)


def _is_unique_in_owner(part: WritablePart, rule: object) -> bool:
    return isinstance(rule, UniqueConstraint) and part.owner in rule.fields


def _index(plan: PartPlan, row: Content) -> int:
    return next(index for index, one in enumerate(plan.wanted) if one is row)


def check_part_permissions(part: WritablePart, plan: PartPlan, owner: Content, asker: Asker) -> None:
    """Refuse what the admin would refuse on the owner's form."""
    relinked = [row for row, _column, _rows in plan.links if row.pk is not None]
    done = {"add": plan.new, "change": [*plan.changed, *relinked], "delete": plan.gone}
    for action, rows in done.items():
        if rows and not asker.may_part(action, part.model, owner):
            raise forbidden(permission_text(action, part.model))


def save_part(part: WritablePart, owner: Content, plan: PartPlan, stored: list[Any]) -> None:
    rows = part.model._default_manager
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
