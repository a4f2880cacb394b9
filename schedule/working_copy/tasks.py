"""The background task that makes a planned release at its moment, where the queue can wait for it."""

from datetime import datetime

from django.tasks import default_task_backend, task
from django.utils import timezone

from schedule.working_copy.release import release_due


@task
def release_planned() -> None:
    """Release the working copies whose moment has come, also if plans were changed since."""
    release_due(timezone.now())


def enqueue_release(moment: datetime) -> None:
    """Wake the worker at a moment. Without a queue, the command or the next page of the desk releases."""
    if default_task_backend.supports_defer:
        release_planned.using(run_after=moment).enqueue()
