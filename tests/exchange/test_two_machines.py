"""Tests of imports with the upload and the worker on two machines, which share only the database."""

import secrets
from pathlib import Path

import pytest

from tests.exchange.programs import paper, program
from tests.exchange.uploads import papers_file
from tests.faults.databases import own_database
from tests.processes import manage, python

UPLOAD = """
import sys, django
django.setup()
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from tests import factories as make
client = Client(SERVER_NAME="127.0.0.1")
client.force_login(User.objects.create_superuser("chair"))
file = SimpleUploadedFile("p.json", sys.argv[1].encode())
data = {"edition": make.make_edition().pk, "sources": [file]}
assert client.post("/admin/exchange/importjob/add/", data).status_code == 302
"""
CONFIRM = """
import django
django.setup()
from django.contrib.auth.models import User
from django.test import Client
from exchange.models import ImportJob
client = Client(SERVER_NAME="127.0.0.1")
client.force_login(User.objects.get())
page = f"/admin/exchange/importjob/{ImportJob.objects.get().pk}/change/"
assert client.post(page, {"do": "confirm"}).status_code == 302
"""
OUTCOME = """
import django
django.setup()
from django_tasks_db.models import DBTaskResult
from exchange.models import ImportJob, UploadPart
from papers.models import Paper
states = [*DBTaskResult.objects.order_by("enqueued_at").values_list("status", flat=True)]
print(ImportJob.objects.get().state, *states, Paper.objects.count(), UploadPart.objects.count())
"""


@pytest.mark.server
def test_import_works_if_site_and_worker_share_only_the_database(tmp_path: Path) -> None:
    site, worker = tmp_path / "site", tmp_path / "worker"
    run_worker = "db_worker --batch --interval 0 --no-startup-delay -v 0"
    with own_database(tmp_path) as database:
        shared = {"DATABASE_URL": database, "TASKS": "database", "SECRET_KEY": secrets.token_hex(32)}
        steps = [
            manage(site, "migrate -v 0", **shared),
            python(site, "-c", UPLOAD, papers_file(program(paper("p1", "Ada"))).decode(), **shared),
            manage(worker, run_worker, **shared),
            python(site, "-c", CONFIRM, **shared),
            manage(worker, run_worker, **shared),
        ]
        outcome = python(site, "-c", OUTCOME, **shared)

    assert [step.stderr for step in steps if step.returncode] == []
    assert outcome.stdout.strip() == "done SUCCESSFUL SUCCESSFUL 1 0"
