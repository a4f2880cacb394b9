"""The migrations create the tables that the models describe, on both databases."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


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
