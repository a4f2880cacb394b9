"""Tests of imports with the upload and the worker on two machines, which share only the database."""

import secrets
from pathlib import Path

import pytest

from tests.exchange.programs import paper, program
from tests.exchange.uploads import papers_file
from tests.faults.databases import own_database
from tests.processes import output, start

SITE = """
import time
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django_tasks_db.models import DBTaskResult
from exchange.models import ImportJob, UploadPart
from papers.models import Paper
from tests import factories as make
def wait_for_tasks(count):
    deadline = time.monotonic() + 60
    while DBTaskResult.objects.finished().count() < count and time.monotonic() < deadline:
        time.sleep(0.05)
call_command("migrate", verbosity=0)
client = Client(SERVER_NAME="127.0.0.1")
client.force_login(User.objects.create_superuser("chair"))
data = {"edition": make.make_edition().pk, "sources": [SimpleUploadedFile("p.json", FILE)]}
assert client.post("/admin/exchange/importjob/add/", data).status_code == 302
print("uploaded", flush=True)
wait_for_tasks(1)
page = f"/admin/exchange/importjob/{ImportJob.objects.get().pk}/change/"
assert client.post(page, {"do": "confirm"}).status_code == 302
wait_for_tasks(2)
states = [*DBTaskResult.objects.order_by("enqueued_at").values_list("status", flat=True)]
print(ImportJob.objects.get().state, *states, Paper.objects.count(), UploadPart.objects.count())
"""
WORKER = """
from django.core.management import call_command
call_command("db_worker", interval=0.05, startup_delay=False, verbosity=0)
"""


@pytest.mark.server
def test_import_works_if_site_and_worker_share_only_the_database(tmp_path: Path) -> None:
    file = papers_file(program(paper("p1", "Ada")))
    with own_database(tmp_path) as database:
        shared = {"DATABASE_URL": database, "TASKS": "database", "SECRET_KEY": secrets.token_hex(32)}
        site = start(tmp_path / "site", f"FILE = {file!r}\n{SITE}", **shared)
        assert site.stdout
        # The worker starts when the tables exist.
        site.stdout.readline()
        worker = start(tmp_path / "worker", WORKER, **shared)
        try:
            outcome = output(site)
        finally:
            worker.kill()
            worker.communicate()

    assert outcome.strip() == "done SUCCESSFUL SUCCESSFUL 1 0"
