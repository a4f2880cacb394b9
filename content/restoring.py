"""Back to an earlier state: what rows were before certain changes, what that would change now, and doing it.

Everything restored passes `full_clean`, all in one transaction; restoring is a change like any other.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, ProtectedError

from content import revision
from content.history import RowChange
from content.ordering import PARKED, close_gaps, has_places, owners_below
from content.recording import recording
from content.row_values import Key, Values, held_rows, linked, links, recorded_fields

if TYPE_CHECKING:
    from content.models import Content


class CannotRestoreError(Exception):
    """What stands in the way, in sentences."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


@dataclass(slots=True)
class Wanted:
    """A row as it was: all of it, some fields of it, or not there."""

    kind: str = "fields"
    values: Values = field(default_factory=dict)


@dataclass(slots=True)
class Step:
    """What is going to happen to one row. `pairs`: field -> [now, then]."""

    model: Any
    key: int
    kind: str
    row: Any = None
    label: str = ""
    pairs: dict[str, list[Any]] = field(default_factory=dict)


def earlier(changes: Iterable[RowChange]) -> dict[Key, Wanted]:
    """Return the rows as they were before these changes."""
    wanted: dict[Key, Wanted] = {}
    for change in sorted(changes, key=lambda one: -one.pk):
        then = wanted.setdefault(change.key, Wanted())
        if change.kind == RowChange.Kind.CREATED:
            wanted[change.key] = Wanted("absent")
        elif change.kind == RowChange.Kind.DELETED:
            wanted[change.key] = Wanted("whole", change.before())
        else:
            then.values |= change.before()
    return wanted


def along(gone: Iterable[RowChange]) -> list[RowChange]:
    """Return these rows that were deleted, with all that went or lost its relation with them."""
    found = {change.pk: change for change in gone}
    names = {change.name for change in found.values() if change.kind == RowChange.Kind.DELETED}
    sets = {change.change_set_id for change in found.values()}
    others = list(RowChange.objects.filter(change_set__in=sets).exclude(pk__in=found))
    grown = bool(names)
    while grown:
        fresh = [c for c in others if c.pk not in found and _hung_on(c, names)]
        found |= {change.pk: change for change in fresh}
        names |= {change.name for change in fresh if change.kind == RowChange.Kind.DELETED}
        grown = bool(fresh)
    return list(found.values())


def _hung_on(change: RowChange, names: set[str]) -> bool:
    """Tell whether a row went, or lost a relation, because of one of these."""
    if change.kind == RowChange.Kind.CREATED:
        return False
    if change.kind == RowChange.Kind.DELETED and not change.dragged:
        return False
    model: Any = apps.get_model(change.model)
    before = change.before()
    fields: dict[str, Any] = recorded_fields(model)
    targets = {name: f.related_model._meta.label_lower for name, f in fields.items() if f.is_relation}
    return any(f"{target}:{before.get(name)}" in names for name, target in targets.items())


def version_changes(row: models.Model, change_set: int) -> list[RowChange]:
    """Return what was changed of a row and its parts after a set: going back to it takes this back."""
    name = f"{row._meta.label_lower}:{row.pk}"
    later = RowChange.objects.filter(change_set__gt=change_set)
    own = later.filter(model=row._meta.label_lower, object_id=row.pk)
    found = [*own, *later.of_parts(name)]
    deleted = [change for change in found if change.kind == RowChange.Kind.DELETED]
    return list({change.pk: change for change in [*found, *along(deleted)]}.values())


def steps(wanted: dict[Key, Wanted], *, editable: bool) -> list[Step]:
    """Compare what is wanted with what is here. `editable`: leave what no form changes as it is."""
    found = []
    for (label, key), then in wanted.items():
        model: Any = apps.get_model(label)
        row = model._base_manager.filter(pk=key).first()
        if then.kind == "absent":
            if row is not None:
                found.append(Step(model, key, "remove", row, str(row)))
        elif row is not None:
            pairs = differing(row, then.values, editable=editable)
            if pairs:
                found.append(Step(model, key, "change", row, str(row), pairs))
        elif then.kind == "whole":
            values = {name: [None, value] for name, value in then.values.items()}
            found.append(Step(model, key, "bring back", None, _label(model, key), values))
    return found


def differing(row: "Content", values: Values, *, editable: bool) -> dict[str, list[Any]]:
    """Return the fields of a row that are not as they were: field -> [now, then]."""
    model: Any = type(row)
    fields: Any = recorded_fields(model)
    names = [name for name in values if name in fields and (fields[name].editable or not editable)]
    now = held_rows(row, names)
    now |= {name: linked(model, name, [row.pk])[row.pk] for name in values if name in links(model)}
    return {name: [now[name], values[name]] for name in now if now[name] != values[name]}


