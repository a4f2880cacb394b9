"""People who were merged into others: they lead to one who was not, and no paper is theirs any more."""

from collections.abc import Iterator
from typing import Any

from people.models import Person


def misled() -> Iterator[str]:
    successors = dict(
        Person._base_manager.filter(merged_into__isnull=False).values_list("pk", "merged_into_id")
    )
    for key in sorted(successors):
        seen, now = {key}, successors[key]
        while now in successors and now not in seen:
            seen.add(now)
            now = successors[now]
        if now in seen:
            yield f"person {key}: is merged in a circle"
    for relation in Person.objects.all().APPEARANCES:
        model: Any = Person._meta.get_field(relation).related_model
        rows = model._base_manager.filter(person__merged_into__isnull=False).order_by("pk")
        for row, person in rows.values_list("pk", "person_id"):
            yield f"{model._meta.verbose_name} {row}: is of person {person}, who was merged into another"
