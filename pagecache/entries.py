"""Cache entries: responses stored compressed, and sent in an accepted encoding or as 304."""

import gzip
import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import InitVar, dataclass, field
from datetime import datetime
from functools import lru_cache
from wsgiref.types import StartResponse, WSGIEnvironment

import brotli
from django.conf import settings
from django.utils.http import http_date, parse_etags, parse_http_date_safe

from pagecache import clock
from pagecache.revisions import Revisions
from pagecache.tags import header_tags

MIN_COMPRESSED_BYTES = 400
OK, NOT_MODIFIED = "200 OK", "304 Not Modified"
ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "br": lambda body: bytes(brotli.compress(body, quality=5)),
    "gzip": lambda body: gzip.compress(body, compresslevel=6, mtime=0),
}
# The encoding in which a body is stored.
STORED_ENCODING = "br"
REFUSED_OPTION = re.compile(r"q=0(\.0*)?$")
# Headers that the cache itself writes, or that concern a single connection.
OWN_HEADERS = frozenset(
    ("cache-control", "content-length", "etag", "last-modified", "vary", "date", "connection")
)
# Headers that a 304 repeats, in addition to the cache's own.
REPEATED_BY_304 = frozenset(("access-control-allow-origin", "access-control-expose-headers"))
# Memory of the headers and of a tag, and the ratio of all encodings of a body to the first.
HEADERS_BYTES, TAG_BYTES, ENCODINGS_FACTOR = 4_000, 100, 2.5
# For how many seconds a shared cache may store a response that may be stale already.
STALE_SHARED_SECONDS = 1

type Headers = list[tuple[str, str]]


@lru_cache(maxsize=200)
def accepted_encodings(header: str) -> frozenset[str]:
    """Return the encodings in an Accept-Encoding header, without those that it refuses."""
    parts = [part.replace(" ", "").split(";") for part in header.lower().split(",")]
    return frozenset(
        part[0] for part in parts if not any(REFUSED_OPTION.match(option) for option in part[1:])
    )


@lru_cache(maxsize=500)
def interned_header(name: str, value: str) -> tuple[str, str]:
    """Return a shared copy of a header to save memory, since most entries have the same headers."""
    return name, value


@lru_cache(maxsize=500)
def cache_control(shared_seconds: int, stale_seconds: int = 0) -> str:
    """Return the Cache-Control header: browsers always revalidate, shared caches after `shared_seconds`.

    They may serve the response for `stale_seconds` longer while they ask for a new one, or for a second, and
    while the site does not answer.
    """
    stale = f"stale-while-revalidate={max(stale_seconds, 1)}, stale-if-error={stale_seconds}"
    return f"public, max-age=0, s-maxage={shared_seconds}, {stale}"


