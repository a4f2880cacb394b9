"""deploy/upgrade: which containers it starts and stops, with a fake `docker` that records its arguments."""

import shutil
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

DEPLOY = Path(settings.BASE_DIR) / "deploy"
DOCKER = """#!/usr/bin/env bash
echo "$*" >>"$0.log"
case "$*" in
  *"ps --quiet web") printf '%s' "$OLD" ;;
  *"ps --all --quiet web") printf '%snew\\n' "$OLD" ;;
  *--wait*) exit "$ANSWERS" ;;
esac
"""


def upgraded(folder: Path, old: str, answers: bool = True) -> tuple[int, list[str]]:
    """Run it with these web containers running; return its exit code and the arguments of `docker`."""
    for name in ("upgrade", "make-secrets"):
        shutil.copy(DEPLOY / name, folder)
    docker = folder / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "OLD": old, "ANSWERS": "0" if answers else "1"}
    done = subprocess.run([folder / "upgrade"], env=environment, capture_output=True, check=False)
    said = (folder / "docker.log").read_text().splitlines()
    return done.returncode, [line.removeprefix("compose -f compose.yaml ") for line in said]


BEGUN = ["build", "run --rm migrate", "ps --quiet web"]


@pytest.mark.parametrize(("old", "times"), [("a\n", 2), ("a\nb\n", 4)])
def test_new_containers_answer_before_old_ones_go(tmp_path: Path, old: str, times: int) -> None:
    assert upgraded(tmp_path, old) == (0, [
        *BEGUN,
        f"up --detach --wait --no-deps --no-recreate --scale web={times} web",
        f"stop {' '.join(old.split())}",
        f"rm {' '.join(old.split())}",
        "up --detach --no-deps worker",
    ])  # fmt: skip


def test_failing_version_is_removed_and_the_old_one_stays(tmp_path: Path) -> None:
    assert upgraded(tmp_path, "a\n", answers=False) == (1, [
        *BEGUN,
        "up --detach --wait --no-deps --no-recreate --scale web=2 web",
        "ps --all --quiet web",
        "rm --force new",
    ])  # fmt: skip


def test_stopped_container_is_started(tmp_path: Path) -> None:
    assert upgraded(tmp_path, "") == (0, [*BEGUN, "up --detach"])
