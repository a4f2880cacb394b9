"""`manage.py demo --empty`, with which the README starts a new program."""

import logging
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from conference.models import Edition
from operations.management.commands import demo
from papers.models import Paper
from tests import factories as make


@pytest.mark.django_db
def test_empty_demo_imports_a_program_as_in_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], client: Client
) -> None:
    collect_static_calls: list[bool] = []
    monkeypatch.setattr(demo, "collect_static", lambda: collect_static_calls.append(True))
    logger = logging.getLogger("django.tasks")
    monkeypatch.setattr(logger, "level", logging.INFO)
    call_command("demo", "--empty", "--no-serve")
    output = capsys.readouterr().out
    password = re.search(r"password: (\S+)", output)
    stages = ["Preparing the database …", "Collecting static files …", "Indexing for the search …"]
    assert (output.splitlines()[:3], logger.level) == (stages, logging.WARNING)
    assert password
    assert (collect_static_calls, Edition.objects.count()) == ([True], 0)
    assert client.login(username="chair", password=password[1])
    assert (client.get("/").status_code, client.get("/admin/").status_code) == (200, 200)

    make.make_edition(2027, public_from=None)
    (tmp_path / "my-tables").mkdir()
    (tmp_path / "my-tables/papers.csv").write_text("uid,title\np,A Paper\n")
    monkeypatch.chdir(tmp_path)
    text = (Path(settings.BASE_DIR) / "README.md").read_text("utf-8").partition("## Bring your own")[2]
    commands = re.findall(r"^uv run manage.py ((?:import|export).*)$", text, re.MULTILINE)
    counts = []
    for command in commands:
        call_command(*command.split())
        counts.append(Paper.objects.count())

    assert counts == [0, 1, 1]
    assert "A Paper" in (tmp_path / "program-2027.json").read_text("utf-8")
