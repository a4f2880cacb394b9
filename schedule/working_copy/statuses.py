"""When a new status takes effect while a working copy is open.

What becomes public waits for the release; what is hidden is hidden at once. Who may release can choose.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from django.db.models import QuerySet, TextChoices
from django.utils.translation import gettext_lazy as _

from content.history import ChangeSet
from content.history.recording import WrittenRows, editions_by_row, recording
from content.row_values import Key, content_model
from papers.models import Paper
from schedule.querysets import PUBLIC_STATUSES
from schedule.working_copy.models import PendingChanges, WorkingCopy
from schedule.working_copy.pending import CHANGED, PendingRow, StoredRow, key_of

STATUS = "status"
DRAFT, PUBLISHED = Paper.Status.DRAFT, Paper.Status.PUBLISHED


class StatusTiming(TextChoices):
    """When the statuses take effect that a form or an import saves."""

    USUAL = "usual", _("Publish with the release, hide now")
    NOW = "now", _("Publish now, hide now")
    RELEASE = "release", _("Publish with the release, hide with the release")


def is_public_status(label: str, status: object) -> bool:
    return status == PUBLISHED if label == Paper._meta.label_lower else status in PUBLIC_STATUSES


def hold_new_papers(
    written: Iterable[WrittenRows], copies: dict[int, WorkingCopy]
) -> dict[tuple[ChangeSet, WorkingCopy], list[StoredRow]]:
    """Make the new published papers drafts, and return their pending publication. `copies`: by edition."""
    label = Paper._meta.label_lower
    held_rows: dict[tuple[ChangeSet, WorkingCopy], list[StoredRow]] = {}
    for group in written:
        keys = [key for name, key in group.created if name == label]
        editions = editions_by_row(Paper, keys)
        keys = [key for key in keys if editions.get(key) in copies]
        # They have never been public, so neither history nor caches need to know.
        papers: QuerySet[Paper] = QuerySet(Paper)
        new_papers = papers.filter(pk__in=keys, status=PUBLISHED).in_bulk() if keys else {}
        for key, paper in new_papers.items():
            row = PendingRow(CHANGED, label, key, str(paper)[:300], {STATUS: [DRAFT, PUBLISHED]})
            held_rows.setdefault((group.change_set, copies[paper.edition_id]), []).append(row.stored())
        papers.filter(pk__in=new_papers).update(status=DRAFT)
    return held_rows


def apply_at_once(sets: Collection[PendingChanges], timing: StatusTiming) -> set[WorkingCopy]:
    """Change the public statuses that do not wait, within their change sets; remove them from `sets`.

    Return the working copies of which earlier changes were removed, too.
    """
    changed_copies: set[WorkingCopy] = set()
    for changes in sets:
        keys_by_status: dict[tuple[str, str], list[int]] = {}
        for label, key, status in _immediate_statuses(changes.rows, timing):
            keys_by_status.setdefault((label, status), []).append(key)
        if not keys_by_status:
            continue
        applied_keys: set[Key] = set()
        with recording(changes.origin, changes.user, changes.detail) as log:
            log.change_set = _change_set_of(changes)
            for (label, status), keys in keys_by_status.items():
                rows: Any = content_model(label)._default_manager.filter(pk__in=keys)
                rows.update(status=status)
                applied_keys |= {(label, key) for key in keys}
        # Earlier unreleased statuses of these rows would only be in conflict with this one.
        for earlier_changes in changes.working_copy.sets.exclude(rows=[]):
            if any(key_of(row) in applied_keys for row in earlier_changes.rows):
                _remove_statuses(earlier_changes, applied_keys)
                earlier_changes.save(update_fields=["rows"])
                changed_copies.add(changes.working_copy)
        _remove_statuses(changes, applied_keys)
    return changed_copies


def _change_set_of(changes: PendingChanges) -> ChangeSet:
    """Return the change set that was rolled back with its pending changes, created again if necessary."""
    fields = ("at", "user_id", "user_name", "origin", "detail", "reference")
    values = {name: getattr(changes, name) for name in fields}
    return ChangeSet.objects.get_or_create(pk=changes.act, defaults=values)[0]


def _immediate_statuses(rows: Iterable[StoredRow], timing: StatusTiming) -> Iterator[tuple[str, int, str]]:
    """Yield model, key and new status of rows that are shown or hidden at once."""
    changed: dict[str, dict[int, Any]] = {}
    for row in rows:
        if row["kind"] == CHANGED and STATUS in row["values"]:
            changed.setdefault(row["model"], {})[row["key"]] = row["values"][STATUS][1]
    for label, statuses in changed.items():
        public_rows: Any = QuerySet(content_model(label)).filter(pk__in=statuses).order_by("pk")
        for key, public_status in public_rows.values_list("pk", STATUS):
            was_public = is_public_status(label, public_status)
            is_public = is_public_status(label, statuses[key])
            is_hidden, is_shown = was_public and not is_public, is_public and not was_public
            if (is_hidden and timing != StatusTiming.RELEASE) or (is_shown and timing == StatusTiming.NOW):
                yield label, key, statuses[key]


def _remove_statuses(changes: PendingChanges, keys: set[Key]) -> None:
    for row in changes.rows:
        if key_of(row) in keys and row["kind"] == CHANGED:
            row["values"] = {name: pair for name, pair in row["values"].items() if name != STATUS}
    changes.rows = [row for row in changes.rows if row["kind"] != CHANGED or row["values"]]
