"""A database that other migrations made is refused by `migrate` and `check`, in words that say why."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.core.checks import run_checks
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from operations.database_history import find_differences
from tests.processes import DATABASE, make_tables, manage


@pytest.mark.django_db
def test_own_database_has_no_differences() -> None:
    assert [*find_differences(connection)] == []
    assert run_checks(tags=["database"], databases=["default"]) == []


@pytest.mark.django_db
def test_migration_of_another_history_is_named() -> None:
    MigrationRecorder(connection).record_applied("schedule", "0002_program")

    assert [*find_differences(connection)] == ["the migration schedule.0002_program is unknown"]


@pytest.mark.django_db
def test_column_and_table_of_another_history_are_named() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE papers_paper DROP COLUMN lay_summary")
        cursor.execute("ALTER TABLE papers_paper RENAME COLUMN abstract TO summary")
        cursor.execute("DROP TABLE conference_keydate")

    assert [*find_differences(connection)] == [
        "papers_paper has no column abstract",
        "papers_paper has no column lay_summary",
        "papers_paper has an unknown column summary",
        "the table conference_keydate is missing",
    ]


@pytest.mark.django_db
def test_column_that_the_operator_added_is_no_difference() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE papers_paper ADD COLUMN remark text")

    assert [*find_differences(connection)] == []


@pytest.mark.anywhere
@pytest.mark.parametrize("command", ["migrate", "check"])
def test_commands_refuse_a_database_of_another_history(tmp_path: Path, command: str) -> None:
    make_tables(tmp_path)
    accepted = manage(tmp_path, command)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute("ALTER TABLE schedule_session RENAME COLUMN on_release TO waiting")
    refused = manage(tmp_path, command)

    assert accepted.returncode == 0, accepted.stderr
    assert refused.returncode == 1
    assert "made by another history of migrations than this program's" in refused.stderr
    assert "schedule_session has no column on_release" in refused.stderr
    assert "Restore a backup of it with the version that made it" in refused.stderr
