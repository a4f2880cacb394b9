"""`manage.py worker`: run background tasks and planned releases, and report that a worker is running."""

import logging
from threading import Event, Thread
from typing import Any

from django.db import DatabaseError, connections
from django_tasks_db.management.commands.db_worker import Command as DatabaseWorker

from content.unreleased.worker_report import REPORT_SECONDS, report

logger = logging.getLogger(__name__)


class Command(DatabaseWorker):
    help = "Run background tasks (TASKS=database) until stopped."

    def handle(self, **options: Any) -> None:
        stopped = Event()
        Thread(target=report_until, args=[stopped], name="worker-report", daemon=True).start()
        try:
            super().handle(**options)
        finally:
            stopped.set()


def report_until(stopped: Event) -> None:
    """Report every 30 seconds that the worker runs; a report that fails is left out."""
    while True:
        try:
            report()
        except DatabaseError as error:
            logger.warning("The worker could not report: %s", error)
        finally:
            connections.close_all()
        if stopped.wait(REPORT_SECONDS):
            return
