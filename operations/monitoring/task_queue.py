"""The queue of tasks from outside: how many wait, and for how long. What they do is their apps' business."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models import Count, Min
from django.utils import timezone

# The package's own name for its app.
APP = "django_tasks_database"


@dataclass(frozen=True, slots=True)
class Queue:
    """Tasks that are due and that no worker has taken yet."""

    waiting: int = 0
    seconds: float = 0.0


def state(at: datetime | None = None) -> Queue:
    """Return what waits now; nothing where tasks are done on the spot. One query."""
    if settings.TASK_BACKEND == "immediate":
        return Queue()
    rows: Any = apps.get_model(APP, "dbtaskresult")._default_manager
    found = rows.ready().order_by().aggregate(number=Count("pk"), first=Min("enqueued_at"))
    if found["first"] is None:
        return Queue()
    return Queue(found["number"], max(((at or timezone.now()) - found["first"]).total_seconds(), 0.0))
