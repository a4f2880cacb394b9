"""The background task of planned releases."""

from datetime import datetime, timedelta

from django.tasks import default_task_backend, task
from django.utils import timezone

from schedule.unreleased.releasing import plans_due, release_due

# When a release is tried again that failed for the database, or for an error that is logged.
PAUSE = timedelta(minutes=1)


@task
def release_planned() -> None:
    """Carry out the planned releases that are due, even if plans were changed since.

    Those that failed are tried again, until they are carried out, refused or canceled.
    """
    at = timezone.now()
    release_due(at)
    if plans_due(at).exists():
        enqueue_release(at + PAUSE)


def enqueue_release(moment: datetime) -> None:
    """Run the task at a moment. Without a queue, the command `release_planned` carries it out."""
    if default_task_backend.supports_defer:
        release_planned.using(run_after=moment).enqueue()
