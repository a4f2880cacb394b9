"""Load a program into the database: compare it with existing rows, validate it, and write it atomically.

Edits made on this site are preserved (`exchange.imports.compare`). Importing a file again changes nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import DataError, IntegrityError, OperationalError, transaction
from django.utils import timezone
from django.utils.translation import gettext

from conference.models import Conference, Edition
from content import revision
from content.history import Origin, recording
from content.unreleased.plan import planned, publishing
from content.write_conflicts import is_blocked, is_write_conflict, retry_conflicts
from exchange.imports.compare import OUTCOMES, ImportPlan, ProgressCallback, compare
from exchange.imports.distant_dates import describe_distant_dates
from exchange.imports.emails import missing_emails
from exchange.imports.kinds import CONFERENCE, EDITION_KINDS, INSTITUTION, KINDS, PAPER, PERSON
from exchange.imports.match_people import MatchedPeople
from exchange.imports.own_kinds import with_own_kinds
from exchange.imports.planned_clashes import note_clashes
from exchange.imports.publication import PublicationRule, rule_for
from exchange.imports.publication_counts import count_publications
from exchange.imports.rows import NO_ROWS, Concealed, EditionRows, records_of
from exchange.imports.validation import validate
from exchange.imports.writing import write_emails, write_last_imports, write_photos, write_rows
from exchange.models import Conflict, ImportRun, Provenance
from exchange.problems import NOTE_KINDS, Findings, Note, Problem, ProgramError, program_error, short
from exchange.records import EditionRecord, Program, stated

if TYPE_CHECKING:
    from django.contrib.auth.models import User

EDITIONS_SHOWN = 20
# Functions to call when an import is committed. Higher-level packages register here.
after_import: list[Callable[[], object]] = []


@dataclass(slots=True)
class Report:
    """Results of an import or a dry run: plan, rows per kind and outcome, notes, conflicts (unsaved).

    `run` is set if it wrote anything.
    """

    plan: ImportPlan
    tallies: dict[str, Counter[str]]
    notes: tuple[Note, ...]
    conflicts: tuple[Conflict, ...]
    # The numbers of rows that become public, by moment and kind (`exchange.imports.publication`).
    publications: dict[str, dict[str, int]]
    # What somebody must confirm before the import is written; empty if nothing.
    question: str
    run: ImportRun | None = None

    @property
    def total(self) -> Counter[str]:
        return sum(self.tallies.values(), Counter())

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """The tallies as stored, including zeros."""
        return {
            kind: {outcome: tally[outcome] for outcome in OUTCOMES} for kind, tally in self.tallies.items()
        }


@retry_conflicts
def load(
    program: Program,
    edition_slug: str,
    *,
    dry_run: bool = False,
    user: "User | None" = None,
    format_name: str = "",
    files: Sequence[str] = (),
    progress: ProgressCallback | None = None,
    check: Callable[[ImportPlan], None] | None = None,
    concealed: Concealed = NO_ROWS,
    protected: Concealed = NO_ROWS,
    photos: Mapping[str, tuple[str, bytes]] | None = None,
    publication: str = "",
    may_publish: bool = True,
) -> Report:
    """Import a program into an edition. If it has problems, raise `ProgramError` and write nothing.

    `check` is called with the plan before anything is written, and may raise to stop the import. A dry run
    takes no locks. `concealed` rows are never matched by name, their keys are refused, and their papers are
    no evidence. `protected` rows are not changed. `photos`: pictures of people by address, each a file
    extension and its bytes. `publication`: a `Publication`, or empty for the usual one; without `may_publish`
    all rows stay drafts. If changes of the edition wait for a release, the import compares with the planned
    state, and its changes wait too.
    """
    started_at = timezone.now()
    progress = progress or (lambda what, done, total: None)
    try:
        detail = ", ".join(files)
        existing_edition = Edition.objects.filter(slug=edition_slug).first()
        rule = rule_for(existing_edition, publication, may_publish=may_publish)
        with (
            planned_program(existing_edition, rule, for_edits=not dry_run),
            recording.recording(Origin.IMPORT, user, detail) as log,
            revision.lock(),
        ):
            findings = Findings()
            plan = _make_plan(
                program, edition_slug, findings, progress, concealed, protected, rule, is_locking=not dry_run
            )
            report = _report(plan, (*program.notes, *findings.notes))
            if check:
                check(plan)
            if not dry_run and (photos or plan.emails or plan.new_kinds or any(plan.steps.values())):
                write_rows(plan, progress)
                has_photos = write_photos(plan, photos or {})
                write_emails(plan)
                for kind in plan.new_kinds:
                    kind.conference = plan.edition.conference
                    kind.save()
                run = ImportRun(format=format_name, files=list(files), user=user, started_at=started_at)
                if (
                    has_photos
                    or plan.emails
                    or plan.new_kinds
                    or any(step.is_worth_recording for steps in plan.steps.values() for step in steps)
                ):
                    report.run = _record_run(plan, report, run)
                log.set_reference(report.run)
                for callback in after_import:
                    # An error here must not be reported as a failed import: the rows are written.
                    transaction.on_commit(callback, robust=True)
    except (IntegrityError, DataError) as error:
        raise _database_error(
            gettext(
                "The database refused the program: it conflicts with existing rows, or someone changed "
                "the same rows at the same time."
            ),
            error,
        ) from error
    except OperationalError as error:
        if is_write_conflict(error):
            # The caller repeats the transaction.
            raise
        if is_blocked(error):
            raise _database_error(gettext("Someone else is changing the same rows."), error) from error
        raise _database_error(gettext("The database isn’t available or isn’t set up."), error) from error
    return report


@contextmanager
def planned_program(edition: Edition | None, rule: PublicationRule, *, for_edits: bool) -> Iterator[None]:
    """Compare with the planned state of the edition in the block, unless the import is public at once."""
    if edition is None or not rule.waits:
        yield
    elif rule.is_immediate:
        with publishing():
            yield
    else:
        with planned(edition, for_edits=for_edits):
            yield


def _database_error(reason: str, error: Exception) -> ProgramError:
    message = gettext("%(reason)s Nothing was written. Try again. (%(error)s)")
    return program_error(message, reason=reason, error=error)


def _make_plan(
    program: Program,
    edition_slug: str,
    findings: Findings,
    progress: ProgressCallback,
    concealed: Concealed,
    protected: Concealed,
    rule: PublicationRule,
    *,
    is_locking: bool,
) -> ImportPlan:
    edition = edition_for(program, edition_slug)
    program, new_kinds = with_own_kinds(program, edition, findings)
    concealed_people, hidden_papers = (concealed.get(kind.name, ()) for kind in (PERSON, PAPER))
    protected_people = protected.get(PERSON.name, ())
    people = MatchedPeople(program, edition, findings, concealed_people, hidden_papers, protected_people)
    compared_kinds = [
        kind.name for kind in (CONFERENCE, INSTITUTION, *EDITION_KINDS) if records_of(program, kind)
    ]
    rows = EditionRows(edition, compared_kinds, concealed, is_locking=is_locking)
    plan = compare(program, rows, people, findings, rule=rule, protected=protected, progress=progress)
    plan.new_kinds = new_kinds
    plan.emails = missing_emails(people.rows, protected_people, findings)
    photos = ((people.find(photo.person), photo.url) for photo in program.photos)
    plan.photos = [(person, url) for person, url in photos if person.pk not in protected_people]
    validate(plan, findings, progress)
    findings.raise_problems()
    note_clashes(plan, findings)
    return plan


def _report(plan: ImportPlan, notes: Iterable[Note]) -> Report:
    tallies = {name: plan.tallies[name] for name in KINDS if name in plan.tallies}
    conflicts = tuple(
        Conflict(
            provenance=Provenance(kind=step.kind.name),
            label=str(step.row),
            field=name,
            base=conflict.base,
            ours=conflict.ours,
            theirs=conflict.theirs,
        )
        for kind in KINDS
        for step in plan.steps[kind]
        for name, conflict in step.merge.conflicts.items()
    )
    order = [*NOTE_KINDS]
    ordered = sorted(dict.fromkeys(notes), key=lambda note: order.index(note.kind))
    return Report(
        plan,
        tallies,
        tuple(ordered),
        conflicts,
        count_publications(plan),
        describe_distant_dates(plan),
    )


def _record_run(plan: ImportPlan, report: Report, run: ImportRun) -> ImportRun:
    """Save the run with its provenance and conflicts."""
    run.edition = plan.edition
    run.counts = report.counts
    run.notes = [note.stored for note in report.notes]
    created = {name: [step.row.pk for step in plan.steps[name] if step.is_new] for name in KINDS}
    run.created = {name: keys for name, keys in created.items() if keys}
    run.finished_at = timezone.now()
    run.save()
    write_last_imports(plan, run)
    return run


# The edition of an import


def edition_for(program: Program, slug: str) -> Edition:
    """Return the edition, unsaved if only the file has it. Raises `ProgramError` if there is none."""
    record = program.edition
    if record and record.slug != slug:
        file_slug, requested_slug = short(record.slug), short(slug)
        message = gettext(
            "The file holds edition “%(held)s”, not “%(asked)s”. Name the edition that it holds."
        ) % {"held": file_slug, "asked": requested_slug}
        raise ProgramError([Problem(record.where, "slug", message)])
    edition: Edition | None = Edition.objects.select_related("conference").filter(slug=slug).first()
    if edition:
        return edition
    if record is None:
        existing_slugs = ", ".join(Edition.objects.values_list("slug", flat=True)[:EDITIONS_SHOWN]) or "none"
        message = gettext(
            "There is no edition “%(slug)s”. "
            "Create it in the admin, or import a program_json file that holds it. Existing: %(known)s."
        )
        raise program_error(message, slug=short(slug), known=existing_slugs)
    return Edition(slug=slug, conference=_conference_of(program, record))


def _conference_of(program: Program, record: EditionRecord) -> Conference:
    """Return the conference of a new edition: the one it names, that of the file, or the only one here."""
    slug = stated(record.conference, "") or (program.conference.slug if program.conference else "")
    if slug:
        conference: Conference | None = Conference.objects.filter(slug=slug).first()
        if conference:
            return conference
        if program.conference and program.conference.slug == slug:
            return Conference(slug=slug)
        message = gettext("There is no conference “%(named)s” in this file or here. Add it to the file.") % {
            "named": short(slug)
        }
    else:
        existing: list[Conference] = list(Conference.objects.all()[:2])
        if len(existing) == 1:
            return existing[0]
        message = gettext("The file does not say which conference the edition belongs to. Add it.")
    raise ProgramError([Problem(record.where, "conference", message)])
