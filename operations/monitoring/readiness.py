"""Pages for monitoring: health, readiness, and metrics.

Readiness depends on the database, its migrations, the cache, the bucket, the disk, and the worker. Without
its replica, the site is ready, but degraded. Checks raise an error with a reason for the operator, which must
not contain secrets.
"""

import secrets
import shutil
from collections.abc import Callable

from django.conf import settings
from django.core.cache import cache
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import DatabaseError, InterfaceError, connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Sum
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from conference.models import Edition
from content import replica
from content.unreleased.worker_report import is_worker_running
from operations.monitoring import metrics
from operations.monitoring.metrics import queue_state

MEGABYTE = 1_000_000
# If a task has waited longer than this, no worker is running.
MAX_TASK_AGE_SECONDS = 600
# Not empty once all migrations were applied, to skip the check, which takes a tenth of a second.
_migrated: list[bool] = []


class NotReadyError(Exception):
    """Raised by a check that fails, with the reason."""


class DegradedError(Exception):
    """Raised by a check of something that the site can do without, with the reason."""


class UnknownStateError(Exception):
    """Raised by a check that cannot tell, because what it asks is unavailable; the reason names that."""


def database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError) as error:
        raise NotReadyError("does not answer") from error
    return connection.vendor


def migrations() -> str:
    if not _migrated:
        try:
            executor = MigrationExecutor(connection)
            missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        except (DatabaseError, InterfaceError) as error:
            raise UnknownStateError("the database does not answer") from error
        if missing:
            raise NotReadyError(f"{len(missing)} not applied: run “manage.py migrate”")
        _migrated.append(True)
    return "all applied"


def revision_sum(alias: str) -> int:
    """Return a number that grows with each change of an edition."""
    return Edition._base_manager.using(alias).aggregate(total=Sum("revision"))["total"] or 0


def read_replica() -> str:
    if replica.REPLICA not in settings.DATABASES:
        return "not used"
    try:
        known = revision_sum(replica.REPLICA)
    except (DatabaseError, InterfaceError) as error:
        connections[replica.REPLICA].close()
        raise DegradedError("does not answer; visitors read the primary database") from error
    try:
        behind = max(revision_sum("default") - known, 0)
    except (DatabaseError, InterfaceError):
        return "answers"
    if behind and not replica.use.is_active:
        raise DegradedError(f"{behind} changes behind; visitors read the primary database")
    return f"{behind} changes behind"


def shared_cache() -> str:
    value = secrets.token_hex(8)
    try:
        cache.set(f"ready-{value}", value, 10)
        cached = cache.get(f"ready-{value}")
        cache.delete(f"ready-{value}")
    except settings.CACHE_ERRORS as error:
        raise NotReadyError("does not answer") from error
    if cached != value:
        raise NotReadyError("stores nothing")
    return "shared" if settings.CACHE_URL else "in each process"


def bucket() -> str:
    """Ask for a file that does not exist. The errors depend on the service: any of them is a failure."""
    if isinstance(default_storage, FileSystemStorage):
        return "not used"
    try:
        default_storage.exists("readyz")
    except Exception as error:
        raise NotReadyError("does not answer, or refuses the account") from error
    return "answers"


def disk() -> str:
    free = shutil.disk_usage(settings.VAR_DIR).free // MEGABYTE
    if free < settings.LEAST_FREE_DISK:
        raise NotReadyError(f"{free} MB free, {settings.LEAST_FREE_DISK} needed")
    return "enough room"


def worker() -> str:
    if settings.TASK_BACKEND == "immediate":
        return "not used"
    try:
        queue, is_running = queue_state(), is_worker_running(timezone.now())
    except (DatabaseError, InterfaceError) as error:
        raise UnknownStateError("the database does not answer") from error
    if not is_running:
        raise NotReadyError("none has reported in the last two minutes")
    if queue.seconds > MAX_TASK_AGE_SECONDS:
        raise NotReadyError(f"{queue.waiting} tasks wait, the first for {queue.seconds / 60:.0f} minutes")
    return "keeps up"


CHECKS: dict[str, Callable[[], str]] = {
    "database": database,
    "migrations": migrations,
    "replica": read_replica,
    "cache": shared_cache,
    "bucket": bucket,
    "disk": disk,
    "worker": worker,
}


@replica.read_from_replica(False)
def readiness() -> tuple[bool, dict[str, str]]:
    """Run every check; return whether the site can serve, and the state of each."""
    states, is_ready = {}, True
    for name, check in CHECKS.items():
        try:
            states[name] = f"ok: {check()}"
        except DegradedError as reason:
            states[name] = f"degraded: {reason}"
        except UnknownStateError as reason:
            states[name], is_ready = f"unknown: {reason}", False
        except NotReadyError as reason:
            states[name], is_ready = f"failing: {reason}", False
    return is_ready, states


# Pages


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Return 200 while the process responds."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Return 200 if the site is ready, otherwise 503, with the results of all checks."""
    is_ready, states = readiness()
    content = {"ready": is_ready, "checks": states}
    if is_ready:
        return JsonResponse(content)
    return JsonResponse(content, status=503, headers={"Retry-After": "30"})


@require_safe
@never_cache
def metrics_page(request: HttpRequest) -> HttpResponse:
    """Return the metrics for requests with the token; raise a 404 for all others."""
    sent_token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    token = settings.METRICS_TOKEN
    if not token or not secrets.compare_digest(sent_token.encode(), token.encode()):
        raise Http404("There are no metrics here.")
    return HttpResponse(metrics.render_metrics(), content_type=CONTENT_TYPE_LATEST)
