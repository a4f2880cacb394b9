"""The number of queries does not depend on the number of rows (trap 18)."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from tests import factories as make

pytestmark = pytest.mark.django_db

# PostgreSQL is asked for the oldest transaction that has written.
OLDEST_WRITER = int(connection.vendor == "postgresql")
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
def test_trap_18_page_of_expanded_papers_takes_15_queries(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries, count: int
) -> None:
    make_papers(count)
    with django_assert_num_queries(15 + OLDEST_WRITER):
        results = client.get(EXPANDED_PAPERS).json()["results"]
    assert len(results) == min(count, 50)
    assert all(len(row["authors"]) == 2 and row["presentations"] and row["awards"] for row in results)


@pytest.mark.parametrize(
    ("path", "queries"),
    [("papers", 8), ("people", 8), ("sessions", 5), ("presentations", 5), ("awards", 7), ("topics", 4)],
)
@pytest.mark.parametrize("count", [1, 3])
def test_list_query_count_is_the_same_for_1_and_3_rows(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries, path: str, queries: int, count: int
) -> None:
    make_papers(count)
    with django_assert_num_queries(queries + OLDEST_WRITER):
        assert client.get(f"/api/v1/{path}/").json()["results"] != []


@pytest.mark.parametrize("path", ["papers", "people", "sessions", "presentations", "materials"])
def test_list_does_not_read_the_history(client: Client, path: str) -> None:
    make_papers(3)
    with CaptureQueriesContext(connection) as captured:
        client.get(f"/api/v1/{path}/?changed_since=2021-01-01T00:00:00Z")

    assert [query["sql"] for query in captured if "content_rowchange" in query["sql"]] == []
