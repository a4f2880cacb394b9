"""No hidden row is in a file of any format, in an agenda of hidden rows, or in the page cache."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse

from exchange.exports.agenda_files import KINDS
from exchange.exports.citation_files import FORMATS
from exchange.exports.downloads import APP_FORMATS, file_names
from exchange.formats import writable
from pagecache.middleware import PageCache
from tests.connections import keep_connections_open
from tests.website.sample_program import MARKER_LOWER, make_program_with_hidden_rows
from tests.website.test_visibility import all_paths, find_leaks, response_text
from website.wsgi import django

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def program(made_once: Callable[..., Any]) -> Any:
    return made_once(make_program_with_hidden_rows)


def program_files(edition: Any) -> Iterator[tuple[str, str]]:
    """Yield the name and path of a file in every registered format."""
    for name, file_format in writable().items():
        for file in file_names(file_format, edition):
            yield name, reverse("exchange:program_file", args=[edition.slug, name, file])
    for name in APP_FORMATS.values():
        extension = next(extension for extension, app in APP_FORMATS.items() if app == name)
        yield name, reverse(f"exchange:schedule_{extension}", args=[edition.slug])
    for extension in FORMATS:
        yield extension, f"/{edition.slug}/papers.{extension}"
    for extension in ("csv", "xlsx", "ics"):
        yield extension, f"/{edition.slug}/papers.{extension}"


def test_no_file_of_any_format_contains_hidden_rows(client: Client, program: dict[str, Any]) -> None:
    path_by_format = dict(program_files(program["edition"]))
    paths = [path for _, path in program_files(program["edition"])]

    assert path_by_format.keys() >= writable().keys()
    assert find_leaks(client, paths) == []


def test_file_of_every_format_contains_public_rows(client: Client, program: dict[str, Any]) -> None:
    """Assert that public rows are found in each file, so that the search for the marker is meaningful."""
    text_by_format: dict[str, str] = {}
    for name, path in program_files(program["edition"]):
        text_by_format[name] = text_by_format.get(name, "") + response_text(client.get(path).getvalue())

    assert [
        name for name, text in text_by_format.items() if "Notes" not in text and "Engines" not in text
    ] == []


def test_agenda_does_not_reveal_hidden_rows(client: Client, program: dict[str, Any]) -> None:
    stars = "+".join(
        f"{kind}.{MARKER_LOWER}-{end}" for kind in "sp" for end in ("s", "a", "b", "c", "part", "ghost")
    )
    query = f"?s=s.s1+{stars}"
    paths = ["/2021/agenda/", *(f"/2021/agenda.{ending}" for ending in KINDS)]
    texts = [client.get(f"{path}{query}").getvalue().decode().lower() for path in paths]
    texts = [text.replace("\r\n ", "") for text in texts]
    for end in ("s", "a", "b", "c", "part", "ghost"):
        texts = [text.replace(f"{MARKER_LOWER}-{end}", "") for text in texts]

    assert "engines" in texts[0]
    assert [path for path, text in zip(paths, texts, strict=True) if MARKER_LOWER in text] == []


def fetch_through_cache(cache: PageCache, path: str, cookie: str = "") -> str:
    """Request a page through the page cache; return status, headers and body as one text."""
    start: list[Any] = []
    environ = {**RequestFactory().get(path).environ, "HTTP_COOKIE": cookie, "wsgi.errors": None}
    with keep_connections_open():
        body = cache(environ, lambda status, headers, exc_info=None: start.extend((status, headers)))  # type: ignore[arg-type]
        return f"{start} {response_text(b''.join(body))}"


def test_previewed_hidden_rows_are_not_cached(admin_client: Client, program: dict[str, Any]) -> None:
    admin_client.get(f"/admin/conference/edition/{program['edition'].pk}/preview/")
    cookie = f"sessionid={admin_client.cookies['sessionid'].value}"
    # Only pages have a preview.
    paths = [path for path in all_paths() if path.startswith("/2021/") and path.endswith("/")]
    cache, paths = PageCache(django), [path for path in paths if MARKER_LOWER not in path]
    preview_paths = [
        path for path in paths if MARKER_LOWER in fetch_through_cache(cache, path, cookie).lower()
    ]
    cached_leaks = [
        path
        for _ in range(2)
        for path in preview_paths
        if MARKER_LOWER in fetch_through_cache(cache, path).lower()
    ]

    assert {"/2021/papers/", "/2021/schedule/", "/2021/awards/"} <= {*preview_paths}
    assert cached_leaks == []
