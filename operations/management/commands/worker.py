"""`manage.py worker`: run background tasks and planned releases, and report that a worker is running.

It also sees to changes that nobody makes, such as the end of an embargo, in the search index.
"""

import logging
import signal
import time
from threading import Event, Thread
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, connections
from django.utils import timezone
from django_tasks_db.management.commands.db_worker import Command as DatabaseWorker
from django_tasks_db.management.commands.db_worker import Worker

from content.unreleased.worker_report import REPORT_SECONDS, report
from operations.background_tasks import return_lost_tasks, return_tasks_of
from operations.indexing.update import refresh
from pagecache import request_log

logger = logging.getLogger(__name__)
# How often the search index is checked.
INDEX_SECONDS = 5

# A worker whose database fails tries again after a second, then after twice as long, up to this. A run that
# has lasted longer starts the pauses anew.
MAX_PAUSE_SECONDS = 30


class Command(DatabaseWorker):
    help = "Run background tasks (TASKS=database) until stopped, also after an outage of the database."

    def handle(self, **options: Any) -> None:
        stopped, worker_id = Event(), options["worker_id"]
        Thread(target=report_until, args=[stopped, worker_id], name="worker-report", daemon=True).start()
        Thread(target=update_index_until, args=[stopped], name="worker-index", daemon=True).start()
        try:
            self.run_through_outages(worker_id, options)
        finally:
            stopped.set()

    def run_through_outages(self, worker_id: str, options: dict[str, Any]) -> None:
        """Run tasks; begin again when the database has failed, without a limit, unless it is to stop."""
        pause = 1
        while True:
            started = time.monotonic()
            try:
                # The task that a lost connection interrupted.
                return_tasks_of(worker_id)
                super().handle(**options)
            except (OperationalError, InterfaceError) as error:
                connections.close_all()
                request_log.end()
                if time.monotonic() - started > MAX_PAUSE_SECONDS:
                    pause = 1
                if is_stopping():
                    logger.warning("The database failed while the worker was stopping: %s", in_a_line(error))
                    return
                logger.warning(
                    "The database failed. The worker tries again in %d s: %s", pause, in_a_line(error)
                )
                time.sleep(pause)
                pause = min(2 * pause, MAX_PAUSE_SECONDS)
            else:
                return


def is_stopping() -> bool:
    """Return whether a signal has asked the worker to end after its task."""
    worker = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return isinstance(worker, Worker) and not worker.running


def report_until(stopped: Event, worker_id: str) -> None:
    """Report every 30 seconds that the worker runs, and put tasks of lost workers back into the queue.

    A report that fails is left out.
    """
    while True:
        try:
            at = timezone.now()
            report(at, worker_id)
            return_lost_tasks(at)
        except DatabaseError as error:
            logger.warning("The worker could not report: %s", in_a_line(error))
        except Exception:
            # Without reports, other workers would take its tasks.
            logger.exception("Tasks of other workers could not be put back")
        finally:
            connections.close_all()
        if stopped.wait(REPORT_SECONDS):
            return


def update_index_until(stopped: Event) -> None:
    """Keep the search index up to date."""
    while not stopped.wait(INDEX_SECONDS):
        try:
            refresh()
        except DatabaseError as error:
            logger.warning("The worker could not update the search index: %s", error)
        finally:
            connections.close_all()


def in_a_line(error: Exception) -> str:
    return " ".join(str(error).split())
