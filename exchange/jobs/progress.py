"""Progress of an import, and the token for another site, in the cache that workers and web servers share.

A database row would be invisible until the import's transaction commits, and SQLite allows only one writer.
A token of another site must not be in backups.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.conf import settings
from django.core.cache import caches

HEARTBEAT_SECONDS = 5.0
MIN_INTERVAL_SECONDS = 0.3
ENTRY_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a worker, and the time of its last report."""

    what: str
    done: int
    total: int
    seen_at: datetime


def progress_key(job: int) -> str:
    return f"import-progress:{job}"


def token_key(job: int) -> str:
    return f"import-token:{job}"


def read_progress(job: int) -> Progress | None:
    """Return the progress of a job's worker; `None` before it begins, or if the cache is unavailable."""
    with suppress(*settings.CACHE_ERRORS):
        progress: Progress | None = caches["imports"].get(progress_key(job))
        return progress
    return None


def delete_progress(job: int) -> None:
    """Delete the progress of a worker that has ended."""
    with suppress(*settings.CACHE_ERRORS):
        caches["imports"].delete(progress_key(job))


def delete_job_entries(job: int) -> None:
    with suppress(*settings.CACHE_ERRORS):
        caches["imports"].delete_many([progress_key(job), token_key(job)])


def store_token(job: int, token: str) -> None:
    """Store the token of another site until it is used, for a day at most."""
    with suppress(*settings.CACHE_ERRORS):
        caches["imports"].set(token_key(job), token, ENTRY_SECONDS)


def read_token(job: int) -> str:
    """Return the token of another site, or an empty string. It stays until the files are stored."""
    with suppress(*settings.CACHE_ERRORS):
        return str(caches["imports"].get(token_key(job), ""))
    return ""


def delete_token(job: int) -> None:
    with suppress(*settings.CACHE_ERRORS):
        caches["imports"].delete(token_key(job))


class ProgressWriter:
    """Writer of a worker's progress, which writes at most a few times a second."""

    def __init__(self, job: int) -> None:
        self.job, self.written_at = job, 0.0
        self.last: Progress | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if done < total and time.monotonic() - self.written_at < MIN_INTERVAL_SECONDS:
            return
        self.written_at = time.monotonic()
        self._write(Progress(what, done, total, datetime.now(UTC)))

    def send_heartbeat(self) -> None:
        """Report that the worker is alive, without a change of progress."""
        if self.last:
            self._write(replace(self.last, seen_at=datetime.now(UTC)))

    def _write(self, progress: Progress) -> None:
        self.last = progress
        # An import continues while the cache is unavailable.
        with suppress(*settings.CACHE_ERRORS):
            caches["imports"].set(progress_key(self.job), progress, ENTRY_SECONDS)


@contextmanager
def report_progress(job: int) -> Iterator[ProgressWriter]:
    """Report the progress of a worker, with a heartbeat, while the block runs."""
    writer, is_over = ProgressWriter(job), threading.Event()
    writer("", 0, 0)

    def send_heartbeats() -> None:
        while not is_over.wait(HEARTBEAT_SECONDS):
            writer.send_heartbeat()

    thread = threading.Thread(target=send_heartbeats, daemon=True)
    thread.start()
    try:
        yield writer
    finally:
        is_over.set()
        thread.join()
        delete_progress(job)
