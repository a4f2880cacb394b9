"""A check that the database was made by the migrations of this program; `migrate` and `check` refuse others.

Django compares the names of migrations alone: with those of another history it would say that there is
nothing to do, and every page would fail.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.db import DatabaseError, connections
from django.db.migrations.loader import MigrationLoader

MAX_LISTED = 5
HINT = (
    "Its tables cannot be upgraded. Restore a backup of it with the version that made it and move the data "
    "with “manage.py export_program”, or choose an empty database (DATABASE_URL)."
)


def check_database_history(
    app_configs: Sequence[AppConfig] | None = None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Return an error for each database whose tables or migrations are not of this program's history."""
    errors: list[CheckMessage] = []
    for alias in databases or ():
        try:
            differences = [*find_differences(connections[alias])]
        except DatabaseError:
            # No database yet, or no server: the command itself says so.
            continue
        if differences:
            more = len(differences) - MAX_LISTED
            listed = "; ".join(differences[:MAX_LISTED]) + (f"; and {more} more" if more > 0 else "")
            message = f"The database was made by another history of migrations than this program's: {listed}."
            errors.append(Error(message, hint=HINT, id="plenary.E001"))
    return errors


def find_differences(connection: Any) -> Iterator[str]:
    """Yield what the stored migrations and tables have that this program's migrations do not make."""
    loader = MigrationLoader(connection, ignore_no_migrations=True)
    own_labels = {config.label for config in apps.get_app_configs() if is_own(config)}
    for label, name in sorted(loader.applied_migrations):
        if label in own_labels and (label, name) not in loader.disk_migrations:
            yield f"the migration {label}.{name} is unknown"
    known = {key for key in loader.applied_migrations if key in loader.graph.nodes}
    if not known:
        return
    is_current = {*loader.graph.leaf_nodes()} <= known
    described = apps if is_current else loader.project_state([*known]).apps
    models = [model for model in described.get_models(include_auto_created=True) if model._meta.managed]
    yield from compare_tables(connection, (model for model in models if model._meta.app_label in own_labels))


def is_own(config: AppConfig) -> bool:
    return Path(config.path).parent == settings.BASE_DIR


def compare_tables(connection: Any, models: Iterable[Any]) -> Iterator[str]:
    """Yield missing tables and columns, and columns without which no row could be inserted."""
    with connection.cursor() as cursor:
        tables = {*connection.introspection.table_names(cursor)}
        for model in models:
            table = model._meta.db_table
            if table not in tables:
                yield f"the table {table} is missing"
                continue
            described = connection.introspection.get_table_description(cursor, table)
            needed = {column.name for column in described if not column.null_ok and column.default is None}
            stored, expected = (
                {column.name for column in described},
                {field.column for field in model._meta.local_concrete_fields},
            )
            yield from (f"{table} has no column {name}" for name in sorted(expected - stored))
            yield from (f"{table} has an unknown column {name}" for name in sorted(needed - expected))
