"""The page cache: a small WSGI layer around Django, so that an anonymous hit never enters Django's machinery.

Kept are answers to readers without a session, of addresses with known parameters only. An entry is good
while the stamp of its edition is the current one: what is served is at most a moment behind a commit.
"""

import re
import threading
import time
from collections.abc import Iterable, Set
from functools import lru_cache
from http.cookies import CookieError, SimpleCookie
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl, urlencode
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment
from zlib import crc32

from django.http.request import split_domain_port, validate_host

from pagecache import request_log
from pagecache.board import Board
from pagecache.entries import Headers, KeptPage, Key, keepable
from pagecache.freed import Freed
from pagecache.lru import Shelf
from pagecache.request_settings import door
from pagecache.revisions import Stamps, State
from pagecache.shared_pages import SharedPages

# First parts of addresses that are never kept: what is per person, or is somebody else's to serve.
APART = frozenset(("admin", "media", "static", "healthz", "metrics", "readyz"))
# Cards of thousands of papers would push out the pages; `conference.cards` keeps the last ones by itself.
DRAWN = "/card.png"
# Parameters that may stand in a key. An address with any other goes to Django each time, and fills no cache.
LISTS = frozenset(("by", "letter", "page", "room", "show", "sort", "view", "zoom"))
FACETS = frozenset(("award", "day", "has", "institution", "kind", "session", "topic", "track"))
PARAMETERS = LISTS | FACETS
# Below it any parameter may stand in a key: the API itself refuses those that it does not know.
API = "api"
OF_ALL_YEARS = frozenset(("conferences", "editions", "institutions", "people"))
# But what people type, and moments, are asked for once.
UNKEPT = frozenset(("q", "changed_since"))
LONGEST_ADDRESS = 400
# Searches, and what is found while somebody types. Longer questions are hardly asked twice.
SEARCHES = re.compile(r"/(?:[^/]+/)?search/(?:suggest)?")
ASKED = frozenset(("q", "kind", "page"))
LONGEST_QUESTION = 120
# Where processes share pages they lie for so long (seconds): words of one reader take little place there.
LIFETIME_OF_SEARCH = 60
# Where nothing says what is on now: while an edition runs, its other pages live for seconds.
TIMELESS = re.compile(r"/(api|people)/.*|/[^/]+/(awards|papers|topics)/.*|.*\.ics")
READING = frozenset(("GET", "HEAD"))
# For so many addresses what they name is remembered.
MOST_NAMES = 5_000
MOST_BYTES = 40 * 1024 * 1024
# Of these bytes the API, and searches, get one in so many beside them.
API_SHARE, SEARCH_SHARE = 2, 8
# What a request says of one reader: it must not shape a page that all readers share.
PERSONAL = frozenset(
    ("HTTP_COOKIE", "HTTP_ACCEPT_ENCODING", "HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_RANGE")
)
# So many new pages are written at once by a process: more would only take turns, and those who ask for kept
# pages with them. Who waits longer (seconds) goes on: exports may take both lanes.
LANES, LANE_WAIT = 2, 0.6
# An answer of more bytes left much free that was made of rows.
LARGE = 500_000
# How long a reader waits while another renders the same page; then the version just passed is good enough.
WAIT = 1.0


def key_of(environ: WSGIEnvironment) -> Key | None:
    """Return what names an answer that all readers share: path and known parameters in order; else `None`."""
    if environ["REQUEST_METHOD"] not in READING or "HTTP_AUTHORIZATION" in environ:
        return None
    if has_session(environ) or not is_own_host(environ) or not is_secure_enough(environ):
        return None
    path, query = environ.get("PATH_INFO", ""), environ.get("QUERY_STRING", "")
    return shared_by_all(path, query) if len(path) + len(query) <= LONGEST_ADDRESS else None


@lru_cache(maxsize=MOST_NAMES)
def shared_by_all(path: str, query: str) -> Key | None:
    """Return the key of an address whose answer all readers share; else `None`."""
    if first_part(path) in APART or path.endswith(DRAWN):
        return None
    if not query:
        return path, ""
    pairs = sorted(parse_qsl(query, keep_blank_values=True))
    return (path, urlencode(pairs)) if is_known(path, query, {name for name, _ in pairs}) else None


def is_known(path: str, query: str, names: Set[str]) -> bool:
    """Whether these parameters may stand in a key at this address."""
    if is_data(path):
        return UNKEPT.isdisjoint(names)
    if is_search(path):
        return names <= ASKED and len(query) <= LONGEST_QUESTION
    return names <= PARAMETERS


def first_part(path: str) -> str:
    """Return what stands between the first two slashes: an edition's slug, or a section of the whole site."""
    return path.removeprefix("/").partition("/")[0]


def is_data(path: str) -> bool:
    """Whether it is an address of the API itself, such as /api/v1/papers/, and no page about it."""
    return path.startswith(f"/{API}/v")


@lru_cache(maxsize=MOST_NAMES)
def is_search(path: str) -> bool:
    """Whether something is looked for at this address."""
    return SEARCHES.fullmatch(path) is not None


@lru_cache(maxsize=MOST_NAMES)
def realm(path: str, query: str) -> str:
    """Return the slug of the edition whose stamp an answer hangs on; anything else for the whole site's.

    A search of an edition finds what belongs to all years, too.
    Addresses of the API name it behind the resource, or as `edition`. What belongs to all years,
    or is nested so deep that it may lead to other years, hangs on the whole site's.
    """
    first, *rest = path.lstrip("/").split("/")
    if first != API:
        return "" if is_search(path) else first
    asked = dict(parse_qsl(query))
    if OF_ALL_YEARS.intersection(rest[1:2]) or "." in asked.get("expand", ""):
        return ""
    # v1/papers/?edition=2021, or v1/papers/2021/17/
    places = {3: asked.get("edition", ""), 5: "".join(rest[2:3])}
    return places.get(len(rest), "")


