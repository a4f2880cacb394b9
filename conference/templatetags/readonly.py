"""Read-only fields of the admin's forms, without links to rows that the user may not see."""

from typing import Any

from django import template
from django.core.exceptions import FieldDoesNotExist
from django.db.models import ForeignKey, Model

from editorial.access import access_for

register = template.Library()


@register.simple_tag(takes_context=True)
def readonly_value(context: Any, field: Any) -> Any:
    """Return the contents of a read-only field; a related row is a link only if the user may see it."""
    row = related_row(field.form.instance, field.field["field"])
    if row is not None and not access_for(context["request"]).may("view", type(row), row):
        return str(row)
    return field.contents()


def related_row(instance: Model, name: object) -> Model | None:
    """Return the row to which a foreign key of this name leads."""
    try:
        field = instance._meta.get_field(str(name))
    except FieldDoesNotExist:
        return None
    row: Model | None = getattr(instance, field.name) if isinstance(field, ForeignKey) else None
    return row
