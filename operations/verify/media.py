"""Uploaded files that rows name: nothing but a copy can bring back one that is lost."""

from collections.abc import Iterator

from django.core.files.storage import default_storage

from content.file_fields import file_fields
from operations.verify.rows import named


def missing() -> Iterator[str]:
    for model, field in file_fields():
        rows = model._base_manager.exclude(**{field.name: ""}).order_by("pk")
        for key, path in rows.values_list("pk", field.name):
            if path and not default_storage.exists(path):
                yield f"{named(model, key)}: the file {path} is not there"
