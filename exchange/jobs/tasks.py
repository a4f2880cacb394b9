"""The work of an import in the admin: to read and plan it, and to write what was planned. Run as tasks."""

import logging
import os
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.tasks import task
from django.utils import timezone
from django.utils.translation import gettext

from conference.models import Edition
from exchange.files import Source
from exchange.formats import readable
from exchange.imports.compare import Plan
from exchange.imports.load import Report, load, reading_context
from exchange.jobs import uploads
from exchange.jobs.fetch import Policy, fetch
from exchange.jobs.import_permissions import concealed, permit, protected
from exchange.jobs.photos import with_photos
from exchange.jobs.preview import digest, store
from exchange.jobs.progress import ProgressWriter, forget, reporting, take_token
from exchange.models import ImportJob, PlannedRow
from exchange.problems import ProgramError, refused
from exchange.records import Program

logger = logging.getLogger(__name__)
MAX_NOTES = 2_000
State = ImportJob.State


class ChangedError(Exception):
    """The program is not any more what it was when the plan was shown."""


class FilesLostError(Exception):
    """The files of the job are not there any more."""


class OvertakenError(Exception):
    """The job went another way while it was worked on: what was done for it must not hold."""


@task
def preview(job: int) -> None:
    """Read the files of a job and store what they would change."""
    _worked(job, State.READING, _previewed)


@task
def write(job: int) -> None:
    """Write what was shown and confirmed; if it would be something else by now, show that."""
    _worked(job, State.WRITING, _written)


def _worked(key: int, state: str, work: Callable[[ImportJob, ProgressWriter], None]) -> None:
    """Do the work of a job that is still to be done; whatever happens, the job says so."""
    sweep()
    job = ImportJob.objects.select_related("edition", "user").filter(pk=key, state=state).first()
    if job is None:
        return
    with reporting(key) as progress:
        try:
            work(job, progress)
        except ProgramError as error:
            problems = [[str(one.where), one.field, one.message] for one in error.problems]
            _stop(job, state, State.REFUSED, problems)
        except OvertakenError:
            logger.warning("The import %s was dropped or begun again while it was worked on", key)
        except Exception as error:
            logger.exception("The import %s failed", key)
            is_lost = isinstance(error, FilesLostError)
            problems = [["", "", str(error)]] if is_lost else []
            _stop(job, state, State.FAILED, problems, has_files=not is_lost)
            # For whoever watches the queue: the task has failed too.
            raise


def _stop(job: ImportJob, begun: str, end: str, problems: list[list[str]], **values: object) -> None:
    """Say that it ends here: as it began, or while it was planned again."""
    job.pass_to(end, before=State.READING if job.is_again else begun, problems=problems, **values)


def _pass(job: ImportJob, state: str, *, before: str, **values: object) -> None:
    """Go to another state. Raises `OvertakenError` where the job has gone on already."""
    if not job.pass_to(state, before=before, **values):
        raise OvertakenError


def _previewed(job: ImportJob, progress: ProgressWriter) -> None:
    plans: list[Plan] = []

    def look(plan: Plan) -> None:
        permit(plan, job.user)
        plans.append(plan)

    report = _loaded(job, progress, look, dry_run=True)
    progress("storing", 0, 0)
    with transaction.atomic():
        store(plans[0], job)
        _pass(
            job,
            State.READY,
            before=State.READING,
            digest=digest(plans[0]),
            counts={name: asdict(tally) for name, tally in report.tallies.items()},
            notes=[note.stored for note in report.notes[:MAX_NOTES]],
            problems=[],
        )


def _written(job: ImportJob, progress: ProgressWriter) -> None:
    def look(plan: Plan) -> None:
        permit(plan, job.user)
        if digest(plan) != job.digest:
            raise ChangedError

    try:
        with transaction.atomic():
            report = _loaded(job, progress, look)
            # In the transaction of the import: either both are so, or neither.
            _pass(job, State.DONE, before=State.WRITING, run=report.run, has_files=False)
    except ChangedError:
        _pass(job, State.READING, before=State.WRITING, is_again=True)
        _previewed(job, progress)
        return
    PlannedRow.objects.filter(job=job).delete()
    uploads.forget(job)


def _loaded(
    job: ImportJob,
    progress: ProgressWriter,
    look: Callable[[Plan], None],
    *,
    dry_run: bool = False,
) -> Report:
    program, photos = with_photos(_read(job, progress), dry_run=dry_run)
    return load(
        program,
        job.edition.slug if job.edition else _new_slug(program),
        dry_run=dry_run,
        user=job.user,
        format_name=job.format,
        files=job.files,
        progress=progress,
        look=look,
        concealed=concealed(job.user),
        protected=protected(job.user),
        photos=photos,
    )


def _read(job: ImportJob, progress: ProgressWriter) -> Program:
    fmt = readable()[job.format]
    progress("reading", 0, 0)
    sources = _sources(job, progress)
    context = reading_context(job.edition)
    if fmt.read is None:
        raise LookupError(job.format)
    return fmt.read(sources, context)


def _sources(job: ImportJob, progress: ProgressWriter) -> list[Source]:
    """Return the files; those of another site are fetched once: what is shown is what will be written."""
    if job.url and not job.files:
        pages = readable()[job.format].pages
        if pages is None:
            raise refused(gettext("This format cannot be fetched. Upload the file."))
        token = take_token(job.pk) or os.environ.get(pages.token, "")
        found = fetch(job.url, pages, Policy(frozenset(settings.IMPORT_HOSTS), token=token), progress)
        uploads.store(job, ([source.content] for source in found))
        job.files = [source.name for source in found]
        job.save(update_fields=["files"])
    try:
        return uploads.sources(job, job.files)
    except FileNotFoundError:
        raise FilesLostError(
            gettext("The uploaded files were removed meanwhile. Upload them again.")
        ) from None


def _new_slug(program: Program) -> str:
    """Return the slug of the edition that the file describes; one that is here must have been chosen."""
    if program.edition is None:
        raise refused(
            gettext("The file describes no edition. Choose the one that it is for, or make one first.")
        )
    slug = program.edition.slug
    if Edition.objects.filter(slug=slug).exists():
        said = gettext("The file holds edition “%(slug)s”, which is here already. Choose it for the import.")
        raise refused(said, slug=slug)
    return slug


def sweep(at: datetime | None = None) -> int:
    """Remove the files of jobs that are over or a day old, and what they would have done. Return how many."""
    old = list(ImportJob.objects.outlived(at))
    for job in old:
        forget(job.pk)
        uploads.forget(job)
        PlannedRow.objects.filter(job=job).delete()
    ImportJob.objects.filter(pk__in=[job.pk for job in old]).update(has_files=False)
    for job in old:
        if job.state == State.READY:
            job.pass_to(State.DROPPED, before=State.READY, changed_at=at or timezone.now())
    return len(old)
