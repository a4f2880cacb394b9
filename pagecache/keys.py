"""The requests that the page cache serves, and their keys: path and known parameters.

Parameters that no page reads, such as `utm_source`, are removed from requests.
"""

from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote_plus, urlencode
from wsgiref.types import WSGIEnvironment

from django.conf import settings
from django.http.cookie import parse_cookie
from django.http.request import split_domain_port, validate_host

from content.languages import strip_language

SAFE_METHODS = frozenset(("GET", "HEAD"))
# First parts of paths that are never cached: personal pages, files and checks.
UNCACHED_SECTIONS = frozenset(("admin", "media", "static", "healthz", "metrics", "readyz"))
# Images of thousands of papers would evict the pages. `conference.cards` caches the last ones itself.
CARD_SUFFIX = "/card.png"
API_SECTION = "api"
LIST_PARAMETERS = frozenset(("by", "letter", "page", "room", "show", "sort", "view", "zoom"))
# `papers` adds the parameters of the lists of papers.
CACHED_PARAMETERS = {"edition", "kind", "topic", *LIST_PARAMETERS}
# `website.edition_papers` adds the parameters of facets.
SEARCH_PARAMETERS = {"q", "kind", "page"}
# Pages read these, but responses to typed words and secrets are rarely requested twice.
UNCACHED_PARAMETERS = frozenset(
    ("note", "q", "query", "s", "search", "seed", "showEvent", "board", "starred")
)
UNCACHED_API_PARAMETERS = frozenset(("q", "changed_since"))
MAX_ADDRESS_LENGTH = 400
MAX_SEARCH_LENGTH = 120
KEY_CACHE_ENTRIES = 5_000


class Key(NamedTuple):
    """The key of a cached response: a path, and the known parameters in alphabetical order."""

    path: str
    query: str


class Address(NamedTuple):
    """The query string without unknown parameters, and the key of the response, if it may be cached."""

    query: str
    key: Key | None


def cache_key(environ: WSGIEnvironment) -> Key | None:
    """Return the key of a response that is the same for all readers; `None` for any other."""
    if not is_anonymous_read(environ) or not is_allowed_host(environ) or not is_secure_enough(environ):
        return None
    return parse_address(environ.get("PATH_INFO", ""), environ.get("QUERY_STRING", "")).key


def without_unknown_parameters(environ: WSGIEnvironment) -> WSGIEnvironment:
    """Return an anonymous reader's request without unknown parameters; any other unchanged."""
    query = environ.get("QUERY_STRING", "")
    if not query or not is_anonymous_read(environ):
        return environ
    known_query = parse_address(environ.get("PATH_INFO", ""), query).query
    return environ if known_query == query else {**environ, "QUERY_STRING": known_query}


@lru_cache(maxsize=KEY_CACHE_ENTRIES)
def parse_address(path: str, query: str) -> Address:
    """Return the known parameters of an address, and its key."""
    if first_part(path) in UNCACHED_SECTIONS or path.endswith(CARD_SUFFIX):
        return Address(query, None)
    if not is_api(path):
        query = "&".join(part for part in query.split("&") if _parameter_name(part) in known_parameters())
    if len(path) + len(query) > MAX_ADDRESS_LENGTH:
        return Address(query, None)
    pairs = sorted(parse_qsl(query, keep_blank_values=True))
    names = {name for name, _ in pairs}
    # Django and a sorted key may disagree on which of two values counts.
    if len(names) < len(pairs) or not _is_cacheable(path, query, names):
        return Address(query, None)
    query = urlencode(pairs)
    return Address(query, Key(path, query))


def known_parameters() -> set[str]:
    """Return the parameters that some page reads."""
    return CACHED_PARAMETERS | SEARCH_PARAMETERS | UNCACHED_PARAMETERS


def _parameter_name(part: str) -> str:
    return unquote_plus(part.partition("=")[0])


def _is_cacheable(path: str, query: str, names: set[str]) -> bool:
    if is_api(path):
        return UNCACHED_API_PARAMETERS.isdisjoint(names)
    if is_search(path):
        return names <= SEARCH_PARAMETERS and len(query) <= MAX_SEARCH_LENGTH
    return names <= CACHED_PARAMETERS


def first_part(path: str) -> str:
    """Return the first part of a path after the language: an edition's slug, or a section of the site."""
    return strip_language(path).removeprefix("/").partition("/")[0]


def is_api(path: str) -> bool:
    """Return whether a path belongs to the API itself, which refuses unknown parameters."""
    return path.startswith(f"/{API_SECTION}/v")


def is_search(path: str) -> bool:
    """Return whether a path is a search of the site or an edition, or its suggestions."""
    path = strip_language(path)
    return path.removesuffix("suggest").endswith("/search/") and path.count("/") <= 3


def is_anonymous_read(environ: WSGIEnvironment) -> bool:
    """Return whether the request is a GET or HEAD without a token, session or agenda."""
    if environ["REQUEST_METHOD"] not in SAFE_METHODS or "HTTP_AUTHORIZATION" in environ:
        return False
    # On pages with a language prefix, the agenda's cookie has the language as a suffix.
    personal = settings.SESSION_COOKIE_NAME, settings.AGENDA_COOKIE_NAME
    return not any(name.startswith(personal) for name in parse_cookie(environ.get("HTTP_COOKIE", "")))


def is_allowed_host(environ: WSGIEnvironment) -> bool:
    """Return whether the request is for a host of the site. Others must neither create nor get an entry."""
    # As in Django, an empty Host header is invalid, and only a missing one means the name of the server.
    host = environ.get("HTTP_HOST", environ.get("SERVER_NAME", ""))
    return _is_valid_host(host, tuple(settings.ALLOWED_HOSTS))


@lru_cache(maxsize=100)
def _is_valid_host(host: str, allowed: tuple[str, ...]) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


def is_secure_enough(environ: WSGIEnvironment) -> bool:
    """Return whether the request uses HTTPS or may use HTTP; otherwise Django redirects it to HTTPS."""
    if not settings.SECURE_SSL_REDIRECT:
        return True
    header: tuple[str, str] | None = settings.SECURE_PROXY_SSL_HEADER
    name, value = header or ("wsgi.url_scheme", "https")
    return bool(environ.get(name) == value)
