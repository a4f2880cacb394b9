"""The start of a web process: it imports all views before the first request, but no parser of uploads."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

pytestmark = pytest.mark.anywhere

PRINT_STATE = """
import gc, json, sys
import website.wsgi
state = {"frozen": gc.get_freeze_count(), "collects": gc.isenabled(), "modules": sorted(sys.modules)}
print(json.dumps(state))
"""


@pytest.fixture(scope="module")
def process_state(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the modules and the state of the garbage collector of a process that is ready to serve."""
    environment = {
        name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "SITE_URL"}
    }
    variables = {"PLENARY_VAR_DIR": str(tmp_path_factory.mktemp("var"))}
    process = subprocess.run(
        [sys.executable, "-c", PRINT_STATE], cwd=Path(settings.BASE_DIR), env={**environment, **variables},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(process.stdout)


def test_all_views_are_imported_at_start(process_state: Any) -> None:
    assert {"website.urls", "api.views", "papers.views", "schedule.views"} <= set(process_state["modules"])


def test_parsers_of_uploads_are_not_imported_at_start(process_state: Any) -> None:
    assert {"bibtexparser", "openpyxl", "boto3"}.isdisjoint(process_state["modules"])


def test_garbage_collection_ignores_objects_created_at_start(process_state: Any) -> None:
    assert process_state["collects"] is True
    assert process_state["frozen"] > 100_000
