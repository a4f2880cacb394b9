"""An empty database on the server of the suite."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection


@pytest.fixture
def postgres() -> Iterator[str]:
    """Yield the URL of an empty database on the PostgreSQL server of these tests."""
    config: Any = connection.settings_dict
    if connection.vendor != "postgresql":
        pytest.skip("needs a PostgreSQL server: set DATABASE_URL")
    name = f"{config['NAME']}_drill"
    host, port = config["HOST"] or "127.0.0.1", config["PORT"] or 5432
    server = f"postgres://{config['USER']}:{config['PASSWORD']}@{host}:{port}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as admin:
        admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        admin.execute(f'CREATE DATABASE "{name}"')
        yield f"{server}/{name}"
        admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
