"""Which columns hold personal data, and which do not: every model with columns that could says so itself.

`personal_fields` are about a person, `impersonal_fields` are not. A model whose `personal_fields` are empty
is about things, and about people only where somebody writes of them in a free text. `docs/privacy.md` says
the same to people; tests hold both to the models.
"""

from collections.abc import Iterator

from django.apps import apps
from django.db import models

# Columns of these types can name somebody.
TELLING = (models.CharField, models.TextField, models.JSONField, models.FileField)

# Of models of other packages.
FOREIGN: dict[str, tuple[str, ...]] = {
    "auth.User": ("username", "first_name", "last_name", "email", "password"),
    "auth.Group": (),
    "auth.Permission": (),
    "admin.LogEntry": ("object_repr", "change_message"),
    "contenttypes.ContentType": (),
    "sessions.Session": ("session_key", "session_data"),
    "django_tasks_database.DBTaskResult": ("args_kwargs", "return_value", "traceback"),
}
FOREIGN_IMPERSONAL: dict[str, tuple[str, ...]] = {
    "admin.LogEntry": ("object_id",),
    "django_tasks_database.DBTaskResult": (
        "status", "task_path", "worker_ids", "queue_name", "backend_name", "exception_class_path",
    ),
}  # fmt: skip


def personal_fields(model: type[models.Model]) -> tuple[str, ...] | None:
    """Return the columns about a person; `None` if the model declares none."""
    found: tuple[str, ...] | None = getattr(model, "personal_fields", FOREIGN.get(model._meta.label))
    return found


def impersonal_fields(model: type[models.Model]) -> tuple[str, ...]:
    found: tuple[str, ...] = getattr(
        model, "impersonal_fields", FOREIGN_IMPERSONAL.get(model._meta.label, ())
    )
    return found


def all_personal_fields() -> dict[str, tuple[str, ...]]:
    """Return the columns about people by the labels of their models."""
    return {model._meta.label: fields for model in apps.get_models() if (fields := personal_fields(model))}


def unlisted() -> Iterator[str]:
    """Yield the columns that are not declared personal or impersonal."""
    for model in apps.get_models(include_auto_created=True):
        personal = personal_fields(model)
        for field in model._meta.concrete_fields:
            # A choice of fixed words names no person.
            is_telling = isinstance(field, TELLING) and not field.choices
            judged = personal == () or field.name in (*(personal or ()), *impersonal_fields(model))
            if is_telling and not judged:
                yield f"{model._meta.label}.{field.name}"


def listed_in_vain() -> Iterator[str]:
    """Yield what is declared and no model has."""
    for model in apps.get_models():
        columns = {field.name for field in model._meta.concrete_fields}
        for name in (*(personal_fields(model) or ()), *impersonal_fields(model)):
            if name not in columns:
                yield f"{model._meta.label}.{name}"
    yield from FOREIGN.keys() - {model._meta.label for model in apps.get_models()}
