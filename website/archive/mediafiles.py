"""Uploaded files, wherever they are stored: walked, read, put back."""

from collections.abc import Iterator
from typing import IO

from django.core.files import File
from django.core.files.storage import default_storage


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


def put(name: str, content: IO[bytes]) -> None:
    """Store a file under its very name, in place of one that is there."""
    if default_storage.exists(name):
        default_storage.delete(name)
    kept = default_storage.save(name, File(content))
    if kept != name:
        raise OSError(f"The file {name} could not be stored under its name, but under {kept}.")
