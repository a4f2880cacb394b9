"""Twenty editors edit the same few rows for some seconds: no confirmed change is lost, no request fails."""

import os
from pathlib import Path

import pytest

from tests.faults.databases import told

# The results in docs/reliability.md are from a longer run.
SECONDS = os.environ.get("EDIT_SECONDS", "5")


@pytest.mark.server
def test_twenty_editors_lose_nothing(tmp_path: Path) -> None:
    found = told("tests.faults.editing", tmp_path, "--seconds", SECONDS)

    assert (found["lost"], found["failed"]) == ([], 0)
    assert found["words"] > 0
    assert found["moves"] > 0
