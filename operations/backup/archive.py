"""Archives: their contents, writing, and verification."""

import fcntl
import hashlib
import json
import lzma
import os
import re
import tempfile
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Self, TypedDict

from django.apps import apps
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.models import Field
from django.utils.duration import duration_iso_string

from conference.settings import env
from exchange.terminal_progress import Progress, no_progress

if TYPE_CHECKING:
    from django.apps.registry import Apps
    from django.db.migrations.state import StateApps
    from django.db.models import Model

VERSION = "plenary-backup-1"
# Exceptions of `zipfile` for damaged archives, other than `OSError`.
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, KeyError, RuntimeError, ValueError)
MANIFEST = "manifest.json"
ROWS = "rows/"
MEDIA = "media/"
CHUNK_BYTES = 1 << 20
BATCH_ROWS = 2000
SECRET = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|DSN|PURGE_(HEADER|URL)|(DATABASE|CACHE|REPLICA|EMAIL|SMTP)\w*_URL"
)


class TableEntry(TypedDict):
    columns: list[str]
    rows: int
    sha256: str


class FileEntry(TypedDict):
    bytes: int
    sha256: str


class Manifest(TypedDict):
    """The manifest of an archive. `migrations` are pairs of an app and its last migration."""

    version: str
    made_at: str
    engine: str
    migrations: list[list[str]]
    tables: dict[str, TableEntry]
    files: dict[str, FileEntry]
    settings: dict[str, str]


class BadArchiveError(Exception):
    """Raised for a file that is not an archive, or is damaged."""


class Archive:
    """An archive that is open for reading."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.zip = zipfile.ZipFile(path)
            self.manifest: Manifest = json.loads(self.zip.read(MANIFEST))
        except DAMAGE as error:
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
        """Return the last migration of each app at the time of the archive."""
        return [(app, name) for app, name in self.manifest["migrations"]]

    @property
    def tables(self) -> dict[str, TableEntry]:
        return self.manifest["tables"]

    @property
    def files(self) -> dict[str, FileEntry]:
        return self.manifest["files"]

    def rows(self, label: str) -> Iterator[list[object]]:
        """Yield the rows of a table as lists of values, in the order of its columns."""
        with self.zip.open(f"{ROWS}{label}.jsonl") as member:
            for line in member:
                yield json.loads(line)

    def file(self, name: str) -> IO[bytes]:
        return self.zip.open(f"{MEDIA}{name}")

    def check(self) -> None:
        """Verify all members; raise `BadArchiveError` if a checksum or a number of rows is wrong."""
        for label, table in self.tables.items():
            lines, _, digest = self._read_member(f"{ROWS}{label}.jsonl")
            if (lines, digest) != (table["rows"], table["sha256"]):
                raise BadArchiveError(f"{self.path}: the rows of {label} are damaged.")
        for name, file in self.files.items():
            _, size, digest = self._read_member(f"{MEDIA}{name}")
            if (size, digest) != (file["bytes"], file["sha256"]):
                raise BadArchiveError(f"{self.path}: the file {name} is damaged.")

    def _read_member(self, name: str) -> tuple[int, int, str]:
        lines: list[int] = []
        try:
            with self.zip.open(name) as member:
                size, digest = copy_stream(member, lambda piece: lines.append(piece.count(b"\n")))
        except (*DAMAGE, OSError) as error:
            raise BadArchiveError(f"{self.path}: {name} is damaged: {error}") from error
        return sum(lines), size, digest


def copy_stream(source: IO[bytes], write: Callable[[bytes], object]) -> tuple[int, str]:
    """Copy a file piece by piece; return its size and checksum."""
    digest, size = hashlib.sha256(), 0
    while piece := source.read(CHUNK_BYTES):
        digest.update(piece)
        write(piece)
        size += len(piece)
    return size, digest.hexdigest()


# Not archived: the index is rebuilt, sessions end, tasks must not run twice, and uploads expire in a day.
EXCLUDED_APPS = frozenset(("django_tasks_database", "search", "sessions"))
EXCLUDED_TABLES = frozenset(("accounts.accountsession", "content.workerreport", "exchange.uploadpart"))


def archived_models(apps: "Apps | StateApps") -> "Iterator[type[Model]]":
    """Yield the models whose rows are archived, with many-to-many tables, of current or historical apps."""
    for model in apps.get_models(include_auto_created=True):
        meta = model._meta
        is_stored = meta.managed and not meta.proxy and not meta.swapped
        if is_stored and meta.app_label not in EXCLUDED_APPS and meta.label_lower not in EXCLUDED_TABLES:
            yield model


def stored_fields(model: "type[Model]") -> "list[Field[object, object]]":
    return [field for field in model._meta.concrete_fields if not field.generated]


def to_json(value: object) -> str:
    """Return the text of a value that JSON has no type for; `to_python()` of the column converts it back."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return duration_iso_string(value)
    if isinstance(value, uuid.UUID | Decimal):
        return str(value)
    raise TypeError(f"No way is known to write {type(value).__name__} into an archive.")


# Writing


