"""The database router: queries for anonymous visitors may use a replica, all others the primary database.

Pages and the revisions that they depend on are read from the same database. A page is therefore never cached
under a revision newer than itself. Editors read their own writes.

A replica that does not answer, or lags behind, is left: this process reads from the primary database, and
`pagecache.revisions` tries the replica again later, once it is not behind what was read meanwhile.
"""

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import TYPE_CHECKING, Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError

if TYPE_CHECKING:
    from django.db.models import Model

logger = logging.getLogger("plenary.replica")

REPLICA = "replica"
# For how long a replica that failed is not tried.
RETRY_SECONDS = 10.0

_allowed: ContextVar[bool] = ContextVar("replica_allowed", default=False)
_trying: ContextVar[bool] = ContextVar("replica_trying", default=False)


class ReplicaUse:
    """Whether this process reads from the replica."""

    def __init__(self) -> None:
        self.is_active = True
        self._left_at = float("-inf")

    def leave(self, reason: str) -> None:
        """Read from the primary database for some seconds. `reason` is for the log."""
        if self.is_active:
            logger.warning("The replica %s. Visitors read the primary database.", reason)
        self.is_active, self._left_at = False, time.monotonic()

    def resume(self) -> None:
        if not self.is_active:
            logger.warning("The replica is read again.")
        self.is_active = True

    def is_due(self) -> bool:
        """Return whether the replica is read or may be tried again."""
        return self.is_active or time.monotonic() - self._left_at >= RETRY_SECONDS


use = ReplicaUse()


@contextmanager
def read_from_replica(allowed: bool = True) -> Iterator[None]:
    """Read from the replica in the block, if there is one; with `False`, from the primary database."""
    token = _allowed.set(allowed)
    try:
        yield
    finally:
        _allowed.reset(token)


@contextmanager
def try_replica() -> Iterator[None]:
    """Read from the replica in the block, even if this process has left it."""
    token = _trying.set(True)
    try:
        yield
    finally:
        _trying.reset(token)


def is_allowed() -> bool:
    """Return whether there is a replica that may be read here."""
    return _allowed.get() and REPLICA in settings.DATABASES


def is_reading() -> bool:
    """Return whether queries use the replica here."""
    return is_allowed() and (use.is_active or _trying.get())


class ReplicaRouter:
    """Sends reads inside `read_from_replica()` to the replica."""

    def db_for_read(
        self, model: "type[Model]", *, instance: "Model | None" = None, **hints: object
    ) -> str | None:
        if not is_reading():
            # Not `None`, with which Django reads relations of a row from the database of the row.
            return DEFAULT_DB_ALIAS
        # Read the relations of a row from the same database as the row.
        return instance._state.db if instance is not None and instance._state.db else REPLICA

    def db_for_write(self, model: "type[Model]", **hints: object) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, obj1: object, obj2: object, **hints: object) -> bool:
        return True

    def allow_migrate(self, database: str, app_label: str, **hints: object) -> bool:
        return database == DEFAULT_DB_ALIAS


class ReplicaLayer:
    """WSGI application that repeats a request with the primary database if the replica fails during it."""

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not is_reading():
            return self.application(environ, start_response)
        start: list[Any] = []

        def keep_start(*arguments: Any) -> Any:
            start[:] = arguments
            return lambda data: None

        body = self.application(dict(environ), keep_start)
        pieces = iter(body)
        try:
            # A download reads its first rows here.
            first = next(pieces, b"")
        except (OperationalError, InterfaceError):
            use.leave("does not answer")
            first = b""
        if not is_reading():
            # The error page has left the replica (`website.views.server_error`).
            getattr(body, "close", lambda: None)()
            with read_from_replica(False):
                return self.application(environ, start_response)
        start_response(*start)
        return ClosingBody(chain([first], pieces), body)


class ClosingBody:
    """The pieces of a response, which close it as WSGI servers expect."""

    def __init__(self, pieces: Iterator[bytes], body: Iterable[bytes]) -> None:
        self._pieces, self._body = pieces, body

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        getattr(self._body, "close", lambda: None)()
