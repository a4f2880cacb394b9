"""Uploaded files that rows name: nothing but a copy can bring back one that is lost."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.core.files.storage import default_storage
from django.db.models import FileField

from website.verifying.rows import named


def file_fields() -> Iterator[tuple[Any, str]]:
    """Walk the fields that name files, with their models."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, FileField):
                yield model, field.name


def missing() -> Iterator[str]:
    for model, name in file_fields():
        rows = model._base_manager.exclude(**{name: ""}).order_by("pk")
        for key, path in rows.values_list("pk", name):
            if path and not default_storage.exists(path):
                yield f"{named(model, key)}: the file {path} is not there"
