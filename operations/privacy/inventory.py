"""Which columns hold personal data, and which do not: every model with columns that could says so itself.

`personal_fields` are about a person, `impersonal_fields` are not. A model whose `personal_fields` are empty
is about things, and about people only where somebody writes of them in a free text. `docs/privacy.md` says
the same to people; tests hold both to the models.
"""

from django.apps import apps
from django.db import models

# Columns of these types can name somebody.
TEXT_COLUMNS = (models.CharField, models.TextField, models.JSONField, models.FileField)

# Of models of other packages.
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
    """Return the columns about a person; `None` if the model declares none."""
    found: tuple[str, ...] | None = getattr(model, "personal_fields", PACKAGE_FIELDS.get(model._meta.label))
    return found


def all_personal_fields() -> dict[str, tuple[str, ...]]:
    return {model._meta.label: fields for model in apps.get_models() if (fields := personal_fields(model))}
