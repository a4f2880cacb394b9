"""A killed worker leaves all of its work or none of it, and no stale cache entries."""

import os
from pathlib import Path

import pytest

from tests.faults.databases import run_module
from tests.faults.jobs import JOBS

# Runs of each kind of job. The results in docs/reliability.md are from KILL_RUNS=40: 200 runs in all.
RUNS = int(os.environ.get("KILL_RUNS", "2"))


@pytest.mark.server
def test_killed_job_is_complete_or_absent(tmp_path: Path) -> None:
    results = run_module("tests.faults.killing", tmp_path, "--runs", str(RUNS))

    assert results["wrong"] == []
    assert results["runs"] == RUNS * len(JOBS)
    assert results["counts"]["killed"] > RUNS
