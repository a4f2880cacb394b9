"""The background task of planned releases."""

from datetime import datetime

from django.tasks import default_task_backend, task
from django.utils import timezone

from schedule.unreleased.releasing import release_due


@task
def release_planned() -> None:
    """Carry out the planned releases that are due, even if plans were changed since."""
    release_due(timezone.now())


def enqueue_release(moment: datetime) -> None:
    """Run the task at a moment. Without a queue, the command `release_planned` carries it out."""
    if default_task_backend.supports_defer:
        release_planned.using(run_after=moment).enqueue()
