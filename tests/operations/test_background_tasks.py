"""Tasks of workers that were killed or lost their database run again, three times in all."""

import logging
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import InterfaceError, OperationalError
from django.test import Client
from django.utils import timezone
from django_tasks_db.management.commands.db_worker import Command as DatabaseWorker
from django_tasks_db.models import DBTaskResult
from pytest_django import DjangoAssertNumQueries, Settings

from content.unreleased.worker_report import WorkerReport, report, running_workers
from exchange.jobs import tasks
from exchange.models import ImportJob
from operations import background_tasks
from operations.background_tasks import MAX_ATTEMPTS, return_lost_tasks, return_tasks_of
from operations.management.commands import worker
from papers.models import Paper
from tests import factories as make
from tests.exchange.programs import paper
from tests.exchange.uploads import job_url, press_button, upload_papers

pytestmark = pytest.mark.django_db

NOW = datetime(2027, 5, 17, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(minutes=3)


@pytest.fixture(autouse=True)
def task_queue(settings: Settings) -> None:
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}


def running_task(
    *worker_ids: str, started_at: datetime = LONG_AGO, job: int = 1
) -> DBTaskResult[..., object]:
    """Create a task that the last of these workers has begun."""
    task = DBTaskResult.objects.get(pk=tasks.preview.enqueue(job).id)
    task.status, task.worker_ids, task.started_at = "RUNNING", [*worker_ids], started_at
    task.save()
    return task


def status_of(task: DBTaskResult[..., object]) -> str:
    task.refresh_from_db()
    return str(task.status)