def has_session(environ: WSGIEnvironment) -> bool:
    """Whether the reader is, or may be, signed in, or has an agenda kept here."""
    if not environ.get("HTTP_COOKIE"):
        return False
    try:
        return not door().cookies.isdisjoint(SimpleCookie(environ["HTTP_COOKIE"]))
    except CookieError:
        return True


def is_own_host(environ: WSGIEnvironment) -> bool:
    """Whether the request names a host that the site answers to: no other may make an entry, or get one."""
    return _is_one_of(environ.get("HTTP_HOST") or environ["SERVER_NAME"], door().hosts)


@lru_cache(maxsize=100)
def _is_one_of(host: str, allowed: tuple[str, ...]) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


def is_secure_enough(environ: WSGIEnvironment) -> bool:
    """Whether the request came by https, or need not: a redirect to https is Django's to give."""
    secure = door().secure
    return secure is None or environ.get(secure[0]) == secure[1]


class PageCache:
    """A WSGI application in front of Django's."""

    def __init__(
        self, application: WSGIApplication, most_bytes: int = MOST_BYTES, shared: SharedPages | None = None
    ) -> None:
        self.application = application
        self.stamps = Stamps(Board.configured())
        self.shared = shared or SharedPages.configured()
        # Whoever walks through the whole API, or asks for all words, takes no page's place.
        self._pages = Shelf[Key, KeptPage](most_bytes)
        self._data = Shelf[Key, KeptPage](most_bytes // API_SHARE)
        self._searches = Shelf[Key, KeptPage](most_bytes // SEARCH_SHARE)
        self._lock = threading.Lock()
        self._rendering: dict[Key, threading.Lock] = {}
        self._lanes = threading.BoundedSemaphore(LANES)
        self._freed = Freed()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        key = key_of(environ)
        state = self.stamps.of(realm(*key)) if key else None
        if key is None or state is None:
            return self.application(environ, start_response)
        page = self._good(key, state)
        if page is not None:
            request_log.cached("hit")
            return page.answer(environ, start_response)
        return self._render(key, state, environ, start_response)

    def clear(self) -> None:
        """Forget all pages and stamps."""
        for shelf in (self._pages, self._data, self._searches):
            shelf.clear()
        self.stamps.forget()

    def _shelf(self, key: Key) -> Shelf[Key, KeptPage]:
        if is_search(key[0]):
            return self._searches
        return self._data if first_part(key[0]) == API else self._pages

    def _good(self, key: Key, state: State) -> KeptPage | None:
        page = self._shelf(key).get(key)
        if page is None or page.expires < time.monotonic():
            return None
        return page if page.stands(key, state) else None

    def _render(
        self, key: Key, state: State, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        """Let one reader render a page while the others wait for it, or take the version just passed."""
        with self._lock:
            turn = self._rendering.setdefault(key, threading.Lock())
        is_mine = turn.acquire(timeout=WAIT)
        try:
            page = self._good(key, state) or (None if is_mine else self._shelf(key).get(key))
            if page is not None:
                request_log.cached("hit")
                return page.answer(environ, start_response)
            with self.shared.turn(key, state) as shared:
                request_log.cached("shared" if shared else "miss")
                if shared is None:
                    return self._fresh(key, state, environ, start_response)
                self._shelf(key).put(key, shared)
                return shared.answer(environ, start_response)
        finally:
            if is_mine:
                turn.release()
                with self._lock:
                    self._rendering.pop(key, None)

    def _fresh(
        self, key: Key, state: State, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        has_lane = self._lanes.acquire(timeout=LANE_WAIT)
        try:
            status, headers, body = whole_answer(self.application, environ)
        finally:
            if has_lane:
                self._lanes.release()
        if len(body) > LARGE:
            self._freed.give_back_soon()
        if not keepable(status, headers):
            start_response(status, headers)
            return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]
        lifetime = state.steady if TIMELESS.fullmatch(key[0]) else state.lifetime
        expires = time.monotonic() + lifetime * spread(key)
        page = KeptPage(state.stamp, expires, state.changed_at, headers, body)
        self._shelf(key).put(key, page)
        most = LIFETIME_OF_SEARCH if is_search(key[0]) else lifetime
        self.shared.keep(key, page, most * spread(key))
        return page.answer(environ, start_response)


def spread(key: Key) -> float:
    """Return which part of its time a page lives: what was written together does not end together."""
    return 1 - crc32("?".join(key).encode()) % 1000 / 2500


def whole_answer(application: WSGIApplication, environ: WSGIEnvironment) -> tuple[str, Headers, bytes]:
    """Run the application and return its whole answer to GET, without what this one reader asks for."""
    shared = {name: value for name, value in environ.items() if name not in PERSONAL} | {
        "REQUEST_METHOD": "GET"
    }
    begun: list[Any] = []
    body = BytesIO()

    def start_response(status: str, headers: Headers, exc_info: Any = None) -> Any:
        begun[:] = [status, headers]
        return lambda data: None

    answer = application(shared, start_response)
    try:
        # Not joined: the pieces of a calendar of all talks would be held beside the whole.
        body.writelines(answer)
    finally:
        getattr(answer, "close", lambda: None)()
    return begun[0], begun[1], body.getvalue()
