"""Files of the disk as sources for readers, and what writers make as files, written atomically."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from exchange.files import OutputFile, Source
from exchange.problems import refused

MEGABYTE = 1_000_000
MAX_BYTES = 500 * MEGABYTE


def read_sources(paths: Sequence[str]) -> list[Source]:
    """Read files; a folder means the files in it. Raises `ProgramError` for what cannot be read."""
    files = [file for path in paths for file in _files(Path(path))]
    total = sum(file.stat().st_size for file in files)
    if total > MAX_BYTES:
        raise refused(
            f"The files hold {total // MEGABYTE} MB; at most {MAX_BYTES // MEGABYTE} MB are read. "
            "Is this a conference program?"
        )
    return [_source(file) for file in files]


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        if not found:
            raise refused("The folder holds no files.", str(path))
        yield from found
    elif path.is_file():
        yield path
    else:
        raise refused("There is no such file or folder.", str(path))


def _source(file: Path) -> Source:
    try:
        return Source(file.name, file.read_bytes())
    except OSError as error:
        raise refused(f"The file cannot be read: {error.strerror}.", str(file)) from error


def write_outputs(outputs: Iterable[OutputFile], target: Path) -> list[Path]:
    """Write what a writer makes. `target` is a folder, else the name of the one file.

    Several files next to a file name take its stem for the edition's: x.json, x-abstracts.json.
    All are written to temporary files first, so that no partial file is ever visible.
    """
    files = list(outputs)
    if target.is_dir():
        places = [target / output.name for output in files]
    elif len(files) == 1:
        places = [target]
    else:
        places = _named_alike(files, target)
    made = [_beside(place, output) for place, output in zip(places, files, strict=True)]
    for part, place in zip(made, places, strict=True):
        part.replace(place)
    return places


def _named_alike(files: Sequence[OutputFile], target: Path) -> list[Path]:
    """Replace the common beginning of the names by the requested name."""
    stems = [Path(output.name).stem for output in files]
    words = [stem.split("-") for stem in stems]
    common = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False)))
    endings = ["-".join(parts[common:]) for parts in words]
    names = [f"-{ending}" if ending and place else "" for place, ending in enumerate(endings)]
    return [
        target.with_name(f"{target.stem}{name}{Path(output.name).suffix if place else target.suffix}")
        for place, (name, output) in enumerate(zip(names, files, strict=True))
    ]


def _beside(place: Path, output: OutputFile) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(output.chunks)
        part.chmod(0o644)
    except BaseException:
        part.unlink()
        raise
    return part
