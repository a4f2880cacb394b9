"""Background tasks whose worker or database connection ended: they run again, three times in all.

Tasks are therefore idempotent. The queue counts the attempts: a task has the ids of all workers that began
it. This uses the model of django-tasks-db with its query set, and Django's signal `task_finished`.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.tasks import TaskResult, TaskResultStatus
from django.tasks.signals import task_finished
from django.utils import timezone
from django_tasks_db import DatabaseBackend
from django_tasks_db.models import DBTaskResult

from content.unreleased import worker_report
from exchange.jobs.tasks import stop_abandoned_job

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
# The pause before the second attempt of a task whose database failed. The next one is twice as long.
PAUSE = timedelta(seconds=10)


class WorkerLostError(Exception):
    """The worker of a task was killed, or it no longer reports."""


# Errors, by their path, that tell nothing about the task: the database failed, or the worker was stopped.
DATABASE_ERRORS = frozenset(("django.db.utils.OperationalError", "django.db.utils.InterfaceError"))
WORKER_ERRORS = frozenset(("builtins.SystemExit", f"{__name__}.{WorkerLostError.__qualname__}"))


def return_lost_tasks(at: datetime) -> None:
    """Put tasks back into the queue whose workers no longer report. One query if no task runs for long."""
    started_before = at - worker_report.MAX_REPORT_AGE
    tasks = [*DBTaskResult.objects.running().filter(started_at__lt=started_before)]
    workers = worker_report.running_workers(at) if tasks else set()
    for task in tasks:
        if task.worker_ids[-1] not in workers:
            _return_task(task, "its worker no longer reports")


def return_tasks_of(worker_id: str) -> None:
    """Put the task back into the queue that a worker could not end. It must not run any. One query."""
    for task in DBTaskResult.objects.running():
        if task.worker_ids[-1] == worker_id:
            _return_task(task, "its worker lost the database")


def _return_task(task: DBTaskResult[..., object], reason: str) -> None:
    """Let a task whose worker was lost run again; after the last attempt it has failed."""
    attempts = len(task.worker_ids)
    with transaction.atomic():
        same_attempt = DBTaskResult.objects.running().filter(pk=task.pk, started_at=task.started_at)
        locked_task = same_attempt.get_locked()
        if locked_task is None:
            # It has ended, or another worker was first.
            return
        if attempts < MAX_ATTEMPTS:
            same_attempt.update(status=TaskResultStatus.READY)
        else:
            locked_task.set_failed(WorkerLostError(f"The worker was lost {attempts} times."))
    if attempts < MAX_ATTEMPTS:
        _log_return(task.pk, task.task_path, attempts, reason)
    else:
        task_finished.send(sender=DatabaseBackend, task_result=locked_task.task_result)


def return_failed_task(task_result: TaskResult[..., object], **kwargs: object) -> None:
    """Let a task run again that failed because of its database or its worker; else stop its import."""
    if task_result.status != TaskResultStatus.FAILED:
        return
    error = task_result.errors[-1].exception_class_path
    may_run_again = isinstance(task_result.task.get_backend(), DatabaseBackend)
    if may_run_again and task_result.attempts < MAX_ATTEMPTS and error in DATABASE_ERRORS | WORKER_ERRORS:
        DBTaskResult.objects.failed().filter(pk=task_result.id).update(
            status=TaskResultStatus.READY,
            run_after=timezone.now() + PAUSE * task_result.attempts,
            finished_at=None,
        )
        _log_return(task_result.id, task_result.task.module_path, task_result.attempts, error)
    else:
        stop_abandoned_job(task_result, is_worker_lost=error in WORKER_ERRORS)


def _log_return(key: object, path: str, attempts: int, reason: str) -> None:
    logger.warning(
        "Task id=%s path=%s runs again (attempt %d of %d): %s", key, path, attempts + 1, MAX_ATTEMPTS, reason
    )
