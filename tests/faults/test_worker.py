"""Worker processes that are killed, or lose their database: their tasks run again, and imports stay whole."""

import json
import secrets
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from tests.exchange.programs import paper, program
from tests.exchange.uploads import papers_file
from tests.faults.databases import own_database
from tests.processes import PYTHON, ROOT, environment, output, start

TIMEOUT_SECONDS = 90.0
FILE = papers_file(program(paper("p1", "Ada")))
SETUP = f"""
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from exchange.jobs import tasks
from exchange.models import ImportJob
from tests import factories as make
call_command("migrate", verbosity=0)
client = Client(SERVER_NAME="127.0.0.1")
client.force_login(User.objects.create_superuser("chair"))
edition = make.make_edition()
def upload():
    data = {{"edition": edition.pk, "sources": [SimpleUploadedFile("p.json", {FILE!r})]}}
    assert client.post("/admin/exchange/importjob/add/", data).status_code == 302
def page(job):
    return f"/admin/exchange/importjob/{{job.pk}}/change/"
upload()
"""
PAGE = """
from django.conf import settings
settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
from django.contrib.auth.models import User
from django.test import Client
from exchange.models import ImportJob
client = Client(SERVER_NAME="127.0.0.1")
client.force_login(User.objects.get())
page = f"/admin/exchange/importjob/{ImportJob.objects.get().pk}/change/"
print(client.get(page).text)
"""
# A worker that reports every 0.3 seconds, and is lost after 3 seconds without a report.
WORKER = """
import os, signal
from datetime import timedelta
from pathlib import Path
from django.core.management import call_command
from django.db import connection
from content.unreleased import worker_report
from exchange.jobs import tasks, uploads
from operations import background_tasks
from operations.management.commands import worker
worker.REPORT_SECONDS = 0.3
worker_report.MAX_REPORT_AGE = timedelta(seconds=3)
background_tasks.PAUSE = timedelta(seconds=0.1)
{patch}
call_command("worker", interval=0.05, startup_delay=False)
"""
# The worker kills itself when everything is written and not yet committed.
KILL = "tasks._change_state = lambda *args, **kwargs: os.kill(os.getpid(), signal.SIGKILL)"
# The first task waits for the database, and tells so by a file.
WAIT = """
read_sources = uploads.sources
def wait(job):
    began = Path("{began}")
    if not began.exists():
        began.touch()
        connection.cursor().execute("SELECT pg_sleep(60)")
    return read_sources(job)
uploads.sources = wait
"""


