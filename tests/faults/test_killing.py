"""A killed worker leaves all of its work or none of it, and no stale cache entries."""

import os
from pathlib import Path

import pytest

from tests.faults.databases import told
from tests.faults.jobs import JOBS

# Runs of each kind of job. The results in docs/reliability.md are from KILL_RUNS=40: 200 runs in all.
RUNS = int(os.environ.get("KILL_RUNS", "2"))


@pytest.mark.server
def test_killed_work_is_whole_or_absent(tmp_path: Path) -> None:
    found = told("tests.faults.killing", tmp_path, "--runs", str(RUNS))

    assert found["wrong"] == []
    assert found["runs"] == RUNS * len(JOBS)
    assert found["counts"]["killed"] > RUNS
