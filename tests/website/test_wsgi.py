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

LOADED = """
import gc, json, sys
import website.wsgi
known = set(sys.modules)
print(json.dumps({"kept": gc.get_freeze_count(), "collects": gc.isenabled(), "modules": sorted(known)}))
"""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the modules and the state of the garbage collector of a process that is ready to serve."""
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "SITE_URL"}}
    places = {"PLENARY_VAR_DIR": str(tmp_path_factory.mktemp("var"))}
    said = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=Path(settings.BASE_DIR), env={**kept, **places},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(said.stdout)


def test_all_views_are_loaded(started: Any) -> None:
    assert {"website.urls", "api.views", "papers.views", "schedule.views"} <= set(started["modules"])


def test_what_only_imports_need_is_not(started: Any) -> None:
    assert {"bibtexparser", "openpyxl", "boto3"}.isdisjoint(started["modules"])


def test_garbage_collection_scans_only_what_requests_leave(started: Any) -> None:
    assert started["collects"] is True
    assert started["kept"] > 100_000
