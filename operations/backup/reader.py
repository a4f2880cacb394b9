"""Reading an archive: nothing of it is believed before every checksum and every count is right."""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

VERSION = "plenary-backup-1"
MANIFEST = "manifest.json"
ROWS = "rows/"
MEDIA = "media/"
PIECE = 1 << 20


class BadArchiveError(Exception):
    """A file that is no archive, or is not whole any more."""


class Archive:
    """An archive that was opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.zip = zipfile.ZipFile(path)
            self.manifest: dict[str, Any] = json.loads(self.zip.read(MANIFEST))
        except (zipfile.BadZipFile, KeyError, ValueError) as error:
            raise BadArchiveError(f"{path} is no backup, or is damaged: {error}.") from error
        except OSError as error:
            raise BadArchiveError(f"{path} cannot be read: {error.strerror}.") from error
        if self.manifest.get("version") != VERSION:
            raise BadArchiveError(f"{path} is a backup of another kind than {VERSION}.")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.zip.close()

    @property
    def targets(self) -> list[tuple[str, str]]:
        """The last migration of each app in the shape of which the rows are."""
        return [(app, name) for app, name in self.manifest["migrations"]]

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self.manifest["tables"]
        return found

    @property
    def files(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self.manifest["files"]
        return found

    def rows(self, label: str) -> Iterator[list[Any]]:
        """Walk the rows of a table, as lists of values in the order of its columns."""
        with self.zip.open(f"{ROWS}{label}.jsonl") as member:
            for line in member:
                yield json.loads(line)

    def file(self, name: str) -> IO[bytes]:
        return self.zip.open(f"{MEDIA}{name}")

    def check(self) -> None:
        """Read everything once; raise `BadArchiveError` at the first byte that is not as it was written."""
        for label, table in self.tables.items():
            lines, _, digest = self._read(f"{ROWS}{label}.jsonl")
            if (lines, digest) != (table["rows"], table["sha256"]):
                raise BadArchiveError(f"{self.path}: the rows of {label} are damaged.")
        for name, file in self.files.items():
            _, size, digest = self._read(f"{MEDIA}{name}")
            if (size, digest) != (file["bytes"], file["sha256"]):
                raise BadArchiveError(f"{self.path}: the file {name} is damaged.")

    def _read(self, name: str) -> tuple[int, int, str]:
        digest, lines, size = hashlib.sha256(), 0, 0
        try:
            with self.zip.open(name) as member:
                while piece := member.read(PIECE):
                    digest.update(piece)
                    lines += piece.count(b"\n")
                    size += len(piece)
        except (zipfile.BadZipFile, zlib.error, KeyError, OSError, ValueError) as error:
            raise BadArchiveError(f"{self.path}: {name} is damaged: {error}") from error
        return lines, size, digest.hexdigest()