@dataclass(slots=True)
class CacheEntry:
    """A complete response of status 200, valid until it expires or one of its tags is invalidated.

    `revision` is the number (see `Revisions`) up to which it is known to be valid.
    """

    tags: frozenset[str]
    revision: int
    expires: float
    changed_at: datetime
    headers: Headers
    body: InitVar[bytes]
    etag: str = ""
    # The body by encoding; "" for a body that is too short for compression.
    bodies: dict[str, bytes] = field(default_factory=dict)
    # The headers of the 200 and of the 304 response by encoding, without Cache-Control.
    headers_by_encoding: dict[str, tuple[Headers, Headers]] = field(default_factory=dict)

    def __post_init__(self, body: bytes) -> None:
        response_headers = [
            interned_header(*pair) for pair in self.headers if pair[0].lower() not in OWN_HEADERS
        ]
        tags = header_tags(self.tags)
        self.headers = [*response_headers, ("Surrogate-Key", " ".join(tags)), ("Cache-Tag", ",".join(tags))]
        self.etag = hashlib.blake2b(body, digest_size=9).hexdigest()
        if len(body) >= MIN_COMPRESSED_BYTES:
            self.bodies[STORED_ENCODING] = ENCODERS[STORED_ENCODING](body)
        else:
            self.bodies[""] = body

    @property
    def uncompressed_body(self) -> bytes:
        """The body as it was rendered."""
        return self.bodies[""] if "" in self.bodies else brotli.decompress(self.bodies[STORED_ENCODING])

    @property
    def size(self) -> int:
        """Bytes in memory, with an estimate of the second encoding."""
        stored_bytes = len(self.bodies.get(STORED_ENCODING, b"")) or len(self.bodies[""])
        return int(stored_bytes * ENCODINGS_FACTOR) + HEADERS_BYTES + TAG_BYTES * len(self.tags)

    def revalidate(self, revisions: Revisions) -> bool:
        """Return whether the entry is still valid; if so, update `revision` to the current number."""
        number = revisions.number
        if clock.now() >= self.expires or not revisions.is_valid(self.tags, self.revision):
            return False
        self.revision = number
        return True

    def stale_seconds(self, revisions: Revisions) -> float:
        """Return for how many seconds the entry has been invalid, or an upper bound of it."""
        changed_at = revisions.moment_after(self.revision)
        is_changed = self.revision < revisions.number and not revisions.is_valid(self.tags, self.revision)
        since = min(self.expires, changed_at) if is_changed else self.expires
        return clock.now() - since

    def encode(self, accept: str) -> tuple[str, bytes]:
        """Return the best accepted encoding ("" for none), and the body in it."""
        if "" in self.bodies:
            return "", self.bodies[""]
        accepted = accepted_encodings(accept)
        for name, encode in ENCODERS.items():
            if name in accepted:
                if name not in self.bodies:
                    self.bodies[name] = encode(self.uncompressed_body)
                return name, self.bodies[name]
        return "", self.uncompressed_body

    def matches(self, environ: WSGIEnvironment) -> bool:
        """Return whether the client has this response, by ETag or, without one, by date."""
        tags = environ.get("HTTP_IF_NONE_MATCH")
        if tags:
            return tags.strip() == "*" or any(self.etag in tag for tag in parse_etags(tags))
        if "HTTP_IF_MODIFIED_SINCE" not in environ:
            return False
        since = parse_http_date_safe(environ["HTTP_IF_MODIFIED_SINCE"])
        return since is not None and int(self.changed_at.timestamp()) <= since

    def respond(
        self, environ: WSGIEnvironment, start_response: StartResponse, *, is_current: bool
    ) -> Iterable[bytes]:
        """Respond to a GET or HEAD request in an accepted encoding, or with 304 if the response matches.

        Shared caches may store a response for long only if it `is_current`.
        """
        encoding, body = self.encode(environ.get("HTTP_ACCEPT_ENCODING", ""))
        if encoding not in self.headers_by_encoding:
            self.headers_by_encoding[encoding] = self._write_headers(encoding, len(body))
        complete, unmodified = self.headers_by_encoding[encoding]
        cache_header = ("Cache-Control", self._cache_control(is_current))
        if self.matches(environ):
            start_response(NOT_MODIFIED, [cache_header, *unmodified])
            return []
        start_response(OK, [cache_header, *complete])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    def _cache_control(self, is_current: bool) -> str:
        if not is_current:
            return cache_control(min(settings.SHARED_CACHE_SECONDS, STALE_SHARED_SECONDS))
        remaining = max(0, int(self.expires - clock.now()))
        stale_seconds = int(settings.PAGE_CACHE_STALE_SECONDS)
        return cache_control(min(settings.SHARED_CACHE_SECONDS, remaining), stale_seconds)

    def _write_headers(self, encoding: str, length: int) -> tuple[Headers, Headers]:
        conditions = [
            ("ETag", f'"{self.etag}-{encoding}"' if encoding else f'"{self.etag}"'),
            ("Last-Modified", http_date(self.changed_at.timestamp())),
            ("Vary", "Accept-Encoding"),
        ]
        content = [("Content-Length", str(length)), *([("Content-Encoding", encoding)] if encoding else [])]
        repeated = [(name, value) for name, value in self.headers if name.lower() in REPEATED_BY_304]
        return [*conditions, *self.headers, *content], [*conditions, *repeated]


def is_cacheable(status: str, headers: Headers) -> bool:
    """Return whether a response is the same for all readers: status 200, no cookie, not declared private."""
    values = {name.lower(): value.lower() for name, value in headers}
    directives = re.split(r"[\s,]+", values.get("cache-control", ""))
    objections = {"private", "no-store", "no-cache"} & set(directives)
    varying_headers = set(re.split(r"[\s,]+", values.get("vary", ""))) - {"", "cookie", "accept-encoding"}
    personal_headers = {"set-cookie", "content-encoding"} & values.keys()
    return status.startswith("200 ") and not objections and not varying_headers and not personal_headers
