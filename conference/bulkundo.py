"""An act on many rows taken back in a few queries: what still is as it left it goes back, the rest stays.

`undoing` does the same for acts of any kind, row by row.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from django.apps import apps
from django.utils.translation import gettext as _

from conference import bulk, revision
from conference.bulk import Line, light, refusal
from conference.history import ChangeSet, Origin, RowChange
from conference.recording import recording
from conference.rowvalues import BATCH, held, recorded_fields
from conference.undoing import Undoing, plan_removals, take_back, touched_since

# Of these rows of a model the user may have this done.
type Allowed = Callable[[Any, str, list[int]], set[int]]


@dataclass
class Reversal:
    """What taking back an act would do: fields that go back, new rows that go, what stays and why."""

    lines: dict[Any, list[Line]] = field(default_factory=dict)
    removal: Undoing = field(default_factory=Undoing)
    # Name (empty where it is not this user's business) and reason.
    kept: list[tuple[str, str]] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many rows would change or go."""
        return sum(map(len, self.lines.values())) + sum(map(len, self.removal.removed.values()))


def planned(change_set: ChangeSet, allowed: Allowed) -> Reversal:
    """Compare what the act left behind with what is here."""
    found = Reversal()
    changes: dict[Any, dict[int, RowChange]] = {}
    made: list[RowChange] = []
    for change in change_set.rows.all():
        if change.kind == RowChange.Kind.CREATED:
            made.append(change)
        elif change.kind == RowChange.Kind.CHANGED:
            changes.setdefault(apps.get_model(change.model), {})[change.object_id] = change
    for model, by_key in changes.items():
        _plan_changes(found, model, by_key, allowed(model, "change", list(by_key)))
    if made:
        plan_removals(found.removal, made, touched_since(change_set))
        for model, keys in found.removal.removed.items():
            may = allowed(model, "delete", list(keys))
            found.kept += [("", _("You may not delete it."))] * len(keys - may)
            keys &= may
        found.kept += [(label, _("It was changed since, or is needed.")) for label in found.removal.kept]
    return found


def _rows(model: Any, keys: list[int]) -> list[Any]:
    return [
        row
        for batch in batched(keys, BATCH, strict=False)
        for row in light(model._base_manager.filter(pk__in=batch)).order_by("pk")
    ]


def _plan_changes(found: Reversal, model: Any, by_key: dict[int, RowChange], may: set[int]) -> None:
    fields: Any = recorded_fields(model)
    targets = _targets(fields, by_key.values())
    for row in _rows(model, list(by_key)):
        pairs = by_key[row.pk].values
        names = [name for name in pairs if name in fields]
        now = held(row, names)
        if row.pk not in may:
            found.kept.append(("", _("You may not change it.")))
        elif any(now[name] != pairs[name][1] for name in names if name != bulk.POSITION):
            found.kept.append((str(row), _("It was changed since.")))
        elif any(pairs[n][0] and pairs[n][0] not in targets[n] for n in names if n in targets):
            found.kept.append((str(row), _("What it belonged to is no more here.")))
        else:
            values = {
                name: targets[name].get(pairs[name][0])
                if name in targets
                else fields[name].to_python(pairs[name][0])
                for name in names
            }
            reason = refusal(row, values)
            if reason:
                found.kept.append((str(row), reason))
            else:
                found.lines.setdefault(model, []).append(Line(row, "", values))


def _targets(fields: Any, changes: Any) -> dict[str, dict[int, Any]]:
    """Return what foreign keys led to before, by field and key."""
    keys: dict[str, set[int]] = {}
    for change in changes:
        for name, pair in change.values.items():
            if name in fields and fields[name].is_relation:
                keys.setdefault(name, set()).update({pair[0]} - {None})
    return {
        name: fields[name].related_model._base_manager.in_bulk(list(wanted)) for name, wanted in keys.items()
    }


def undo(change_set: ChangeSet, user: Any, allowed: Allowed) -> tuple[Reversal, ChangeSet | None]:
    """Take the act back. Return what was done, and the act that did it."""
    with recording(Origin.UNDO, user, change_set.detail) as log, revision.hold():
        found = planned(change_set, allowed)
        if any(found.removal.removed.values()):
            take_back(found.removal, Origin.UNDO, user, change_set.detail)
        for lines in found.lines.values():
            bulk.write(lines)
        log.write()
        return found, log.change_set
