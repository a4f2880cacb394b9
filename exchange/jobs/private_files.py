"""Uploads that wait to be imported, in a folder that no address leads to, and how far their import is.

The progress is in a file: a row would be written in the import's own transaction, invisible
before the commit, and SQLite has one writer. So workers and the site share this folder.
"""

import json
import shutil
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from exchange.files import Source

TOKEN = "token"  # noqa: S105 - the name of a file
PROGRESS = "progress.json"
BEAT = 5.0
WRITE_INTERVAL_SECONDS = 0.3


def folder(job: int) -> Path:
    return Path(settings.PRIVATE_ROOT) / "imports" / str(job)


def store(job: int, contents: Iterable[Iterable[bytes]]) -> None:
    """Store files under their numbers: no name from outside ever becomes a path."""
    place = folder(job)
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    place.chmod(0o700)
    for number, pieces in enumerate(contents):
        with (place / str(number)).open("wb") as file:
            file.writelines(pieces)


def sources(job: int, names: Sequence[str]) -> list[Source]:
    """Return the files of a job under the names that they came with. Raises `FileNotFoundError`."""
    return [Source(name, (folder(job) / str(number)).read_bytes()) for number, name in enumerate(names)]


def forget(job: int) -> None:
    shutil.rmtree(folder(job), ignore_errors=True)


def start_anew(job: int) -> None:
    """Forget how far a worker came that is no more."""
    (folder(job) / PROGRESS).unlink(missing_ok=True)


def hide_token(job: int, token: str) -> None:
    """Keep the key to another site until it was used, readable by the site alone."""
    place = folder(job)
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = place / TOKEN
    file.touch(mode=0o600)
    file.write_text(token)


def take_token(job: int) -> str:
    file = folder(job) / TOKEN
    token = file.read_text() if file.exists() else ""
    file.unlink(missing_ok=True)
    return token


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a worker is, and when it last said that it is alive."""

    what: str
    done: int
    total: int
    seen_at: datetime


def progress(job: int) -> Progress | None:
    """Return how far the worker of a job is; nothing while none has begun."""
    file = folder(job) / PROGRESS
    try:
        said, seen = json.loads(file.read_text()), file.stat().st_mtime
    except (OSError, ValueError):
        return None
    return Progress(said["what"], said["done"], said["total"], datetime.fromtimestamp(seen, UTC))


class ProgressWriter:
    """Writes down how far a worker is, at most a few times a second."""

    def __init__(self, job: int) -> None:
        self.file = folder(job) / PROGRESS
        self.written_at = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        if done < total and time.monotonic() - self.written_at < WRITE_INTERVAL_SECONDS:
            return
        self.written_at = time.monotonic()
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps({"what": what, "done": done, "total": total}))
        part.replace(self.file)

    def still_alive(self) -> None:
        """Say that the worker lives, though nothing moves."""
        if self.file.exists():
            self.file.touch()


@contextmanager
def reporting(job: int) -> Iterator[ProgressWriter]:
    """Let it be seen how far a worker is, and that it is alive, while the block runs."""
    folder(job).mkdir(parents=True, exist_ok=True, mode=0o700)
    writer, over = ProgressWriter(job), threading.Event()
    writer("", 0, 0)

    def beat() -> None:
        while not over.wait(BEAT):
            writer.still_alive()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield writer
    finally:
        over.set()
        thread.join()
        writer.file.unlink(missing_ok=True)
