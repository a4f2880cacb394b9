"""Revert an import: delete its rows, restore changed values and last imports. Later edits are preserved."""

from collections.abc import Callable

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from content import revision
from content.actor import User
from content.array_lookup import AnyOf
from content.history import ChangeSet, Origin, RowChange, recording
from content.history.revert import CannotRevertError, RevertPlan, revert, undo_plan
from content.unreleased.plan import planned, publishing
from content.unreleased.timing import StatusTiming, status_timing
from editorial.current_edition import format_moment
from exchange.imports.kinds import KINDS
from exchange.imports.rows import in_batches
from exchange.models import Conflict, ImportRun, Provenance


def _reference(run: ImportRun) -> str:
    """Return the reference to the run in change sets, as `set_reference` of the recording stores it."""
    return f"{run._meta.label_lower}:{run.pk}"


def change_set_of(run: ImportRun) -> ChangeSet | None:
    return ChangeSet.objects.filter(origin=Origin.IMPORT, reference=_reference(run)).first()


def plan_undo(run: ImportRun) -> RevertPlan:
    """Return the plan of reverting a run. Raises `CannotRevertError` if it cannot be reverted."""
    if run.undone_at is not None:
        at = format_moment(run.undone_at, run.edition)
        raise CannotRevertError([gettext("This import was already reverted: %(at)s.") % {"at": at}])
    change_set = change_set_of(run)
    if change_set is not None:
        return undo_plan(change_set)
    if run.created or any(tally.get("changed") for tally in run.counts.values()):
        message = gettext("This import can’t be reverted: it is older than the history.")
        raise CannotRevertError([message])
    return RevertPlan()


def undo(
    run: ImportRun, user: User = None, *, check: Callable[[RevertPlan, User], None] | None = None
) -> RevertPlan:
    """Revert a run. Raises `CannotRevertError` without changes if it cannot be reverted.

    While changes wait for a release, values that are changed back wait too; rows that go are gone at once.

    `check` is called with the plan before any change, and may raise to stop it.
    """
    detail = ", ".join(run.files) or str(run)
    with (
        transaction.atomic(),
        planned(run.edition, for_edits=True),
        # What the import hid at once comes back at once.
        status_timing(StatusTiming.NOW),
        recording.recording(Origin.UNDO, user, detail) as log,
        revision.lock(),
    ):
        run = ImportRun.objects.select_for_update(of=("self",)).get(pk=run.pk)
        plan = plan_undo(run)
        if check:
            check(plan, user)
        log.set_reference(run)
        # Rows that go are taken back at once, like what is withdrawn, and their people with them.
        with publishing():
            revert([step for step in plan.steps if step.kind == "remove"], Origin.UNDO, user, detail)
        revert([step for step in plan.steps if step.kind != "remove"], Origin.UNDO, user, detail)
        _restore_provenance(run, plan)
        run.undone_at = timezone.now()
        run.save(update_fields=["undone_at"])
    return plan


def _restore_provenance(run: ImportRun, plan: RevertPlan) -> None:
    """Restore the last imported values of each row from before the run."""
    for kind in KINDS.values():
        is_removed = AnyOf("object_id", plan.removed.get(kind.model, ()))
        Provenance.objects.filter(is_removed, kind=kind.name).delete()
    changes = RowChange.objects.filter(change_set=change_set_of(run), model=Provenance._meta.label_lower)
    pairs_by_key = {change.object_id: change.values for change in changes}
    Conflict.objects.undecided().filter(run=run).delete()
    for batch in in_batches(pairs_by_key):
        rows = list(Provenance.objects.filter(pk__in=batch))
        for row in rows:
            for name, (before, after) in pairs_by_key[row.pk].items():
                # A later import or decision may have stored another value, which remains.
                if row.values.get(name) != after:
                    continue
                row.values[name] = before
                # None marks a field that had not been imported before.
                if before is None:
                    del row.values[name]
        Provenance.objects.bulk_update(rows, ["values"], batch_size=200)
        # Rows that had not been imported before have no values left.
        empty_keys = [row.pk for row in rows if all(value is None for value in row.values.values())]
        unused = Provenance.objects.filter(pk__in=empty_keys, conflicts=None)
        unused_keys = [*unused.values_list("pk", flat=True)]
        # The erasure of a person finds the changes of a row by the row.
        RowChange.objects.filter(AnyOf("object_id", unused_keys), model=Provenance._meta.label_lower).delete()
        Provenance.objects.filter(pk__in=unused_keys).delete()


def summarize_undo(plan: RevertPlan) -> list[str]:
    """Return the reverted changes as lines such as "12 papers removed"."""
    lines = []
    for model, keys in plan.removed.items():
        values = {"n": len(keys), "rows": model._meta.verbose_name_plural, "row": model._meta.verbose_name}
        lines.append(ngettext("%(n)d %(row)s removed", "%(n)d %(rows)s removed", len(keys)) % values)
    kinds = [step.kind for step in plan.steps]
    if changed_count := kinds.count("change"):
        lines.append(
            ngettext("%(n)d row changed back", "%(n)d rows changed back", changed_count)
            % {"n": changed_count}
        )
    if restored_count := kinds.count("bring back"):
        lines.append(
            ngettext("%(n)d deletion reverted", "%(n)d deletions reverted", restored_count)
            % {"n": restored_count}
        )
    return lines
