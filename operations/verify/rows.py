"""The models whose rows are checked, and how a row is named to whoever has to look at it."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps

from content.models import Content


def content_models() -> Iterator[Any]:
    """Walk the models of the program."""
    yield from (model for model in apps.get_models() if issubclass(model, Content))


def named(model: Any, key: Any) -> str:
    return f"{model._meta.verbose_name} {key}"
