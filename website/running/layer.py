"""The outermost layer: it names each request, counts it, and writes its line into the log.

It stands around the page cache, so that it sees all requests. It keeps nothing of who asked, and of an
address only its pattern.
"""

import logging
import time
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from django.conf import settings

from conference import replica, tracing
from conference.caching import has_session
from website.running import metrics

log = logging.getLogger("plenary.requests")
SAFE = frozenset(("GET", "HEAD"))
# Answers that nginx may keep, where nothing else in them forbids it.
KEPT_OUTSIDE = frozenset(("200", "304"))


class Layer:
    """A WSGI application around the whole site."""

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        given = environ.get("HTTP_X_REQUEST_ID", "") if settings.BEHIND_PROXY else ""
        note = tracing.begin(given)
        began = time.perf_counter()
        statuses: list[str] = []

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            statuses[:] = [status[:3]]
            named = [*headers, ("X-Request-ID", note.request)]
            if settings.BEHIND_PROXY and statuses[0] in KEPT_OUTSIDE:
                named.append(("X-Accel-Expires", this_second()))
            return start_response(status, named, exc_info) if exc_info else start_response(status, named)

        try:
            with replica.reading(is_anonymous_reading(environ)):
                return self.application(environ, start)
        except Exception:
            statuses[:] = ["500"]
            raise
        finally:
            conclude(note, environ["REQUEST_METHOD"], statuses[0] if statuses else "500", began)
            tracing.end()


def is_anonymous_reading(environ: WSGIEnvironment) -> bool:
    """Whether a copy of the database is good enough for this reader."""
    return (
        environ["REQUEST_METHOD"] in SAFE and "HTTP_AUTHORIZATION" not in environ and not has_session(environ)
    )


def this_second() -> str:
    """Return until when nginx may keep an answer, as it writes that: to the end of this second.

    It counts whole seconds: what it is told to keep for one of them lives up to two.
    """
    return f"@{int(time.time())}"


def conclude(note: tracing.Note, method: str, status: str, began: float) -> None:
    """Count a request that was answered; what the page cache did not answer gets a line in the log."""
    seconds = time.perf_counter() - began
    metrics.count(note, method, status, seconds)
    if note.is_cold:
        fields = {"method": method, "route": note.route, "view": note.view, "status": int(status)}
        log.info("request", extra={"fields": {**fields, "milliseconds": round(seconds * 1000, 1)}})
