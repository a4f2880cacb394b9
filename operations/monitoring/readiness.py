"""Whether the site can answer visitors: the database, its tables, the cache, the disk, the worker.

Each check raises `NotReadyError` with what is wrong, for the operator, without secrets.
"""

import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count, Min
from django.utils import timezone
from redis.exceptions import RedisError

MEGABYTE = 1_000_000
# The package's own name for its app.
TASKS_APP = "django_tasks_database"
# A task that waits longer than this means that no worker runs.
MAX_TASK_AGE_SECONDS = 600
# Applied migrations stay applied: checking takes a tenth of a second.
_migrated: list[bool] = []


class NotReadyError(Exception):
    """Something that the site needs is not there."""


def database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        raise NotReadyError("does not answer") from error
    return connection.vendor


def migrations() -> str:
    if not _migrated:
        try:
            executor = MigrationExecutor(connection)
            missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        except DatabaseError as error:
            raise NotReadyError("cannot be read") from error
        if missing:
            raise NotReadyError(f"{len(missing)} not applied: run “manage.py migrate”")
        _migrated.append(True)
    return "all applied"


def shared_cache() -> str:
    word = secrets.token_hex(8)
    try:
        cache.set(f"ready-{word}", word, 10)
        found = cache.get(f"ready-{word}")
        cache.delete(f"ready-{word}")
    except RedisError as error:
        raise NotReadyError("does not answer") from error
    if found != word:
        raise NotReadyError("keeps nothing")
    return "shared" if settings.CACHE_URL else "in each process"


def disk() -> str:
    free = shutil.disk_usage(settings.VAR_DIR).free // MEGABYTE
    if free < settings.LEAST_FREE_DISK:
        raise NotReadyError(f"{free} MB free, {settings.LEAST_FREE_DISK} needed")
    return "enough room"


@dataclass(frozen=True, slots=True)
class Queue:
    """Tasks that are due and that no worker has taken yet."""

    waiting: int = 0
    seconds: float = 0.0


def queue_state(at: datetime | None = None) -> Queue:
    """Return what waits now; nothing where tasks are done on the spot. One query."""
    if settings.TASK_BACKEND == "immediate":
        return Queue()
    rows: Any = apps.get_model(TASKS_APP, "dbtaskresult")._default_manager
    found = rows.ready().order_by().aggregate(number=Count("pk"), first=Min("enqueued_at"))
    if found["first"] is None:
        return Queue()
    return Queue(found["number"], max(((at or timezone.now()) - found["first"]).total_seconds(), 0.0))


def worker() -> str:
    try:
        found = queue_state()
    except DatabaseError as error:
        raise NotReadyError("the queue cannot be read") from error
    if found.seconds > MAX_TASK_AGE_SECONDS:
        raise NotReadyError(f"{found.waiting} tasks wait, the first for {found.seconds / 60:.0f} minutes")
    return "keeps up"


CHECKS: dict[str, Callable[[], str]] = {
    "database": database,
    "migrations": migrations,
    "cache": shared_cache,
    "disk": disk,
    "worker": worker,
}


def readiness() -> tuple[bool, dict[str, str]]:
    """Run every check; return whether all passed, and the state of each."""
    words, is_ready = {}, True
    for name, check in CHECKS.items():
        try:
            words[name] = f"ok: {check()}"
        except NotReadyError as reason:
            words[name], is_ready = f"failing: {reason}", False
    return is_ready, words
