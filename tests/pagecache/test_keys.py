"""The key of a request: equal keys mean equal pages (trap 36)."""

import os
import random
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.wsgi import get_wsgi_application
from django.test import RequestFactory

from pagecache.keys import cache_key, known_parameters, parse_address, without_unknown_parameters
from pagecache.middleware import PageCache
from tests import factories as make
from tests.connections import keep_connections_open

# Number of random queries. The results in docs/performance.md are from QUERY_ROUNDS=10000.
ROUNDS = int(os.environ.get("QUERY_ROUNDS", "500"))
TRACKING = ["utm_source", "utm_campaign", "fbclid", "gclid", "x", "yaer", "Topic", "topic "]


@pytest.mark.parametrize(
    ("path", "query", "known", "key"),
    [
        ("/2021/papers/", "utm_source=mail", "", ""),
        ("/2021/papers/", "fbclid=1&topic=a&utm_campaign=x&page=2", "page=2&topic=a", "page=2&topic=a"),
        ("/2021/papers/", "topic=", "topic=", "topic="),
        ("/2021/papers/", "%74opic=a", "topic=a", "topic=a"),
        ("/2021/papers/", "topic=a&topic=b", "topic=a&topic=b", None),
        ("/2021/papers/", "topic=a&utm=1&topic=a", "topic=a&topic=a", None),
        ("/2021/papers/", "utm_source=a&q=word", "q=word", None),
        ("/2021/search/", "utm_source=a&q=word", "q=word", "q=word"),
        ("/2021/papers/", "&&=&", "", ""),
        ("/api/v1/papers/", "utm_source=mail", "utm_source=mail", "utm_source=mail"),
        ("/api/v1/papers/", "topic=a&topic=b", "topic=a&topic=b", None),
        ("/admin/", "utm_source=mail", "utm_source=mail", None),
    ],
)
def test_unknown_parameters_are_dropped_and_repeated_ones_not_cached(
    path: str, query: str, known: str, key: str | None
) -> None:
    assert parse_address(path, query) == (known, None if key is None else (path, key))


def make_environ(query: str, **extra: str) -> dict[str, Any]:
    base = {"REQUEST_METHOD": "GET", "PATH_INFO": "/2021/papers/", "QUERY_STRING": query}
    return {**base, "HTTP_HOST": "127.0.0.1", **extra}


def test_requests_of_signed_in_users_are_unchanged() -> None:
    signed_in = make_environ("utm_source=mail&topic=a", HTTP_COOKIE="sessionid=1")
    assert without_unknown_parameters(signed_in) is signed_in
    assert cache_key(signed_in) is None
    assert without_unknown_parameters(make_environ("utm_source=a&q=x"))["QUERY_STRING"] == "q=x"


def fetch_page(application: Any, path: str, query: str) -> tuple[str, bytes]:
    request_environ = RequestFactory(SERVER_NAME="127.0.0.1").get(path).environ | {"QUERY_STRING": query}
    statuses: list[str] = []
    body = b"".join(
        application(request_environ, lambda status, headers, exc_info=None: statuses.append(status))
    )
    # The CSRF token differs between renderings of the same page.
    return statuses[0], re.sub(rb'name="csrfmiddlewaretoken" value="[^"]*"', b"", body)


class UncachedSite:
    """Django without a page cache, except that it renders the exact same path and query only once."""

    def __init__(self) -> None:
        self.django = get_wsgi_application()
        self.rendered: dict[tuple[str, str], tuple[str, Any, bytes]] = {}

    def __call__(self, environ: Any, start_response: Any) -> list[bytes]:
        key = environ["PATH_INFO"], environ["QUERY_STRING"]
        if key not in self.rendered:
            start: list[Any] = []

            def begin(status: str, headers: list[tuple[str, str]], exc_info: Any = None, /) -> Any:
                start[:] = [status, headers]

            body = b"".join(self.django(environ, begin))
            self.rendered[key] = start[0], start[1], body
        status, headers, body = self.rendered[key]
        start_response(status, [*headers])
        return [body]


def random_query(rng: random.Random) -> str:
    """Return a query of up to four parameters in any order, some repeated, some unknown."""
    values = {
        "topic": ["vision", "speech", ""],
        "kind": ["oral", "poster"],
        "sort": ["title", "schedule", "nonsense"],
        "view": ["compact", "detailed"],
        "by": ["topic", "track"],
        "page": ["1", "2", "x"],
        "has": ["video", "slides"],
        "q": ["learning", ""],
        "day": ["2021-04-05"],
    }
    pairs = []
    for _ in range(rng.randint(0, 4)):
        name = rng.choice([*values, *values, *TRACKING])
        pairs.append((name, rng.choice(values.get(name, ["1", "a&topic=speech"]))))
    return urlencode(pairs)


@pytest.mark.anywhere
@pytest.mark.django_db
def test_cached_and_uncached_responses_are_equal() -> None:
    edition = make.make_edition()
    topics = [make.make_topic(edition, name) for name in ("Vision", "Speech")]
    for number in range(6):
        make.make_paper(edition, ["Ada"], title=f"Learning {number}", topic=topics[number % 2])
    uncached, rng, cached = UncachedSite(), random.Random(36), 0
    paths = ["/2021/papers/", "/2021/schedule/", "/2021/search/"]
    with keep_connections_open():
        cache = PageCache(uncached)
        for _ in range(ROUNDS):
            path, query = rng.choice(paths), random_query(rng)
            response = fetch_page(cache, path, query)
            assert b"utm_" not in response[1]
            assert b"fbclid" not in response[1]
            # Compare with the response to the known parameters alone.
            parts = query.split("&")
            known = "&".join(part for part in parts if part.partition("=")[0] in known_parameters())
            assert response == fetch_page(uncached, path, known), (path, query)
            cached += parse_address(path, query).key is not None
    assert cached > 0.4 * ROUNDS
