"""One row as a body says it: made, changed, put in its place, deleted; always through the model's rules."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model
from django.db.models.deletion import Collector, ProtectedError
from django.utils.translation import gettext as _

from api.permissions import Asker
from api.reader import Reader
from api.writing import parts
from api.writing.declared import Written
from api.writing.naming import told_as
from api.writing.refusals import Invalid, conflict, forbidden, not_allowed, of_model
from content.deletion import is_recorded
from content.models import Ordered
from content.ordering import reorder

PLACE = "position"


def columns(written: Written, body: dict[str, Any]) -> dict[str, Any]:
    """Return what a body says by column: not its parts, its place, its identity."""
    names = {written.called.get(column, column): column for column in written.fields}
    names |= {column: column for column in written.references}
    return {names[name]: value for name, value in body.items() if name in names and name != PLACE}


def create(written: Written, body: dict[str, Any], edition: Any, asker: Asker) -> Any:
    """Make a row with all that hangs on it."""
    model: Any = written.model
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
    clean(written, row)
    check_reach(asker, row, "add")
    row.save()
    finish(written, row, body, asker)
    return row


def change(written: Written, row: Any, body: dict[str, Any], asker: Asker) -> None:
    """Change what the body names, and leave the rest as it is."""
    is_ordered = isinstance(row, Ordered)
    check_fields(written, row, body, asker)
    before = getattr(row, row._meta.get_field(row.siblings_of).attname) if is_ordered else None
    values = columns(written, body)
    for column, value in values.items():
        setattr(row, column, value)
    if is_ordered and getattr(row, row._meta.get_field(row.siblings_of).attname) != before:
        # Among new siblings it goes to the end, unless the body says where.
        row.position = 0
    clean(written, row)
    check_reach(asker, row, "change")
    if values:
        row.save()
    finish(written, row, body, asker)


def check_reach(asker: Asker, row: Any, action: str) -> None:
    """Refuse rows of editions that are not the token's, or in which no role allows this."""
    if not asker.reaches(row, action):
        raise forbidden(_("This token is for another edition."))
    if not asker.may_with(row, action):
        raise forbidden(not_allowed(action, type(row)))


def check_fields(written: Written, row: Any, body: dict[str, Any], asker: Asker) -> None:
    """Refuse what goes beyond the fields that a session chair keeps."""
    allowed = asker.fields(row)
    if allowed is None:
        return
    values = columns(written, body) | ({PLACE: body[PLACE]} if PLACE in body else {})
    errors = {
        written.called.get(column, column): [_("You may not change this field.")]
        for column, value in values.items()
        if column not in allowed and getattr(row, column) != value
    }
    if errors:
        raise Invalid(errors)


def clean(written: Written, row: Any) -> None:
    try:
        row.full_clean()
    except ValidationError as error:
        raise Invalid(of_model(error, written.names)) from None


def finish(written: Written, row: Any, body: dict[str, Any], asker: Asker) -> None:
    """Write what hangs on the row, and put it in its place."""
    for name, part in written.parts.items():
        if name in body:
            parts.write(part, name, row, body[name], asker)
    if body.get(PLACE):
        move(row, body[PLACE])


def move(row: Any, place: int) -> None:
    """Put a row in a place among its siblings; the others make room."""
    others = row.siblings().exclude(pk=row.pk).order_by(PLACE, "pk")
    keys = list(others.values_list("pk", flat=True))
    keys.insert(place - 1, row.pk)
    reorder(type(row)._default_manager.filter(pk__in=keys), keys)


def delete(row: Any, reader: Reader) -> None:
    """Delete a row with what belongs to it, unless something else holds it."""
    try:
        going = Collector(using=row._state.db, origin=row)
        going.collect([row])
        check_rights(going, reader.asker)
        row.delete()
    except ProtectedError as error:
        held = {owner_of(one) for one in error.protected_objects}
        raise conflict(
            _("This is not deleted: %(number)d things hold it.") % {"number": len(held)},
            rows=rows_told(held, reader),
        ) from None


def check_rights(going: Collector, asker: Asker) -> None:
    """Refuse if something goes along that the asker may not delete."""
    # What goes along may stand in another edition, as an award that an old paper got.
    refused = {
        model
        for model, rows in going.data.items()
        if is_recorded(model) and not all(asker.may_with(row, "delete") for row in rows)
    }
    refused |= {
        rows.model
        for rows in going.fast_deletes
        if is_recorded(rows.model) and not asker.may_with_all(rows, "delete")
    }
    for model in sorted(refused, key=lambda one: one._meta.label):
        raise forbidden(not_allowed("delete", model))


def owner_of(row: Any) -> Model:
    """Return the thing that a row is a part of: of an authorship the paper."""
    found: Model = getattr(row, getattr(row, "siblings_of", ""), row) if hasattr(row, "siblings_of") else row
    return found


def rows_told(rows: set[Any], reader: Reader) -> list[dict[str, str]]:
    """Return the rows as answers name them, as far as the reader may see them."""
    by_model: dict[Any, list[int]] = {}
    for row in rows:
        by_model.setdefault(type(row), []).append(row.pk)
    found: list[dict[str, str]] = []
    for model, keys in by_model.items():
        seen = reader.rows(model).filter(pk__in=keys)
        found += [told_as(row) for row in seen]
    return sorted(found, key=lambda one: (one["kind"], one["name"], one["url"]))
