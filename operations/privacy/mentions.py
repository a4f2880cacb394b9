"""Where a person is still named after all: in texts that somebody wrote. What to do there, people decide."""

from collections.abc import Iterable, Iterator

from django.apps import apps
from django.db.models import JSONField, Q

from operations.privacy.inventory import TELLING

# Shorter words name many things.
MIN_WORD_CHARS = 5


def mentions(words: Iterable[str]) -> Iterator[str]:
    """Walk the columns of all rows in which one of these words stands."""
    wanted = sorted(word for word in words if len(word) >= MIN_WORD_CHARS)
    for model in apps.get_models():
        if not wanted or model._meta.app_label in {"search", "sessions", "contenttypes"}:
            continue
        for column in model._meta.concrete_fields:
            if not isinstance(column, TELLING) or column.name.endswith("_html"):
                continue
            match = Q()
            for word in wanted:
                # JSON may hold what is no ASCII in another way: the text of the value is looked at below.
                match |= Q(**{f"{column.name}__icontains": word})
            rows = (
                model._base_manager.all()
                if isinstance(column, JSONField)
                else model._base_manager.filter(match)
            )
            for key, value in rows.order_by("pk").values_list("pk", column.name):
                if any(word.lower() in str(value).lower() for word in wanted):
                    yield f"{model._meta.label} {key}: {column.name}"
