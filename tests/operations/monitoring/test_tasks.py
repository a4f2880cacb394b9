"""All log lines of a task have the same id."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from conference.logs import JsonFormatter
from exchange.jobs import tasks
from exchange.models import ImportJob
from pagecache import request_log
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Yield the stream of the log of imports."""
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("exchange.jobs.tasks")
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> ImportJob:
    """Create an import job whose task fails."""
    monkeypatch.setattr(tasks, "_read", lambda job, progress: 1 / 0)
    return ImportJob.objects.create(edition=make.make_edition(), format="program_json")


def test_failed_task_is_logged_with_its_id(log: io.StringIO, job: ImportJob) -> None:
    result = tasks.preview.enqueue(job.pk)
    line = json.loads(log.getvalue())

    assert (line["request"], line["message"]) == (result.id, f"The import {job.pk} failed")
    assert "ZeroDivisionError" in line["exception"]
    assert request_log.current_note() is None


def test_task_inside_a_request_is_logged_with_the_request_id(log: io.StringIO, job: ImportJob) -> None:
    request_log.begin("a-request-1")
    tasks.preview.enqueue(job.pk)
    note = request_log.current_note()
    request_log.end()

    assert json.loads(log.getvalue())["request"] == "a-request-1"
    assert note is not None
