"""The program as a server runs it: commands and scripts, in processes and on a folder of their own."""

import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
PYTHON = [sys.executable, "-W", "ignore"]


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Nothing of this process's own settings."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    settings_module = {"DJANGO_SETTINGS_MODULE": "conference.settings"}
    return {**kept, **settings_module, "PLENARY_VAR_DIR": str(folder), **more}


def manage(folder: Path, command: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command as on a server, with nothing in the environment but this."""
    return subprocess.run(
        [*PYTHON, "manage.py", *command.split(), *words],
        cwd=ROOT,
        env=environment(folder, **more),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def start(folder: Path, program: str, **more: str) -> subprocess.Popen[str]:
    """Start a script, with Django set up."""
    return subprocess.Popen(
        [*PYTHON, "-c", f"import django\ndjango.setup()\n{program}"],
        cwd=ROOT,
        env=environment(folder, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> str:
    """Wait for a script, and return what it printed."""
    said, wrong = process.communicate(timeout=300)
    assert process.returncode == 0, wrong
    return said
