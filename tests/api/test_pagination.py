"""Pagination: each row once despite changes, in any order, in pages of bounded size (trap 18)."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from conference.models import Edition
from papers.models import Paper
from tests import factories as make
from tests.api.reading import get, path_of

pytestmark = pytest.mark.django_db
TIED = "Same title"


@pytest.fixture
def edition() -> Edition:
    edition = make.make_edition()
    for number in range(7):
        make.make_paper(edition, uid=f"p{number}", title=TIED)
    return edition


def read_all_pages(client: Client, path: str, after_page: Callable[[], Any] = lambda: None) -> list[str]:
    """Return the ids of all pages, starting at a path; call `after_page` after each page."""
    row_ids: list[str] = []
    url: str | None = path
    while url:
        body = client.get(url).json()
        row_ids += [row["id"] for row in body["results"]]
        url = body["next"] and path_of(body["next"])
        after_page()
    return row_ids


@pytest.mark.parametrize("ordering", ["", "title", "-title"])
def test_trap_18_pages_of_a_tied_sort_return_each_id_once(
    client: Client, edition: Edition, ordering: str
) -> None:
    row_ids = read_all_pages(client, f"/api/v1/papers/?page_size=2&ordering={ordering}&fields=id")

    assert sorted(row_ids) == [f"p{number}" for number in range(7)]
    assert row_ids == sorted(row_ids, reverse=ordering == "-title")


def test_pages_return_each_id_once_while_rows_change(client: Client, edition: Edition) -> None:
    titles = iter("AZBY")

    def change() -> None:
        title = next(titles)
        Paper.objects.update(title=title)
        make.make_paper(edition, uid=f"new-{title}")
        Paper.objects.filter(uid__in=["p0", "p5"]).delete()

    row_ids = read_all_pages(client, "/api/v1/papers/?page_size=4&fields=id", change)

    assert row_ids == ["p0", "p1", "p2", "p3", "p4", "p6", "new-A"]


def test_pages_sorted_by_start_end_with_unscheduled_talks(client: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    for number in range(3):
        make.make_presentation(session, uid=f"t{number}")
        make.make_presentation(edition=edition, uid=f"u{number}")

    row_ids = read_all_pages(client, "/api/v1/presentations/?page_size=2&ordering=start")
    assert row_ids == ["t0", "t1", "t2", "u0", "u1", "u2"]


def test_search_results_are_paginated_by_relevance(client: Client, edition: Edition) -> None:
    make.make_paper(edition, uid="best", title="Sparse matrices", abstract="Sparse.")
    make.make_paper(edition, uid="good", title="Matrices", abstract="They may be sparse.")

    assert read_all_pages(client, "/api/v1/papers/?q=sparse&page_size=1&fields=id") == ["best", "good"]
    assert read_all_pages(client, "/api/v1/papers/?q=sparse&ordering=-title&fields=id") == ["best", "good"]


def test_search_results_are_all_returned_if_the_last_row_of_a_page_is_deleted(
    client: Client, edition: Edition
) -> None:
    for number in range(4):
        make.make_paper(edition, uid=f"s{number}", title="Sparse matrices")
    first_page = client.get("/api/v1/papers/?q=sparse&page_size=2&fields=id").json()
    first_ids = [row["id"] for row in first_page["results"]]
    Paper.objects.get(uid=first_ids[-1]).delete()
    later_ids = read_all_pages(client, path_of(first_page["next"]))

    assert sorted(first_ids + later_ids) == ["s0", "s1", "s2", "s3"]


@pytest.mark.parametrize(("page_size", "count"), [("100000", 7), ("9" * 50, 7), ("3", 3)])
def test_trap_18_page_size_is_clamped(client: Client, edition: Edition, page_size: str, count: int) -> None:
    assert len(get(client, "papers/", page_size=page_size)["results"]) == count


def test_page_size_limit_is_lower_with_expanded_relations(client: Client) -> None:
    edition = make.make_edition()
    Paper.objects.bulk_create(
        Paper(edition=edition, uid=f"p{number}", title="T", status="published") for number in range(201)
    )

    assert len(get(client, "papers/", page_size=1000)["results"]) == 200
    assert len(get(client, "papers/", page_size=1000, expand="materials")["results"]) == 100


def make_cursor(*parts: Any) -> str:
    return urlsafe_b64encode(json.dumps(parts).encode()).decode()


INVALID_CURSOR_PARTS: list[tuple[Any, ...]] = [
    (), ("", 1), ("", 1, "a"), ("", 1, -1), ("", 1, 2**70), ("", "x", 1), ("", None, 1),
    ("", 2**70, 1), ("title", "a", 1), ("", [1], 1), ("", {}, 1), ("", 1, True),
]  # fmt: skip


@pytest.mark.parametrize(
    "cursor",
    ["x", "é", "AAAA", "[" * 500, *(make_cursor(*parts) for parts in INVALID_CURSOR_PARTS)],
)
def test_invalid_cursor_is_refused(client: Client, edition: Edition, cursor: str) -> None:
    assert get(client, "papers/", 400, cursor=cursor)["parameter"] == "cursor"


@pytest.mark.parametrize(
    ("path", "ordering", "value"),
    [
        ("papers/", "title", "a\0"),
        ("papers/", "title", "\ud800"),
        ("sessions/", "start", "2021-04-06T08:00:00"),
        ("sessions/", "start", "0001-01-01T00:00:00+23:59"),
        ("editions/", "start_date", "yesterday"),
    ],
)
def test_cursor_with_an_invalid_value_is_refused(
    client: Client, edition: Edition, path: str, ordering: str, value: str
) -> None:
    error = get(client, path, 400, cursor=make_cursor(ordering, value, 1), ordering=ordering)

    assert error["parameter"] == "cursor"


def test_cursor_with_an_unusual_utc_offset_is_accepted(client: Client, edition: Edition) -> None:
    make.make_session(edition)
    cursor = make_cursor("start", "2021-04-06T15:00:00+18:26", 1)

    assert len(get(client, "sessions/", cursor=cursor, ordering="start")["results"]) == 1
