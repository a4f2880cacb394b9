"""Create, change, move and delete rows according to a request body; models validate every write.

Parts, such as the authors of a paper, are written with their owner as one list. Rows that are missing from
it are deleted, and positions count from 1.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from django.core.exceptions import ValidationError
from django.db import DEFAULT_DB_ALIAS
from django.db.models import Field, Model, UniqueConstraint
from django.db.models.deletion import Collector, ProtectedError
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied

from api.errors import InvalidBodyError, conflict, model_errors, permission_text
from api.permissions import Caller
from api.reader import Reader
from api.shapes import Resource, ToMany
from api.writing.bodies import Body
from api.writing.responses import rows_of_part, summary_of
from conference.models import Edition
from content.models import Content, Ordered
from content.ordering import move_to, reorder
from content.row_values import is_recorded

POSITION = "position"


def column_values(resource: Resource, body: Body) -> Body:
    """Return the values of a body by column, without its parts, position, id and edition."""
    names = {resource.renamed.get(column, column): column for column in resource.writable}
    names |= {column: column for column in resource.references}
    return {names[name]: value for name, value in body.items() if name in names and name != POSITION}


def create(resource: Resource, body: Body, edition: Edition | None, caller: Caller) -> Content:
    values = column_values(resource, body)
    identity = {"edition": edition} if resource.has_edition else {}
    if "id" in body:
        identity[resource.key] = body["id"]
        if resource.model._base_manager.filter(**identity).exists():
            message = _("The id “%(id)s” is already taken. Ids of deleted and merged rows can’t be reused.")
            raise conflict(message % {"id": body["id"]}, errors={"id": [_("This is already taken.")]})
    row = resource.model(**values, **identity)
    validate(resource, row)
    check_permissions(caller, row, "add")
    row.save()
    save_parts_and_position(resource, row, body, caller)
    return row


def change(resource: Resource, row: Content, body: Body, caller: Caller) -> None:
    """Change the fields and parts that are in the body."""
    check_fields(resource, row, body, caller)
    previous_owner = owner_key(row)
    values = column_values(resource, body)
    for column, value in values.items():
        setattr(row, column, value)
    if isinstance(row, Ordered) and owner_key(row) != previous_owner:
        # Move the row to the end of its new owner's list, unless the body has a position.
        row.position = 0
    validate(resource, row)
    check_permissions(caller, row, "change")
    if values:
        row.save()
    save_parts_and_position(resource, row, body, caller)


def owner_key(row: Model) -> object:
    """Return the key of the row that an ordered row is listed under; `None` for rows without an order."""
    return getattr(row, f"{row.siblings_of}_id") if isinstance(row, Ordered) else None


def check_permissions(caller: Caller, row: Content, action: str) -> None:
    """Raise `PermissionDenied` if the token or the roles of the caller do not allow this action."""
    if not caller.reaches(row, action):
        raise PermissionDenied(_("This token is for another edition."))
    if not caller.may_row(row, action):
        raise PermissionDenied(permission_text(action, type(row)))


def check_fields(resource: Resource, row: Content, body: Body, caller: Caller) -> None:
    """Raise `InvalidBodyError` if the body changes fields that the caller, as a session chair, must not."""
    allowed = caller.fields(row)
    if allowed is None:
        return
    values = column_values(resource, body) | ({POSITION: body[POSITION]} if POSITION in body else {})
    errors = {
        resource.renamed.get(column, column): [_("You don’t have permission to change this field.")]
        for column, value in values.items()
        if column not in allowed and getattr(row, column) != value
    }
    if errors:
        raise InvalidBodyError(errors)


def validate(resource: Resource, row: Content) -> None:
    try:
        row.full_clean()
    except ValidationError as error:
        raise InvalidBodyError(model_errors(error, {**resource.renamed, resource.key: "id"})) from None


def save_parts_and_position(resource: Resource, row: Content, body: Body, caller: Caller) -> None:
    """Write the parts of a row, and move it to its position."""
    for name, part in resource.parts.items():
        if name in body:
            write_part(part, name, row, body[name], caller)
    if isinstance(row, Ordered) and body.get(POSITION):
        move_to(row, body[POSITION])


def delete(row: Content, reader: Reader) -> None:
    """Delete a row and those that cascade; raise a conflict if other rows protect it."""
    try:
        collector = Collector(using=row._state.db or DEFAULT_DB_ALIAS, origin=row)
        collector.collect([row])
        check_delete_permissions(collector, reader.caller)
        row.delete()
    except ProtectedError as error:
        # For a part, such as an authorship, name its owner.
        protecting: set[Model] = {
            getattr(protected, protected.siblings_of) if isinstance(protected, Ordered) else protected
            for protected in error.protected_objects
        }
        raise conflict(
            _("Not deleted: %(number)d rows depend on it.") % {"number": len(protecting)},
            rows=summaries_of(protecting, reader),
        ) from None


def check_delete_permissions(collector: Collector, caller: Caller) -> None:
    """Raise `PermissionDenied` if the deletion cascades to rows that the caller may not delete."""
    # Cascading rows may belong to another edition, such as an award of an old paper.
    collected: Mapping[type[Model], Iterable[Any]] = collector.data
    refused = {
        model
        for model, rows in collected.items()
        if is_recorded(model) and not all(caller.may_row(row, "delete") for row in rows)
    }
    refused |= {
        rows.model
        for rows in collector.fast_deletes
        if is_recorded(rows.model) and not caller.may_rows(rows, "delete")
    }
    for model in sorted(refused, key=lambda model: model._meta.label):
        raise PermissionDenied(permission_text("delete", model))


def summaries_of(rows: set[Model], reader: Reader) -> list[dict[str, str]]:
    """Return summaries of the rows that the reader may see, sorted."""
    summaries: list[dict[str, str]] = []
    for model in {type(row) for row in rows}:
        keys = [row.pk for row in rows if type(row) is model]
        summaries += [summary_of(row) for row in reader.rows(model).filter(pk__in=keys)]
    return sorted(summaries, key=lambda summary: (summary["kind"], summary["name"], summary["url"]))


type Errors = dict[str, list[str]]


def write_part(part: ToMany, name: str, owner: Content, body: list[Body], caller: Caller) -> None:
    """Replace the owner's rows by those of the list. Queries per row only for changed `to_many`."""
    shape = part.resource
    stored = rows_of_part(part, owner)
    rows, removed = match_rows(part, name, owner, body, stored)
    new, changed = [row for row in rows if row.pk is None], list[Content]()
    links: list[tuple[Content, str, list[Model]]] = []
    for row, values in zip(rows, body, strict=True):
        own_values = {column: value for column, value in values.items() if column not in shape.to_many}
        if row.pk is not None and any(getattr(row, column) != value for column, value in own_values.items()):
            changed.append(row)
        for column, value in own_values.items():
            setattr(row, column, value)
        for column in shape.to_many.keys() & values.keys():
            stored_keys = {related.pk for related in getattr(row, column).all()} if row.pk else set()
            if stored_keys != {related.pk for related in values[column]}:
                links.append((row, column, values[column]))
    validate_part(part, {f"{name}.{n}": row for n, row in enumerate(rows) if row in [*new, *changed]})
    relinked = [row for row, _column, _rows in links if row.pk is not None]
    rows_by_action = {"add": new, "change": [*changed, *relinked], "delete": removed}
    for action, rows_of_action in rows_by_action.items():
        if rows_of_action and not caller.may_inline(action, shape.model, owner):
            raise PermissionDenied(permission_text(action, shape.model))
    save_part(part, owner, stored, rows, changed, removed)
    for row, column, related_rows in links:
        getattr(row, column).set(related_rows)


