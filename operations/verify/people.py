"""What was merged, people and institutions: it leads to what was not, and stands nowhere itself any more."""

from collections.abc import Iterator
from typing import Any

from people.merged_rows import final_rows
from people.models import Institution, Person
from people.querysets import appearances


def misled() -> Iterator[str]:
    models: list[Any] = [Person, Institution]
    for model in models:
        yield from _in_circles(model)
        for rows, name in appearances(model):
            left = rows._base_manager.filter(**{f"{name}__merged_into__isnull": False}).order_by("pk")
            for key, gone in left.values_list("pk", name):
                what = model._meta.verbose_name
                yield f"{rows._meta.verbose_name} {key}: is of {what} {gone}, who was merged into another"


def _in_circles(model: Any) -> Iterator[str]:
    merged = model._base_manager.filter(merged_into__isnull=False)
    successors = dict(merged.values_list("pk", "merged_into_id"))
    for key, end in sorted(final_rows(successors).items()):
        if end in successors:
            yield f"{model._meta.verbose_name} {key}: is merged in a circle"
