"""Release a working copy, or some of its rows, now or at a planned time; resolve conflicts; discard changes.

`content.history.revert` writes the released rows: with validation, history, revision and invalidations, all
or nothing, as one change set that can be reverted.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from conference.models import Edition
from content import revision
from content.actor import User
from content.bulk import POSITION, apply_and_validate
from content.history import ChangeSet, Origin
from content.history.makers import made_by
from content.history.recording import recording
from content.history.revert import (
    CannotRevertError,
    RevertStep,
    earlier_targets,
    earlier_values,
    fetch_rows,
    keys_by_model,
    revert,
    singly_saved_fields,
)
from content.models import Content
from content.row_values import Key, content_model, relation_targets
from schedule.models import Release
from schedule.releases import announce
from schedule.working_copy.block import advance, lock_copies, pending_rows
from schedule.working_copy.models import PendingChanges, WorkingCopy
from schedule.working_copy.pending import (
    CHANGED,
    CREATED,
    DELETED,
    PendingRow,
    StoredRow,
    key_of,
)
from schedule.working_copy.rows import plain_values, read_columns, targets

# The detail of a release in the history.
RELEASE_DETAIL = "release of the working copy"
MINE, THEIRS = "mine", "theirs"


class RefusedError(Exception):
    """Raised if an action on a working copy is refused; `reasons` are messages."""

    def __init__(self, *reasons: str) -> None:
        super().__init__(*reasons)
        self.reasons = list(reasons)


@dataclass(frozen=True, slots=True)
class PendingConflict:
    """A field that was changed in the public program since it was changed in the working copy.

    Without a `field`, it concerns the whole row, which was deleted or references a deleted row.
    """

    row: PendingRow
    field: str = ""
    public: Any = None
    mine: Any = None
    reason: str = ""

    @property
    def line(self) -> str:
        return f"{self.row.line}:{self.field}"


@dataclass
class PublicRows:
    """The public values of rows with pending changes, in the format of the history."""

    values: dict[Key, dict[str, Any]] = field(default_factory=dict)
    # Deleted rows outside of the working copy that pending rows reference.
    missing: set[Key] = field(default_factory=set)


def public_rows(rows: Mapping[Key, PendingRow]) -> PublicRows:
    """Read the public values of these rows. Two queries for each model, one for each referenced model."""
    public, keys_by_target = PublicRows(), dict[type[Content], set[int]]()
    for label in {label for label, _key in rows}:
        model = content_model(label)
        keys = [key for name, key in rows if name == label]
        for key, row in read_columns(model, keys).items():
            public.values[label, key] = plain_values(model, row)
        for name, target in relation_targets(model).items():
            references = (row.after.get(name) for row in rows.values() if row.model == label)
            referenced_keys = {key for key in references if key is not None}
            keys_by_target.setdefault(target, set()).update(referenced_keys)
    for target, target_keys in keys_by_target.items():
        existing_keys = {*target._base_manager.filter(pk__in=target_keys).values_list("pk", flat=True)}
        public.missing |= {(target._meta.label_lower, key) for key in target_keys - existing_keys}
    public.missing -= {key for key, row in rows.items() if row.kind == CREATED}
    return public


def find_conflicts(rows: Mapping[Key, PendingRow], public: PublicRows) -> list[PendingConflict]:
    """Return the rows and fields that were also changed in the public program."""
    conflicts: list[PendingConflict] = []
    for key, row in rows.items():
        public_values = public.values.get(key)
        if row.kind == CHANGED and public_values is None:
            reason = _("It was deleted from the public program meanwhile.")
            conflicts.append(PendingConflict(row, reason=reason))
            continue
        if row.kind != CREATED and public_values is not None:
            for field_name, (before, after) in row.values.items():
                value = public_values.get(field_name)
                # Positions are renumbered automatically.
                has_other_value = value not in (before, after) and field_name != POSITION
                if has_other_value and (row.kind == CHANGED or field_name in public_values):
                    conflicts.append(PendingConflict(row, field_name, value, after))
        if row.kind != DELETED and (reason := _missing_target(row, public)):
            conflicts.append(PendingConflict(row, reason=reason))
    return conflicts


def _missing_target(row: PendingRow, public: PublicRows) -> str:
    for name, target in relation_targets(content_model(row.model)).items():
        if (target._meta.label_lower, row.after.get(name)) in public.missing:
            message = _("The %(thing)s that it needs was deleted meanwhile.")
            return message % {"thing": target._meta.verbose_name}
    return ""


def resolve_conflicts(
    rows: Mapping[Key, PendingRow], conflicts: Collection[PendingConflict], choices: Mapping[str, str]
) -> dict[Key, PendingRow]:
    """Return the rows to release after these choices, by conflict. Raises if one is missing."""
    if any(choices.get(conflict.line) not in (MINE, THEIRS) for conflict in conflicts):
        raise RefusedError(
            _("The public program was changed meanwhile. Choose what holds where both differ.")
        )
    released = dict(rows)
    for conflict in conflicts:
        row = released.get(conflict.row.name)
        if row is None or (choices[conflict.line] == MINE and conflict.field):
            continue
        if not conflict.field or row.kind == DELETED:
            # A deleted row can't be changed, and a row that was changed since is not deleted.
            del released[row.name]
            continue
        values = {name: pair for name, pair in row.values.items() if name != conflict.field}
        released[row.name] = PendingRow(row.kind, row.model, row.key, row.label, values)
    return released


def revert_steps(rows: Mapping[Key, PendingRow], public: PublicRows) -> list[RevertStep]:
    """Return a step for each row; those that are written in bulk are already validated."""
    steps: list[RevertStep] = []
    for row in rows.values():
        model, public_values = content_model(row.model), public.values.get(row.name)
        if row.kind == DELETED:
            if public_values is not None:
                steps.append(RevertStep(model, row.key, "remove", None, row.label))
        elif row.kind == CREATED:
            pairs = {name: [None, value] for name, value in row.after.items()}
            steps.append(RevertStep(model, row.key, "bring back", None, row.label, pairs))
        elif public_values is not None:
            pairs = {
                name: [public_values.get(name), value]
                for name, value in row.after.items()
                if public_values.get(name) != value
            }
            if pairs:
                steps.append(RevertStep(model, row.key, "change", None, row.label, pairs))
    _accept_plain_changes(steps, {row.name for row in rows.values() if row.kind == CREATED})
    return steps


def _derived_from(step: RevertStep) -> set[str]:
    return {*step.model.derived_from}


def _accept_plain_changes(steps: list[RevertStep], created_keys: set[Key]) -> None:
    """Validate changed rows that need no new row or unique value, so that they are written in bulk."""
    changes = [step for step in steps if step.kind == "change"]
    plain_steps = [
        step
        for step in changes
        if not step.pairs.keys() & (singly_saved_fields(step.model) - _derived_from(step))
    ]
    # Only rows whose rendered text changes need the fields from which it is derived.
    derived_steps = [step for step in plain_steps if step.pairs.keys() & _derived_from(step)]
    targets, rows_by_key = earlier_targets(plain_steps), dict[Key, Content]()
    for model, keys in keys_by_model(plain_steps).items():
        derived_keys = keys_by_model(derived_steps).get(model, set())
        fetched_rows = fetch_rows(model, keys - derived_keys) + fetch_rows(
            model, derived_keys, model.derived_from
        )
        rows_by_key |= {(model._meta.label_lower, row.pk): row for row in fetched_rows}
    for step in plain_steps:
        row = rows_by_key.get((step.model._meta.label_lower, step.key))
        relations = relation_targets(step.model)
        referenced_keys = {
            (relations[name]._meta.label_lower, step.pairs[name][1]) for name in step.pairs.keys() & relations
        }
        if row is None or referenced_keys & created_keys:
            continue
        values = earlier_values(step, targets)
        if not apply_and_validate(row, values):
            step.row, step.accepted = row, values


@dataclass(frozen=True, slots=True)
class Announcement:
    """Title, text and notes of the announced release, and the lines that it leaves out."""

    title: str = ""
    text: str = ""
    without: Sequence[str] = ()
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Released:
    """The result of a release."""

    row_count: int
    change_set: ChangeSet | None
    release: Release | None


def release(
    copy: WorkingCopy,
    user: User,
    at: datetime,
    *,
    seen: int | None = None,
    chosen: Collection[Key] | None = None,
    choices: Mapping[str, str] | None = None,
    announcement: Announcement | None = None,
    user_name: str = "",
) -> Released:
    """Publish the pending changes, or the `chosen` rows with those they need: all of them or none.

    `seen` is the version that was shown. Raises `RefusedError` with all reasons.
    """
    with transaction.atomic():
        copy = lock_current(copy, seen)
        rows = pending_rows([copy])
        if chosen is not None:
            required = _with_required(rows, {*chosen} & rows.keys())
            rows = {key: row for key, row in rows.items() if key in required}
        if not rows and announcement is None:
            raise RefusedError(_("Nothing was chosen that could be released."))
        public = public_rows(rows)
        released_rows = resolve_conflicts(rows, find_conflicts(rows, public), choices or {})
        try:
            makers = {key: row.made_by for key, row in rows.items() if row.made_by}
            with (
                made_by(makers),
                recording(Origin.ACTION, user, RELEASE_DETAIL) as log,
                revision.lock(),
            ):
                revert(revert_steps(released_rows, public), Origin.ACTION, user, RELEASE_DETAIL)
                log.write()
        except CannotRevertError as error:
            raise RefusedError(*error.reasons) from error
        announced_release = announce(copy.edition, at, **asdict(announcement)) if announcement else None
        user_name = user_name or (user.get_username() if user else "")
        _mark_released(copy, {*rows}, log.change_set, user_name, at, is_all=chosen is None)
        return Released(len(rows), log.change_set, announced_release)


def _with_required(rows: Mapping[Key, PendingRow], chosen: set[Key]) -> set[Key]:
    """Return the keys of the chosen rows, and of the new rows that they reference."""
    required, added = {*chosen}, {*chosen}
    while added:
        referenced = {key for new_key in added for key in targets(rows[new_key]) if key in rows}
        added = {key for key in referenced if rows[key].kind == CREATED} - required
        required |= added
    return required


def lock_current(copy: WorkingCopy, seen: int | None) -> WorkingCopy:
    """Return the working copy, locked. Raises `RefusedError` if it is closed or has changed since `seen`."""
    locked = lock_copies([copy])
    current = locked[0] if locked else WorkingCopy.objects.select_related("edition").get(pk=copy.pk)
    if seen is not None and current.version != seen:
        if current.released_at and not current.row_count:
            raise RefusedError(already_released(current))
        raise RefusedError(
            _("The working copy changed after you opened this page. Nothing was done: look at it again.")
        )
    if not locked:
        raise RefusedError(_("The working copy is switched off."))
    return current


def already_released(copy: WorkingCopy) -> str:
    local_time = copy.released_at.astimezone(copy.edition.zone) if copy.released_at else None
    message = _("Already released by %(who)s at %(at)s.")
    return message % {"who": copy.released_by or "–", "at": f"{local_time:%Y-%m-%d %H:%M %Z}"}


def _mark_released(
    copy: WorkingCopy,
    keys: set[Key],
    change_set: ChangeSet | None,
    user_name: str,
    at: datetime,
    *,
    is_all: bool,
) -> None:
    for changes in copy.sets.exclude(rows=[]):
        released_rows = [row for row in changes.rows if key_of(row) in keys]
        if released_rows:
            changes.rows = [row for row in changes.rows if key_of(row) not in keys]
            change_set_key = change_set.pk if change_set else None
            changes.released = [
                *changes.released,
                *({**row, "change_set": change_set_key} for row in released_rows),
            ]
            changes.save(update_fields=["rows", "released"])
    copy.released_at, copy.released_by, copy.refusal = at, user_name, ""
    if is_all:
        copy.release_at, copy.plan = None, {}
    advance(copy)


# Discarding


def discard(copy: WorkingCopy, *, seen: int | None = None, chosen: Collection[Key] | None = None) -> int:
    """Drop all pending changes, or those of the `chosen` rows and their dependents; return the row count."""
    with transaction.atomic():
        copy = lock_current(copy, seen)
        rows = pending_rows([copy])
        keys = {*rows} if chosen is None else _with_dependents(rows, {*chosen} & rows.keys())
        for changes in copy.sets.exclude(rows=[]):
            changes.rows = [row for row in changes.rows if key_of(row) not in keys]
            if changes.rows or changes.released:
                changes.save(update_fields=["rows"])
            else:
                changes.delete()
        advance(copy)
        return len(keys)


def _with_dependents(rows: Mapping[Key, PendingRow], chosen: set[Key]) -> set[Key]:
    """Return the chosen rows, with those that reference new rows among them."""
    keys = {*chosen}
    while True:
        created_keys = {key for key in keys if rows[key].kind == CREATED}
        dependents = {key for key, row in rows.items() if key not in keys and targets(row) & created_keys}
        if not dependents:
            return keys
        keys |= dependents


def drop_changes(changes: PendingChanges) -> int:
    """Delete a set of pending changes; return its number of rows. Raises if later ones build on it."""
    with transaction.atomic():
        copy = lock_current(changes.working_copy, None)
        changes = copy.sets.select_for_update().get(pk=changes.pk)
        if changes.released or not changes.rows:
            raise RefusedError(
                _("These changes were released already. Revert the release in the history instead.")
            )
        later_sets = copy.sets.filter(pk__gt=changes.pk).order_by("pk")
        if dependent_rows := _rows_building_on(later_sets, changes.rows):
            labels = ", ".join(dict.fromkeys(row["label"] for row in dependent_rows[:5]))
            message = _("Later changes in the working copy build on these: %(rows)s. Take those back first.")
            raise RefusedError(message % {"rows": labels})
        count = len(changes.rows)
        changes.delete()
        advance(copy)
        return count


def _rows_building_on(later_sets: Iterable[PendingChanges], rows: Iterable[StoredRow]) -> list[StoredRow]:
    """Return the rows of later sets that build on these: same field, or a row created or deleted here."""
    fields: dict[Key, set[str]] = {}
    created_or_deleted: set[Key] = set()
    for row in rows:
        fields.setdefault(key_of(row), set()).update(row["values"])
        if row["kind"] != CHANGED:
            created_or_deleted.add(key_of(row))
    return [
        row
        for changes in later_sets
        for row in changes.rows
        if key_of(row) in created_or_deleted
        or (key_of(row) in fields and (row["kind"] != CHANGED or fields[key_of(row)] & {*row["values"]}))
        or targets(PendingRow.read(row)) & created_or_deleted
    ]


# Opening, closing and planning


def open_copy(edition: Edition, user: User, at: datetime) -> WorkingCopy:
    """Open the working copy of an edition. Raises `RefusedError` before its schedule is public."""
    is_public = [
        gate is not None and gate <= at for gate in (edition.public_from, edition.schedule_public_from)
    ]
    if not all(is_public):
        message = _("The schedule of %(edition)s is not public yet, so there is nothing to protect.")
        raise RefusedError(message % {"edition": edition})
    copy, is_new = WorkingCopy.objects.get_or_create(edition=edition)
    if is_new or not copy.is_open:
        copy.is_open, copy.opened_at = True, at
        copy.opened_by = user.get_username() if user else ""
        copy.version += 1
        copy.save()
    return copy


def close_copy(copy: WorkingCopy) -> None:
    """Close a working copy. Raises `RefusedError` while changes are pending."""
    with transaction.atomic():
        copy = lock_current(copy, None)
        if copy.row_count:
            raise RefusedError(
                _("Release or discard the pending changes before you switch the working copy off.")
            )
        copy.is_open, copy.release_at, copy.plan = False, None, {}
        copy.version += 1
        copy.save()


def plan_release(
    copy: WorkingCopy,
    user: User,
    moment: datetime | None,
    *,
    seen: int | None = None,
    announcement: Announcement | None = None,
) -> None:
    """Plan the release of everything that is pending at a moment; `None` cancels the plan."""
    with transaction.atomic():
        copy = lock_current(copy, seen)
        copy.release_at, copy.refusal = moment, ""
        copy.planned_by = user.get_username() if user and moment else ""
        copy.planner_id = user.pk if user and moment else None
        copy.plan = asdict(announcement) if announcement and moment else {}
        copy.version += 1
        copy.save()


def release_due(at: datetime) -> list[WorkingCopy]:
    """Release the working copies that are due; store the reasons of refusals. One query if none is due."""
    released_copies = []
    for copy in WorkingCopy.objects.open().filter(release_at__lte=at):
        try:
            with transaction.atomic():
                copy = lock_current(copy, None)
                if copy.release_at is None or copy.release_at > at:
                    # Another process was first, or the plan was changed in the meantime.
                    continue
                release(
                    copy,
                    copy.planner,
                    at,
                    announcement=Announcement(**copy.plan) if copy.plan else None,
                    user_name=copy.planned_by,
                )
        except RefusedError as error:
            rows = WorkingCopy.objects.filter(pk=copy.pk, release_at=copy.release_at)
            rows.update(refusal="\n".join(error.reasons), release_at=None)
            continue
        released_copies.append(copy)
    return released_copies
