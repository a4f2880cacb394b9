"""What the database itself can be asked, and what crosses the years."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import DatabaseError, IntegrityError, connection
from django.db.models import CharField, F, Q
from django.db.models.functions import Length

from operations.verify.rows import content_models, named

EDITION = "edition"


def broken() -> Iterator[str]:
    """Foreign keys that lead nowhere, and on SQLite damage of the file."""
    try:
        connection.check_constraints()
    except (DatabaseError, IntegrityError) as error:
        yield str(error)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA integrity_check")
            yield from (str(line) for (line,) in cursor.fetchall() if line != "ok")


def has_edition(model: Any) -> bool:
    return any(field.name == EDITION for field in model._meta.concrete_fields)


def strays() -> Iterator[str]:
    """Rows of one edition that point at a row of another."""
    for model in filter(has_edition, content_models()):
        for field in model._meta.concrete_fields:
            if field.is_relation and field.name != EDITION and has_edition(field.related_model):
                far = f"{field.name}__{EDITION}"
                # What belongs to no edition belongs to all.
                apart = ~Q(**{far: F(EDITION)}) & Q(**{f"{far}__isnull": False})
                for key in model._base_manager.filter(apart).order_by("pk").values_list("pk", flat=True):
                    yield f"{named(model, key)}: “{field.verbose_name}” is of another edition"


def too_long() -> Iterator[str]:
    """Texts beyond what their column holds: SQLite takes them, PostgreSQL does not."""
    if connection.vendor != "sqlite":
        return
    for model in apps.get_models():
        columns = [field for field in model._meta.concrete_fields if isinstance(field, CharField)]
        for field in columns:
            longer = model._base_manager.annotate(length=Length(field.name)).filter(
                length__gt=field.max_length
            )
            for key in longer.order_by("pk").values_list("pk", flat=True):
                yield f"{named(model, key)}: “{field.verbose_name}” is over {field.max_length} characters"
