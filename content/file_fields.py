"""The fields of all models that name uploaded files."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db.models import FileField


def file_fields() -> Iterator[tuple[type[Any], FileField]]:
    """Walk the fields that name files, with their models, whose managers differ."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, FileField):
                yield model, field
