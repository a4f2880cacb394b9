"""The number of queries does not grow with the rows (trap 18)."""

from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests import factories as make

pytestmark = pytest.mark.django_db

WIDE = "/api/v1/papers/?page_size=50&expand=authors.person,presentations,awards"


def fill(count: int) -> None:
    """Make papers, each with what an expanded answer shows."""
    edition = make.make_edition()
    session, topic = make.make_session(edition), make.make_topic(edition)
    for number in range(count):
        paper = make.make_paper(edition, [f"Ann {number}", f"Bo {number}"], topic=topic)
        make.make_presentation(session, paper, start=session.start + timedelta(minutes=number))
        make.make_award(edition, [paper])
        make.make_material(paper)


@pytest.mark.parametrize("count", [1, 3, 60])
def test_trap_18_page_of_expanded_papers_takes_14_queries(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries, count: int
) -> None:
    fill(count)
    with django_assert_num_queries(14):
        results = client.get(WIDE).json()["results"]
    assert len(results) == min(count, 50)
    assert all(len(row["authors"]) == 2 and row["presentations"] and row["awards"] for row in results)


@pytest.mark.parametrize(
    ("path", "queries"),
    [("papers", 7), ("people", 7), ("sessions", 6), ("presentations", 6), ("awards", 6), ("topics", 5)],
)
@pytest.mark.parametrize("count", [1, 3])
def test_list_takes_few_queries(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries, path: str, queries: int, count: int
) -> None:
    fill(count)
    with django_assert_num_queries(queries):
        assert client.get(f"/api/v1/{path}/").json()["results"] != []
