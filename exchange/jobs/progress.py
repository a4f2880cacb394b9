"""What worker and site tell each other of an import in the cache that they share: progress, and a token.

A row would be written in the import's own transaction, invisible before the commit, and SQLite has one
writer. A token of another site must not be in a backup.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.core.cache import caches
from redis.exceptions import RedisError

BEAT_SECONDS = 5.0
WRITE_INTERVAL_SECONDS = 0.3
KEPT_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a worker is, and when it last said that it is alive."""

    what: str
    done: int
    total: int
    seen_at: datetime


def key_of(job: int) -> str:
    return f"import-progress:{job}"


def token_key_of(job: int) -> str:
    return f"import-token:{job}"


def progress(job: int) -> Progress | None:
    """Return how far the worker of a job is; nothing while none has begun, or where the cache is away."""
    with suppress(RedisError):
        found: Progress | None = caches["imports"].get(key_of(job))
        return found
    return None


def start_anew(job: int) -> None:
    """Forget how far a worker came that is no more."""
    with suppress(RedisError):
        caches["imports"].delete(key_of(job))


def forget(job: int) -> None:
    with suppress(RedisError):
        caches["imports"].delete_many([key_of(job), token_key_of(job)])


def hide_token(job: int, token: str) -> None:
    """Keep the key to another site until it was used, a day at most."""
    with suppress(RedisError):
        caches["imports"].set(token_key_of(job), token, KEPT_SECONDS)


def take_token(job: int) -> str:
    token = ""
    with suppress(RedisError):
        token = caches["imports"].get(token_key_of(job), "")
        caches["imports"].delete(token_key_of(job))
    return token


class ProgressWriter:
    """Writes down how far a worker is, at most a few times a second."""

    def __init__(self, job: int) -> None:
        self.job, self.written_at = job, 0.0
        self.last: Progress | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if done < total and time.monotonic() - self.written_at < WRITE_INTERVAL_SECONDS:
            return
        self.written_at = time.monotonic()
        self._write(Progress(what, done, total, datetime.now(UTC)))

    def still_alive(self) -> None:
        """Say that the worker lives, though nothing moves."""
        if self.last:
            self._write(replace(self.last, seen_at=datetime.now(UTC)))

    def _write(self, said: Progress) -> None:
        self.last = said
        # An import goes on while the cache is away.
        with suppress(RedisError):
            caches["imports"].set(key_of(self.job), said, KEPT_SECONDS)


@contextmanager
def reporting(job: int) -> Iterator[ProgressWriter]:
    """Let it be seen how far a worker is, and that it is alive, while the block runs."""
    writer, over = ProgressWriter(job), threading.Event()
    writer("", 0, 0)

    def beat() -> None:
        while not over.wait(BEAT_SECONDS):
            writer.still_alive()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield writer
    finally:
        over.set()
        thread.join()
        start_anew(job)
