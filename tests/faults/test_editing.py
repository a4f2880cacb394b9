"""Twenty editors edit the same few rows for some seconds: no confirmed change is lost, no request fails."""

import os
from pathlib import Path

import pytest

from tests.faults.databases import run_module

# The results in docs/reliability.md are from a longer run.
SECONDS = os.environ.get("EDIT_SECONDS", "5")


@pytest.mark.server
def test_twenty_concurrent_editors_lose_no_change(tmp_path: Path) -> None:
    results = run_module("tests.faults.editing", tmp_path, "--seconds", SECONDS)

    assert (results["lost"], results["failed"]) == ([], 0)
    assert results["words"] > 0
    assert results["moves"] > 0