def match_rows(
    part: ToMany, name: str, owner: Content, body: list[Body], stored: list[Content]
) -> tuple[list[Content], list[Content]]:
    """Return the stored or new row of each entry, and the stored rows without an entry."""
    model, part_key = part.resource.model, part.resource.part_key
    fields = {column: cast("Field[Any, Any]", model._meta.get_field(column)) for column in part_key}
    required = [name for name, field in fields.items() if not field.null and not field.has_default()]
    unmatched = {tuple(key_value(getattr(row, column)) for column in part_key): row for row in stored}
    rows: list[Content] = []
    errors: Errors = {}
    keys = set()
    for index, values in enumerate(body):
        missing = [column for column in required if values.get(column) is None]
        key = tuple(key_value(values.get(column, fields[column].get_default())) for column in part_key)
        if missing:
            errors |= {f"{name}.{index}.{column}": [_("This field is required.")] for column in missing}
        elif key in keys:
            errors[f"{name}.{index}"] = [_("This is listed twice.")]
        else:
            keys.add(key)
            rows.append(unmatched.pop(key) if key in unmatched else model(**{part.owner: owner}))
    if errors:
        raise InvalidBodyError(errors)
    return rows, list(unmatched.values())


def key_value(value: object) -> object:
    """Return the value to compare keys by: the primary key of a row, else the value itself."""
    return getattr(value, "pk", value)


def validate_part(part: ToMany, rows: Mapping[str, Content]) -> None:
    """Validate rows, given by path, without the queries of `full_clean()` for each row."""
    errors: Errors = {}
    model = part.resource.model
    rules = [
        rule
        for rule in model._meta.constraints
        if not (isinstance(rule, UniqueConstraint) and part.owner in rule.fields)
    ]
    for path, row in rows.items():
        try:
            row.clean_in_memory()
            for rule in rules:
                rule.validate(model, row)
        except ValidationError as error:
            errors |= model_errors(error, {}, path)
    if errors:
        raise InvalidBodyError(errors)


def save_part(
    part: ToMany,
    owner: Content,
    stored: list[Any],
    rows: list[Any],
    changed: list[Content],
    removed: list[Content],
) -> None:
    shape, manager = part.resource, part.resource.model._default_manager
    is_ordered = issubclass(shape.model, Ordered)
    new = [row for row in rows if row.pk is None]
    if removed:
        manager.filter(pk__in=[row.pk for row in removed]).delete()
    if is_ordered:
        last = max((row.position for row in stored), default=0)
        for position, row in enumerate(new, start=last + 1):
            row.position = position
    if new:
        manager.bulk_create(new)
    if changed:
        manager.bulk_update(changed, [*shape.writable, *shape.references])
    if is_ordered and [row.position for row in rows] != [*range(1, len(rows) + 1)]:
        reorder(manager.filter(**{part.owner: owner}), [row.pk for row in rows])
