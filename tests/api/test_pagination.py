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


def walk(client: Client, path: str, between: Callable[[], Any] = lambda: None) -> list[str]:
    """Return the ids of all pages, starting at a path; call `between` after each page."""
    found: list[str] = []
    url: str | None = path
    while url:
        answer = client.get(url).json()
        found += [row["id"] for row in answer["results"]]
        url = answer["next"] and path_of(answer["next"])
        between()
    return found


@pytest.mark.parametrize("ordering", ["", "title", "-title"])
def test_trap_18_walk_over_a_tied_sort_returns_each_id_once(
    client: Client, edition: Edition, ordering: str
) -> None:
    found = walk(client, f"/api/v1/papers/?page_size=2&ordering={ordering}&fields=id")

    assert sorted(found) == [f"p{number}" for number in range(7)]
    assert found == sorted(found, reverse=ordering == "-title")


def test_walk_returns_each_id_once_while_rows_change(client: Client, edition: Edition) -> None:
    titles = iter("AZBY")

    def change() -> None:
        title = next(titles)
        Paper.objects.update(title=title)
        make.make_paper(edition, uid=f"new-{title}")
        Paper.objects.filter(uid__in=["p0", "p5"]).delete()

    found = walk(client, "/api/v1/papers/?page_size=4&fields=id", change)

    assert found == ["p0", "p1", "p2", "p3", "p4", "p6", "new-A"]


def test_walk_through_unscheduled_talks_ends(client: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    for number in range(3):
        make.make_presentation(session, uid=f"t{number}")
        make.make_presentation(edition=edition, uid=f"u{number}")

    found = walk(client, "/api/v1/presentations/?page_size=2&ordering=start")
    assert found == ["t0", "t1", "t2", "u0", "u1", "u2"]


def test_search_is_walked_by_how_well_things_fit(client: Client, edition: Edition) -> None:
    make.make_paper(edition, uid="best", title="Sparse matrices", abstract="Sparse.")
    make.make_paper(edition, uid="good", title="Matrices", abstract="They may be sparse.")

    assert walk(client, "/api/v1/papers/?q=sparse&page_size=1&fields=id") == ["best", "good"]
    assert walk(client, "/api/v1/papers/?q=sparse&ordering=-title&fields=id") == ["best", "good"]


@pytest.mark.parametrize(("asked", "given"), [("100000", 7), ("9" * 50, 7), ("3", 3)])
def test_trap_18_page_size_is_clamped(client: Client, edition: Edition, asked: str, given: int) -> None:
    assert len(get(client, "papers/", page_size=asked)["results"]) == given


def test_page_is_smaller_when_more_is_expanded(client: Client) -> None:
    edition = make.make_edition()
    Paper.objects.bulk_create(
        Paper(edition=edition, uid=f"p{number}", title="T", status="published") for number in range(201)
    )

    assert len(get(client, "papers/", page_size=1000)["results"]) == 200
    assert len(get(client, "papers/", page_size=1000, expand="materials")["results"]) == 100


def token(*parts: Any) -> str:
    return urlsafe_b64encode(json.dumps(parts).encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "x", "é", "AAAA", "[" * 500, token(), token("", 1), token("", 1, "a"), token("", 1, -1),
        token("", 1, 2**70), token("", "x", 1), token("", None, 1), token("", 2**70, 1),
        token("title", "a", 1), token("", [1], 1), token("", {}, 1), token("", 1, True),
    ],
)  # fmt: skip
def test_made_up_cursor_is_refused_by_name(client: Client, edition: Edition, cursor: str) -> None:
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
def test_cursor_with_a_value_that_no_database_takes_is_refused(
    client: Client, edition: Edition, path: str, ordering: str, value: str
) -> None:
    wrong = get(client, path, 400, cursor=token(ordering, value, 1), ordering=ordering)

    assert wrong["parameter"] == "cursor"


def test_cursor_in_a_zone_that_no_database_knows_is_understood(client: Client, edition: Edition) -> None:
    make.make_session(edition)
    cursor = token("start", "2021-04-06T15:00:00+18:26", 1)

    assert len(get(client, "sessions/", cursor=cursor, ordering="start")["results"]) == 1
