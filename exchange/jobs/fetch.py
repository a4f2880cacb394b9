"""Fetch a program from another site, page by page, with timeouts, retries and progress.

Only hosts of the policy are requested, and only public addresses. Names are resolved and checked here, and
the connection uses the checked address. Redirects are not followed.
"""

import http.client
import math
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Timer
from urllib.parse import SplitResult, urlsplit

from django.utils.encoding import iri_to_uri
from django.utils.translation import gettext, ngettext

from exchange.files import MAX_BYTES, MEGABYTE, Pages, Source
from exchange.imports.compare import ProgressCallback
from exchange.jobs.public_hosts import is_public
from exchange.problems import ProgramError, program_error

MAX_TRIES = 5
MAX_WAIT_SECONDS = 300.0
MAX_PAGES = 1_000
TRANSIENT_STATUSES = frozenset((408, 425, 429, 500, 502, 503, 504))
FORBIDDEN_STATUSES = frozenset((401, 403))
CHUNK_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """Allowed hosts and time limits of requests. `is_local` allows private addresses and plain HTTP.

    `timeout` limits each pause of a response, `page_seconds` a response from the connection to its last byte.
    `deadline` ends all requests; it is in seconds of `time.monotonic()`.
    """

    hosts: frozenset[str]
    token: str = ""
    timeout: float = 30.0
    page_seconds: float = 300.0
    deadline: float = math.inf
    is_local: bool = False
    max_bytes: int = MAX_BYTES
    wait: Callable[[float], None] = time.sleep


