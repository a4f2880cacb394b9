"""Uploaded files, wherever they are stored: walked, read, put back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from django.core.files import File
from django.core.files.storage import default_storage

WAITING = ".restoring"

type Put = Callable[[str, IO[bytes]], None]


def stored(folder: str = "") -> Iterator[str]:
    """Walk the names of all uploaded files, in order."""
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    inside = f"{folder}/" if folder else ""
    yield from (f"{inside}{name}" for name in sorted(files))
    for name in sorted(folders):
        yield from stored(f"{inside}{name}")


@contextmanager
def arriving() -> Iterator[Put]:
    """Let files be put beside those that are here; they take their places at the end, or go again."""
    fresh: list[str] = []
    waiting: dict[str, str] = {}

    def put(name: str, content: IO[bytes]) -> None:
        is_here = default_storage.exists(name)
        there = f"{name}{WAITING}" if is_here else name
        default_storage.delete(there)
        if is_here:
            waiting[name] = there
        else:
            fresh.append(there)
        kept = default_storage.save(there, File(content))
        if kept != there:
            default_storage.delete(kept)
            raise OSError(f"The file {name} could not be stored under its name, but under {kept}.")

    try:
        yield put
    except BaseException:
        for there in (*fresh, *waiting.values()):
            default_storage.delete(there)
        raise
    for name, there in waiting.items():
        _take_place(there, name)


def _take_place(there: str, name: str) -> None:
    try:
        Path(default_storage.path(there)).replace(default_storage.path(name))
    except NotImplementedError:
        # A store that is no folder.
        with default_storage.open(there) as content:
            default_storage.delete(name)
            default_storage.save(name, content)
        default_storage.delete(there)
