"""One answer of the page cache: the bytes as rendered, kept compressed, each form made once, and its 304."""

import gzip
import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import InitVar, dataclass, field
from datetime import datetime
from functools import lru_cache
from wsgiref.types import StartResponse, WSGIEnvironment

import brotli
from django.utils.http import http_date, parse_etags, parse_http_date_safe

from content import touches
from pagecache.revisions import Stamp, State

SMALLEST_COMPRESSED = 400
OK, NOT_MODIFIED = "200 OK", "304 Not Modified"
ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "br": lambda body: bytes(brotli.compress(body, quality=5)),
    "gzip": lambda body: gzip.compress(body, compresslevel=6, mtime=0),
}
# The form in which a page is held.
PACKED = "br"
REFUSED = re.compile(r"q=0(\.0*)?$")
# Written anew for every answer, or true of one connection only.
OWN_HEADERS = frozenset(("content-length", "etag", "last-modified", "vary", "date", "connection"))
# What a 304 says again: how long to keep, and whether pages of other sites may read it.
KEPT_BY_304 = frozenset(("cache-control", "access-control-allow-origin", "access-control-expose-headers"))
# Readers keep a page and ask each time whether it is still the one: that costs a 304 and is never stale.
REVALIDATE = "public, max-age=0, must-revalidate"

# What the headers of a page take, and what its other compressed form has more than the one it is kept in.
HEADERS_SIZE, FORMS = 4_000, 2.5

type Headers = list[tuple[str, str]]
# Path and parameters.
type Key = tuple[str, str]


@lru_cache(maxsize=200)
def accepted_encodings(header: str) -> frozenset[str]:
    """Return the encodings that a reader takes: the names of Accept-Encoding without those it refuses."""
    parts = [part.replace(" ", "").split(";") for part in header.lower().split(",")]
    return frozenset(part[0] for part in parts if not any(REFUSED.match(option) for option in part[1:]))


@lru_cache(maxsize=500)
def shared_header(name: str, value: str) -> tuple[str, str]:
    """Return a header as other pages hold it: most say the same."""
    return name, value


@dataclass(slots=True)
class KeptPage:
    """A whole answer of status 200, good while its stamp is the current one and until it expires.

    What is worth it is held as brotli alone, a fifth of its bytes; most readers take it so.
    """

    stamp: Stamp
    expires: float
    changed_at: datetime
    headers: Headers
    body: InitVar[bytes] = b""
    etag: str = ""
    compressed: dict[str, bytes] = field(default_factory=dict)
    # A body too short to be compressed.
    short: bytes = b""
    # All headers of a whole answer, and of a 304, by encoding: written once.
    written: dict[str, tuple[Headers, Headers]] = field(default_factory=dict)

    def __post_init__(self, body: bytes) -> None:
        own = [shared_header(*pair) for pair in self.headers if pair[0].lower() not in OWN_HEADERS]
        if not any(name.lower() == "cache-control" for name, _ in own):
            own.append(("Cache-Control", REVALIDATE))
        self.headers = own
        self.etag = self.etag or hashlib.blake2b(body, digest_size=9).hexdigest()
        if len(body) >= SMALLEST_COMPRESSED:
            self.compressed[PACKED] = ENCODERS[PACKED](body)
        else:
            self.short = body

    @property
    def plain(self) -> bytes:
        """The body as it was rendered."""
        packed = self.compressed.get(PACKED)
        return brotli.decompress(packed) if packed is not None else self.short

    @property
    def packed(self) -> bytes:
        """The body as it is held."""
        return self.compressed.get(PACKED, self.short)

    @property
    def size(self) -> int:
        """Bytes held in memory, with the other compressed form as it usually is."""
        return int(len(self.packed) * FORMS) + HEADERS_SIZE

    def stands(self, key: Key, state: State) -> bool:
        """Whether nothing changed since, or nothing but words of things that it does not name.

        A page that stands has the new stamp from then on.
        """
        if self.stamp != state.stamp:
            path, query = key
            names = (
                None if query or not touches.holds(path, state.touched) else state.touched_since(self.stamp)
            )
            if names is None or touches.touches(self.plain, path, names):
                return False
        # Also where it is equal: one that came from another process is held once.
        self.stamp = state.stamp
        return True

    def encoded(self, accept: str) -> tuple[str, bytes]:
        """Return the best encoding that the reader takes ("" for none), and the body in it."""
        if PACKED not in self.compressed:
            return "", self.short
        wanted = accepted_encodings(accept)
        for name, encode in ENCODERS.items():
            if name in wanted:
                if name not in self.compressed:
                    self.compressed[name] = encode(self.plain)
                return name, self.compressed[name]
        return "", self.plain

    def is_known_to(self, environ: WSGIEnvironment) -> bool:
        """Whether the reader has this very page already, by ETag or, without one, by date."""
        tags = environ.get("HTTP_IF_NONE_MATCH")
        if tags:
            return tags.strip() == "*" or any(self.etag in tag for tag in parse_etags(tags))
        if "HTTP_IF_MODIFIED_SINCE" not in environ:
            return False
        since = parse_http_date_safe(environ["HTTP_IF_MODIFIED_SINCE"])
        return since is not None and int(self.changed_at.timestamp()) <= since

    def answer(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a GET or HEAD: the page in the reader's encoding, or 304 where it has it."""
        encoding, body = self.encoded(environ.get("HTTP_ACCEPT_ENCODING", ""))
        if encoding not in self.written:
            self.written[encoding] = self._headers_of(encoding, len(body))
        whole, known = self.written[encoding]
        if self.is_known_to(environ):
            start_response(NOT_MODIFIED, [*known])
            return []
        start_response(OK, [*whole])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    def _headers_of(self, encoding: str, length: int) -> tuple[Headers, Headers]:
        conditions = [
            ("ETag", f'"{self.etag}-{encoding}"' if encoding else f'"{self.etag}"'),
            ("Last-Modified", http_date(self.changed_at.timestamp())),
            ("Vary", "Accept-Encoding"),
        ]
        content = [("Content-Length", str(length)), *([("Content-Encoding", encoding)] if encoding else [])]
        kept = [(name, value) for name, value in self.headers if name.lower() in KEPT_BY_304]
        return [*conditions, *self.headers, *content], [*conditions, *kept]


def keepable(status: str, headers: Headers) -> bool:
    """Whether an answer is the same for everybody: it is whole, sets no cookie and does not object."""
    values = {name.lower(): value.lower() for name, value in headers}
    control = re.split(r"[\s,]+", values.get("cache-control", ""))
    objections = {"private", "no-store", "no-cache"} & set(control)
    varied = set(re.split(r"[\s,]+", values.get("vary", ""))) - {"", "cookie", "accept-encoding"}
    personal = {"set-cookie", "content-encoding"} & values.keys()
    return status.startswith("200 ") and not objections and not varied and not personal
