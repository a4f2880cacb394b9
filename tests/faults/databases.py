"""Temporary databases for processes that cannot see a test's transaction, with the engine of the tests."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection

from tests.processes import PYTHON, ROOT, copy_tables, environment


@contextmanager
def own_database(folder: Path) -> Iterator[str]:
    """Create an empty database and yield its URL. Drop it afterwards."""
    if connection.vendor == "sqlite":
        copy_tables(folder / "own.sqlite3")
        yield f"sqlite:///{folder / 'own.sqlite3'}"
        return
    config = connection.settings_dict
    server = {
        "host": config["HOST"],
        "port": config["PORT"] or 5432,
        "user": config["USER"],
        "password": config["PASSWORD"],
    }
    name = f"plenary_faults_{os.getpid()}"
    with psycopg.connect(dbname="postgres", autocommit=True, **server) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        admin.execute(f"CREATE DATABASE {name}")
        try:
            password = f":{config['PASSWORD']}" if config["PASSWORD"] else ""
            yield f"postgres://{config['USER']}{password}@{server['host']}:{server['port']}/{name}"
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def run_module(module: str, folder: Path, *options: str) -> Any:
    """Run a module in a process with its own database; return the JSON that it prints."""
    with own_database(folder) as database:
        result = subprocess.run(
            [*PYTHON, "-m", module, *options],
            cwd=ROOT,
            env=environment(folder, DATABASE_URL=database),
            capture_output=True,
            text=True,
            check=False,
        )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)