class Installation:
    """A database, and the processes that use it."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder, self.database = folder, database
        self.environment = {
            "DATABASE_URL": database,
            "TASKS": "database",
            "SECRET_KEY": secrets.token_hex(32),
        }

    def run(self, script: str) -> str:
        return output(start(self.folder, script, **self.environment))

    @contextmanager
    def worker(self, patch: str = "") -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
        """Start a worker, and kill it at the end of the block; yield the process and its log."""
        log = self.folder / f"worker-{secrets.token_hex(4)}.log"
        script = f"import django\ndjango.setup()\n{WORKER.format(patch=patch)}"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [*PYTHON, "-c", script],
                cwd=ROOT,
                env=environment(self.folder, **self.environment),
                stdout=file,
                stderr=file,
            )
        try:
            yield process, log
        finally:
            process.kill()
            process.wait()

    def killed_worker(self) -> None:
        """Run a worker that is killed in an import."""
        with self.worker(KILL) as (process, log):
            assert process.wait(TIMEOUT_SECONDS) == -signal.SIGKILL, log.read_text()

    def rows(self, query: str) -> list[Any]:
        if self.database.startswith("sqlite"):
            with closing(sqlite3.connect(self.database.removeprefix("sqlite:///"))) as database:
                return database.execute(query).fetchall()
        with psycopg.connect(self.database) as database:
            return database.execute(query).fetchall()

    def tasks(self) -> list[tuple[str, int]]:
        """Return the status and the number of attempts of each task."""
        query = "SELECT status, worker_ids FROM django_tasks_database_dbtaskresult ORDER BY enqueued_at"
        # SQLite stores JSON as text.
        return [
            (status, len(json.loads(ids) if isinstance(ids, str) else ids))
            for status, ids in self.rows(query)
        ]

    def jobs(self) -> list[str]:
        return [state for (state,) in self.rows("SELECT state FROM exchange_importjob ORDER BY id")]

    def count(self, table: str) -> int:
        return int(self.rows(f"SELECT count(*) FROM {table}")[0][0])  # noqa: S608 # no input


def wait_until(is_reached: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not is_reached():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Installation]:
    with own_database(tmp_path) as database:
        yield Installation(tmp_path, database)


@pytest.mark.server
def test_another_worker_writes_the_import_of_a_killed_one(site: Installation) -> None:
    # The preview is made here; the worker finds nothing to do for its task.
    site.run(
        f"{SETUP}\njob = ImportJob.objects.get()\ntasks.preview.func(job.pk)\n"
        'client.post(page(job), {"do": "confirm"})'
    )
    site.killed_worker()
    after_kill = site.tasks(), site.jobs(), site.count("papers_paper"), site.count("exchange_importrun")
    with site.worker() as (_, log):
        wait_until(lambda: site.jobs() == ["done"] and site.tasks()[1][0] == "SUCCESSFUL", log)
    text = log.read_text()

    assert after_kill == ([("SUCCESSFUL", 1), ("RUNNING", 1)], ["writing"], 0, 0)
    assert site.tasks() == [("SUCCESSFUL", 1), ("SUCCESSFUL", 2)]
    assert (site.count("papers_paper"), site.count("exchange_importrun")) == (1, 1)
    assert "runs again (attempt 2 of 3): its worker no longer reports" in text
    assert "Traceback" not in text


@pytest.mark.server
def test_import_that_kills_three_workers_has_failed(site: Installation) -> None:
    site.run(SETUP)
    for _ in range(3):
        site.killed_worker()
    with site.worker() as (_, log):
        wait_until(lambda: site.jobs() == ["failed"], log)
    shown = " ".join(site.run(PAGE).split())

    assert site.tasks() == [("FAILED", 3)]
    assert site.count("papers_paper") == 0
    assert "Nothing was written. The worker was stopped 3 times while it worked on these files." in shown
    assert "ask the server’s administrator to raise the worker’s memory limit." in shown
    assert "Start again" in shown


def end_connections(site: Installation, seconds: float) -> None:
    """End all connections to the database, and refuse new ones for this long."""
    server, _, name = site.database.rpartition("/")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as admin:
        admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {seconds == 0}")
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        time.sleep(seconds)
        admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite has no server that restarts"
)


@pytest.mark.server
@on_postgresql
@pytest.mark.parametrize("seconds", [0, 5])
def test_worker_survives_a_restart_of_the_database(site: Installation, seconds: int) -> None:
    began = site.folder / "began"
    site.run(f"{SETUP}\nupload()")
    with site.worker(WAIT.format(began=began)) as (process, log):
        wait_until(began.exists, log)
        end_connections(site, seconds)
        wait_until(lambda: {status for status, _ in site.tasks()} == {"SUCCESSFUL"}, log)
        is_running = process.poll() is None
    text = log.read_text()

    assert is_running
    assert site.jobs() == ["ready", "ready"]
    assert site.tasks() == [("SUCCESSFUL", 2), ("SUCCESSFUL", 1)]
    assert "runs again (attempt 2 of 3)" in text
    if seconds:
        assert "The database failed. The worker tries again in 1 s:" in text
        assert "The database failed. The worker tries again in 2 s:" in text
        assert "Traceback" not in text


@pytest.mark.server
@on_postgresql
def test_worker_that_is_stopping_ends_although_its_database_fails(site: Installation) -> None:
    began = site.folder / "began"
    site.run(SETUP)
    with site.worker(WAIT.format(began=began)) as (process, log):
        wait_until(began.exists, log)
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: "shutting down gracefully" in log.read_text(), log)
        end_connections(site, 5)
        is_ended = process.wait(TIMEOUT_SECONDS) == 0
    text = log.read_text()
    with site.worker() as (_, log):
        wait_until(lambda: site.jobs() == ["ready"], log)

    assert is_ended
    assert "The database failed while the worker was stopping:" in text
    assert "Traceback" not in text


RELEASE = """
from datetime import timedelta
from django.core.management import call_command
from django.utils import timezone
from content.unreleased.worker_report import report
from schedule.unreleased.releasing import plan_release
from schedule.unreleased.tasks import enqueue_release
from tests import factories as make
from tests.schedule.unreleased.waiting import open_plan
call_command("migrate", verbosity=0)
session = make.make_session(make.make_edition(), title="Public")
plan = open_plan(session.edition)
session.title = "Planned"
session.save()
report()
moment = timezone.now() + timedelta(seconds=12)
plan_release(plan, None, moment, timezone.now())
enqueue_release(moment)
print(moment.timestamp())
"""


@pytest.mark.server
def test_worker_makes_a_planned_release_at_its_time(site: Installation) -> None:
    moment = float(site.run(RELEASE))

    def title() -> str:
        return str(site.rows("SELECT title FROM schedule_session")[0][0])

    before = title()
    with site.worker() as (_, log):
        wait_until(lambda: "Starting worker" in log.read_text(), log)
        started = time.time()
        wait_until(lambda: title() == "Planned", log)
        ended = time.time()

    assert before == "Public"
    assert moment <= ended < max(moment, started) + 30
