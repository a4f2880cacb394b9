"""An act taken back as a whole, such as an import. What was changed by hand since stays, and is listed."""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import batched
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db import models
from django.db.models import QuerySet

from content.history import ChangeSet, RowChange
from content.ordering import close_gaps, has_places, owners_below
from content.recording import is_container, together
from content.restoring import Step, apply, earlier, steps
from content.row_values import BATCH_ROWS, part_of

if TYPE_CHECKING:
    from content.models import Content


@dataclass(slots=True)
class Kept:
    """A row that stays, or of which some fields do, in words."""

    row: Any
    words: str

    def __str__(self) -> str:
        return self.words


@dataclass(slots=True)
class Undoing:
    """What taking an act back would do: rows to remove by model, rows to change or bring back, what stays."""

    removed: dict[Any, set[int]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.steps or any(self.removed.values()))


def planned(change_set: ChangeSet) -> Undoing:
    """Compare what the act left behind with what is here."""
    changes = list(change_set.rows.all())
    found = Undoing()
    made = [change for change in changes if change.kind == RowChange.Kind.CREATED]
    touched = touched_since(change_set)
    plan_removals(found, made, touched)
    others = [change for change in changes if change.kind != RowChange.Kind.CREATED]
    after = {c.key: c.values for c in others if c.kind == RowChange.Kind.CHANGED}
    for step in steps(earlier(others), editable=False):
        _plan_step(found, step, after.get((step.model._meta.label_lower, step.key), {}))
    return found


def _plan_step(found: Undoing, step: Step, written: dict[str, Any]) -> None:
    """Take back the fields that still are as the act left them."""
    if step.kind == "change":
        edited = [
            name for name, pair in step.pairs.items() if name in written and pair[0] != written[name][1]
        ]
        for name in edited:
            del step.pairs[name]
        if edited:
            words = f"{step.model._meta.verbose_name} “{step.label}”: {', '.join(edited)}"
            found.kept.append(Kept(step.row, words))
    if step.pairs:
        found.steps.append(step)


def touched_since(change_set: ChangeSet) -> set[str]:
    """Return the names of all rows that were changed later, or whose parts were."""
    later = RowChange.objects.filter(change_set__gt=change_set.pk)
    found: set[str] = set()
    for model, key, *others in later.values_list(
        "model", "object_id", "owner", "other", "moved_to"
    ).iterator():
        found.update([f"{model}:{key}", *others])
    return found


def plan_removals(found: Undoing, made: list[RowChange], touched: set[str]) -> None:
    """Plan to remove the rows that came, unless they were changed since or are needed."""
    going: dict[Any, set[int]] = defaultdict(set)
    for change in made:
        model: Any = apps.get_model(change.model)
        if not is_container(change.model) and change.name not in touched:
            going[model].add(change.object_id)
    while lost := [(model, keys) for model in list(going) if (keys := _needed(model, going))]:
        for model, keys in lost:
            going[model] -= keys
    for change in made:
        model = apps.get_model(change.model)
        stays = change.object_id not in going[model]
        if stays and (row := model._base_manager.filter(pk=change.object_id).first()):
            found.kept.append(Kept(row, f"{model._meta.verbose_name} “{row}”"))
    found.removed = {model: keys for model, keys in going.items() if keys}


def _needed(model: "type[Content]", going: dict[Any, set[int]]) -> set[int]:
    """Return those of the rows to remove that something which stays points at."""
    needed: set[int] = set()
    for relation in model._meta.related_objects:
        other: Any = relation.related_model
        if relation.many_to_many or not hasattr(other, "unrecorded_fields"):
            continue
        name = relation.field.name
        for batch in batched(going[model], BATCH_ROWS, strict=False):
            rows: QuerySet[Any] = other._base_manager.filter(**{f"{name}__in": batch}).order_by()
            columns = [f"{name}_id", "pk", *(f"{owner}_id" for owner in part_of(other))]
            needed |= {row[0] for row in rows.values_list(*columns) if not _goes(other, row, going)}
    return needed


def _goes(model: "type[Content]", row: tuple[Any, ...], going: dict[Any, set[int]]) -> bool:
    """Tell whether a row is to be removed, or hangs on one that is: on the nearest that it has."""
    if row[1] in going.get(model, set()):
        return True
    for name, key in zip(part_of(model), row[2:], strict=True):
        if key is not None:
            return key in going.get(model._meta.get_field(name).related_model, set())
    return False


def take_back(found: Undoing, origin: str, user: Any, detail: str) -> None:
    """Do it, all or nothing, inside `recording()` of the caller or as an act of its own."""
    with together():
        ordered = {model: keys for model, keys in found.removed.items() if has_places(model)}
        touched = {model: owners_below(model, keys) for model, keys in ordered.items()}
        _remove(found.removed)
        close_gaps(touched)
        apply(found.steps, origin, user, detail)


def _remove(removed: dict[Any, set[int]]) -> None:
    """Delete rows, those that others point at last."""
    left = dict(removed)
    while left:
        free = [model for model in left if not _pointers(model) & (left.keys() - {model})]
        for model in free or list(left):
            for batch in batched(sorted(left.pop(model)), BATCH_ROWS, strict=False):
                model._default_manager.filter(pk__in=batch).delete()


def _pointers(model: "type[Content]") -> set[type[models.Model]]:
    """Return the models that point at this one, themselves or through what hangs on them."""
    found: set[Any] = {relation.related_model for relation in model._meta.related_objects}
    for other in [one for one in found if hasattr(one, "unrecorded_fields")]:
        found.update(other._meta.get_field(name).related_model for name in part_of(other)[:1])
    return found
