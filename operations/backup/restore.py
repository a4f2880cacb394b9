"""Restoring an archive to the database and the file storage of this installation.

The tables are created by the migrations of the time of the archive, filled, and then migrated to the
current ones. So archives of older versions of the program can be restored.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import batched
from pathlib import Path
from typing import IO, Any

from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import SuspiciousOperation
from django.core.files import File
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError
from django.core.management.color import no_style
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import StateApps
from django.db.models import Model

from conference.models import Edition
from content.revision import SiteRevision
from exchange.terminal_progress import Progress, no_progress
from operations.backup.archive import Archive, BadArchiveError, archived_models, stored_fields
from operations.table_statistics import analyze

BATCH_ROWS = 500


def is_in_use() -> bool:
    try:
        models: list[type[Model]] = [Edition, SiteRevision, get_user_model()]
        return any(model._default_manager.exists() for model in models)
    except DatabaseError:
        return False


def restore(archive: Archive, progress: Progress = no_progress) -> None:
    """Replace all data by the archive; raise `BadArchiveError` for a damaged one before changing anything."""
    archive.check()
    previous_revision = last_revision()
    # Replace the database first; files are replaced only if that succeeded.
    with (
        staged_files() as store,
        _replace_sqlite() if connection.vendor == "sqlite" else _replace_in_transaction(),
    ):
        apps = migrate_to(archive.targets)
        load_tables(archive, apps, progress)
        try:
            for number, name in enumerate(archive.files, 1):
                progress("Files", number, len(archive.files))
                with archive.file(name) as content:
                    store(name, content)
        except (OSError, SuspiciousOperation) as error:
            raise BadArchiveError(f"The uploaded files cannot be stored: {error}") from error
        ContentType.objects.clear_cache()
        _check_constraints_at_once()
        call_command("migrate", verbosity=0, interactive=False)
        outdate_cached_pages(previous_revision)
        analyze()
        call_command("rebuild_search", verbosity=0)


def migrate_to(targets: list[tuple[str, str]]) -> StateApps:
    """Create the tables of these migrations; return the historical models."""
    executor = MigrationExecutor(connection)
    unknown = [f"{app}.{name}" for app, name in targets if (app, name) not in executor.loader.disk_migrations]
    if unknown:
        raise BadArchiveError(
            "The backup was made by another version of the program, with migrations that this one lacks: "
            f"{', '.join(unknown)}. Restore it with that version."
        )
    state = executor.migrate(targets)
    return state.apps


@transaction.atomic
def load_tables(archive: Archive, apps: StateApps, progress: Progress = no_progress) -> None:
    """Fill the tables, and check all foreign keys."""
    # Some migrations set constraints to immediate on PostgreSQL: defer them again until the end.
    connection.check_constraints()
    models = {model._meta.label_lower: model for model in archived_models(apps)}
    if models.keys() != archive.tables.keys():
        different = ", ".join(sorted(models.keys() ^ archive.tables.keys()))
        raise BadArchiveError(f"The backup does not fit its migrations: {different}.")
    for model in models.values():
        # Delete rows that migrations inserted.
        model._base_manager.all().delete()
    for number, (label, model) in enumerate(models.items(), 1):
        load_table(archive, label, model)
        progress("Tables", number, len(models))
    connection.check_constraints()
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), [*models.values()]):
            cursor.execute(statement)


def load_table(archive: Archive, label: str, model: type[Model]) -> None:
    """Insert the rows of a table unchanged, without automatic values such as times of changes."""
    fields, names = stored_fields(model), archive.tables[label]["columns"]
    if {field.attname for field in fields} != {*names}:
        raise BadArchiveError(f"The columns of {label} do not fit its migrations.")
    for rows in batched(archive.rows(label), BATCH_ROWS, strict=False):
        instances = [model(**dict(zip(names, row, strict=True))) for row in rows]
        query: Any = model._base_manager.all()
        query._insert(instances, fields=fields, using=connection.alias, raw=True)
    if model._base_manager.count() != archive.tables[label]["rows"]:
        raise BadArchiveError(f"Not all rows of {label} came in.")


def _check_constraints_at_once() -> None:
    """Let migrations that fill rows be followed by others that change their tables, in one transaction.

    PostgreSQL changes no table whose rows have constraints that are still to be checked.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def last_revision() -> int:
    try:
        return SiteRevision.objects.values_list("revision", flat=True).first() or 0
    except DatabaseError:
        return 0


def outdate_cached_pages(previous_revision: int) -> None:
    """Advance the site's revision, so that running processes do not reuse pages from before the restore."""
    site, _ = SiteRevision.objects.get_or_create(pk=1)
    site.revision = max(site.revision, previous_revision) + 1
    site.save()


SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")


# Switch `connection` to an empty database within the block, and copy that over the one in use at the end.


@contextmanager
def _replace_sqlite() -> Iterator[None]:
    path = str(connection.settings_dict["NAME"])
    if connection.creation.is_in_memory_db(path):  # type: ignore[attr-defined]
        raise CommandError("A database in memory cannot be replaced.")
    new_path = f"{path}.restoring"
    _remove_database(new_path)
    connection.close()
    connection.settings_dict["NAME"] = new_path
    try:
        yield
        connection.close()
        with (
            closing(sqlite3.connect(new_path)) as source,
            closing(sqlite3.connect(path, timeout=20)) as target,
        ):
            source.backup(target)
            target.execute("PRAGMA journal_mode=WAL")
    finally:
        connection.close()
        connection.settings_dict["NAME"] = path
        _remove_database(new_path)


@contextmanager
def _replace_in_transaction() -> Iterator[None]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            for name in connection.introspection.table_names(cursor):
                cursor.execute(f"DROP TABLE IF EXISTS {connection.ops.quote_name(name)} CASCADE")
        yield


def _remove_database(path: str) -> None:
    for suffix in SQLITE_SUFFIXES:
        Path(f"{path}{suffix}").unlink(missing_ok=True)


STAGED_SUFFIX = ".restoring"

type Store = Callable[[str, IO[bytes]], None]


@contextmanager
def staged_files() -> Iterator[Store]:
    """Store files under temporary names; rename them at the end, or delete them on failure."""
    new_names: list[str] = []
    replacements: dict[str, str] = {}

    def store(name: str, content: IO[bytes]) -> None:
        exists = default_storage.exists(name)
        staged = f"{name}{STAGED_SUFFIX}" if exists else name
        default_storage.delete(staged)
        if exists:
            replacements[name] = staged
        else:
            new_names.append(staged)
        stored = default_storage.save(staged, File(content))
        if stored != staged:
            default_storage.delete(stored)
            raise OSError(f"The file {name} could not be stored under its name, but under {stored}.")

    try:
        yield store
    except BaseException:
        for staged in (*new_names, *replacements.values()):
            default_storage.delete(staged)
        raise
    for name, staged in replacements.items():
        _replace_file(staged, name)


def _replace_file(staged: str, name: str) -> None:
    try:
        Path(default_storage.path(staged)).replace(default_storage.path(name))
    except NotImplementedError:
        # The storage has no local paths, such as a bucket.
        with default_storage.open(staged) as content:
            default_storage.delete(name)
            default_storage.save(name, content)
        default_storage.delete(staged)
