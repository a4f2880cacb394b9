"""The migrations create the tables that the models describe, on both databases, and are never rewritten."""

import hashlib
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

ROOT = Path(__file__).parent.parent
# Checksums of migrations that sites have applied, in the format of `sha256sum`. New ones are added.
CHECKSUMS = ROOT / "tests" / "migrations.sha256"


@pytest.mark.django_db
def test_migrations_match_the_models() -> None:
    out = StringIO()
    call_command("makemigrations", check=True, dry_run=True, stdout=out)

    assert out.getvalue().strip() == "No changes detected"


@pytest.mark.django_db
def test_all_migrations_are_applied_without_conflicts() -> None:
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph

    assert executor.migration_plan(graph.leaf_nodes()) == []
    assert executor.loader.detect_conflicts() == {}


def test_migrations_are_added_and_never_rewritten() -> None:
    lines = CHECKSUMS.read_text().splitlines()
    listed = {name: checksum for checksum, name in (line.split("  ") for line in lines)}
    stored = {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in listed}

    written = {str(path.relative_to(ROOT)) for path in ROOT.glob("*/migrations/0*.py")}
    # A new migration is added to the list (`sha256sum FILE`).
    assert written == listed.keys()
    assert {name for name in listed if stored[name] != listed[name]} == set()
