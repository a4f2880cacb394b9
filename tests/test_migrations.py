"""The migrations create the tables that the models describe, on both databases."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


@pytest.mark.django_db
def test_models_and_migrations_agree() -> None:
    said = StringIO()
    call_command("makemigrations", check=True, dry_run=True, stdout=said)

    assert said.getvalue().strip() == "No changes detected"


@pytest.mark.django_db
def test_every_migration_was_applied_and_has_one_end() -> None:
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph

    assert executor.migration_plan(graph.leaf_nodes()) == []
    assert executor.loader.detect_conflicts() == {}
