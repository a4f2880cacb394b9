"""Commands and scripts that run as on a server: in their own process, with their own data folder."""

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.db import connection

ROOT = Path(settings.BASE_DIR)
HOST = "127.0.0.1"
START_SECONDS = 60.0
PYTHON = [sys.executable, "-W", "ignore"]
# File name of the database of an installation on SQLite.
DATABASE = "plenary.sqlite3"
# Path of an SQLite database with all tables and no content, once this process has one.
TABLES: list[Path] = []


def save_tables(file: Path) -> None:
    """Copy the database of this process while it is new, because migrating takes five seconds."""
    with closing(sqlite3.connect(file)) as copy:
        connection.ensure_connection()
        connection.connection.backup(copy)
    TABLES.append(file)


def restore_tables(*_: object, **__: object) -> None:
    """Restore the copy of the new database, which is ten times as fast as the command `flush`."""
    connection.ensure_connection()
    with closing(sqlite3.connect(TABLES[0])) as copy:
        copy.backup(connection.connection)
    ContentType.objects.clear_cache()


def copy_tables(file: Path) -> None:
    """Copy the new database to a file, if there is one. Migrating the copy has nothing to do."""
    file.parent.mkdir(parents=True, exist_ok=True)
    for tables in TABLES[:1]:
        shutil.copy(tables, file)


def make_tables(folder: Path) -> None:
    """Create the tables of an installation on SQLite."""
    copy_tables(folder / DATABASE)
    if not TABLES:
        result = manage(folder, "migrate -v 0")
        assert result.returncode == 0, result.stderr


def environment(folder: Path, **extra: str) -> dict[str, str]:
    """Return an environment without the settings of this process, which serves no stale pages."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    plenary_settings = {"DJANGO_SETTINGS_MODULE": "conference.settings", "PAGE_CACHE_STALE_SECONDS": "0"}
    return {**inherited, **plenary_settings, "PLENARY_VAR_DIR": str(folder), **extra}


def manage(folder: Path, command: str, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run a management command as on a server; `extra` adds to its minimal environment."""
    return python(folder, "manage.py", *command.split(), *arguments, **extra)


def python(folder: Path, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run Python from the root of the project; `extra` adds to its minimal environment."""
    return subprocess.run(
        [*PYTHON, *arguments],
        cwd=ROOT,
        env=environment(folder, **extra),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def start(folder: Path, script: str, **extra: str) -> subprocess.Popen[str]:
    """Start a script, with Django set up."""
    return subprocess.Popen(
        [*PYTHON, "-c", f"import django\ndjango.setup()\n{script}"],
        cwd=ROOT,
        env=environment(folder, **extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> str:
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    return stdout


def free_port() -> int:
    with socket.create_server((HOST, 0)) as server:
        return int(server.getsockname()[1])


def wait_for_port(port: int, process: subprocess.Popen[Any], log: Path | None = None) -> None:
    """Wait until a server listens; fail with its log if it ended instead."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
            return
        except OSError:
            may_still_start = time.monotonic() < deadline and process.poll() is None
            assert may_still_start, log.read_text() if log else f"{process.args!r} does not listen"
            time.sleep(0.02)
