"""The database router: queries for anonymous visitors may use a replica, all others the primary database.

A replica lags behind. Pages and the revisions that they depend on are read from the same database. A page is
therefore never cached under a revision newer than itself. Editors read their own writes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from django.db.models import Model

REPLICA = "replica"

_reading: ContextVar[bool] = ContextVar("reading_from_replica", default=False)


@contextmanager
def read_from_replica(allowed: bool = True) -> Iterator[None]:
    """Read from the replica in the block, if there is one; with `False`, from the primary database."""
    token = _reading.set(allowed)
    try:
        yield
    finally:
        _reading.reset(token)


class ReplicaRouter:
    """Sends reads inside `read_from_replica()` to the replica."""

    def db_for_read(
        self, model: "type[Model]", *, instance: "Model | None" = None, **hints: object
    ) -> str | None:
        if not _reading.get() or REPLICA not in settings.DATABASES:
            return None
        # Read the relations of a row from the same database as the row.
        return instance._state.db if instance is not None and instance._state.db else REPLICA

    def db_for_write(self, model: "type[Model]", **hints: object) -> str:
        return "default"

    def allow_relation(self, obj1: object, obj2: object, **hints: object) -> bool:
        return True

    def allow_migrate(self, database: str, app_label: str, **hints: object) -> bool:
        return database == "default"
