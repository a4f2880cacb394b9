"""Background tasks of imports in the admin: compute the preview, and write the confirmed plan."""

import logging
import os
from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.tasks import TaskResult, task
from django.utils import timezone
from django.utils.translation import gettext

from conference.models import Edition
from content.history.makers import made_by
from content.write_conflicts import retry_conflicts
from exchange.fewer_collections import fewer_collections
from exchange.files import Source
from exchange.formats import readable
from exchange.imports.compare import ImportPlan
from exchange.imports.known_rows import reading_context
from exchange.imports.load import Report, load
from exchange.jobs import uploads
from exchange.jobs.column_choice import mapping_source
from exchange.jobs.fetch import FetchPolicy, fetch
from exchange.jobs.import_permissions import check_permissions, concealed_rows, may_publish, protected_rows
from exchange.jobs.photos import fetch_photos
from exchange.jobs.preview import plan_digest, store_plan
from exchange.jobs.progress import (
    ProgressWriter,
    delete_job_entries,
    delete_token,
    read_token,
    report_progress,
)
from exchange.models import ImportJob, PlannedRow, UploadPart
from exchange.problems import ProgramError, program_error
from exchange.records import Program

logger = logging.getLogger(__name__)
MAX_NOTES = 2_000
State = ImportJob.State


class ChangedError(Exception):
    """The program has changed since the preview."""


class OvertakenError(Exception):
    """Another process changed the job's state meanwhile, so the work is rolled back."""


@task
def preview(job: int) -> None:
    """Read the files of a job and store what they would change."""
    _run(job, State.READING, _preview)


@task
def write(job: int) -> None:
    """Write the confirmed plan of a job. If the plan differs now, show the preview again."""
    _run(job, State.WRITING, _write)
    # If this worker ends during the new preview, the next one continues with it.
    _run(job, State.READING, _preview, is_again=True)


def _run(
    key: int, state: str, work: Callable[[ImportJob, ProgressWriter], None], **conditions: object
) -> None:
    """Run the work of a job if it is in this state, and store the result.

    A task may run several times, if its worker is killed: what a job has stored tells what is left to do.
    """
    sweep()
    jobs = ImportJob.objects.select_related("edition", "user")
    job = jobs.filter(pk=key, state=state, **conditions).first()
    if job is None:
        return
    with report_progress(key) as progress:
        try:
            work(job, progress)
        except ProgramError as error:
            problems = [[str(problem.where), problem.field, problem.message] for problem in error.problems]
            job.change_state(State.REFUSED, before=state, problems=problems)
        except OvertakenError:
            logger.warning("The import %s was dropped or begun again while it was worked on", key)
        except (OperationalError, InterfaceError):
            # The queue runs the task again, or calls `stop_abandoned_job`.
            raise
        except Exception as error:
            logger.exception("The import %s failed", key)
            is_lost = isinstance(error, uploads.FilesLostError)
            reason = str(error) if is_lost else ""
            if isinstance(error, MemoryError):
                reason = gettext("These files need more memory than the worker may use.")
                reason = f"{reason} {more_memory()}"
            problems = [["", "", reason]] if reason else []
            job.change_state(State.FAILED, before=state, problems=problems, has_files=not is_lost)
            # Raise the error again, so that the queue shows the task as failed.
            raise


def more_memory() -> str:
    return gettext("Split the files, or ask the server’s administrator to raise the worker’s memory limit.")


def stop_abandoned_job(task_result: TaskResult[..., object], *, is_worker_lost: bool) -> None:
    """Show that the import of a task has failed, if this is a task of an import that will not run again."""
    if task_result.task.func not in (preview.func, write.func):
        return
    problems = []
    if is_worker_lost:
        message = gettext(
            "The worker was stopped %(number)d times while it worked on these files. Probably it needs more "
            "memory than it may use."
        )
        problems = [["", "", f"{message % {'number': task_result.attempts}} {more_memory()}"]]
    # A job that was started again since then has another task.
    jobs = ImportJob.objects.filter(
        pk=task_result.args[0],
        state__in=ImportJob.WORKING,
        changed_at__lte=task_result.last_attempted_at,
    )
    jobs.update(state=State.FAILED, changed_at=timezone.now(), problems=problems)


def _change_state(job: ImportJob, state: str, *, before: str, **values: object) -> None:
    """Change the state. Raises `OvertakenError` if another process did."""
    if not job.change_state(state, before=before, **values):
        raise OvertakenError