def _label(model: "type[Content]", key: int) -> str:
    gone = RowChange.objects.filter(model=model._meta.label_lower, object_id=key, kind="deleted").first()
    return gone.label if gone else f"{model._meta.verbose_name} {key}"


def apply(plan: list[Step], origin: str, user: Any, detail: str = "") -> None:
    """Do it, all or nothing. Raises `CannotRestoreError` with every reason why not."""
    with recording(origin, user, detail), revision.lock():
        try:
            _remove([step for step in plan if step.kind == "remove"])
        except ProtectedError as error:
            held_by = ", ".join(sorted(str(row) for row in error.protected_objects)[:5])
            raise CannotRestoreError([f"Something here needs what would go: {held_by}."]) from error
        changed = [step for step in plan if step.kind == "change"]
        _park([step for step in changed if "position" in step.pairs])
        reasons: list[str] = []
        for step in [*_in_order([step for step in plan if step.kind == "bring back"]), *changed]:
            try:
                _write(step)
            except ValidationError as error:
                reasons += [f"{step.label}: {message}" for message in error.messages]
        if reasons:
            raise CannotRestoreError(reasons)
        close_gaps(
            owners_of([step for step in plan if step.kind == "bring back" or "position" in step.pairs])
        )
        for step in plan:
            for name in step.pairs.keys() & links(step.model).keys():
                _link(step, name)


def _remove(going: list[Step]) -> None:
    touched = owners_of(going)
    for model in dict.fromkeys(step.model for step in going):
        model._default_manager.filter(pk__in=[s.key for s in going if s.model is model]).delete()
    close_gaps(touched)


def owners_of(moving: list[Step]) -> dict[Any, set[int]]:
    """Return the models with an order, and the owners among whose rows places change."""
    keys: dict[Any, set[int]] = {}
    for step in moving:
        keys.setdefault(step.model, set()).add(step.key)
    return {model: owners_below(model, found) for model, found in keys.items() if has_places(model)}


def _park(moving: list[Step]) -> None:
    """Let rows that change places stand aside, as positions may be unique."""
    for model in dict.fromkeys(step.model for step in moving):
        keys = [step.key for step in moving if step.model is model]
        model._default_manager.filter(pk__in=keys).update(position=F("position") + PARKED)


def _in_order(coming: list[Step]) -> list[Step]:
    """Sort rows so that what others point at comes first."""
    left, ordered = {(step.model, step.key): step for step in coming}, []
    while left:
        ready = [step for step in left.values() if not _targets(step) & left.keys()]
        ordered += [left.pop((step.model, step.key)) for step in ready or list(left.values())]
    return ordered


def _targets(step: Step) -> set[tuple[Any, int]]:
    fields = recorded_fields(step.model)
    pointed = {
        (fields[name].related_model, pair[1])
        for name, pair in step.pairs.items()
        if name in fields and fields[name].is_relation
    }
    return pointed - {(step.model, step.key)}


def _write(step: Step) -> None:
    row = step.row if step.kind == "change" else step.model(pk=step.key)
    if step.kind == "change":
        row.refresh_from_db()
    fields = recorded_fields(step.model)
    for name, (_, then) in step.pairs.items():
        if name in fields:
            setattr(row, fields[name].attname, fields[name].to_python(then))
    if step.kind == "bring back" and has_places(step.model):
        # Beyond those that moved up or stand aside; it gets its place again when the gaps are closed.
        row.position += 2 * PARKED
    elif hasattr(row, "position") and _is_taken(row):
        row.position = 0
    # First that what it points at is here: rules look there.
    row.clean_fields()
    row.full_clean(exclude=["position"] if not getattr(row, "position", 1) else None)
    row.save(force_insert=step.kind != "change")


def _is_taken(row: Any) -> bool:
    """Tell whether somebody else stands at the row's place, where places are unique."""
    unique = any("position" in getattr(one, "fields", ()) for one in row._meta.constraints)
    return unique and row.siblings().filter(position=row.position).exclude(pk=row.pk).exists()


def _link(step: Step, name: str) -> None:
    row = step.model._default_manager.get(pk=step.key)
    manager = getattr(row, name)
    there = manager.model._default_manager.filter(pk__in=step.pairs[name][1])
    manager.set(list(there))
