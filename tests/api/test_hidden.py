"""No resource, nested field, filter or search shows hidden rows (trap 16)."""

from collections.abc import Callable
from itertools import batched
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from api.files import FILES
from api.filters import ResourceFilter
from api.shapes import RESOURCES
from tests.api.reading import expansions, ids
from tests.website.sample_program import MARKER, MARKER_LOWER, make_program_with_hidden_rows
from tests.website.test_visibility import response_text

# Merged people (-m) are not hidden: their URL redirects to the remaining person.
SUFFIXES = ("p", "w", "s", "a", "b", "c", "ghost", "topic", "room", "page", "university", "back", "part")
# Parameters whose values are ids. These are tested with all hidden ids, others with some.
ID_PARAMETERS = {"award", "institution", "paper", "person", "room", "session", "topic"}
HIDDEN_IDS = [MARKER_LOWER, *(f"{MARKER_LOWER}-{end}" for end in SUFFIXES)]

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def program(made_once: Callable[..., Any]) -> Any:
    return made_once(make_program_with_hidden_rows)


def leaks(client: Client, path: str) -> bool:
    """Return whether a response contains the marker, except where it repeats the query."""
    response = client.get(path)
    assert response.status_code in (200, 400, 404), path
    return MARKER_LOWER in response_text(response.getvalue()).lower().replace(f"“{MARKER_LOWER}", "")


def test_trap_16_lists_nested_fields_and_files_show_no_draft(client: Client, program: dict[str, Any]) -> None:
    paths = [f"/api/v1/{name}/?expand=" for name in RESOURCES]
    for name, resource in RESOURCES.items():
        paths += [
            f"/api/v1/{name}/?expand={','.join(names)}"
            for names in batched(expansions(resource), 40, strict=False)
        ]

    paths += [f"/api/v1/{name}/?format={fmt}" for name, formats in FILES.items() for fmt in formats]

    assert [path for path in paths if leaks(client, path)] == []


def test_trap_16_filters_match_no_draft(client: Client, program: dict[str, Any]) -> None:
    for name, resource in RESOURCES.items():
        for parameter in (resource.filters or ResourceFilter).base_filters:
            for value in HIDDEN_IDS[:: 1 if parameter in ID_PARAMETERS else 4]:
                path = f"/api/v1/{name}/?{urlencode({parameter: value})}"
                response = client.get(path)
                assert response.status_code == 400 or response.json()["results"] == [], path


def test_hidden_row_is_not_found(client: Client, program: dict[str, Any]) -> None:
    for name, resource in RESOURCES.items():
        editions = ["2021/", "2030/"] if resource.edition else [""]
        for value in HIDDEN_IDS:
            for edition in editions:
                assert client.get(f"/api/v1/{name}/{edition}{value}/").status_code == 404, (name, value)


@pytest.mark.parametrize("query", [MARKER, f"author:{MARKER}", f"{MARKER[:-1]}x", MARKER_LOWER[:4]])
def test_search_finds_no_draft(client: Client, program: dict[str, Any], query: str) -> None:
    searchable = [name for name, resource in RESOURCES.items() if resource.kind]

    assert {*searchable} == {"pages", "people", "papers", "sessions", "presentations"}
    assert {name: ids(client, name, q=query) for name in searchable} == {name: [] for name in searchable}


def test_lists_contain_no_email(client: Client, program: dict[str, Any]) -> None:
    text = "".join(client.get(f"/api/v1/{name}/").content.decode() for name in RESOURCES)

    assert "@example" not in text
    assert "email" not in text


def test_hidden_name_is_replaced_by_the_current_one(client: Client, program: dict[str, Any]) -> None:
    papers = client.get("/api/v1/papers/?fields=title,authors.name").json()["results"]

    assert {author["name"] for paper in papers for author in paper["authors"]} == {"Ada Lovelace"}
