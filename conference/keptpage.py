"""One answer of the page cache: the bytes as rendered, each compressed form made once, and its 304."""

import gzip
import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from wsgiref.types import StartResponse, WSGIEnvironment

import brotli
from django.utils.http import http_date, parse_etags, parse_http_date_safe

from conference.stamps import Stamp

SMALLEST_COMPRESSED = 400
ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "br": lambda body: bytes(brotli.compress(body, quality=5)),
    "gzip": lambda body: gzip.compress(body, compresslevel=6, mtime=0),
}
REFUSED = re.compile(r"q=0(\.0*)?$")
# Written anew for every answer, or true of one connection only.
OWN_HEADERS = frozenset(("content-length", "etag", "last-modified", "vary", "date", "connection"))
# What a 304 says again: how long to keep, and whether pages of other sites may read it.
KEPT_BY_304 = frozenset(("cache-control", "access-control-allow-origin", "access-control-expose-headers"))
# Readers keep a page and ask each time whether it is still the one: that costs a 304 and is never stale.
REVALIDATE = "public, max-age=0, must-revalidate"

type Headers = list[tuple[str, str]]
# Path and parameters.
type Key = tuple[str, str]


def accepted_encodings(header: str) -> set[str]:
    """Return the encodings that a reader takes: the names of Accept-Encoding without those it refuses."""
    parts = [part.replace(" ", "").split(";") for part in header.lower().split(",")]
    return {part[0] for part in parts if not any(REFUSED.match(option) for option in part[1:])}


@dataclass(slots=True)
class KeptPage:
    """A whole answer of status 200, good while its stamp is the current one and until it expires."""

    stamp: Stamp
    expires: float
    changed_at: datetime
    headers: Headers
    plain: bytes
    etag: str = ""
    compressed: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        own = [(name, value) for name, value in self.headers if name.lower() not in OWN_HEADERS]
        if not any(name.lower() == "cache-control" for name, _ in own):
            own.append(("Cache-Control", REVALIDATE))
        self.headers = own
        self.etag = hashlib.blake2b(self.plain, digest_size=9).hexdigest()

    @property
    def size(self) -> int:
        """Bytes held in memory at most, with the compressed forms there may be."""
        return 2 * len(self.plain)

    def encoded(self, accept: str) -> tuple[str, bytes]:
        """Return the best encoding that the reader takes ("" for none), and the body in it."""
        if len(self.plain) < SMALLEST_COMPRESSED:
            return "", self.plain
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
        since = parse_http_date_safe(environ.get("HTTP_IF_MODIFIED_SINCE", ""))
        return since is not None and int(self.changed_at.timestamp()) <= since

    def answer(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a GET or HEAD: the page in the reader's encoding, or 304 where it has it."""
        encoding, body = self.encoded(environ.get("HTTP_ACCEPT_ENCODING", ""))
        conditions = [
            ("ETag", f'"{self.etag}-{encoding}"' if encoding else f'"{self.etag}"'),
            ("Last-Modified", http_date(self.changed_at.timestamp())),
            ("Vary", "Accept-Encoding"),
        ]
        if self.is_known_to(environ):
            kept = [(name, value) for name, value in self.headers if name.lower() in KEPT_BY_304]
            start_response(status_line(HTTPStatus.NOT_MODIFIED), conditions + kept)
            return []
        headers = [*conditions, *self.headers, ("Content-Length", str(len(body)))]
        if encoding:
            headers.append(("Content-Encoding", encoding))
        start_response(status_line(HTTPStatus.OK), headers)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]


class Shelf:
    """Kept answers by key, the least read of which go when there are too many bytes. For many threads."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._pages: OrderedDict[Key, KeptPage] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Key) -> KeptPage | None:
        """Return the answer, which counts as read."""
        page = self._pages.get(key)
        if page is not None:
            with self._lock:
                if key in self._pages:
                    self._pages.move_to_end(key)
        return page

    def put(self, key: Key, page: KeptPage) -> None:
        """Keep an answer in place of the one that was there."""
        with self._lock:
            replaced = self._pages.pop(key, None)
            self._size += page.size - (replaced.size if replaced else 0)
            self._pages[key] = page
            while self._size > self.most_bytes and len(self._pages) > 1:
                _, dropped = self._pages.popitem(last=False)
                self._size -= dropped.size

    def clear(self) -> None:
        with self._lock:
            self._pages.clear()
            self._size = 0


def status_line(status: HTTPStatus) -> str:
    """Return the status as WSGI wants it: "304 Not Modified"."""
    return f"{status.value} {status.phrase}"


def keepable(status: str, headers: Headers) -> bool:
    """Whether an answer is the same for everybody: it is whole, sets no cookie and does not object."""
    values = {name.lower(): value.lower() for name, value in headers}
    control = re.split(r"[\s,]+", values.get("cache-control", ""))
    objections = {"private", "no-store", "no-cache"} & set(control)
    varied = set(re.split(r"[\s,]+", values.get("vary", ""))) - {"", "cookie", "accept-encoding"}
    personal = {"set-cookie", "content-encoding"} & values.keys()
    return status.startswith("200 ") and not objections and not varied and not personal
