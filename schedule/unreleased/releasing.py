"""Release unreleased changes, all or some, now or at a planned time; discard them; undo a release.

A release copies the values of the changes to their rows, in one transaction and one change set, with a
fixed number of statements for each 500 rows.
"""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import batched
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from conference.models import Edition
from content import revision
from content.actor import User
from content.array_lookup import AnyOf
from content.bulk import POSITION
from content.history import ChangeSet, Origin
from content.history.makers import made_by
from content.history.recording import recording, touch
from content.ordering import close_gaps, is_ordered, owner_keys
from content.row_values import BATCH_ROWS
from content.unreleased.diversion import ADDED, REMOVED
from content.unreleased.plan import RELEASE_DETAIL, planned_columns, publishing, read_version
from content.unreleased.values_by_key import ValueByKey
from content.unreleased.worker_report import is_worker_running
from content.write_conflicts import retry_conflicts
from schedule.clashes import find_clashes
from schedule.models import Release, ReleasePlan, UnreleasedChange
from schedule.releases import announce, announced_program
from schedule.unreleased.conflicts import RefusedError, find_conflicts, locked, resolve
from schedule.unreleased.models import TARGETS, is_new, waiting_model
from schedule.unreleased.new_clashes import (
    NewClashesError,
    changed_by_release,
    clash_key,
    refuse_unconfirmed,
    without_added,
)

logger = logging.getLogger(__name__)


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

    change_count: int
    change_set: ChangeSet | None
    release: Release | None


def changes_of(edition: Edition) -> Any:
    return UnreleasedChange.objects.filter(edition=edition)


def release(
    plan: ReleasePlan,
    user: User,
    at: datetime,
    *,
    seen: str | None = None,
    chosen: Collection[int] | None = None,
    choices: Mapping[str, str] | None = None,
    announcement: Announcement | None = None,
    confirmed: Collection[str] = (),
    user_name: str = "",
) -> Released:
    """Publish the unreleased changes, or the `chosen` ones with those they need: all of them or none.

    `seen` is the version that was shown, `confirmed` are the keys of new clashes. Raises `RefusedError` with
    all reasons, and `NewClashesError` if not all new clashes are confirmed.
    """
    with transaction.atomic(), publishing():
        plan = ReleasePlan.objects.select_for_update(of=("self",)).select_related("edition").get(pk=plan.pk)
        changes = locked(changes_of(plan.edition))
        refuse_unseen(plan, seen)
        if chosen is not None:
            changes = with_required(changes, {*chosen})
        if not changes and announcement is None:
            raise RefusedError(_("Nothing was chosen that could be released."))
        resolve(changes, find_conflicts(changes), choices or {})
        makers = {change.row_key: change.by_id for change in changes if change.by_id}
        with (
            recording(Origin.ACTION, user, RELEASE_DETAIL) as log,
            # A release makes nobody the maker of what others entered.
            made_by(makers),
            revision.lock(),
        ):
            announced = publish(plan, changes, at, announcement, confirmed)
            log.write()
        plan.released_at, plan.refusal = at, ""
        plan.released_by = user_name or (user.get_username() if user else "")
        plan.released_set = log.change_set
        if chosen is None:
            plan.clear_planned_release()
        plan.save()
        return Released(len(changes), log.change_set, announced)


def publish(
    plan: ReleasePlan,
    changes: Collection[UnreleasedChange],
    at: datetime,
    announcement: Announcement | None,
    confirmed: Collection[str],
) -> Release | None:
    """Write the changes to their rows, refuse new clashes, and announce the release if requested."""
    edition = plan.edition
    before = without_added(find_clashes(edition).all, changes)
    announced_before = announced_program(edition, at) if announcement else None
    write(changes, edition)
    refuse_unconfirmed(before, find_clashes(edition).all, confirmed)
    if announcement is None:
        return None
    return announce(edition, at, before=announced_before, **asdict(announcement))


def refuse_unseen(plan: ReleasePlan, seen: str | None) -> None:
    """Raise `RefusedError` if changes came or went since the page with this version was shown."""
    if seen is None or read_version(plan.edition_id) == seen:
        return
    if plan.released_at and not changes_of(plan.edition).exists():
        raise RefusedError(already_released(plan))
    raise RefusedError(_("Changes were made after you opened this page. Nothing was done: look at it again."))


def already_released(plan: ReleasePlan) -> str:
    local_time = plan.released_at.astimezone(plan.edition.zone) if plan.released_at else None
    message = _("Already released by %(who)s at %(at)s.")
    return message % {"who": plan.released_by or "–", "at": f"{local_time:%Y-%m-%d %H:%M %Z}"}


def with_required(changes: Iterable[UnreleasedChange], chosen: set[int]) -> list[UnreleasedChange]:
    """Return the chosen changes, and those of the new sessions, talks and papers that they need."""
    by_row = {(change.target, change.target_key): change for change in changes}
    by_key = {change.pk: change for change in by_row.values()}
    required, added = {*chosen} & by_key.keys(), {*chosen} & by_key.keys()
    while added:
        needed = {row for key in added for row in needed_rows(by_key[key])}
        added = {by_row[row].pk for row in needed if row in by_row and is_new(by_row[row])} - required
        required |= added
    return [change for change in by_row.values() if change.pk in required]


