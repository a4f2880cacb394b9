"""What a process loads when it starts."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOADED_ADMINS = "import sys; print([name for name in sys.modules if '.admin' in name])"


def run_in_shell(code: str) -> str:
    """Run Python code in a new process, as a command does."""
    command = [sys.executable, "manage.py", "shell", "--no-startup", "--no-imports", "-c", code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_commands_start_without_the_pages_of_the_admin() -> None:
    opens_addresses = f"from django.urls import reverse; reverse('admin:index'); {LOADED_ADMINS}"

    assert [name for name in run_in_shell(LOADED_ADMINS).split("'") if name.startswith("papers")] == []
    assert "papers.admin" in run_in_shell(opens_addresses)


def test_first_request_finds_the_pages_of_the_admin() -> None:
    handler = "from django.core.handlers.wsgi import WSGIHandler; WSGIHandler()"
    registered = "from django.contrib import admin; print([row._meta.label for row in admin.site._registry])"

    assert "papers.Paper" in run_in_shell(f"{handler}; {registered}")
