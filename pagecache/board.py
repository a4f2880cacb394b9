"""What the web processes of one server tell each other: which state of the program one has shown last.

Each reads the stamps by itself, a moment sooner or later. Who saw a newer page from one must not be shown an
older one by the next: whoever finds another mark on the board than its own reads the stamps again first.
"""

import mmap
from hashlib import blake2b
from pathlib import Path

from django.conf import settings

SIZE = 8


class Board:
    """One number in memory that processes share by a file; without one a process has its own."""

    def __init__(self, file: Path | None = None) -> None:
        self._cell = memoryview(memory(file)).cast("Q")

    @classmethod
    def configured(cls) -> "Board":
        """Return the board in the folder where processes add up their counts, if there is one."""
        return cls(Path(settings.METRICS_DIR) / "board" if settings.METRICS_DIR else None)

    @property
    def mark(self) -> int:
        return self._cell[0]

    @mark.setter
    def mark(self, mark: int) -> None:
        self._cell[0] = mark


def memory(file: Path | None) -> mmap.mmap:
    """Return the memory that a file stands for; a process's own where the file cannot be had."""
    if file is not None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a+b") as opened:
                opened.truncate(SIZE)
                return mmap.mmap(opened.fileno(), SIZE)
        except OSError:
            pass
    return mmap.mmap(-1, SIZE)


def mark_of(state: object) -> int:
    """Return the mark of a state, the same in every process."""
    return int.from_bytes(blake2b(repr(state).encode(), digest_size=SIZE).digest())
