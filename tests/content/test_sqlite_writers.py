"""Concurrent writes of several processes to SQLite: all succeed, and no change is lost or counted twice."""

import sqlite3
from contextlib import closing
from pathlib import Path

from conference.environment import safe_database
from tests.processes import DATABASE, make_tables, manage, output, start

PROCESSES, CHANGES = 4, 15
# Each transaction reads before it writes, as forms and imports do.
WRITE_AT_ONCE = """
import os
from django.db import connection, transaction
from conference.models import Edition
from papers.models import Paper
from tests.factories import make_edition
before = make_edition().revision
connection.close()
for process in range({processes}):
    if os.fork() == 0:
        for number in range({changes}):
            with transaction.atomic():
                edition = Edition.objects.get(slug="2021")
                count = Paper.objects.count()
                uid = f"p{{process}}-{{number}}"
                Paper.objects.create(edition=edition, uid=uid, title=f"Paper {{count + 1}}")
        os._exit(0)
exit_codes = [os.wait()[1] for _ in range({processes})]
titles = [int(paper.title.split()[1]) for paper in Paper.objects.all()]
print(*exit_codes, Edition.objects.get().revision - before, *sorted(titles))
"""


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    make_tables(tmp_path)
    script = WRITE_AT_ONCE.format(processes=PROCESSES, changes=CHANGES)
    numbers = [int(word) for word in output(start(tmp_path, script)).split()]
    total = PROCESSES * CHANGES

    assert numbers == [*[0] * PROCESSES, total, *range(1, total + 1)]


def test_sqlite_settings_allow_concurrent_writers() -> None:
    options = safe_database({"ENGINE": "django.db.backends.sqlite3"}, False, 10)["OPTIONS"]

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
