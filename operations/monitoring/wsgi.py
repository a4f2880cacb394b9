"""The outermost layer: it names each request, counts it, and writes its line into the log.

It stands around the page cache, so that it sees all requests. It keeps nothing of who asked, and of an
address only its pattern.
"""

import logging
import time
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from content import replica
from operations.monitoring import metrics
from pagecache import request_log
from pagecache.middleware import READING, has_session
from pagecache.request_settings import door

log = logging.getLogger("plenary.requests")
# Answers that nginx may keep, where nothing else in them forbids it.
KEPT_OUTSIDE = frozenset(("200", "304"))


class Layer:
    """A WSGI application around the whole site."""

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        began, second = time.perf_counter(), this_second()
        is_behind_proxy = door().is_behind_proxy
        note = request_log.begin(environ.get("HTTP_X_REQUEST_ID", "") if is_behind_proxy else "")
        shown = "500"

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            nonlocal shown
            shown = status[:3]
            named = [*headers, ("X-Request-ID", note.request)]
            if is_behind_proxy and shown in KEPT_OUTSIDE:
                named.append(("X-Accel-Expires", second))
            return start_response(status, named, exc_info) if exc_info else start_response(status, named)

        replica.begin(is_anonymous_reading(environ))
        try:
            return self.application(environ, start)
        except Exception:
            shown = "500"
            raise
        finally:
            replica.end()
            conclude(note, environ["REQUEST_METHOD"], shown, began)
            request_log.end()


def is_anonymous_reading(environ: WSGIEnvironment) -> bool:
    """Whether a copy of the database is good enough for this reader."""
    return (
        environ["REQUEST_METHOD"] in READING
        and "HTTP_AUTHORIZATION" not in environ
        and not has_session(environ)
    )


def this_second() -> str:
    """Return until when nginx may keep what is asked for now, as it writes that: to the end of this second.

    It counts whole seconds: what it is told to keep for one of them lives up to two. What takes longer to
    write is not kept: somebody may have changed it meanwhile.
    """
    return f"@{int(time.time())}"


def conclude(note: request_log.Note, method: str, status: str, began: float) -> None:
    """Count a request that was answered; what the page cache did not answer gets a line in the log."""
    seconds = time.perf_counter() - began
    metrics.count(note, method, status, seconds)
    if note.is_cold:
        fields = {"method": method, "route": note.route, "view": note.view, "status": int(status)}
        log.info("request", extra={"fields": {**fields, "milliseconds": round(seconds * 1000, 1)}})
