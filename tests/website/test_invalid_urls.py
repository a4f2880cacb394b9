"""Invalid URLs return a 404 or a 400 page, never a 500."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.website.sample_program import make_public_program

pytestmark = pytest.mark.django_db

PATHS = [
    "/%00/",
    "/%ff/",
    "/2021/%ff/",
    "/2021%00/",
    "/2021/papers/%00/",
    "/2021/papers/p1/%00/",
    "/2021/papers/%ff%fe/x/",
    "/2021/papers/../../etc/passwd",
    "/2021/papers/%2e%2e%2f/x/",
    "/2021/papers//",
    "//2021/",
    "/2021/schedule/2021-02-30/",
    "/2021/schedule/0000-00-00/",
    "/2021/schedule/99999-01-01/",
    "/2021/schedule/2021-4-6/",
    "/2021/schedule/9999-12-31/",
    "/2021/schedule/0001-01-01/",
    "/2021/schedule/%00/",
    "/2021/sessions/s1/../x/",
    "/2021/rooms/%F0%9F%98%80/",
    "/2021/topics/" + "x" * 5000 + "/",
    "/people/" + "9" * 400 + "/",
    "/people/<script>/",
    "/people/ada/%0d%0aSet-Cookie:x/",
    "/99999999999999999999999/",
    "/2021/colors-zzzzzzzzzz.css",
    "/virtual/2021/day/99/99",
    "/.env",
    "/wp-login.php",
    "/2021/papers/p1/notes/?%00=%00",
    "/people/?page=-1",
    "/people/?page=1e3",
    "/people/?page=" + "9" * 5000,
    "/people/?page=%D9%A1",
    "/2021/papers/?page=2",
    "/2021/papers/?topic=" + "x" * 5000,
    "/2021/papers/?track=%ff",
    "/2021/papers/?q=" + "%ef%b7%ba" * 100,
    "/2021/papers/?" + "a=1&" * 25_000,
]
PARAMETERS = ["q", "page", "sort", "by", "topic", "track", "letter", "view", "showEvent", "day"]


@pytest.fixture(scope="module", autouse=True)
def _program(made_once: Callable[..., Any]) -> None:
    made_once(make_public_program)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path[:40])
def test_invalid_url_is_answered_with_a_page(client: Client, path: str) -> None:
    response = client.get(path)

    assert response.status_code in {200, 301, 400, 404}
    if response.status_code in {400, 404}:
        assert "<h1>" in response.content.decode()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(
        st.one_of(
            st.sampled_from(["2021", "papers", "people", "p1", "schedule", "virtual", "topics", "talks"]),
            st.text(max_size=20),
        ),
        max_size=4,
    ),
    query=st.dictionaries(st.sampled_from(PARAMETERS), st.text(max_size=20), max_size=3),
)
def test_random_urls_cause_no_server_error(client: Client, parts: list[str], query: dict[str, str]) -> None:
    path = "/" + "/".join(quote(part, safe="", errors="replace") for part in parts)
    values = "&".join(f"{name}={quote(value, errors='replace')}" for name, value in query.items())

    assert client.get(f"{path}/?{values}").status_code < 500
    assert client.get(f"{path}?{values}").status_code < 500


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.dictionaries(st.sampled_from(PARAMETERS), st.text(max_size=120), max_size=3))
@pytest.mark.parametrize("path", ["/2021/papers/", "/people/", "/2021/schedule/"])
def test_random_parameters_of_lists_are_200_or_400(client: Client, path: str, query: dict[str, str]) -> None:
    values = "&".join(f"{name}={quote(value, errors='replace')}" for name, value in query.items())

    assert client.get(f"{path}?{values}").status_code in {200, 400}
