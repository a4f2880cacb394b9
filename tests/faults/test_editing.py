"""Twenty editors on the same few things for some seconds: nothing that was taken is lost, nothing breaks."""

import os
from pathlib import Path

import pytest

from tests.faults.databases import told

# What docs/reliability.md tells comes of a longer run.
SECONDS = os.environ.get("EDIT_SECONDS", "5")


@pytest.mark.server
def test_twenty_editors_lose_nothing(tmp_path: Path) -> None:
    found = told("tests.faults.editing", tmp_path, "--seconds", SECONDS)

    assert (found["lost"], found["failed"]) == ([], 0)
    assert found["words"] > 0
    assert found["moves"] > 0
