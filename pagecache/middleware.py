"""The page cache: a WSGI application around Django's that serves anonymous readers from memory.

After an invalidation, readers get the stale response for some seconds while a thread renders the new one.
"""

import contextvars
import re
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from operator import attrgetter
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment
from zlib import crc32

from django.conf import settings

from content.languages import strip_language
from pagecache import clock
from pagecache.entries import CacheEntry, Headers, is_cacheable
from pagecache.keys import Key, cache_key, without_unknown_parameters
from pagecache.lru import LRUCache
from pagecache.revisions import SITE, Revisions
from pagecache.tags import edition_slug, response_tags

MAX_BYTES = 50 * 1024 * 1024
# Pages that do not depend on the time of day. Others are cached for seconds while an edition is running.
STEADY_PATHS = re.compile(r"/(api|people)/.*|/[^/]+/(awards|papers|topics)/.*|.*\.ics")
# Headers of one reader that must not influence a page shared by all readers.
# Django would decode the query string with a charset in the content type.
PERSONAL_HEADERS = frozenset((
    "CONTENT_TYPE", "HTTP_COOKIE", "HTTP_ACCEPT_ENCODING", "HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE",
    "HTTP_IF_MATCH", "HTTP_IF_UNMODIFIED_SINCE", "HTTP_RANGE",
))  # fmt: skip
# For how many seconds a request waits for another that renders the same page, before rendering it too.
WAIT_SECONDS = 10.0
# The WSGI key for what the cache did: "hit", "stale" or "miss".
CACHE_STATUS_KEY = "pagecache.status"

# Status, headers and body.
type Response = tuple[str, Headers, bytes]


class PageCache:
    """A WSGI application in front of Django's."""

    def __init__(self, application: WSGIApplication, max_bytes: int = MAX_BYTES) -> None:
        self.application = application
        self.revisions = Revisions()
        self.entries = LRUCache[Key, CacheEntry](max_bytes, size_of=attrgetter("size"))
        self._lock = threading.Lock()
        self._rendering: dict[Key, threading.Event] = {}
        # A single thread, since it competes with the requests for the processor.
        self._refreshing = ThreadPoolExecutor(max_workers=1, thread_name_prefix="page-cache")

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        key = cache_key(environ)
        if key is None or not self.revisions.poll():
            return self.application(without_unknown_parameters(environ), start_response)
        entry = self.entries.get(key)
        if entry is not None:
            if entry.revalidate(self.revisions):
                return self._respond("hit", entry, environ, start_response)
            if entry.stale_seconds(self.revisions) < settings.PAGE_CACHE_STALE_SECONDS:
                self._refresh(key, environ)
                return self._respond("stale", entry, environ, start_response)
        return self._render_or_wait(key, environ, start_response)

    def clear(self) -> None:
        """Drop all entries, and read the revisions again."""
        self.entries.clear()
        self.revisions.expire()

    def close(self) -> None:
        """Wait until the thread has rendered all pages."""
        self._refreshing.shutdown()

    def _respond(
        self, status: str, entry: CacheEntry, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        environ[CACHE_STATUS_KEY] = status
        is_current = status == "hit" and self.revisions.is_current()
        return entry.respond(environ, start_response, is_current=is_current)

    def _begin(self, key: Key) -> threading.Event | None:
        """Return the event of the thread that renders this page; `None` if the caller has to render it."""
        with self._lock:
            event = self._rendering.get(key)
            if event is None:
                self._rendering[key] = threading.Event()
            return event

    def _end(self, key: Key) -> None:
        with self._lock:
            self._rendering.pop(key).set()

    def _refresh(self, key: Key, environ: WSGIEnvironment) -> None:
        """Render a page in the background, unless another thread does."""
        if self._begin(key) is not None:
            return
        request = shared_request(key, environ)
        try:
            # Copy the context of the request, which determines for example the database to read.
            self._refreshing.submit(contextvars.copy_context().run, self._refresh_now, key, request)
        except RuntimeError:
            # No thread can be started. The first request after the stale seconds renders the page.
            self._end(key)

    def _refresh_now(self, key: Key, request: WSGIEnvironment) -> None:
        try:
            self._render(key, request)
        finally:
            self._end(key)

    def _render_or_wait(
        self, key: Key, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        """Render a page in one request, while others wait for it."""
        deadline = time.monotonic() + WAIT_SECONDS
        while event := self._begin(key):
            is_rendered = event.wait(max(0.0, deadline - time.monotonic()))
            entry = self.entries.get(key)
            if entry is not None and entry.revalidate(self.revisions):
                return self._respond("hit", entry, environ, start_response)
            if not is_rendered:
                break
        try:
            environ[CACHE_STATUS_KEY] = "miss"
            entry, (status, headers, body) = self._render(key, shared_request(key, environ))
        finally:
            if not event:
                self._end(key)
        if entry is not None:
            # A change during a long rendering has been purged before this response.
            is_current = self.revisions.poll() and entry.revalidate(self.revisions)
            return entry.respond(
                environ, start_response, is_current=is_current and self.revisions.is_current()
            )
        start_response(status, headers)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    def _render(self, key: Key, request: WSGIEnvironment) -> tuple[CacheEntry | None, Response]:
        """Return the cache entry, or `None` if the response may not be cached, and Django's response."""
        number, states = self.revisions.number, self.revisions.states
        status, headers, body = response = complete_response(self.application, request)
        if not is_cacheable(status, headers):
            # The page may have been withdrawn: stop serving the old one.
            self.entries.discard(key)
            return None, response
        state = states.get(edition_slug(*key)) or states[SITE]
        is_steady = STEADY_PATHS.fullmatch(strip_language(key.path))
        lifetime = (state.steady if is_steady else state.lifetime) * lifetime_share(key)
        tags = response_tags(key, body, (slug for slug in states if slug))
        expires = clock.now() + min(lifetime, state.next_gate)
        entry = CacheEntry(tags, number, expires, state.shown_at, headers, body)
        self.entries.put(key, entry, replaces=lambda existing: existing.revision <= number)
        return entry, response


def lifetime_share(key: Key) -> float:
    """Return the factor for the lifetime of a page, which varies so that pages do not expire together."""
    return 1 - crc32("?".join(key).encode()) % 1000 / 2500


def shared_request(key: Key, environ: WSGIEnvironment) -> WSGIEnvironment:
    """Return the GET request for a page that all readers share."""
    shared = {name: value for name, value in environ.items() if name not in PERSONAL_HEADERS}
    return shared | {"REQUEST_METHOD": "GET", "QUERY_STRING": key.query, "wsgi.input": BytesIO()}


def complete_response(application: WSGIApplication, environ: WSGIEnvironment) -> Response:
    """Run the application and return its status, headers and whole body."""
    status_and_headers: list[Any] = []
    body = BytesIO()

    def start_response(status: str, headers: Headers, exc_info: object = None) -> Any:
        status_and_headers[:] = [status, headers]
        return lambda data: None

    iterable = application(environ, start_response)
    try:
        # Do not join the pieces first, since a long calendar would be in memory twice.
        body.writelines(iterable)
    finally:
        getattr(iterable, "close", lambda: None)()
    return status_and_headers[0], status_and_headers[1], body.getvalue()
