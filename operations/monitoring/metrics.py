"""Metrics for Prometheus: requests, seconds by view, hits of the page cache, revision, queue.

If `METRICS_DIR` is set, the counts of all processes are added up there. Otherwise each process has its own.
"""

import os
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models import Count, Min
from django.utils import timezone

if settings.METRICS_DIR:
    # `prometheus_client` reads the variable when it is imported.
    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", settings.METRICS_DIR)

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from conference.models import Edition
from content.models import SiteRevision
from pagecache import request_log

# The app label of django-tasks-db.
TASKS_APP = "django_tasks_database"
PROCESS_REGISTRY = CollectorRegistry()
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))

requests = Counter(
    "plenary_requests",
    "Requests answered, by method and status.",
    ["method", "status"],
    registry=PROCESS_REGISTRY,
)
latency = Histogram(
    "plenary_view_seconds", "Seconds that a view took.", ["view"], buckets=BUCKETS, registry=PROCESS_REGISTRY
)
outcomes = Counter(
    "plenary_page_cache",
    "What the page cache did: hit, stale, miss, or nothing.",
    ["outcome"],
    registry=PROCESS_REGISTRY,
)


def count_request(note: request_log.RequestNote, method: str, status: str, seconds: float) -> None:
    if not settings.METRICS_TOKEN:
        return
    # Do not let clients create labels by arbitrary methods.
    requests.labels(method if method in METHODS else "other", status).inc()
    outcomes.labels(note.cache or "none").inc()
    if note.view and note.is_cold:
        latency.labels(note.view).observe(seconds)


def render_metrics() -> bytes:
    """Return all metrics in the text format of Prometheus. Two queries, and one for the queue."""
    registry = CollectorRegistry() if settings.METRICS_DIR else PROCESS_REGISTRY
    if settings.METRICS_DIR:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return bytes(generate_latest(registry)) + bytes(generate_latest(site_metrics()))


def site_metrics() -> CollectorRegistry:
    registry = CollectorRegistry()
    revision = Gauge(
        "plenary_revision", "How often an edition, or the site, has changed.", ["edition"], registry=registry
    )
    for slug, number in Edition.objects.order_by("slug").values_list("slug", "revision"):
        revision.labels(slug).set(number)
    site = SiteRevision.objects.values_list("revision", flat=True).first()
    revision.labels("").set(site or 0)
    waiting = Gauge("plenary_queue_waiting", "Tasks that wait for a worker.", registry=registry)
    oldest = Gauge("plenary_queue_oldest_seconds", "How long the first has waited.", registry=registry)
    queue = queue_state()
    waiting.set(queue.waiting)
    oldest.set(queue.seconds)
    return registry


@dataclass(frozen=True, slots=True)
class Queue:
    """The number of tasks that wait for a worker, and the seconds that the first has waited."""

    waiting: int = 0
    seconds: float = 0.0


def queue_state(at: datetime | None = None) -> Queue:
    """Return the state of the queue, which is empty if tasks run immediately. One query."""
    if settings.TASK_BACKEND == "immediate":
        return Queue()
    tasks: Any = apps.get_model(TASKS_APP, "dbtaskresult")._default_manager
    totals = tasks.ready().order_by().aggregate(number=Count("pk"), first=Min("enqueued_at"))
    if totals["first"] is None:
        return Queue()
    return Queue(totals["number"], max(((at or timezone.now()) - totals["first"]).total_seconds(), 0.0))
