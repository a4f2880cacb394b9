"""An import taken back: its rows go, its changes and its memory are undone; hand edits stay."""

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from django.utils.translation import gettext, ngettext

from content import recording, revision
from content.history import ChangeSet, Origin
from content.undoing import Undoing, planned, take_back
from exchange.imports.kinds import KINDS
from exchange.imports.rows import in_batches
from exchange.models import Change, ImportRun, Provenance

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class CannotUndoError(Exception):
    """Why an import cannot be taken back, in a sentence."""


def plan(run: ImportRun) -> Undoing:
    """Return what taking the run back would do. Raises `CannotUndoError` where nothing can be."""
    if run.undone_at is not None:
        at = f"{run.undone_at:%Y-%m-%d %H:%M} UTC"
        raise CannotUndoError(gettext("This import was taken back already, at %(at)s.") % {"at": at})
    sets = ChangeSet.objects.filter(origin=Origin.IMPORT, reference=f"exchange.importrun:{run.pk}")
    change_set = sets.first()
    if change_set is None and not (run.created or run.changes.exists()):
        return Undoing()
    if change_set is None:
        words = gettext("Nothing is known of what this import changed: it is older than the history.")
        raise CannotUndoError(words)
    return planned(change_set)


def unseen(found: Undoing, user: "User") -> None:
    """Let it pass without a look."""


def undo(run: ImportRun, user: Any = None, *, look: Callable[[Undoing, Any], None] = unseen) -> Undoing:
    """Take the run back. Raises `CannotUndoError` or `CannotRestoreError`, having changed nothing.

    `look` is shown what will happen; what it raises stops it.
    """
    detail = ", ".join(run.files) or str(run)
    with recording.recording(Origin.UNDO, user, detail) as log, revision.lock():
        run = ImportRun.objects.select_for_update(of=("self",)).get(pk=run.pk)
        found = plan(run)
        look(found, user)
        log.refer_to(run)
        take_back(found, Origin.UNDO, user, detail)
        _forget(run, found)
        run.undone_at = timezone.now()
        run.save(update_fields=["undone_at"])
    return found


def _forget(run: ImportRun, found: Undoing) -> None:
    """Remember of each row what was remembered before the run."""
    for kind in KINDS.values():
        for batch in in_batches(found.removed.get(kind.model, ())):
            Provenance.objects.filter(kind=kind.name, object_id__in=batch).delete()
    fields: dict[tuple[str, int], list[Change]] = defaultdict(list)
    for change in run.changes.all():
        fields[change.kind, change.object_id].append(change)
    for kind in KINDS.values():
        for batch in in_batches([key for name, key in fields if name == kind.name]):
            rows = list(Provenance.objects.filter(kind=kind.name, object_id__in=batch))
            for row in rows:
                for change in fields[kind.name, row.object_id]:
                    _put_back(row.values, change)
            Provenance.objects.bulk_update(rows, ["values"], batch_size=200)
    run.conflicts.filter(resolved_at__isnull=True).delete()


def _put_back(values: dict[str, Any], change: Change) -> None:
    if change.base is None:
        values.pop(change.field, None)
    else:
        values[change.field] = change.base


def told(found: Undoing) -> list[str]:
    """Return what is taken back, in lines: "12 papers removed"."""
    lines = []
    for model, keys in found.removed.items():
        many = {"n": len(keys), "rows": model._meta.verbose_name_plural, "row": model._meta.verbose_name}
        lines.append(ngettext("%(n)d %(row)s removed", "%(n)d %(rows)s removed", len(keys)) % many)
    changed = sum(step.kind == "change" for step in found.steps)
    if changed:
        lines.append(ngettext("%(n)d row changed back", "%(n)d rows changed back", changed) % {"n": changed})
    back = len(found.steps) - changed - sum(step.kind == "remove" for step in found.steps)
    if back:
        lines.append(ngettext("%(n)d row brought back", "%(n)d rows brought back", back) % {"n": back})
    return lines
