"""The outermost WSGI application, which assigns an id to each request, counts it, and logs it.

It wraps the page cache, so that it sees all requests. It records no data about the reader, and only the
patterns of URLs.
"""

import logging
import time
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from django.conf import settings

from content import replica
from operations.monitoring import metrics
from pagecache import request_log
from pagecache.keys import is_anonymous_read
from pagecache.middleware import CACHE_STATUS_KEY

log = logging.getLogger("plenary.requests")


class MonitoringLayer:
    """WSGI application that wraps the whole site."""

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_time = time.perf_counter()
        note = request_log.begin(environ.get("HTTP_X_REQUEST_ID", "") if settings.BEHIND_PROXY else "")
        status_code = "500"

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            nonlocal status_code
            status_code = status[:3]
            headers = [*headers, ("X-Request-ID", note.request)]
            return start_response(status, headers, exc_info) if exc_info else start_response(status, headers)

        try:
            with replica.read_from_replica(is_anonymous_read(environ)):
                return self.application(environ, start)
        except Exception:
            status_code = "500"
            raise
        finally:
            note.cache = environ.get(CACHE_STATUS_KEY, "")
            conclude(note, environ["REQUEST_METHOD"], status_code, start_time)
            request_log.end()


def conclude(note: request_log.RequestNote, method: str, status: str, start_time: float) -> None:
    """Count a finished request, and log it unless the response is from the page cache."""
    seconds = time.perf_counter() - start_time
    metrics.count_request(note, method, status, seconds)
    if note.is_cold:
        fields = {"method": method, "route": note.route, "view": note.view, "status": int(status)}
        log.info("request", extra={"fields": {**fields, "milliseconds": round(seconds * 1000, 1)}})
