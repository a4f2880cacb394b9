"""A program from another site, page by page: with time-outs, retries, progress, and only from hosts allowed.

Nothing of this is sent anywhere but to the hosts of the policy, and never to an address inside a network:
names are resolved here, judged, and the connection goes to the very address that was judged. No redirects.
"""

import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult, urlsplit

from django.utils.translation import gettext

from exchange.files import MAX_BYTES, MEGABYTE, Pages, Source
from exchange.problems import ProgramError, refused

TRIES = 5
MAX_WAIT_SECONDS = 300.0
MAX_PAGES = 1_000
PASSING = frozenset((408, 425, 429, 500, 502, 503, 504))
REFUSED = frozenset((401, 403))
CHUNK_BYTES = 65_536
type Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Policy:
    """Whom we may ask, and how patiently. `is_local` allows addresses inside a network, and no TLS."""

    hosts: frozenset[str]
    token: str = ""
    timeout: float = 30.0
    page_seconds: float = 300.0
    is_local: bool = False
    max_bytes: int = MAX_BYTES
    wait: Callable[[float], None] = time.sleep


class _PassingError(Exception):
    """Something that may be over in a moment. `after` is how long the site asks to wait."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


def _refused(url: str, message: str, /, **values: object) -> ProgramError:
    return refused(message, url.partition("?")[0], **values)


def fetch(url: str, pages: Pages, policy: Policy, progress: Progress | None = None) -> list[Source]:
    """Return all pages of a program as sources. Raises `ProgramError` with one sentence."""
    found: list[Source] = []
    rows, size = 0, 0
    while len(found) < MAX_PAGES:
        address = pages.address(url, rows)
        content = _patiently(address, policy)
        try:
            page = pages.page(content)
        except ValueError as error:
            said = gettext("The answer is not a page of this format: %(error)s.")
            raise _refused(address, said, error=error) from error
        if found and page.rows and content == found[-1].content:
            said = gettext("The site gives the same page again and again. Save its file instead.")
            raise _refused(address, said)
        size += len(content)
        if size > MAX_BYTES:
            said = gettext("The answers hold more than %(value)s MB.")
            raise _refused(address, said, value=MAX_BYTES // MEGABYTE)
        rows += page.rows
        found.append(Source(f"{urlsplit(url).hostname}-{len(found) + 1}.json", content))
        is_last = not page.rows or (page.total is not None and rows >= page.total)
        if progress:
            progress("fetched", rows, rows if is_last else max(page.total or 0, rows + 1))
        if is_last:
            return found
    raise _refused(url, gettext("The program has more than %(most_pages)s pages."), most_pages=MAX_PAGES)


def fetch_file(url: str, policy: Policy, max_bytes: int) -> bytes:
    """Return what an address holds. Raises `ProgramError` with one sentence."""
    return _patiently(url, replace(policy, max_bytes=max_bytes))


def _patiently(url: str, policy: Policy) -> bytes:
    """Ask several times, waiting longer each time, or as long as the site asks to."""
    last = ""
    for attempt in range(TRIES):
        try:
            return _asked(url, policy)
        except _PassingError as error:
            last, after = str(error), error.after
        except (OSError, http.client.HTTPException) as error:
            last, after = _in_words(error), None
        if after is not None and after > MAX_WAIT_SECONDS:
            said = gettext("%(last)s It asks to wait %(after)s seconds. Try again then.")
            raise _refused(url, said, last=last, after=format(after, ".0f"))
        if attempt + 1 < TRIES:
            policy.wait(after if after is not None else float(2**attempt))
    said = gettext("%(last)s It was asked %(tries)s times. Try again later.")
    raise _refused(url, said, last=last, tries=TRIES)


def _in_words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return gettext("The site did not answer in time.")
    if isinstance(error, http.client.IncompleteRead):
        return gettext("The answer broke off.")
    said = gettext("The site cannot be reached (%(name)s: %(error)s).")
    return said % {"name": type(error).__name__, "error": error}


def _asked(url: str, policy: Policy) -> bytes:
    parts = urlsplit(url)
    connection = _Connection(parts, _judged(parts, url, policy), policy)
    headers = {
        "Accept": "application/json, */*;q=0.5",
        "Accept-Encoding": "identity",
        "User-Agent": "Plenary",
    }
    if policy.token:
        headers["Authorization"] = f"Bearer {policy.token}"
    try:
        connection.request("GET", f"{parts.path or '/'}?{parts.query}", headers=headers)
        return _body(connection.getresponse(), url, policy)
    finally:
        connection.close()


def _body(response: http.client.HTTPResponse, url: str, policy: Policy) -> bytes:
    """Return what an answer holds, read in pieces, so that neither size nor slowness has no end."""
    status = response.status
    if status in PASSING:
        said = gettext("The site answers %(status)s.") % {"status": status}
        raise _PassingError(said, _seconds(response.headers.get("Retry-After")))
    if status in REFUSED:
        said = gettext("The site answers %(status)s: the token is missing, expired or not allowed this.")
        raise _refused(url, said, status=status)
    if 300 <= status < 400:
        said = gettext("The site sends us elsewhere; redirects are not followed. Give the final address.")
        raise _refused(url, said)
    if status != 200:
        raise _refused(url, gettext("The site answers %(status)s. Is the address right?"), status=status)
    end, content = time.monotonic() + policy.page_seconds, bytearray()
    while piece := response.read1(CHUNK_BYTES):
        content += piece
        if len(content) > policy.max_bytes:
            said = gettext("The answer holds more than %(value)s MB.")
            raise _refused(url, said, value=policy.max_bytes // MEGABYTE)
        if time.monotonic() > end:
            raise TimeoutError
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    return bytes(content)


def _seconds(header: str | None) -> float | None:
    """Return how long `Retry-After` asks to wait: it is a number of seconds, or a date."""
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


def _judged(parts: SplitResult, url: str, policy: Policy) -> str:
    """Return the network address to ask, or refuse the host."""
    host = (parts.hostname or "").lower()
    if parts.scheme != "https" and not policy.is_local:
        raise _refused(url, gettext("The address must begin with https://."))
    if parts.username or parts.password:
        raise _refused(url, gettext("The address must not hold a password. Give the token apart."))
    if host not in policy.hosts:
        allowed = ", ".join(sorted(policy.hosts)) or "none"
        said = gettext("Programs are fetched only from: %(allowed)s. The setting IMPORT_HOSTS names them.")
        raise _refused(url, said, allowed=allowed)
    try:
        port = parts.port
    except ValueError:
        raise _refused(url, gettext("The port in the address is no number.")) from None
    found = socket.getaddrinfo(host, port or 443, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    inside = [address for address in addresses if not ipaddress.ip_address(address).is_global]
    if inside and not policy.is_local:
        said = gettext("%(host)s leads to %(inside)s, which is inside a network. It was not asked.")
        raise _refused(url, said, host=host, inside=inside[0])
    return addresses[0]


class _Connection(http.client.HTTPConnection):
    """A connection to the checked IP address, under the requested host name."""

    def __init__(self, parts: SplitResult, address: str, policy: Policy) -> None:
        self.address, self.is_secure = address, parts.scheme == "https"
        port = parts.port or (443 if self.is_secure else 80)
        super().__init__(parts.hostname or "", port, timeout=policy.timeout)

    def connect(self) -> None:
        plain = socket.create_connection((self.address, self.port), self.timeout)
        self.sock = plain
        if self.is_secure:
            self.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=self.host)