def test_only_tasks_of_workers_that_do_not_report_run_again(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    report(NOW - timedelta(minutes=1), "alive")
    report(LONG_AGO, "killed")
    expected = {
        running_task("alive"): "RUNNING",
        running_task("killed", "alive"): "RUNNING",
        running_task("alive", "killed"): "READY",
        running_task("never reported"): "READY",
        # Its worker may not have reported yet.
        running_task("new", started_at=NOW - timedelta(minutes=1)): "RUNNING",
    }
    return_lost_tasks(NOW)

    assert {task: status_of(task) for task in expected} == expected
    DBTaskResult.objects.exclude(started_at__gt=LONG_AGO).delete()
    with django_assert_num_queries(1):
        return_lost_tasks(NOW)


def test_worker_returns_its_own_task_after_an_outage() -> None:
    mine, other = running_task("other", "me"), running_task("me", "other")
    return_tasks_of("me")

    assert [status_of(mine), status_of(other)] == ["READY", "RUNNING"]


def test_task_ended_in_the_meantime_stays_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    task = running_task("killed")

    def end(at: datetime) -> set[str]:
        task.set_successful(None)
        return set()

    monkeypatch.setattr("content.unreleased.worker_report.running_workers", end)
    return_lost_tasks(NOW)

    assert status_of(task) == "SUCCESSFUL"


def test_task_whose_third_worker_is_lost_has_failed(admin_client: Client) -> None:
    job = upload_papers(admin_client, make.make_edition(), paper("p1"))
    DBTaskResult.objects.all().delete()
    workers = ["a", "b", "c"]
    task = running_task(*workers, started_at=timezone.now(), job=job.pk)
    assert len(workers) == MAX_ATTEMPTS
    return_lost_tasks(timezone.now() + timedelta(minutes=3))
    page = " ".join(admin_client.get(job_url(job)).text.split())

    assert status_of(task) == "FAILED"
    assert task.exception_class_path == "operations.background_tasks.WorkerLostError"
    assert "Nothing was written. The worker was stopped 3 times while it worked on these files." in page
    job = press_button(admin_client, job, "again")
    assert (job.state, job.problems, DBTaskResult.objects.ready().count()) == ("reading", [], 1)


def test_import_started_again_is_not_stopped_by_its_first_task(admin_client: Client) -> None:
    job = upload_papers(admin_client, make.make_edition(), paper("p1"))
    task = running_task("a", "b", "c", started_at=job.changed_at - timedelta(seconds=1), job=job.pk)
    return_lost_tasks(timezone.now() + timedelta(minutes=3))

    job.refresh_from_db()
    assert (status_of(task), job.state) == ("FAILED", "reading")


def run_worker() -> None:
    call_command("worker", batch=True, interval=0, startup_delay=False, verbosity=0)


@pytest.fixture
def worker_without_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the command without reports, which another connection would write, and without pauses."""
    monkeypatch.setattr(worker, "report_until", lambda stopped, worker_id: None)
    monkeypatch.setattr(background_tasks, "PAUSE", timedelta(0))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("worker_without_thread")
@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (OperationalError("the connection is closed"), "Your files are not the cause."),
        (InterfaceError("the cursor is closed"), "Your files are not the cause."),
        (SystemExit(1), "The worker was stopped 3 times while it worked on these files."),
    ],
)
def test_task_is_tried_three_times(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch, error: BaseException, shown: str
) -> None:
    attempts: list[Any] = []

    def fail(job: ImportJob, progress: object) -> None:
        attempts.append(job.state)
        raise error

    monkeypatch.setattr(tasks, "_read", fail)
    job = upload_papers(admin_client, make.make_edition(), paper("p1"))
    run_worker()

    assert attempts == ["reading"] * 3
    assert (ImportJob.objects.get().state, DBTaskResult.objects.get().status) == ("failed", "FAILED")
    assert shown in " ".join(admin_client.get(job_url(job)).text.split())


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("worker_without_thread")
def test_import_is_written_after_a_database_error(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = upload_papers(admin_client, make.make_edition(), paper("p1"))
    run_worker()
    press_button(admin_client, ImportJob.objects.get(), "confirm")
    change_state, errors = tasks._change_state, [OperationalError("the connection is closed")]

    def fail_once(*args: Any, **values: Any) -> None:
        if errors:
            raise errors.pop()
        change_state(*args, **values)

    monkeypatch.setattr(tasks, "_change_state", fail_once)
    run_worker()

    job.refresh_from_db()
    assert (job.state, Paper.objects.count()) == ("done", 1)
    assert sorted(len(task.worker_ids) for task in DBTaskResult.objects.successful()) == [1, 2]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("worker_without_thread")
def test_preview_after_a_change_is_continued_by_the_next_worker(admin_client: Client) -> None:
    job = upload_papers(admin_client, make.make_edition(), paper("p1"))
    run_worker()
    # A worker was killed after it had found that the program had changed.
    job.refresh_from_db()
    job.change_state("reading", before="ready", is_again=True)
    tasks.write.enqueue(job.pk)
    run_worker()

    job.refresh_from_db()
    assert (job.state, job.is_again) == ("ready", True)


@pytest.mark.usefixtures("worker_without_thread")
def test_worker_pauses_longer_after_each_failure_of_the_database(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    errors = [OperationalError("connection refused\nIs the server running?") for _ in range(7)]
    pauses: list[float] = []

    def fail(command: object, **options: object) -> None:
        if errors:
            raise errors.pop()

    monkeypatch.setattr(DatabaseWorker, "handle", fail)
    monkeypatch.setattr("django.db.connections.close_all", lambda: None)
    own_thread, sleep = threading.get_ident(), time.sleep
    # Threads of other tests may still sleep.
    monkeypatch.setattr(
        "time.sleep",
        lambda seconds: pauses.append(seconds) if threading.get_ident() == own_thread else sleep(seconds),
    )
    with caplog.at_level(logging.WARNING):
        run_worker()

    assert pauses == [1, 2, 4, 8, 16, 30, 30]
    assert [record.exc_info for record in caplog.records] == [None] * 7
    assert caplog.messages[0] == (
        "The database failed. The worker tries again in 1 s: connection refused Is the server running?"
    )


def test_each_worker_reports_and_old_reports_are_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    report(NOW - timedelta(days=2), "old")
    report(LONG_AGO, "killed")
    stopped = threading.Event()
    stopped.set()
    monkeypatch.setattr("django.db.connections.close_all", lambda: None)
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOW)
    worker.report_until(stopped, "alive")

    assert running_workers(NOW) == {"alive"}
    assert sorted(WorkerReport.objects.values_list("worker_id", flat=True)) == ["alive", "killed"]


@pytest.mark.parametrize(("backend", "is_shown"), [("database", True), ("immediate", False)])
def test_stopped_import_says_whether_a_worker_begins_again(
    admin_client: Client, settings: Settings, backend: str, is_shown: bool
) -> None:
    from tests.exchange.test_import_jobs import store_progress

    job = upload_papers(admin_client, make.make_edition(), paper("p1"))
    store_progress(job, 90)
    settings.TASKS = {"default": {"BACKEND": settings.TASK_BACKENDS[backend]}}
    page = admin_client.get(job_url(job)).text

    assert ("A worker begins again within three minutes" in page) == is_shown
    assert "Nothing was written: an import is applied as a whole or not at all." in page
