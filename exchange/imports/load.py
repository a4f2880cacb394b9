"""A program into the database: compared with what stands here, judged whole, written whole or not at all.

Hand edits survive (`exchange.imports.provenance`); the same file twice changes nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import DataError, IntegrityError, OperationalError, transaction
from django.utils import timezone
from django.utils.translation import gettext

from content import recording, revision
from content.history import Origin
from exchange.imports.comparison import Plan, Progress
from exchange.imports.editions import edition_for
from exchange.imports.kinds import KINDS
from exchange.imports.rows import NOBODY, Concealed
from exchange.imports.steps import Tally
from exchange.imports.writing import Record, created, write_rows
from exchange.models import Conflict, ImportRun
from exchange.problems import Note, Problem, ProgramError, Where
from exchange.reading.findings import Findings
from exchange.records import Program

# Called when an import is committed: what the floors above make of a program follows at once.
after_import: list[Callable[[], object]] = []


@dataclass(slots=True)
class Dispute:
    """A conflict as a chair reads it: which row, which field, and the three values."""

    kind: str
    label: str
    where: Where
    field: str
    base: Any
    ours: Any
    theirs: Any


@dataclass(slots=True)
class Report:
    """What an import did, or would do: counts per kind, remarks, conflicts; the run if it wrote anything."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    conflicts: tuple[Dispute, ...] = ()
    run: ImportRun | None = None

    @property
    def total(self) -> Tally:
        return sum(self.tallies.values(), Tally())


def unseen(plan: Plan) -> None:
    """Let a plan pass without a look."""


def load(
    program: Program,
    edition_slug: str,
    *,
    dry_run: bool = False,
    user: Any = None,
    format_name: str = "",
    files: Sequence[str] = (),
    progress: Progress | None = None,
    look: Callable[[Plan], None] = unseen,
    concealed: Concealed = NOBODY,
    protected: Concealed = NOBODY,
) -> Report:
    """Bring a program into an edition. Raises `ProgramError` with every problem, having written nothing.

    `look` is shown the plan before anything is written; what it raises stops the import. A dry run locks
    nothing. Whom and what is `concealed` no name in the file means, and what names them by a key is refused.
    Who and what is `protected` stays as it is.
    """
    started = timezone.now()
    shown = progress or (lambda what, done, total: None)
    try:
        with recording.recording(Origin.IMPORT, user, ", ".join(files)) as log, revision.lock():
            plan = _planned(program, edition_slug, shown, concealed, protected, is_locking=not dry_run)
            report = _report(plan, program)
            look(plan)
            if not dry_run and any(plan.steps.values()):
                write_rows(plan, shown)
                run = ImportRun(format=format_name, files=list(files), user=user, started_at=started)
                report.run = _recorded(plan, report, run)
                log.refer_to(report.run)
                for follow in after_import:
                    # What fails now must not say that nothing was written.
                    transaction.on_commit(follow, robust=True)
    except (IntegrityError, DataError) as error:
        raise _refused(
            gettext(
                "The database refused the program: something in it contradicts a row that is here, "
                "or somebody changed the same rows meanwhile."
            ),
            error,
        ) from error
    except OperationalError as error:
        raise _refused(gettext("The database cannot be written to now, or is not set up."), error) from error
    return report


def _refused(reason: str, error: Exception) -> ProgramError:
    said = gettext("%(reason)s Nothing was written. Try again. (%(error)s)")
    return ProgramError([Problem(Where(), "", said % {"reason": reason, "error": error})])


def _planned(
    program: Program,
    edition_slug: str,
    progress: Progress,
    concealed: Concealed,
    protected: Concealed,
    *,
    is_locking: bool,
) -> Plan:
    findings, edition = Findings(), edition_for(program, edition_slug)
    plan = Plan(
        program, edition, findings, progress, concealed=concealed, protected=protected, is_locking=is_locking
    )
    findings.settle()
    return plan


def _report(plan: Plan, program: Program) -> Report:
    tallies = {name: plan.tallies[name] for name in KINDS if name in plan.tallies}
    disputes = tuple(
        Dispute(step.kind.name, str(step.row), step.where, name, clash.base, clash.ours, clash.theirs)
        for name in KINDS
        for step in plan.steps[name]
        for name, clash in step.merge.clashes.items()
    )
    notes = tuple(dict.fromkeys((*program.notes, *plan.findings.notes)))
    return Report(tallies, notes, disputes)


def _recorded(plan: Plan, report: Report, run: ImportRun) -> ImportRun | None:
    """Write down the run and what it leaves behind, unless all it has is conflicts that are known already."""
    run.edition = plan.edition
    run.counts = {name: tally.as_dict() for name, tally in report.tallies.items()}
    run.notes = [[note.kind, str(note.where), note.message] for note in report.notes]
    run.created = created(plan)
    if not has_news(plan):
        return None
    run.finished_at = timezone.now()
    run.save()
    Record(plan, run).write()
    return run


def has_news(plan: Plan) -> bool:
    """Whether any step writes more than conflicts that stand open already."""
    steps = [step for steps in plan.steps.values() for step in steps]
    if any(step.is_new or step.merge.taken or step.remembers_more for step in steps):
        return True
    return _has_new_conflict(steps)


def _has_new_conflict(steps: Sequence[Any]) -> bool:
    keys = {step.memory.key: step for step in steps if step.merge.clashes}
    known = {
        (one.provenance_id, one.field): (one.base, one.ours, one.theirs)
        for one in Conflict.objects.filter(provenance__in=keys, resolved_at__isnull=True)
    }
    return any(
        known.get((key, name)) != (clash.base, clash.ours, clash.theirs)
        for key, step in keys.items()
        for name, clash in step.merge.clashes.items()
    )
