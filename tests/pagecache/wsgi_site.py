"""A page cache in front of an application that records requests."""

from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment
from wsgiref.util import setup_testing_defaults

from pagecache import clock
from pagecache.middleware import PageCache

BODY = b"<p>" + 200 * b"abcd " + b"</p>"


class Site:
    """A WSGI application that records the paths of its requests."""

    def __init__(self) -> None:
        self.requested_paths: list[str] = []
        self.status, self.body = "200 OK", BODY
        self.headers = [("Content-Type", "text/html")]

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        self.requested_paths.append(environ["PATH_INFO"])
        assert environ["REQUEST_METHOD"] == "GET" or "HTTP_COOKIE" in environ
        start_response(self.status, self.headers)
        return [self.body]


class Clock:
    """A clock of the page cache that tests can set forward."""

    def __init__(self) -> None:
        self.seconds = clock.now()

    def now(self) -> float:
        return self.seconds

    def wait(self, seconds: float) -> None:
        self.seconds += seconds


def fetch(
    cache: PageCache, path: str = "/2021/", query: str = "", **headers: str
) -> tuple[str, dict[str, str], bytes]:
    environ: dict[str, Any] = {
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "HTTP_HOST": "127.0.0.1:8000",
        **headers,
    }
    setup_testing_defaults(environ)
    response_start: list[Any] = []

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None, /) -> Any:
        response_start[:] = [status, dict(headers)]

    body = b"".join(cache(environ, start_response))
    return response_start[0], response_start[1], body
