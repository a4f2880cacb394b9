"""A database built anew beside the one in use, which it replaces in one step when all is done.

SQLite: a second file, copied over the first by the database's own means, so that readers never see half of
it. PostgreSQL: one transaction. Whatever fails, what was there stays as it was.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.core.management.base import CommandError
from django.db import connection, transaction

LEFTOVERS = ("", "-wal", "-shm", "-journal")


@contextmanager
def built_anew() -> Iterator[None]:
    """Let `connection` inside be an empty database; at the end it takes the place of the one in use."""
    with _beside() if connection.vendor == "sqlite" else _within():
        yield


@contextmanager
def _beside() -> Iterator[None]:
    used = str(connection.settings_dict["NAME"])
    if connection.creation.is_in_memory_db(used):  # type: ignore[attr-defined]
        raise CommandError("A database in memory cannot be replaced.")
    new = f"{used}.restoring"
    _remove(new)
    connection.close()
    connection.settings_dict["NAME"] = new
    try:
        yield
        connection.close()
        with closing(sqlite3.connect(new)) as source, closing(sqlite3.connect(used, timeout=20)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode=WAL")
    finally:
        connection.close()
        connection.settings_dict["NAME"] = used
        _remove(new)


@contextmanager
def _within() -> Iterator[None]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            for name in connection.introspection.table_names(cursor):
                cursor.execute(f"DROP TABLE IF EXISTS {connection.ops.quote_name(name)} CASCADE")
        yield


def _remove(path: str) -> None:
    for ending in LEFTOVERS:
        Path(f"{path}{ending}").unlink(missing_ok=True)
