"""Conflicts of unreleased changes with values that became public after the changes began."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import batched
from typing import Any

from django.utils.translation import gettext as _

from content.array_lookup import AnyOf
from content.bulk import POSITION, long_texts
from content.row_values import BATCH_ROWS, read_values
from content.unreleased.diversion import set_targets
from schedule.unreleased.models import TARGETS, UnreleasedChange, waiting_model

MINE, THEIRS = "mine", "theirs"


class RefusedError(Exception):
    """Raised if an action on unreleased changes is refused; `reasons` are messages."""

    def __init__(self, *reasons: str) -> None:
        super().__init__(*reasons)
        self.reasons = list(reasons)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field whose public value is neither that with which the change began nor the unreleased one."""

    change: UnreleasedChange
    field: str
    public: Any
    mine: Any

    @property
    def line(self) -> str:
        """The key of the conflict in a form."""
        return f"{self.change.pk}:{self.field}"


def public_values(changes: Iterable[UnreleasedChange]) -> dict[int, dict[str, Any]]:
    """Return the public values of the changed fields, by the key of the change. A query for each model."""
    by_target: dict[str, list[UnreleasedChange]] = {}
    for change in changes:
        by_target.setdefault(change.target, []).append(change)
    values: dict[int, dict[str, Any]] = {}
    for name, target_changes in by_target.items():
        fields = sorted({field for change in target_changes for field in change.values})
        keys = [change.target_key for change in target_changes]
        stored = read_values(waiting_model(name)._base_manager.filter(AnyOf("pk", keys)), fields)
        values |= {change.pk: stored.get(change.target_key, {}) for change in target_changes}
    return values


def find_conflicts(changes: Collection[UnreleasedChange]) -> list[Conflict]:
    """Return the conflicts of these changes. Positions are renumbered by themselves, and never conflict."""
    public = public_values(changes)
    return [
        Conflict(change, field, public[change.pk][field], value)
        for change in changes
        for field, value in change.values.items()
        if field != POSITION
        and field in public[change.pk]
        and public[change.pk][field] not in (change.began.get(field), value)
    ]


def resolve(
    changes: Collection[UnreleasedChange], conflicts: Iterable[Conflict], choices: Mapping[str, str]
) -> None:
    """Drop the fields for which the public value was chosen. Raises if a choice is missing."""
    by_key = {change.pk: change for change in changes}
    for conflict in conflicts:
        choice = choices.get(conflict.line)
        if choice not in (MINE, THEIRS):
            raise RefusedError(
                _("The public program was changed meanwhile. Choose what holds where both differ.")
            )
        if choice == THEIRS:
            del by_key[conflict.change.pk].values[conflict.field]


def drop_fields(change: UnreleasedChange, names: Iterable[str]) -> None:
    """Leave these fields as they are public, and delete a change of which nothing is left."""
    for name in names:
        del change.values[name]
        change.began.pop(name, None)
    if change.values or change.on_release:
        set_targets(change, waiting_model(change.target))
        change.save()
    else:
        change.delete()


def locked(changes: Any) -> list[UnreleasedChange]:
    """Return these changes with their rows, and lock both: as edits do, rows before their changes."""
    lock_rows(changes)
    rows: list[UnreleasedChange] = [*changes.order_by("pk").select_for_update(of=("self",))]
    attach_rows(rows, lock=True)
    return rows


def lock_rows(changes: Any) -> None:
    """Lock the rows of these changes, owners before their parts. A query for each model."""
    for name in TARGETS:
        keys = changes.exclude(**{name: None}).order_by().values(name)
        rows = waiting_model(name)._base_manager.filter(pk__in=keys).order_by("pk")
        list(rows.select_for_update(no_key=True, of=("self",)).values_list("pk"))


def attach_rows(changes: Iterable[UnreleasedChange], *, lock: bool = False) -> None:
    """Fetch the rows of the changes, without long texts. A query for each model, and 500 rows."""
    by_target: dict[str, dict[int, UnreleasedChange]] = {}
    for change in changes:
        by_target.setdefault(change.target, {})[change.target_key] = change
    for name in filter(by_target.get, TARGETS):
        model, target_changes = waiting_model(name), by_target[name]
        for batch in batched(sorted(target_changes), BATCH_ROWS, strict=False):
            rows = model._base_manager.filter(AnyOf("pk", batch)).order_by("pk").defer(*long_texts(model))
            if lock:
                rows = rows.select_for_update(no_key=True, of=("self",))
            for row in rows:
                setattr(target_changes[row.pk], name, row)
