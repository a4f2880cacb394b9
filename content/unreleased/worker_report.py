"""When each worker last reported that it runs background tasks and planned releases."""

from datetime import datetime, timedelta
from typing import ClassVar

from django.db import models
from django.utils import timezone

# How often a worker reports, and how old its report may be.
REPORT_SECONDS = 30
MAX_REPORT_AGE = timedelta(minutes=2)
# How long the report of a worker that has ended is kept.
RETENTION = timedelta(days=1)


class WorkerReport(models.Model):
    """The last report of a worker."""

    personal_fields: ClassVar[tuple[str, ...]] = ()

    # The worker's id in the tasks it runs; empty for the command `release_planned`, which runs none.
    worker_id = models.CharField(max_length=64, unique=True, db_default="")
    reported_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.reported_at:%Y-%m-%d %H:%M} UTC"


def report(at: datetime | None = None, worker_id: str = "") -> None:
    """Store that a worker is running."""
    at = at or timezone.now()
    WorkerReport.objects.update_or_create(worker_id=worker_id, defaults={"reported_at": at})
    WorkerReport.objects.filter(reported_at__lt=at - RETENTION).delete()


def running_workers(at: datetime) -> set[str]:
    """Return the ids of the workers that have reported in the last two minutes. One query."""
    reports = WorkerReport.objects.filter(reported_at__gte=at - MAX_REPORT_AGE)
    return set(reports.values_list("worker_id", flat=True))


def is_worker_running(at: datetime) -> bool:
    """Return whether a worker has reported in the last two minutes. One query."""
    return bool(running_workers(at))
