"""What is stored but follows from other fields: rendered text, plain forms for sorting and finding."""

from collections.abc import Iterator
from typing import Any

from content import recording, revision
from operations.verify.rows import content_models, named

AT_ONCE = 500


def differing() -> Iterator[tuple[Any, dict[str, Any]]]:
    """Walk the rows whose derived fields are not what they would be now, with what these would be."""
    for model in content_models():
        fields = model.derived_fields
        if not fields:
            continue
        for row in model._base_manager.order_by("pk").iterator(AT_ONCE):
            stored = {name: getattr(row, name) for name in fields}
            row.derive()
            derived = {name: getattr(row, name) for name in fields}
            if stored != derived:
                yield row, {name: value for name, value in derived.items() if stored[name] != value}


def stale() -> Iterator[str]:
    for row, values in differing():
        yield f"{named(type(row), row.pk)}: {', '.join(values)}"


def mend() -> None:
    with recording.together(), revision.lock():
        for row, values in [*differing()]:
            type(row)._default_manager.filter(pk=row.pk).update(**values)
