"""The background task of planned releases, where the queue supports deferred tasks."""

from datetime import datetime

from django.tasks import default_task_backend, task
from django.utils import timezone

from schedule.working_copy.release import release_due


@task
def release_planned() -> None:
    """Release the working copies that are due now, even if plans were changed since."""
    release_due(timezone.now())


def enqueue_release(moment: datetime) -> None:
    """Run the task at a moment. Without a queue, the command or the next page of the desk releases."""
    if default_task_backend.supports_defer:
        release_planned.using(run_after=moment).enqueue()
