"""An act on many rows taken back: what still is as it left it goes back, the rest stays.

Rows that were given plain values go back in a few queries; where text follows from a value, rows were deleted
or relations to many changed, row by row, as `undoing` does for acts of any kind.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import batched
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db.models import UniqueConstraint
from django.utils.translation import gettext as _

from content import bulk, revision, undoing
from content.bulk import BulkChange, why_refused, without_long_texts
from content.history import ChangeSet, Origin, RowChange
from content.recording import recording
from content.restoring import Step
from content.row_values import BATCH_ROWS, held_rows, links, recorded_fields
from content.undoing import Undoing, plan_removals, take_back, touched_since

if TYPE_CHECKING:
    from content.models import Content

# Returns those of the steps that whoever takes back may take.
type Judge = Callable[[list[Step]], list[Step]]


@dataclass
class Reversal:
    """What taking back an act would do: fields that go back, new rows that go, what stays and why."""

    lines: dict[Any, list[BulkChange]] = field(default_factory=dict)
    removal: Undoing = field(default_factory=Undoing)
    # Name (empty where it is not this user's business) and reason.
    kept: list[tuple[str, str]] = field(default_factory=list)
    # Whether anything of the act is this user's business at all.
    is_theirs: bool = False

    @property
    def count(self) -> int:
        """How many rows would change, go or come back."""
        many = sum(map(len, self.lines.values())) + sum(map(len, self.removal.removed.values()))
        return many + len(self.removal.steps)

    def theirs(self, judge: Judge, steps: list[Step], refused: str) -> list[Step]:
        """Return the steps that the user may take; why the others are not taken is kept."""
        mine = judge(steps)
        self.kept += [("", refused)] * (len(steps) - len(mine))
        self.is_theirs |= bool(mine)
        return mine


def planned(change_set: ChangeSet, judge: Judge) -> Reversal:
    """Compare what the act left behind with what is here."""
    changes = list(change_set.rows.all())
    found = Reversal()
    if all(map(is_light, changes)):
        _plan_together(found, change_set, changes, judge)
    else:
        found.removal = undoing.planned(change_set)
        found.removal.steps = found.theirs(judge, found.removal.steps, _("You may not change it."))
    _judge_removals(found, judge)
    return found


def is_light(change: RowChange) -> bool:
    """Tell whether a change is taken back by writing plain values, or by removing a row."""
    if change.kind == RowChange.Kind.CREATED:
        return True
    model: Any = apps.get_model(change.model)
    return change.kind == RowChange.Kind.CHANGED and not change.values.keys() & not_light(model)


@cache
def not_light(model: "type[Content]") -> frozenset[str]:
    """Return what `update()` cannot put back: text follows from it, it is unique, or it leads to many."""
    unique = {field.name for field in model._meta.concrete_fields if field.unique}
    for rule in model._meta.constraints:
        if isinstance(rule, UniqueConstraint) and bulk.POSITION not in rule.fields:
            unique.update(rule.fields)
    return frozenset({*unique, *model.derived_from, *links(model)})


def _plan_together(found: Reversal, change_set: ChangeSet, changes: list[RowChange], judge: Judge) -> None:
    by_model: dict[Any, dict[int, RowChange]] = {}
    made = [change for change in changes if change.kind == RowChange.Kind.CREATED]
    for change in changes:
        if change.kind == RowChange.Kind.CHANGED:
            by_model.setdefault(apps.get_model(change.model), {})[change.object_id] = change
    for model, by_key in by_model.items():
        _plan_changes(found, model, by_key, judge)
    if made:
        plan_removals(found.removal, made, touched_since(change_set))


def _judge_removals(found: Reversal, judge: Judge) -> None:
    removal = found.removal
    for model, keys in removal.removed.items():
        steps = [Step(model, row.pk, "remove", row) for row in _rows(model, keys)]
        mine = found.theirs(judge, steps, _("You may not delete it."))
        removal.removed[model] = {step.key for step in mine}
    kept = [Step(type(one.row), one.row.pk, "change", one.row) for one in removal.kept]
    theirs = {(step.model, step.key) for step in judge(kept)}
    found.is_theirs |= bool(theirs)
    for step, one in zip(kept, removal.kept, strict=True):
        words = one.words if (step.model, step.key) in theirs else ""
        found.kept.append((words, _("It was changed since, or is needed.")))


def _rows(model: "type[Content]", keys: Iterable[int]) -> list[Any]:
    return [
        row
        for batch in batched(keys, BATCH_ROWS, strict=False)
        for row in without_long_texts(model._base_manager.filter(pk__in=batch)).order_by("pk")
    ]


def _plan_changes(
    found: Reversal, model: "type[Content]", by_key: dict[int, RowChange], judge: Judge
) -> None:
    fields: Any = recorded_fields(model)
    targets = _targets(fields, by_key.values())
    steps = []
    for row in _rows(model, by_key):
        names = [name for name in by_key[row.pk].values if name in fields]
        now = held_rows(row, names)
        pairs = {name: [now[name], by_key[row.pk].values[name][0]] for name in names}
        steps.append(Step(model, row.pk, "change", row, "", pairs))
    for step in found.theirs(judge, steps, _("You may not change it.")):
        written = by_key[step.key].values
        pairs = step.pairs
        if any(pairs[name][0] != written[name][1] for name in pairs if name != bulk.POSITION):
            found.kept.append((str(step.row), _("It was changed since.")))
        elif any(pairs[name][1] and pairs[name][1] not in targets[name] for name in pairs.keys() & targets):
            found.kept.append((str(step.row), _("What it belonged to is no more here.")))
        else:
            values = {
                name: targets[name].get(then) if name in targets else fields[name].to_python(then)
                for name, (_now, then) in pairs.items()
            }
            _plan_values(found, step.row, values)


def _plan_values(found: Reversal, row: "Content", values: dict[str, Any]) -> None:
    if reason := why_refused(row, values):
        found.kept.append((str(row), reason))
    else:
        found.lines.setdefault(type(row), []).append(BulkChange(row, "", values))


def _targets(fields: Any, changes: Iterable[RowChange]) -> dict[str, dict[int, Any]]:
    """Return what foreign keys led to before, by field and key."""
    keys: dict[str, set[int]] = {}
    for change in changes:
        for name, pair in change.values.items():
            if name in fields and fields[name].is_relation:
                keys.setdefault(name, set()).update({pair[0]} - {None})
    return {
        name: fields[name].related_model._base_manager.in_bulk(list(wanted)) for name, wanted in keys.items()
    }


def undo(change_set: ChangeSet, user: Any, judge: Judge) -> tuple[Reversal, ChangeSet | None]:
    """Take the act back. Return what was done, and the act that did it. May raise `CannotRestoreError`."""
    with recording(Origin.UNDO, user, change_set.detail) as log, revision.lock():
        found = planned(change_set, judge)
        if not found.removal.is_empty:
            take_back(found.removal, Origin.UNDO, user, change_set.detail)
        for lines in found.lines.values():
            bulk.write(lines)
        log.write()
        return found, log.change_set
