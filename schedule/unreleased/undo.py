"""Undo the last release: the public rows go back, and its changes wait again."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from content import revision
from content.actor import User
from content.history import ChangeSet, Origin, RowChange
from content.history.recording import recording
from content.history.revert import (
    CannotRevertError,
    KeptRow,
    RevertStep,
    accept_plain_steps,
    revert,
    undo_plan,
)
from content.unreleased.plan import RELEASE_DETAIL, publishing
from schedule.models import Release, ReleasePlan, UnreleasedChange
from schedule.unreleased.conflicts import RefusedError, drop_fields, locked, public_values
from schedule.unreleased.models import TARGETS

# The name of a foreign key of a change to its row, and the row's key.
type Row = tuple[str, int]

# How long a release can be undone.
UNDO_PERIOD = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Undone:
    """The result: the number of changes that wait again, and what stayed public, with the reasons."""

    change_count: int
    kept: list[KeptRow]
    # Whether an announced release was withdrawn.
    is_withdrawn: bool


def undoable_set(plan: ReleasePlan, at: datetime) -> ChangeSet | None:
    """Return the change set of the last release, if it can still be undone."""
    released = plan.released_set
    return released if released is not None and at < released.at + UNDO_PERIOD else None


def undo_release(plan: ReleasePlan, user: User, at: datetime, *, seen: int) -> Undone:
    """Undo the release whose change set has the key `seen`. Raises `RefusedError` with all reasons."""
    with transaction.atomic(), publishing():
        plan = ReleasePlan.objects.select_for_update(of=("self",)).select_related("edition").get(pk=plan.pk)
        change_set = undoable_set(plan, at)
        if change_set is None or change_set.pk != seen:
            raise RefusedError(_("This release can no longer be undone. Look at the page again."))
        try:
            with recording(Origin.UNDO, user, RELEASE_DETAIL), revision.lock():
                is_withdrawn = withdraw_announcement(change_set)
                undoing = undo_plan(change_set)
                newer = changes_made_since(undoing.steps)
                steps = [step for step in undoing.steps if returning_row(step) not in newer]
                accept_plain_steps(steps)
                revert(steps, Origin.UNDO, user, RELEASE_DETAIL)
                merge([step for step in undoing.steps if returning_row(step) in newer], newer)
        except CannotRevertError as error:
            raise RefusedError(*error.reasons) from error
        plan.released_set = None
        plan.save(update_fields=["released_set"])
        count = sum(step.model is UnreleasedChange for step in undoing.steps)
        return Undone(count, undoing.kept, is_withdrawn)


def withdraw_announcement(change_set: ChangeSet) -> bool:
    """Delete the announced release of a change set, also from the snapshots of later ones."""
    keys = change_set.rows.filter(model=Release._meta.label_lower, kind=RowChange.Kind.CREATED)
    announced = Release.objects.filter(pk__in=keys.values("object_id")).first()
    if announced is None:
        return False
    releases = Release.objects.filter(edition=announced.edition_id)
    previous = releases.filter(number__lt=announced.number).order_by("-number").first()
    if previous is not None and previous.snapshot is not None:
        for later in releases.filter(number__gt=announced.number, snapshot__isnull=False):
            later.snapshot = without_news(later.snapshot or {}, announced, previous.snapshot)
            later.save(update_fields=["snapshot"])
    announced.delete()
    return True


def without_news(snapshot: dict[str, Any], announced: Release, before: dict[str, Any]) -> dict[str, Any]:
    """Return a later snapshot in which the rows that a release changed are again as before it."""
    rows = dict(snapshot)
    released_rows: dict[str, Any] = announced.snapshot or {}
    for key in {change["key"] for change in announced.changes}:
        if rows.get(key) == released_rows.get(key):
            rows.pop(key, None)
            if key in before:
                rows[key] = before[key]
    return rows


def returning_row(step: RevertStep) -> Row | None:
    """Return the row of an unreleased change that comes back; `None` for other steps."""
    if step.model is not UnreleasedChange:
        return None
    return next((name, step.pairs[name][1]) for name in TARGETS if name in step.pairs)


def changes_made_since(steps: Iterable[RevertStep]) -> dict[Row, UnreleasedChange]:
    """Return the changes that wait for the rows whose released changes come back, and lock both."""
    rows = filter(None, map(returning_row, steps))
    return {
        (change.target, change.target_key): change
        for change in locked(UnreleasedChange.objects.of_keys(rows))
    }


def merge(steps: Iterable[RevertStep], newer: dict[Row, UnreleasedChange]) -> None:
    """Add changes that come back to those that were made since, which prevail; drop what is public again."""
    for step in steps:
        change = newer[returning_row(step) or ("", 0)]
        earlier = {name: pair[1] for name, pair in step.pairs.items()}
        change.values = {**earlier["values"], **change.values}
        change.began = {**change.began, **earlier["began"]}
        change.on_release = change.on_release or earlier["on_release"]
        change.creates_row = change.creates_row or earlier.get("creates_row", False)
    public = public_values(newer.values())
    for change in newer.values():
        drop_fields(
            change, [name for name, value in change.values.items() if public[change.pk].get(name) == value]
        )
