"""The number of queries does not depend on the number of rows (trap 18)."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from content.history import ChangeSet, RowChange
from tests import factories as make

pytestmark = pytest.mark.django_db

EXPANDED_PAPERS = "/api/v1/papers/?page_size=50&expand=authors.person,presentations,awards"


def make_papers(count: int) -> None:
    """Create papers, each with all relations of an expanded response."""
    edition = make.make_edition()
    session, topic = make.make_session(edition), make.make_topic(edition)
    for number in range(count):
        paper = make.make_paper(edition, [f"Ann {number}", f"Bo {number}"], topic=topic)
        make.make_presentation(session, paper, start=session.start + timedelta(minutes=number))
        make.make_award(edition, [paper])
        make.make_material(paper)


@pytest.mark.parametrize("count", [1, 3, 60])
def test_trap_18_page_of_expanded_papers_takes_25_queries(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries, count: int
) -> None:
    make_papers(count)
    with django_assert_num_queries(25):
        results = client.get(EXPANDED_PAPERS).json()["results"]
    assert len(results) == min(count, 50)
    assert all(len(row["authors"]) == 2 and row["presentations"] and row["awards"] for row in results)


@pytest.mark.parametrize(
    ("path", "queries"),
    [("papers", 11), ("people", 10), ("sessions", 10), ("presentations", 10), ("awards", 9), ("topics", 8)],
)
@pytest.mark.parametrize("count", [1, 3])
def test_list_query_count_is_the_same_for_1_and_3_rows(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries, path: str, queries: int, count: int
) -> None:
    make_papers(count)
    with django_assert_num_queries(queries):
        assert client.get(f"/api/v1/{path}/").json()["results"] != []


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="The plans of SQLite")
@pytest.mark.parametrize("path", ["papers", "people", "sessions", "presentations", "materials"])
def test_change_times_of_a_page_are_read_by_index(client: Client, path: str) -> None:
    """Include statistics by which no row was ever moved, and most changes are of one model."""
    make_papers(3)
    changes = ChangeSet.objects.create(at=timezone.now())
    RowChange.objects.bulk_create(
        RowChange(change_set=changes, kind="changed", model=f"papers.{model}", object_id=key, owner=owner)
        for key in range(1000)
        for model, owner in (("paper", ""), ("authorship", f"papers.paper:{key}"))
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        with CaptureQueriesContext(connection) as captured:
            client.get(f"/api/v1/{path}/")
        statements = [query["sql"] for query in captured if "content_rowchange" in query["sql"]]
        plan = [
            step[3] for sql in statements for step in cursor.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
        ]
    steps = [step for step in plan if "content_rowchange" in step]
    indexed = ("(model=? AND object_id=?)", "(owner=?)", "(moved_to=?)")

    assert steps
    assert [step for step in steps if not step.endswith(indexed)] == []
    assert [step for step in plan if "CORRELATED" in step] == []
