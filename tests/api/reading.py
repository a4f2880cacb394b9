"""Helpers of tests that read from the API."""

from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

from django.conf import settings
from django.test import Client
from django.test.client import ClientHandler

from api.shapes import Shape


def get(client: Client, path: str, status: int = 200, **parameters: Any) -> Any:
    response = client.get(f"/api/v1/{path}", parameters)
    assert response.status_code == status, response.content.decode()
    return response.json()


def results(client: Client, name: str, **parameters: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = get(client, f"{name}/", **parameters)["results"]
    return rows


def ids(client: Client, name: str, **parameters: Any) -> list[str]:
    return [row["id"] for row in results(client, name, fields="id", **parameters)]


def path_of(url: str) -> str:
    """Return the path and query of an absolute URL of this site."""
    assert url.startswith(settings.SITE_URL), url
    return url.removeprefix(settings.SITE_URL)


def expansions(shape: Shape, depth: int = 2) -> list[str]:
    """Return the names of all relations, such as "authors.person", down to a depth."""
    names = []
    for name, relation in shape.relations.items():
        names.append(name)
        if depth > 1:
            names += [f"{name}.{deeper}" for deeper in expansions(relation.resource, depth - 1)]
    return names


def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Call Django as the test client does, without closing the connection with the test's transaction."""
    # schemathesis accepts gzip, but cannot decode it.
    environ = {name: value for name, value in environ.items() if name != "HTTP_ACCEPT_ENCODING"}
    response: Any = ClientHandler(enforce_csrf_checks=False)(environ)
    start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
    return [response.getvalue()]
