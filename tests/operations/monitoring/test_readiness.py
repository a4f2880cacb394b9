"""Readiness: each dependency of the site is checked and reported by name."""

import json
from collections import namedtuple
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.files.storage import Storage
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings
from redis.exceptions import RedisError

from content.unreleased.worker_report import report
from exchange.jobs.tasks import preview
from operations.monitoring import readiness
from operations.monitoring.metrics import Queue, queue_state

pytestmark = pytest.mark.django_db

Usage = namedtuple("Usage", "total used free")


def raising(error: Exception) -> Any:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise error

    return fail


def read_checks(client: Client, status: int) -> dict[str, str]:
    response = client.get("/readyz")
    content = json.loads(response.content)
    assert (response.status_code, content["ready"]) == (status, status == 200)
    assert "no-store" in response.headers["Cache-Control"]
    checks: dict[str, str] = content["checks"]
    return checks


def test_ready_site_passes_every_check(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    assert read_checks(client, 200) == {
        "database": f"ok: {connection.vendor}",
        "migrations": "ok: all applied",
        "replica": "ok: not used",
        "cache": "ok: in each process",
        "bucket": "ok: not used",
        "disk": "ok: enough room",
        "worker": "ok: not used",
    }
    with django_assert_num_queries(1):
        client.get("/readyz")


@pytest.mark.parametrize(
    ("name", "target", "message"),
    [
        ("database", "operations.monitoring.readiness.connection.cursor", "failing: does not answer"),
        ("worker", "operations.monitoring.readiness.queue_state", "unknown: the database does not answer"),
    ],
)
def test_database_error_is_reported_without_its_details(
    client: Client, monkeypatch: pytest.MonkeyPatch, settings: Settings, name: str, target: str, message: str
) -> None:
    settings.TASK_BACKEND = "database"
    monkeypatch.setattr(target, raising(OperationalError("password=secret")))
    checks = read_checks(client, 503)

    assert checks[name] == message
    assert "secret" not in str(checks)


def test_not_ready_with_unapplied_migrations(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "_migrated", [])
    monkeypatch.setattr(MigrationExecutor, "migration_plan", lambda self, nodes: [1, 2])

    assert read_checks(client, 503)["migrations"] == "failing: 2 not applied: run “manage.py migrate”"


def test_not_ready_on_a_full_disk(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(10**12, 10**12, 5_000_000))

    assert read_checks(client, 503)["disk"] == "failing: 5 MB free, 200 needed"


def test_not_ready_without_a_worker(client: Client, settings: Settings) -> None:
    settings.TASK_BACKEND = "database"
    report(timezone.now() - timedelta(seconds=130))
    late = read_checks(client, 503)["worker"]
    report()

    assert late == "failing: none has reported in the last two minutes"
    assert read_checks(client, 200)["worker"] == "ok: keeps up"


class Bucket(Storage):
    """A bucket that answers, unless `error` is set."""

    error: Exception | None = None

    def exists(self, name: str) -> bool:
        if self.error:
            raise self.error
        return False


def test_bucket_is_named(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = Bucket()
    monkeypatch.setattr("operations.monitoring.readiness.default_storage", storage)
    answering = read_checks(client, 200)["bucket"]
    storage.error = ConnectionError("https://key:secret@bucket.example.org")
    checks = read_checks(client, 503)

    assert (answering, checks["bucket"]) == (
        "ok: answers",
        "failing: does not answer, or refuses the account",
    )
    assert [name for name, state in checks.items() if not state.startswith("ok")] == ["bucket"]


def test_not_ready_with_a_slow_worker(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TASK_BACKEND = "database"
    report()
    monkeypatch.setattr("operations.monitoring.readiness.queue_state", lambda: Queue(3, 1200.0))

    assert read_checks(client, 503)["worker"] == "failing: 3 tasks wait, the first for 20 minutes"


@pytest.fixture
def _no_redis(settings: Settings) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }
    settings.CACHE_ERRORS = (RedisError,)


@pytest.mark.usefixtures("_no_redis")
def test_missing_cache_is_reported_and_pages_work(client: Client) -> None:
    assert read_checks(client, 503)["cache"] == "failing: does not answer"
    assert client.get("/api/v1/").status_code == 200


@pytest.mark.usefixtures("_no_redis")
def test_login_and_logout_work_without_the_cache(client: Client) -> None:
    get_user_model().objects.create_superuser("ada", password="right")
    wrong = client.post("/admin/login/", {"username": "ada", "password": "wrong"})
    signed_in = client.post("/admin/login/?next=/admin/", {"username": "ada", "password": "right"})
    desk = client.get("/admin/")

    assert (wrong.status_code, signed_in.status_code, desk.status_code) == (200, 302, 200)
    assert client.post("/admin/logout/").status_code in (200, 302)
    assert client.get("/admin/").status_code == 302


def test_queue_counts_waiting_tasks(settings: Settings) -> None:
    settings.TASK_BACKEND = "database"
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    preview.enqueue(1)

    assert queue_state(timezone.now() + timedelta(minutes=5)).waiting == 1


def test_queue_is_empty_for_immediate_tasks() -> None:
    assert queue_state(timezone.now() + timedelta(days=1)) == Queue(0, 0.0)
