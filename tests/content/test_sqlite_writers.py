"""Concurrent writes of several processes to SQLite: all succeed, and no change is lost or counted twice."""

import sqlite3
from contextlib import closing
from pathlib import Path

from conference.environment import safe_database
from tests.processes import DATABASE, make_tables, manage, output, start

PROCESSES, CHANGES = 4, 15
# Each transaction reads before it writes, as forms and imports do.
WRITER = """
from django.db import transaction
from conference.models import Edition
from papers.models import Paper
for number in range({changes}):
    with transaction.atomic():
        edition = Edition.objects.get(slug="2021")
        count = Paper.objects.count()
        Paper.objects.create(edition=edition, uid=f"p{name}-{{number}}", title=f"Paper {{count + 1}}")
"""
SETUP = """
from tests.factories import make_edition
print(make_edition().revision)
"""
RESULT = """
from conference.models import Edition
from papers.models import Paper
titles = {int(paper.title.split()[1]) for paper in Paper.objects.all()}
print(Edition.objects.get().revision, *sorted(titles))
"""


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    make_tables(tmp_path)
    before = int(output(start(tmp_path, SETUP)))
    writers = [start(tmp_path, WRITER.format(changes=CHANGES, name=name)) for name in range(PROCESSES)]
    for writer in writers:
        output(writer)

    revision, *titles = map(int, output(start(tmp_path, RESULT)).split())
    assert titles == list(range(1, PROCESSES * CHANGES + 1))
    assert revision == before + PROCESSES * CHANGES


def test_sqlite_settings_allow_concurrent_writers() -> None:
    options = safe_database({"ENGINE": "django.db.backends.sqlite3"}, False)["OPTIONS"]

    assert (options["transaction_mode"], options["timeout"]) == ("IMMEDIATE", 20)
    assert "journal_mode=WAL" in options["init_command"]


def test_connection_uses_wal_and_immediate_transactions(tmp_path: Path) -> None:
    script = "from django.db import connection as c; mode = c.cursor().execute('PRAGMA journal_mode')"
    result = manage(tmp_path, "shell -v 0 -c", f"{script}; print(*mode.fetchone(), c.transaction_mode)")

    assert result.stdout.split() == ["wal", "IMMEDIATE"], result.stderr


def test_check_command_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    make_tables(tmp_path)
    with closing(sqlite3.connect(tmp_path / DATABASE, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        result = manage(tmp_path, "check --database default")

    assert result.returncode == 0, result.stderr
