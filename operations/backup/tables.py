"""Which tables travel, and how a value is written as JSON. Not: what follows from the rest, or passes."""

import uuid
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db.models import Field
from django.utils.duration import duration_iso_string

if TYPE_CHECKING:
    from django.db.models import Model

# The index is made anew, everybody signs in again, and no task is done twice.
LEFT_OUT = frozenset(("django_tasks_database", "search", "sessions"))
SESSIONS = "accounts.accountsession"


def tables(apps: Any) -> Iterator[Any]:
    """Walk the models whose rows travel, relations to many too. `apps`: those of now, or of long ago."""
    for model in apps.get_models(include_auto_created=True):
        about = model._meta
        is_stored = about.managed and not about.proxy and not about.swapped
        if is_stored and about.app_label not in LEFT_OUT and about.label_lower != SESSIONS:
            yield model


def columns(model: "type[Model]") -> list[Field[Any, Any]]:
    """Return the columns that are stored as they are: not what the database computes."""
    return [field for field in model._meta.concrete_fields if not field.generated]


def plain(value: object) -> Any:
    """Return a value that JSON knows; reading it back is the column's own business."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return duration_iso_string(value)
    if isinstance(value, uuid.UUID | Decimal):
        return str(value)
    raise TypeError(f"No way is known to write {type(value).__name__} into an archive.")
