"""A worker that is killed leaves its work whole or not at all, and nothing kept that is older than it."""

import os
from pathlib import Path

import pytest

from tests.faults.databases import told
from tests.faults.jobs import JOBS

# Of each kind of work. What docs/reliability.md tells comes of KILL_RUNS=40: 200 in all.
RUNS = int(os.environ.get("KILL_RUNS", "2"))


@pytest.mark.server
def test_killed_work_is_whole_or_absent(tmp_path: Path) -> None:
    found = told("tests.faults.killing", tmp_path, "--runs", str(RUNS))

    assert found["wrong"] == []
    assert found["runs"] == RUNS * len(JOBS)
    assert found["counts"]["killed"] > RUNS
