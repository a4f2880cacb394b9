"""Writing an archive, and reading it back before it counts as one."""

import hashlib
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from django.apps import apps
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader

from conference.settings import env
from operations.backup.archive import (
    MANIFEST,
    MEDIA,
    ROWS,
    VERSION,
    Archive,
    FileEntry,
    Manifest,
    TableEntry,
    columns,
    copied,
    plain,
    tables,
)

if TYPE_CHECKING:
    from django.db.models import Model

AT_ONCE = 2000
STALE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Summary:
    """What an archive holds."""

    path: Path
    rows: int
    files: int
    size: int


class Writer:
    """An archive in the making: members, and what the manifest will say of them."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.tables: dict[str, TableEntry] = {}
        self.files: dict[str, FileEntry] = {}

    def table(self, model: "type[Model]") -> None:
        """Write the rows of a table, one a line, in the order of their keys."""
        label, fields = model._meta.label_lower, columns(model)
        names = [field.attname for field in fields]
        rows = model._base_manager.order_by("pk").values_list(*names)
        digest, count = hashlib.sha256(), 0
        with self.archive.open(f"{ROWS}{label}.jsonl", "w", force_zip64=True) as member:
            for row in rows.iterator(AT_ONCE):
                line = (
                    json.dumps(row, default=plain, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
                )
                digest.update(line)
                member.write(line)
                count += 1
        expected = model._base_manager.count()
        if count != expected:
            raise OSError(f"{label}: {count} of {expected} rows were read. Nothing was kept.")
        self.tables[label] = {"columns": names, "rows": count, "sha256": digest.hexdigest()}

    def file(self, name: str) -> None:
        """Write an uploaded file."""
        about = zipfile.ZipInfo(f"{MEDIA}{name}")
        about.compress_type = zipfile.ZIP_STORED
        with default_storage.open(name) as source, self.archive.open(about, "w", force_zip64=True) as member:
            size, digest = copied(source, member.write)
        self.files[name] = {"bytes": size, "sha256": digest}

    def manifest(self, at: datetime) -> None:
        said: Manifest = {
            "version": VERSION,
            "made_at": at.isoformat(timespec="seconds"),
            "engine": connection.vendor,
            "migrations": migrations(),
            "tables": self.tables,
            "files": self.files,
            "settings": settings_list(),
        }
        self.archive.writestr(MANIFEST, json.dumps(said, indent=1, ensure_ascii=False))


def migrations() -> list[list[str]]:
    """Return the last migration of each app: the shape that the rows have. All have to be applied."""
    loader = MigrationLoader(connection)
    leaves = loader.graph.leaf_nodes()
    missing = [leaf for leaf in leaves if leaf not in loader.applied_migrations]
    if missing:
        raise OSError("Some migrations are not applied. Run “manage.py migrate” first.")
    return sorted([app, name] for app, name in leaves)


def stored_files(folder: str = "") -> Iterator[str]:
    """Walk the names of all uploaded files, in order."""
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    inside = f"{folder}/" if folder else ""
    yield from (f"{inside}{name}" for name in sorted(files))
    for name in sorted(folders):
        yield from stored_files(f"{inside}{name}")


def forget_partials(folder: Path, at: datetime) -> None:
    """Remove files of killed backups, not written to for a day."""
    for partial in folder.glob(".*.zip.*"):
        if at.timestamp() - partial.stat().st_mtime > STALE.total_seconds():
            partial.unlink(missing_ok=True)


def write(path: Path, at: datetime) -> Summary:
    """Write an archive of everything, read it back, and only then give it its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    forget_partials(path.parent, at)
    handle, partial = tempfile.mkstemp(
        prefix=f".{path.name}.", dir=path.parent
    )  # readable by its owner alone
    try:
        with os.fdopen(handle, "wb") as raw:
            with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
                writer = Writer(archive)
                with snapshot():
                    for model in tables(apps):
                        writer.table(model)
                for name in stored_files():
                    writer.file(name)
                writer.manifest(at)
            raw.flush()
            os.fsync(raw.fileno())
        with Archive(Path(partial)) as written:
            written.check()
        Path(partial).rename(path)
    finally:
        Path(partial).unlink(missing_ok=True)
    rows = sum(table["rows"] for table in writer.tables.values())
    return Summary(path, rows, len(writer.files), path.stat().st_size)


@contextmanager
def snapshot() -> Iterator[None]:
    """Read everything inside from one snapshot. Writers do not wait."""
    connection.ensure_connection()  # a new connection would set the mode of the settings again
    mode = getattr(connection, "transaction_mode", None)
    if connection.vendor == "sqlite":
        # Takes no lock for writing; with a write-ahead log the first reading fixes the moment.
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


SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|DSN|(DATABASE|CACHE|REPLICA|EMAIL|SMTP)\w*_URL")


def settings_list() -> dict[str, str]:
    """Return the settings of the environment and `.env`, without secrets."""
    said = {name: str(value) for name, value in env.dump().items() if value not in (None, "", [], ())}
    return {name: "(set)" if SECRET.search(name) else said[name] for name in sorted(said)}
