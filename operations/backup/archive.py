"""Archives: what is in one, today and before 0.1.0. Every checksum is verified."""

import hashlib
import json
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Self, TypedDict

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import Field
from django.utils.duration import duration_iso_string

if TYPE_CHECKING:
    from django.apps.registry import Apps
    from django.db.migrations.state import StateApps
    from django.db.models import Model

VERSION = "plenary-backup-1"
MANIFEST = "manifest.json"
ROWS = "rows/"
MEDIA = "media/"
PIECE = 1 << 20


class TableEntry(TypedDict):
    """What the manifest says of a table."""

    columns: list[str]
    rows: int
    sha256: str


class FileEntry(TypedDict):
    """What the manifest says of an uploaded file."""

    bytes: int
    sha256: str


class Manifest(TypedDict):
    """The manifest of an archive. Migrations are pairs of an app and its last one."""

    version: str
    made_at: str
    engine: str
    migrations: list[list[str]]
    tables: dict[str, TableEntry]
    files: dict[str, FileEntry]
    settings: dict[str, str]


class BadArchiveError(Exception):
    """A file that is not an archive, or is damaged."""


class Archive:
    """An archive that was opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.zip = zipfile.ZipFile(path)
            self.manifest: Manifest = json.loads(self.zip.read(MANIFEST))
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
    def tables(self) -> dict[str, TableEntry]:
        return self.manifest["tables"]

    @property
    def files(self) -> dict[str, FileEntry]:
        return self.manifest["files"]

    def rows(self, label: str) -> Iterator[list[object]]:
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
        lines: list[int] = []
        try:
            with self.zip.open(name) as member:
                size, digest = copied(member, lambda piece: lines.append(piece.count(b"\n")))
        except (zipfile.BadZipFile, zlib.error, KeyError, OSError, ValueError) as error:
            raise BadArchiveError(f"{self.path}: {name} is damaged: {error}") from error
        return sum(lines), size, digest


def copied(source: IO[bytes], write: Callable[[bytes], object]) -> tuple[int, str]:
    """Copy a file piece by piece; return its size and checksum."""
    digest, size = hashlib.sha256(), 0
    while piece := source.read(PIECE):
        digest.update(piece)
        write(piece)
        size += len(piece)
    return size, digest.hexdigest()


# The index is rebuilt, everybody signs in again, and no task runs twice.
LEFT_OUT = frozenset(("django_tasks_database", "search", "sessions"))
SESSIONS = "accounts.accountsession"


def tables(apps: "Apps | StateApps") -> "Iterator[type[Model]]":
    """Yield the models whose rows are archived, many-to-many tables too. `apps`: present or historical."""
    for model in apps.get_models(include_auto_created=True):
        about = model._meta
        is_stored = about.managed and not about.proxy and not about.swapped
        if is_stored and about.app_label not in LEFT_OUT and about.label_lower != SESSIONS:
            yield model


def columns(model: "type[Model]") -> "list[Field[object, object]]":
    """Return the columns that are stored as they are: not what the database computes."""
    return [field for field in model._meta.concrete_fields if not field.generated]


def plain(value: object) -> str:
    """Return a value as JSON has it; the column converts it back."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return duration_iso_string(value)
    if isinstance(value, uuid.UUID | Decimal):
        return str(value)
    raise TypeError(f"No way is known to write {type(value).__name__} into an archive.")


# The last migration of `conference` that such a backup names.
LAST_MIGRATION = ("conference", "0008_touched")
MOVED_TABLES = {
    "conference.changeset": "content.changeset",
    "conference.membership": "accounts.membership",
    "conference.rowchange": "content.rowchange",
    "conference.siterevision": "content.siterevision",
}
# What an import changed; from 0.1.0 on the history holds it.
DROPPED_TABLES = frozenset(("exchange.change",))
KINDS = "schedule.sessionkind"
NEW_TABLES = {
    "content.invalidation": ["id", "edition_key", "revision", "tag", "at"],
    KINDS: ["id", "position", "conference_id", "applies_to", "slug", "name", "color", "counts_as"],
}
# What rows with a kind hold of it: then all kinds were built-in ones.
WITH_KIND = frozenset(("schedule.session", "schedule.presentation"))
KIND_COLUMNS = ["counts_as", "kind_name", "kind_color"]
DROPPED_COLUMNS = {"conference.edition": {"touched"}}
CONTENT_TYPES = "contenttypes.contenttype"
PROJECT_APPS = frozenset(
    ("accounts", "api", "conference", "content", "exchange", "papers", "people", "schedule", "search")
)


class EarlierArchive(Archive):
    """An archive of an earlier shape, read as one of the first migrations of each app."""

    @property
    def targets(self) -> list[tuple[str, str]]:
        leaves = MigrationLoader(connection).graph.leaf_nodes()
        others = [(app, name) for app, name in super().targets if app not in PROJECT_APPS]
        return [*others, *((app, name) for app, name in leaves if app in PROJECT_APPS)]

    @property
    def tables(self) -> dict[str, TableEntry]:
        found: dict[str, TableEntry] = {
            label: {"columns": names, "rows": 0, "sha256": ""} for label, names in NEW_TABLES.items()
        }
        for label, table in super().tables.items():
            if label in DROPPED_TABLES:
                continue
            dropped = DROPPED_COLUMNS.get(label, set())
            columns = [name for name in table["columns"] if name not in dropped]
            columns += KIND_COLUMNS if lacks_kinds(label, columns) else []
            found[MOVED_TABLES.get(label, label)] = {**table, "columns": columns}
        return found

    def check(self) -> None:
        Archive(self.path).check()

    def rows(self, label: str) -> Iterator[list[object]]:
        stored = super().tables
        before = {new: old for old, new in MOVED_TABLES.items()}.get(label, label)
        before = label if label in stored else before
        if before not in stored:
            return
        columns = stored[before]["columns"]
        dropped = DROPPED_COLUMNS.get(before, set())
        for row in super().rows(before):
            values = [value for name, value in zip(columns, row, strict=True) if name not in dropped]
            values += [row[columns.index("kind")], "", ""] if lacks_kinds(before, columns) else []
            yield moved_content_type(columns, values) if label == CONTENT_TYPES else values


def lacks_kinds(label: str, columns: list[str]) -> bool:
    """Whether a table with these columns is older than kinds of sessions as rows."""
    return label in WITH_KIND and KIND_COLUMNS[0] not in columns


def moved_content_type(columns: list[str], values: list[object]) -> list[object]:
    """Return a content type under the app to which its table belongs now."""
    row = dict(zip(columns, values, strict=True))
    moved = MOVED_TABLES.get(f"{row['app_label']}.{row['model']}", "")
    if moved:
        row["app_label"] = moved.partition(".")[0]
    return [row[name] for name in columns]


def opened(archive: Archive) -> Archive:
    """Return the archive, or an adapter if it has an earlier shape."""
    is_earlier = LAST_MIGRATION in archive.targets or DROPPED_TABLES & archive.tables.keys()
    if not is_earlier and KINDS in archive.tables:
        return archive
    archive.zip.close()
    return EarlierArchive(archive.path)