def needed_rows(change: UnreleasedChange) -> set[tuple[str, int]]:
    """Return the rows that must be public for this one to appear: (name of the foreign key, key)."""
    row, needed = change.row, set()
    for name in ("session", "parent", "presentation", "paper"):
        key = change.values.get(name, getattr(row, f"{name}_id", None))
        if key:
            needed.add(("session" if name == "parent" else name, key))
    return needed


def write(changes: Collection[UnreleasedChange], edition: Edition) -> None:
    """Copy the changes to their rows, and delete them. Inside of `publishing()`."""
    owners: dict[type[Any], set[int]] = {}
    for name in ("paper", "session", "presentation", "role", "speaker"):
        model: Any = waiting_model(name)
        rows = {change.target_key: change for change in changes if change.target == name}
        moved = [
            key
            for key, change in rows.items()
            if change.on_release or {POSITION, "session"} & change.values.keys()
        ]
        old_owners = owner_keys(model, moved) if is_ordered(model) and moved else set()
        for batch in batched(sorted(rows), BATCH_ROWS, strict=False):
            write_values(model, edition, {key: rows[key].values for key in batch})
            write_statuses(model, {key: rows[key].on_release for key in batch})
        if old_owners:
            owners.setdefault(model, set()).update(old_owners | owner_keys(model, moved))
    for batch in batched(sorted(change.pk for change in changes), BATCH_ROWS, strict=False):
        UnreleasedChange.objects.filter(pk__in=batch).delete()
    touch_added(changes, edition)
    removed: dict[str, list[int]] = {}
    for change in changes:
        if change.on_release == REMOVED:
            removed.setdefault(change.target, []).append(change.target_key)
    for name in reversed(TARGETS):
        if keys := removed.get(name):
            remaining: Any = waiting_model(name)._default_manager.filter(AnyOf("pk", keys))
            remaining.delete()
    close_gaps(owners)


def touch_added(changes: Iterable[UnreleasedChange], edition: Edition) -> None:
    """Move sessions and talks whose added people are shown now, and advance the edition: no field says so."""
    for name in ("role", "speaker"):
        added = [row.target_key for row in changes if row.target == name and row.on_release == ADDED]
        if added:
            touch(waiting_model(name), added)
            revision.advance([edition.pk])


def write_values(model: Any, edition: Edition, values_by_key: Mapping[int, Mapping[str, Any]]) -> None:
    """Write values, in the format of the history, to rows of a model. One update for all rows and fields."""
    columns: dict[str, dict[int, Any]] = {}
    for key, values in values_by_key.items():
        for name, value in planned_columns(model, edition, values).items():
            columns.setdefault(name, {})[key] = value
    fields = {name: model._meta.get_field(name) for name in columns}
    updates = {field.name: ValueByKey(field, columns[name]) for name, field in fields.items()}
    if updates:
        changed = [key for key, values in values_by_key.items() if values]
        model._default_manager.filter(AnyOf("pk", changed)).update(**updates)


def write_statuses(model: Any, statuses: Mapping[int, str]) -> None:
    """Give the rows the statuses that waited."""
    keys_by_status: dict[str, list[int]] = {}
    for key, status in statuses.items():
        if status not in ("", ADDED, REMOVED):
            keys_by_status.setdefault(status, []).append(key)
    for status, keys in keys_by_status.items():
        model._default_manager.filter(pk__in=keys).update(status=status)


# Discarding


def discard(plan: ReleasePlan, *, seen: str | None = None, chosen: Collection[int] | None = None) -> int:
    """Drop all unreleased changes, or the `chosen` ones and those that need their rows; return their number.

    Rows that were made to be added are deleted, but for papers; other drafts stay.
    """
    with transaction.atomic(), publishing():
        changes = locked(changes_of(plan.edition))
        refuse_unseen(plan, seen)
        if chosen is not None:
            changes = with_dependents(changes, {*chosen})
        added: dict[str, list[int]] = {}
        for change in changes:
            if change.creates_row and change.target != "paper":
                added.setdefault(change.target, []).append(change.target_key)
        # People go while they are marked as added: nothing that is shown changes then.
        delete_rows({name: added.pop(name, []) for name in ("speaker", "role")})
        for batch in batched(sorted(change.pk for change in changes), BATCH_ROWS, strict=False):
            UnreleasedChange.objects.filter(pk__in=batch).delete()
        delete_rows({name: added.get(name, []) for name in reversed(TARGETS)})
        return len(changes)


def delete_rows(keys: Mapping[str, Collection[int]]) -> None:
    for name, row_keys in keys.items():
        for batch in batched(sorted(row_keys), BATCH_ROWS, strict=False):
            rows: Any = waiting_model(name)._default_manager
            rows.filter(pk__in=batch).delete()


