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


def run_upgrade(folder: Path, old: str, is_healthy: bool = True) -> tuple[int, list[str]]:
    """Run it with these web containers running; return its exit code and the arguments of `docker`."""
    for name in ("upgrade", "make-secrets"):
        shutil.copy(DEPLOY / name, folder)
    docker = folder / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "OLD": old, "ANSWERS": "0" if is_healthy else "1"}
    result = subprocess.run([folder / "upgrade"], env=environment, capture_output=True, check=False)
    commands = (folder / "docker.log").read_text().splitlines()
    return result.returncode, [line.removeprefix("compose -f compose.yaml ") for line in commands]


FIRST_COMMANDS = ["build", "run --rm migrate", "ps --quiet web"]


@pytest.mark.parametrize(("old", "container_count"), [("a\n", 2), ("a\nb\n", 4)])
def test_new_containers_are_healthy_before_old_ones_stop(
    tmp_path: Path, old: str, container_count: int
) -> None:
    assert run_upgrade(tmp_path, old) == (0, [
        *FIRST_COMMANDS,
        f"up --detach --wait --no-deps --no-recreate --scale web={container_count} web",
        f"stop {' '.join(old.split())}",
        f"rm {' '.join(old.split())}",
        "up --detach --no-deps worker",
    ])  # fmt: skip


def test_unhealthy_new_container_is_removed_and_the_old_one_stays(tmp_path: Path) -> None:
    assert run_upgrade(tmp_path, "a\n", is_healthy=False) == (1, [
        *FIRST_COMMANDS,
        "up --detach --wait --no-deps --no-recreate --scale web=2 web",
        "ps --all --quiet web",
        "rm --force new",
    ])  # fmt: skip


def test_upgrade_without_running_containers_starts_all_services(tmp_path: Path) -> None:
    assert run_upgrade(tmp_path, "") == (0, [*FIRST_COMMANDS, "up --detach"])
