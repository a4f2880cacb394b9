"""What was changed both here and in the file, decided: ours stays, or theirs is taken; the next import knows.

In both cases the file's value becomes what was last imported. So the same file is no conflict again, a row
that took it follows the file again, and one that kept its own stays edited.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from content import recording
from content.history import Origin
from exchange.imports.kinds import KINDS
from exchange.imports.rows import in_batches
from exchange.jobs.apply_field import CannotTakeError, take
from exchange.models import Conflict, Decision, Provenance


@dataclass(slots=True)
class Outcome:
    """What became of the conflicts that were decided together."""

    done: int = 0
    # The conflict, and why it is still open.
    refused: list[tuple[Conflict, str]] = field(default_factory=list)


def decide(
    conflicts: Iterable[Conflict], decision: str, rows: dict[tuple[str, int], Any], user: Any
) -> Outcome:
    """Decide open conflicts alike. `rows`: those that the user may change, by kind and key.

    All fields of one row are written together or not at all; a row that cannot be written stays undecided.
    """
    outcome = Outcome()
    groups: dict[tuple[str, int], list[Conflict]] = defaultdict(list)
    for conflict in conflicts:
        groups[conflict.provenance.kind, conflict.provenance.object_id].append(conflict)
    detail = gettext("Conflicts decided: %(decision)s") % {"decision": Decision(decision).label}
    decided: list[Conflict] = []
    with recording.recording(Origin.ACTION, user, detail):
        for key, group in groups.items():
            try:
                if decision == Decision.THEIRS:
                    with recording.together():
                        _take(group, rows.get(key))
            except CannotTakeError as error:
                outcome.refused += [(conflict, str(error)) for conflict in group]
            else:
                decided += group
        settle(decided, decision, user)
    outcome.done = len(decided)
    return outcome


def _take(group: list[Conflict], row: Any) -> None:
    if row is None:
        raise CannotTakeError([gettext("The row is not here any more, or you may not change it.")])
    if getattr(row, "merged_into_id", None):
        raise CannotTakeError(
            [gettext("It was merged into another one. Decide there, and keep what is here.")]
        )
    kind = KINDS[group[0].provenance.kind]
    take(kind, row, {one.field: one.theirs for one in group}, group[0].run.edition)


def settle(conflicts: list[Conflict], decision: str, user: Any) -> None:
    """Mark conflicts as decided, and remember what the file said as last imported. Few queries for many."""
    now = timezone.now()
    for batch in in_batches(conflicts):
        keys = {conflict.provenance_id for conflict in batch}
        memories = {row.pk: row for row in Provenance.objects.select_for_update().filter(pk__in=keys)}
        for conflict in batch:
            memories[conflict.provenance_id].values[conflict.field] = conflict.theirs
            conflict.resolved_at, conflict.decision, conflict.decided_by = now, decision, user
        Provenance.objects.bulk_update(memories.values(), ["values"], batch_size=200)
        Conflict.objects.bulk_update(batch, ["resolved_at", "decision", "decided_by"], batch_size=200)