def _preview(job: ImportJob, progress: ProgressWriter) -> None:
    report = _load(job, progress, dry_run=True)
    progress("storing", 0, 0)
    with transaction.atomic():
        store_plan(report.plan, job)
        _change_state(
            job,
            State.READY,
            before=State.READING,
            digest=plan_digest(report.plan),
            counts=report.counts,
            publications=report.publications,
            question=report.question,
            notes=[note.stored for note in report.notes[:MAX_NOTES]],
            problems=[],
        )


def _write(job: ImportJob, progress: ProgressWriter) -> None:
    try:
        _write_program(job, progress)
    except ChangedError:
        _change_state(job, State.READING, before=State.WRITING, is_again=True)


@retry_conflicts
@transaction.atomic
def _write_program(job: ImportJob, progress: ProgressWriter) -> None:
    with made_by(job.uploaded_by_id):
        report = _load(job, progress)
    # Change the state in the transaction of the import, so that they are committed together.
    _change_state(job, State.DONE, before=State.WRITING, run=report.run, has_files=False, columns={})
    PlannedRow.objects.filter(job=job).delete()
    job.upload_parts.all().delete()


@fewer_collections()
def _load(job: ImportJob, progress: ProgressWriter, *, dry_run: bool = False) -> Report:
    """Load the program of a job. Raises `ChangedError` if the plan to write is not the previewed one."""

    def check(plan: ImportPlan) -> None:
        check_permissions(plan, job.user)
        if not dry_run and plan_digest(plan) != job.digest:
            raise ChangedError

    program, photos = fetch_photos(_read(job, progress), dry_run=dry_run)
    return load(
        program,
        job.edition.slug if job.edition else _new_slug(program),
        dry_run=dry_run,
        user=job.user,
        format_name=job.format,
        files=job.files,
        progress=progress,
        check=check,
        concealed=concealed_rows(job.user),
        protected=protected_rows(job.user),
        photos=photos,
        publication=job.publication,
        may_publish=may_publish(job.user, job.edition),
    )


def _read(job: ImportJob, progress: ProgressWriter) -> Program:
    fmt = readable()[job.format]
    progress("reading", 0, 0)
    sources = _sources(job, progress)
    context = reading_context(job.edition)
    if fmt.read is None:
        raise LookupError(job.format)
    return fmt.read([*sources, *mapping_source(job)], context)


def _sources(job: ImportJob, progress: ProgressWriter) -> list[Source]:
    """Return the files. Those of another site are fetched once, so that the previewed ones are written."""
    if job.url and not job.files:
        pages = readable()[job.format].pages
        if pages is None:
            raise program_error(gettext("This format can’t be fetched. Upload the file."))
        token = read_token(job.pk) or os.environ.get(pages.token, "")
        fetched_files = fetch(
            job.url, pages, FetchPolicy(frozenset(settings.IMPORT_HOSTS), token=token), progress
        )
        uploads.store(job, ([source.content] for source in fetched_files))
        job.files = [source.name for source in fetched_files]
        job.save(update_fields=["files"])
        delete_token(job.pk)
    return uploads.sources(job)


def _new_slug(program: Program) -> str:
    """Return the slug of the new edition in the file. An existing edition must be chosen explicitly."""
    if program.edition is None:
        raise program_error(gettext("The file doesn’t describe an edition. Choose one, or create one first."))
    slug = program.edition.slug
    if Edition.objects.filter(slug=slug).exists():
        message = gettext(
            "The file contains edition “%(slug)s”, which already exists. Choose it for the import."
        )
        raise program_error(message, slug=slug)
    return slug


def sweep(at: datetime | None = None) -> int:
    """Delete files and plans of jobs that have ended or are a day old. Return the number of jobs."""
    jobs = list(ImportJob.objects.expired(at))
    UploadPart.objects.filter(job__in=jobs).delete()
    PlannedRow.objects.filter(job__in=jobs).delete()
    ImportJob.objects.filter(pk__in=[job.pk for job in jobs]).update(has_files=False, columns={})
    for job in jobs:
        delete_job_entries(job.pk)
        if job.state in (State.READY, State.MAPPING):
            job.change_state(State.DROPPED, before=job.state, changed_at=at or timezone.now())
    return len(jobs)
