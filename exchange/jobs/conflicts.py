"""Resolve conflicts: decide for the value here or in the file. The next import respects the decision.

In both cases, the value of the file is stored as last imported. Importing the same file again thus makes no
conflict. A row with the file's value follows later files, and a row with its own counts as edited. Values are
written as by an import, with a plan of one row.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Never

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError
from django.utils import timezone
from django.utils.translation import gettext

from conference.models import Edition
from content import revision
from content.history import Origin, RowChange, recording
from content.history.makers import made_by
from content.models import Content
from exchange.imports.compare import RowPlan, set_taken_values, split_changed_name
from exchange.imports.kinds import KINDS, Kind, Values
from exchange.imports.merge import Merge
from exchange.imports.rows import field_value, in_batches, parts_by_owner
from exchange.imports.writing import update_rows, write_lists
from exchange.jobs.import_permissions import publication_refusal
from exchange.models import Conflict, Decision, ImportRun, Provenance
from exchange.problems import Findings, ProgramError, Where
from papers.models import Paper
from people.models import Person, PersonName
from people.printed_names import HiddenNames
from people.querysets import follow_merges

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(slots=True)
class Outcome:
    """Result of deciding several conflicts."""

    done: int = 0
    # Conflicts that are still open, with the reason.
    refused: list[tuple[Conflict, str]] = field(default_factory=list)


def decide(
    conflicts: Iterable[Conflict], decision: str, rows: dict[tuple[str, int], Content], user: "User | None"
) -> Outcome:
    """Apply one decision to open conflicts. `rows`: those that the user may change, by kind and primary key.

    All fields of one row are written together or not at all; a row that cannot be written stays undecided.
    """
    outcome = Outcome()
    groups: dict[tuple[str, int], list[Conflict]] = defaultdict(list)
    for conflict in conflicts:
        groups[conflict.provenance.kind, conflict.provenance.object_id].append(conflict)
    detail = gettext("Conflicts decided: %(decision)s") % {"decision": Decision(decision).label}
    decided: list[Conflict] = []
    runs = {conflict.run_id for group in groups.values() for conflict in group}
    makers = makers_of_runs(runs) if decision == Decision.THEIRS else {}
    with recording.recording(Origin.ACTION, user, detail):
        for key, group in groups.items():
            try:
                if decision == Decision.THEIRS:
                    with made_by(makers.get(group[0].run_id)), recording.single_change_set():
                        _take_theirs(group, rows.get(key), user)
            except CannotTakeError as error:
                outcome.refused += [(conflict, str(error)) for conflict in group]
            else:
                decided += group
        mark_decided(decided, decision, user)
    outcome.done = len(decided)
    return outcome


def makers_of_runs(runs: Iterable[int]) -> dict[int, int]:
    """Return the accounts that uploaded the files of these runs, by run. One query."""
    runs_by_reference = {f"{ImportRun._meta.label_lower}:{run}": run for run in runs}
    changes = RowChange.objects.filter(
        change_set__reference__in=runs_by_reference,
        model=Provenance._meta.label_lower,
        made_by__isnull=False,
    )
    makers = changes.order_by().values_list("change_set__reference", "made_by").distinct()
    return {runs_by_reference[reference]: maker for reference, maker in makers}


def _take_theirs(group: list[Conflict], row: Content | None, user: "User | None") -> None:
    if row is None:
        raise CannotTakeError(gettext("The row no longer exists, or you can’t change it."))
    if getattr(row, "merged_into_id", None):
        raise CannotTakeError(gettext("It was merged into another one. Decide there, and keep what is here."))
    kind, edition = KINDS[group[0].provenance.kind], group[0].run.edition
    values = {conflict.field: conflict.theirs for conflict in group}
    if refusal := publication_refusal(kind, row, values, user, edition):
        raise CannotTakeError(refusal)
    write_values(kind, row, values, edition)


def mark_decided(conflicts: list[Conflict], decision: str, user: "User | None") -> None:
    """Mark conflicts as decided, and store the values of the file as last imported, in batches."""
    now = timezone.now()
    for batch in in_batches(conflicts):
        keys = {conflict.provenance_id for conflict in batch}
        rows = {row.pk: row for row in Provenance.objects.select_for_update().filter(pk__in=keys)}
        for conflict in batch:
            rows[conflict.provenance_id].values[conflict.field] = conflict.theirs
            conflict.resolved_at, conflict.decision, conflict.decided_by = now, decision, user
        Provenance.objects.bulk_update(rows.values(), ["values"], batch_size=200)
        Conflict.objects.bulk_update(batch, ["resolved_at", "decision", "decided_by"], batch_size=200)


# One field of a row


class CannotTakeError(Exception):
    """A value of a file cannot be written. The arguments are the reasons, as sentences."""


def current_value(kind: Kind, row: Content, name: str, edition: Edition) -> object:
    """Return the current value of a field in the format of records. Makes at most two queries."""
    listing = kind.listing(name)
    if listing:
        parts = listing.model._default_manager.filter(**{listing.owner: row})
        return parts_by_owner(listing, parts, edition).get(row.pk, [])
    if isinstance(row, Person) and name == "other_names":
        return sorted(row.names.shown().values_list("name", flat=True))
    return field_value(row, kind, name)


class RowFinder:
    """Finder of existing rows by the keys in a value of a file. Merged rows resolve to their targets."""

    def __init__(self, edition: Edition) -> None:
        self.edition = edition
        self._rows: dict[tuple[str, str], Content] = {}

    def learn_people(self, uids: Iterable[str]) -> None:
        """Fetch and cache people in one query."""
        rows = Person.objects.filter(uid__in=[uid for uid in uids if uid]).select_related("merged_into")
        self._rows |= {("person", row.uid): row for row in rows}

    def paper(self, edition: str, uid: str) -> Content:
        if not edition:
            return self.row("paper", uid)
        paper: Paper | None = Paper.objects.filter(uid=uid, edition__slug=edition).first()
        return paper or self._raise_missing("paper", uid)

    def row(self, kind: str, key: str) -> Content:
        if (kind, key) not in self._rows:
            model = KINDS[kind].model
            scope = {"edition": self.edition} if KINDS[kind].is_in_edition else {}
            rows = model._default_manager.filter(**{KINDS[kind].key: key}, **scope)
            existing: Content | None = rows.first()
            self._rows[kind, key] = existing or self._raise_missing(kind, key)
        row: Content = follow_merges(self._rows[kind, key])
        return row

    def _raise_missing(self, kind: str, key: str) -> Never:
        message = gettext("There is no longer a %(kind)s “%(key)s” here. Import the file again.")
        raise CannotTakeError(message % {"kind": KINDS[kind].model._meta.verbose_name, "key": key})


def write_values(kind: Kind, row: Content, values: Values, edition: Edition) -> None:
    """Write these values into a row and its lists, all or none. Raises `CannotTakeError` with the reasons."""
    finder, findings = RowFinder(edition), Findings()
    step = RowPlan(kind, row, Where(), Merge(updates=dict(values)))
    for name, value in values.items():
        listing = kind.listing(name)
        if listing and "person" in listing.columns:
            step.merge.updates[name] = _without_hidden(value, finder)
    if isinstance(row, Person):
        step.old = {name: current_value(kind, row, name, edition) for name in values}
        split_changed_name(row, values, step.merge)
    try:
        with recording.single_change_set(), revision.lock():
            set_taken_values(step, finder, findings)
            findings.raise_problems()
            _validate(step)
            update_rows(kind, [step])
            write_lists(kind, [step])
    except ValidationError as error:
        raise CannotTakeError(" ".join(error.messages)) from error
    except ProgramError as error:
        raise CannotTakeError(" ".join(problem.message for problem in error.problems)) from error
    except (IntegrityError, DataError) as error:
        message = gettext("The database refuses it: something else here has the same place or identifier.")
        raise CannotTakeError(message) from error


def _validate(step: RowPlan) -> None:
    """Raise `ValidationError` for values that forms would refuse."""
    row, values = step.row, step.merge.updates
    if not values.keys().isdisjoint((*step.kind.plain_fields, *step.kind.references)):
        row.full_clean()
    for part in chain.from_iterable(step.parts.values()):
        # The database checks positions and repeated people.
        part.row.clean_in_memory()
    if isinstance(row, Person) and "other_names" in values:
        for name in set(values["other_names"]) - set(step.old["other_names"]):
            PersonName(person=row, name=name).full_clean()


def _without_hidden(value: list[Values], finder: RowFinder) -> list[Values]:
    """Return the parts with names that are hidden now replaced by the display name."""
    uids = [part["person"] for part in value]
    finder.learn_people(uids)
    rows = PersonName.objects.filter(hidden=True, person__uid__in=uids)
    hidden = HiddenNames(rows.values_list("person__uid", "name"))
    return [
        {**part, "name": str(finder.row("person", part["person"]))}
        if hidden.contains(part["person"], part.get("name", ""))
        else part
        for part in value
    ]
