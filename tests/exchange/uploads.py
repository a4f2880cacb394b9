"""Helpers that upload and confirm imports as a browser does."""

import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from conference.models import Edition
from exchange.files import Context
from exchange.formats import program_json
from exchange.models import ImportJob
from exchange.records import PaperRecord, Program
from tests.api.writing import make_staff
from tests.exchange.programs import program

ADD_URL = "/admin/exchange/importjob/add/"


def program_file(records: Program) -> bytes:
    """Return a program as a file."""
    (output_file,) = program_json.write(records, Context("2021", 2021, "America/Los_Angeles"))
    return b"".join(output_file.chunks)


def papers_file(records: Program) -> bytes:
    """Return a file of the papers and people only."""
    parts = json.loads(program_file(records))
    return json.dumps({name: parts[name] for name in ("format", "version", "papers")}).encode()


def upload(client: Client, edition: Edition | None, *files: tuple[str, bytes], **fields: Any) -> ImportJob:
    """Upload files and return the job."""
    uploaded_files = [SimpleUploadedFile(name, content) for name, content in files]
    data = {"edition": edition.pk if edition else "new", "format": "", "sources": uploaded_files, **fields}
    response = client.post(ADD_URL, data)
    assert response.status_code == 302, response.context["form"].errors
    return ImportJob.objects.latest("pk")


def upload_papers(client: Client, edition: Edition, *papers: PaperRecord) -> ImportJob:
    """Upload p.json, a file of these papers, and return the job."""
    return upload(client, edition, ("p.json", papers_file(program(*papers))))


def job_url(job: ImportJob) -> str:
    """Return the address of a job's page."""
    return reverse("admin:exchange_importjob_change", args=[job.pk])


def press_button(client: Client, job: ImportJob, button: str) -> ImportJob:
    """Press a button of a job's page."""
    response = client.post(job_url(job), {"do": button}, follow=True)
    assert response.status_code == 200
    return ImportJob.objects.get(pk=job.pk)


def staff_client(*permissions: str) -> Client:
    """Return a client that is signed in as a user with these permissions only."""
    client = Client()
    client.force_login(make_staff(*permissions, name="mia"))
    return client
