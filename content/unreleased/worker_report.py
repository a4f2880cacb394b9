"""When a worker last reported that it runs background tasks and planned releases."""

from datetime import datetime, timedelta
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

# How often a worker reports, and how old its report may be.
REPORT_SECONDS = 30
MAX_REPORT_AGE = timedelta(minutes=2)


class WorkerReport(models.Model):
    """The last report of any worker. One row."""

    personal_fields: ClassVar[tuple[str, ...]] = ()

    reported_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="worker_report_is_one_row")]

    def __str__(self) -> str:
        return f"{self.reported_at:%Y-%m-%d %H:%M} UTC"


def report(at: datetime | None = None) -> None:
    """Store that a worker is running."""
    WorkerReport.objects.update_or_create(pk=1, defaults={"reported_at": at or timezone.now()})


def is_worker_running(at: datetime) -> bool:
    """Return whether a worker has reported in the last two minutes. One query."""
    return WorkerReport.objects.filter(reported_at__gte=at - MAX_REPORT_AGE).exists()
