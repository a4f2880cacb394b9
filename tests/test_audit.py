"""Comparison of pinned packages with a saved database of known vulnerabilities."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PINS = "django==6.1.3 \\\n    --hash=sha256:00\nknox-Rest==5.1 ; python_version > '3'\n"


def entry(name: str, **affected: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": name}
    return {"id": "OSV-1", "summary": "Opens.", "affected": [{"package": package, **affected}]}


def span(*events: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"type": "ECOSYSTEM", "events": [{event: value} for event, value in events]}]


def run_audit(folder: Path, *entries: dict[str, Any]) -> tuple[int, list[str]]:
    (folder / "pins.txt").write_text(PINS)
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        for number, content in enumerate(entries):
            archive.writestr(f"{number}.json", json.dumps(content))
    files = (ROOT / "tools" / "audit.py", folder / "all.zip", folder / "pins.txt")
    command = [sys.executable, *map(str, files)]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, result.stdout.splitlines()


@pytest.mark.parametrize(
    "affected",
    [
        {"versions": ["6.1.2", "6.1.3"]},
        {"ranges": span(("introduced", "0"), ("fixed", "6.1.4"))},
        {"ranges": span(("introduced", "0"), ("fixed", "5.0"), ("introduced", "6.1"))},
        {"ranges": span(("introduced", "6.0"), ("last_affected", "6.1.3"))},
    ],
)
def test_known_vulnerability_of_a_pinned_version_is_reported(
    affected: dict[str, Any], tmp_path: Path
) -> None:
    assert run_audit(tmp_path, entry("Django", **affected)) == (
        1,
        ["django 6.1.3: OSV-1 Opens.", "2 packages compared, 1 holes known."],
    )


@pytest.mark.parametrize(
    "vulnerability",
    [
        entry("django", versions=["6.1.2"]),
        entry("django", ranges=span(("introduced", "0"), ("fixed", "6.1.3"))),
        entry("django", ranges=span(("introduced", "0"), ("last_affected", "6.1.2"))),
        entry("another", versions=["6.1.3"]),
        entry("django", versions=["6.1.3"]) | {"withdrawn": "2026-01-01T00:00:00Z"},
    ],
)
def test_vulnerability_of_other_versions_and_packages_is_ignored(
    vulnerability: dict[str, Any], tmp_path: Path
) -> None:
    assert run_audit(tmp_path, vulnerability) == (0, ["2 packages compared, 0 holes known."])


def test_package_names_are_normalized(tmp_path: Path) -> None:
    assert run_audit(tmp_path, entry("Knox_rest", versions=["5.1"]))[1][0] == "knox-rest 5.1: OSV-1 Opens."
