"""The inventory of personal data. All models with text columns declare which of them are personal.

`personal_fields` are about a person, `impersonal_fields` are not. Models with empty `personal_fields` are
not about people, although free texts may mention some. Tests compare the declarations with the columns,
and with `docs/privacy.md`.
"""

from django.apps import apps
from django.db import models

# Columns of these types can contain personal data.
TEXT_COLUMNS = (models.CharField, models.TextField, models.JSONField, models.FileField)

# The personal fields of models of other packages.
PACKAGE_FIELDS: dict[str, tuple[str, ...]] = {
    "auth.User": ("username", "first_name", "last_name", "email", "password"),
    "auth.Group": (),
    "auth.Permission": (),
    "admin.LogEntry": ("object_repr", "change_message"),
    "contenttypes.ContentType": (),
    "sessions.Session": ("session_key", "session_data"),
    "django_tasks_database.DBTaskResult": ("args_kwargs", "return_value", "traceback"),
}


def personal_fields(model: type[models.Model]) -> tuple[str, ...] | None:
    """Return the personal columns; `None` if the model has no declaration."""
    fields: tuple[str, ...] | None = getattr(model, "personal_fields", PACKAGE_FIELDS.get(model._meta.label))
    return fields


def all_personal_fields() -> dict[str, tuple[str, ...]]:
    return {model._meta.label: fields for model in apps.get_models() if (fields := personal_fields(model))}