def with_dependents(changes: Iterable[UnreleasedChange], chosen: set[int]) -> list[UnreleasedChange]:
    """Return the chosen changes, and those that need a new row among them."""
    by_key = {change.pk: change for change in changes}
    included = {*chosen} & by_key.keys()
    while True:
        new_rows = {(by_key[key].target, by_key[key].target_key) for key in included if is_new(by_key[key])}
        dependents = {
            key for key, change in by_key.items() if key not in included and needed_rows(change) & new_rows
        }
        if not dependents:
            return [change for key, change in by_key.items() if key in included]
        included |= dependents


# Switching and planning


def let_changes_wait(edition: Edition, user: User, at: datetime) -> ReleasePlan:
    """Let changes of an edition wait for releases. Raises `RefusedError` before its schedule is public."""
    gates = (edition.public_from, edition.schedule_public_from)
    if not all(gate is not None and gate <= at for gate in gates):
        message = _("The schedule of %(edition)s is not public yet, so there is nothing to protect.")
        raise RefusedError(message % {"edition": edition})
    plan, is_new_plan = ReleasePlan.objects.get_or_create(edition=edition)
    if is_new_plan or not plan.changes_wait:
        plan.changes_wait, plan.waits_since = True, at
        plan.waits_by = user.get_username() if user else ""
        plan.save()
    return plan


def publish_at_once(plan: ReleasePlan) -> None:
    """Make later changes public at once. Raises `RefusedError` while changes wait."""
    with transaction.atomic():
        plan = ReleasePlan.objects.select_for_update(of=("self",)).get(pk=plan.pk)
        if changes_of(plan.edition).exists():
            raise RefusedError(_("Release or discard the unreleased changes first."))
        plan.changes_wait = False
        plan.clear_planned_release()
        plan.save()


NO_WORKER = _lazy(
    "No worker has reported in the last two minutes, so a planned release would not happen. Start the worker "
    "(manage.py worker), or run manage.py release_planned each minute."
)


def plan_release(
    plan: ReleasePlan,
    user: User,
    moment: datetime,
    at: datetime,
    *,
    seen: str | None = None,
    announcement: Announcement | None = None,
    confirmed: Collection[str] = (),
) -> None:
    """Plan the release of everything that is unreleased at a moment, `at` a moment before.

    Raises `RefusedError` without a worker, and `NewClashesError` if not all new clashes are confirmed.
    """
    if not is_worker_running(at):
        raise RefusedError(str(NO_WORKER))
    with transaction.atomic():
        plan = ReleasePlan.objects.select_for_update(of=("self",)).select_related("edition").get(pk=plan.pk)
        refuse_unseen(plan, seen)
        changes = [*changes_of(plan.edition)]
        new, _solved = changed_by_release(plan.edition, changes)
        keys = {clash_key(clash) for clash in new}
        if not keys <= {*confirmed}:
            raise NewClashesError(new)
        plan.release_at, plan.refusal = moment, ""
        plan.planned_by = user.get_username() if user else ""
        plan.planner_id = user.pk if user else None
        plan.announcement = asdict(announcement) if announcement else {}
        plan.confirmed_clashes = sorted(keys)
        plan.save()


def cancel_planned_release(plan: ReleasePlan) -> None:
    with transaction.atomic():
        plan = ReleasePlan.objects.select_for_update(of=("self",)).get(pk=plan.pk)
        plan.clear_planned_release()
        plan.save()


def plans_due(at: datetime) -> QuerySet[ReleasePlan]:
    return ReleasePlan.objects.open().filter(release_at__lte=at)


def release_due(at: datetime) -> list[ReleasePlan]:
    """Carry out the planned releases that are due, and store why any is refused. One query if none is due."""
    released = []
    for plan in plans_due(at).order_by("pk"):
        try:
            if release_planned(plan, at):
                released.append(plan)
        except RefusedError as error:
            rows = ReleasePlan.objects.filter(pk=plan.pk, release_at=plan.release_at)
            rows.update(refusal="\n".join(error.reasons), release_at=None)
        except (DatabaseError, ValidationError):
            # It stays due, and the task tries it again. The releases of other editions do not wait for it.
            logger.exception("The planned release of edition %s failed.", plan.edition_id)
    return released


@retry_conflicts
def release_planned(plan: ReleasePlan, at: datetime) -> bool:
    """Carry out a planned release; return whether it was still due."""
    with transaction.atomic():
        plan = ReleasePlan.objects.select_for_update(of=("self",)).select_related("planner").get(pk=plan.pk)
        if plan.release_at is None or plan.release_at > at:
            # Another process was first, or the plan was changed in the meantime.
            return False
        announcement = Announcement(**plan.announcement) if plan.announcement else None
        if announcement is None and not changes_of(plan.edition).exists():
            raise RefusedError(_("There was nothing to release."))
        release(
            plan,
            plan.planner,
            at,
            announcement=announcement,
            confirmed=plan.confirmed_clashes,
            user_name=plan.planned_by,
        )
        return True