@dataclass(frozen=True, slots=True)
class Summary:
    """The size and contents of an archive that was written."""

    path: Path
    rows: int
    files: int
    size: int


class Writer:
    """Writes the members of an archive, and collects their entries for the manifest."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.tables: dict[str, TableEntry] = {}
        self.files: dict[str, FileEntry] = {}

    def table(self, model: "type[Model]") -> None:
        """Write the rows of a table, one per line, in the order of primary keys."""
        label, fields = model._meta.label_lower, stored_fields(model)
        names = [field.attname for field in fields]
        rows = model._base_manager.order_by("pk").values_list(*names)
        digest, count = hashlib.sha256(), 0
        with self.archive.open(f"{ROWS}{label}.jsonl", "w", force_zip64=True) as member:
            for row in rows.iterator(BATCH_ROWS):
                line = (
                    json.dumps(row, default=to_json, ensure_ascii=False, separators=(",", ":")).encode()
                    + b"\n"
                )
                digest.update(line)
                member.write(line)
                count += 1
        expected = model._base_manager.count()
        if count != expected:
            raise OSError(f"{label}: {count} of {expected} rows were read. Nothing was stored.")
        self.tables[label] = {"columns": names, "rows": count, "sha256": digest.hexdigest()}

    def file(self, name: str) -> None:
        info = zipfile.ZipInfo(f"{MEDIA}{name}")
        info.compress_type = zipfile.ZIP_STORED
        with default_storage.open(name) as source, self.archive.open(info, "w", force_zip64=True) as member:
            size, digest = copy_stream(source, member.write)
        self.files[name] = {"bytes": size, "sha256": digest}

    def manifest(self, at: datetime) -> None:
        manifest: Manifest = {
            "version": VERSION,
            "made_at": at.isoformat(timespec="seconds"),
            "engine": connection.vendor,
            "migrations": migrations(),
            "tables": self.tables,
            "files": self.files,
            "settings": settings_list(),
        }
        self.archive.writestr(MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False))


def migrations() -> list[list[str]]:
    """Return the last migration of each app; raise `OSError` if some are not applied."""
    loader = MigrationLoader(connection)
    leaves = loader.graph.leaf_nodes()
    missing = [leaf for leaf in leaves if leaf not in loader.applied_migrations]
    if missing:
        raise OSError("Some migrations are not applied. Run “manage.py migrate” first.")
    return sorted([app, name] for app, name in leaves)


def stored_files(folder: str = "") -> Iterator[str]:
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    prefix = f"{folder}/" if folder else ""
    yield from (f"{prefix}{name}" for name in sorted(files))
    for name in sorted(folders):
        yield from stored_files(f"{prefix}{name}")


def remove_partials(folder: Path) -> None:
    """Remove partial files of killed backups; skip those that are being written, which are locked."""
    for partial in folder.glob(".*.zip.*"):
        with suppress(OSError), partial.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            partial.unlink(missing_ok=True)


def write(path: Path, at: datetime, progress: Progress = no_progress) -> Summary:
    """Write an archive to a temporary file, verify it, and rename it to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_partials(path.parent)
    handle, partial = tempfile.mkstemp(
        prefix=f".{path.name}.", dir=path.parent
    )  # readable by its owner alone
    try:
        with os.fdopen(handle, "wb") as raw:
            fcntl.flock(raw, fcntl.LOCK_EX)
            with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
                writer = Writer(archive)
                with snapshot():
                    models = list(archived_models(apps))
                    for number, model in enumerate(models, 1):
                        writer.table(model)
                        progress("Tables", number, len(models))
                names = list(stored_files())
                for number, name in enumerate(names, 1):
                    progress("Files", number, len(names))
                    # The site is in use: a file may be deleted after it was listed.
                    with suppress(FileNotFoundError):
                        writer.file(name)
                writer.manifest(at)
            raw.flush()
            os.fsync(raw.fileno())
        with Archive(Path(partial)) as stored:
            stored.check()
        Path(partial).rename(path)
    finally:
        Path(partial).unlink(missing_ok=True)
    rows = sum(table["rows"] for table in writer.tables.values())
    return Summary(path, rows, len(writer.files), path.stat().st_size)


@contextmanager
def snapshot() -> Iterator[None]:
    """Run all queries of the block on one snapshot, without blocking writers."""
    connection.ensure_connection()  # a new connection would set the mode of the settings again
    mode = getattr(connection, "transaction_mode", None)
    if connection.vendor == "sqlite":
        # DEFERRED takes no write lock; in WAL mode the first read determines the snapshot.
        connection.transaction_mode = "DEFERRED"  # type: ignore[attr-defined]
    try:
        with transaction.atomic():
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    finally:
        if connection.vendor == "sqlite":
            connection.transaction_mode = mode  # type: ignore[attr-defined]


def settings_list() -> dict[str, str]:
    """Return the settings of the environment and `.env`, without secrets."""
    values = {name: str(value) for name, value in env.dump().items() if value not in (None, "", [], ())}
    return {name: "(set)" if SECRET.search(name) else values[name] for name in sorted(values)}
