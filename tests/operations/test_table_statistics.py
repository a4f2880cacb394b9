"""Table statistics are updated after an import, so that the next queries have good plans.

`tests/operations/backup/test_drill.py` tests the same after a restore.
"""

import pytest
from django.db import connection

from exchange.imports.load import load
from papers.models import Paper
from tests import factories as make
from tests.exchange.programs import paper, program


def papers_in_statistics() -> int:
    """Return the number of papers in the statistics of the database."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT reltuples FROM pg_class WHERE relname = %s", [Paper._meta.db_table])
            return int(cursor.fetchone()[0])
        cursor.execute("SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_stat1'")
        if not cursor.fetchone()[0]:
            return 0
        cursor.execute("SELECT stat FROM sqlite_stat1 WHERE tbl = %s LIMIT 1", [Paper._meta.db_table])
        return int((cursor.fetchone() or ["0"])[0].split()[0])


@pytest.mark.django_db(transaction=True)
def test_import_updates_the_statistics() -> None:
    make.make_edition()
    load(program(*(paper(f"p{number}") for number in range(30))), "2021")

    assert papers_in_statistics() == 30