class _TransientError(Exception):
    """A failure worth a retry. `after` is how many seconds the site asks to wait."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


def _fetch_error(url: str, message: str, /, **values: object) -> ProgramError:
    return program_error(message, url.partition("?")[0], **values)


def fetch(
    url: str, pages: Pages, policy: FetchPolicy, progress: ProgressCallback | None = None
) -> list[Source]:
    """Return all pages of a program as sources. Raises `ProgramError` with one sentence."""
    sources: list[Source] = []
    rows, size = 0, 0
    while len(sources) < MAX_PAGES:
        address = pages.address(url, rows)
        content = fetch_file(address, policy)
        try:
            page = pages.page(content)
        except ValueError as error:
            message = gettext("The response is not in this format: %(error)s.")
            raise _fetch_error(address, message, error=error) from error
        if sources and page.rows and content == sources[-1].content:
            message = gettext("The site keeps returning the same page. Save the file and upload it instead.")
            raise _fetch_error(address, message)
        size += len(content)
        if size > MAX_BYTES:
            message = gettext("The responses are larger than %(value)s MB.")
            raise _fetch_error(address, message, value=MAX_BYTES // MEGABYTE)
        rows += page.rows
        sources.append(Source(f"{urlsplit(url).hostname}-{len(sources) + 1}.json", content))
        is_last = not page.rows or (page.total is not None and rows >= page.total)
        if progress:
            progress("fetched", rows, rows if is_last else max(page.total or 0, rows + 1))
        if is_last:
            return sources
    raise _fetch_error(url, gettext("The program has more than %(most_pages)s pages."), most_pages=MAX_PAGES)


def fetch_file(url: str, policy: FetchPolicy) -> bytes:
    """Return the content of a URL. Raises `ProgramError` with one sentence.

    Retry until the deadline, each time after a longer or the requested pause.
    """
    reason, tries = "", 0
    for tries in range(1, MAX_TRIES + 1):
        try:
            return _request(url, policy)
        except _TransientError as error:
            reason, after = str(error), error.after
        except (OSError, http.client.HTTPException) as error:
            reason, after = _reason(error), None
        if after is not None and after > MAX_WAIT_SECONDS:
            message = gettext("%(last)s Try again in %(after)s seconds.")
            raise _fetch_error(url, message, last=reason, after=format(after, ".0f"))
        pause = after if after is not None else float(2 ** (tries - 1))
        if tries == MAX_TRIES or time.monotonic() + pause > policy.deadline:
            break
        policy.wait(pause)
    message = ngettext(
        "%(last)s Tried %(tries)s time. Try again later.",
        "%(last)s Tried %(tries)s times. Try again later.",
        tries,
    )
    raise _fetch_error(url, message, last=reason, tries=tries)


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return gettext("The site didn’t respond in time.")
    if isinstance(error, http.client.IncompleteRead):
        return gettext("The connection was cut off. Try again.")
    message = gettext("The site can’t be reached (%(name)s: %(error)s).")
    return message % {"name": type(error).__name__, "error": error}


def _request(url: str, policy: FetchPolicy) -> bytes:
    parts = urlsplit(url)
    address = _checked_address(parts, url, policy)
    seconds = min(policy.page_seconds, policy.deadline - time.monotonic())
    if seconds <= 0:
        raise TimeoutError
    connection = _Connection(parts, address, min(policy.timeout, seconds))
    headers = {
        "Accept": "application/json, */*;q=0.5",
        "Accept-Encoding": "identity",
        "User-Agent": "Plenary",
    }
    if policy.token:
        headers["Authorization"] = f"Bearer {policy.token}"
    # A site that sends its answer byte by byte is within the timeout at each byte, also in the headers.
    end = Timer(seconds, connection.abort)
    end.daemon = True
    end.start()
    try:
        connection.request("GET", iri_to_uri(f"{parts.path or '/'}?{parts.query}"), headers=headers)
        content = _read_body(connection.getresponse(), url, policy)
        if connection.is_aborted:
            # Without a stated length, the end of the connection looks like the end of the response.
            raise TimeoutError
        return content
    except (OSError, ValueError, http.client.HTTPException):
        if connection.is_aborted:
            raise TimeoutError from None
        raise
    finally:
        end.cancel()
        connection.close()


def _read_body(response: http.client.HTTPResponse, url: str, policy: FetchPolicy) -> bytes:
    """Return the body of a response, read in chunks to limit its size and time."""
    status = response.status
    if status in TRANSIENT_STATUSES:
        message = gettext("The site responded with %(status)s.") % {"status": status}
        raise _TransientError(message, _parse_retry_after(response.headers.get("Retry-After")))
    if status in FORBIDDEN_STATUSES:
        message = gettext(
            "The site responded with %(status)s: the token is missing, has expired, or doesn’t give access."
        )
        raise _fetch_error(url, message, status=status)
    if 300 <= status < 400:
        message = gettext("The site redirects, and redirects aren’t followed. Enter the final address.")
        raise _fetch_error(url, message)
    if status != 200:
        raise _fetch_error(
            url, gettext("The site responded with %(status)s. Check the address."), status=status
        )
    content = bytearray()
    while chunk := response.read1(CHUNK_BYTES):
        content += chunk
        if len(content) > policy.max_bytes:
            message = gettext("The response is larger than %(value)s MB.")
            raise _fetch_error(url, message, value=policy.max_bytes // MEGABYTE)
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    return bytes(content)


def _parse_retry_after(header: str | None) -> float | None:
    """Return the seconds to wait by `Retry-After`, which is a number of seconds or a date."""
    if not header:
        return None
    if header.strip().isdecimal():
        return float(header.strip()[:9])
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((aware - datetime.now(UTC)).total_seconds(), 0.0)


def _checked_address(parts: SplitResult, url: str, policy: FetchPolicy) -> str:
    """Return the IP address to connect to. Raises `ProgramError` for a host that is not allowed."""
    host = (parts.hostname or "").lower()
    if parts.scheme != "https" and not policy.is_local:
        raise _fetch_error(url, gettext("The address must begin with https://."))
    if parts.username or parts.password:
        raise _fetch_error(
            url, gettext("The address must not contain a password. Enter the token in its own field.")
        )
    if host not in policy.hosts:
        allowed = ", ".join(sorted(policy.hosts)) or "none"
        message = gettext("Programs are fetched only from: %(allowed)s. The setting IMPORT_HOSTS names them.")
        raise _fetch_error(url, message, allowed=allowed)
    try:
        port = parts.port
    except ValueError:
        raise _fetch_error(url, gettext("The port in the address is not a number.")) from None
    address_infos = socket.getaddrinfo(host, port or 443, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in address_infos]
    other_addresses = [address for address in addresses if not is_public(address)]
    if other_addresses and not policy.is_local:
        message = gettext("%(host)s resolves to %(inside)s, which isn’t a public host. Nothing was fetched.")
        raise _fetch_error(url, message, host=host, inside=other_addresses[0])
    return addresses[0]


class _Connection(http.client.HTTPConnection):
    """A connection to the checked IP address, under the requested host name."""

    def __init__(self, parts: SplitResult, address: str, timeout: float) -> None:
        self.address, self.is_secure = address, parts.scheme == "https"
        self.is_aborted = False
        # `sock` is None while the last response of a connection is read.
        self.open_socket: socket.socket | None = None
        port = parts.port or (443 if self.is_secure else 80)
        super().__init__(parts.hostname or "", port, timeout=timeout)

    def connect(self) -> None:
        plain_socket = socket.create_connection((self.address, self.port), self.timeout)
        self.sock = self.open_socket = plain_socket
        if self.is_secure:
            context = ssl.create_default_context()
            secure_socket = context.wrap_socket(
                plain_socket, server_hostname=self.host, do_handshake_on_connect=False
            )
            self.sock = self.open_socket = secure_socket
            secure_socket.do_handshake()
        if self.is_aborted:
            raise TimeoutError

    def abort(self) -> None:
        """End the connection from another thread, which waits for it."""
        self.is_aborted = True
        if self.open_socket is not None:
            with suppress(OSError):
                # Not `SSLSocket.shutdown`, which the waiting thread cannot bear.
                socket.socket.shutdown(self.open_socket, socket.SHUT_RDWR)
