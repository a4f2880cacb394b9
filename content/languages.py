"""The languages of public pages, and their prefixes in paths.

`/de/2026/` is in German; pages in the site's own language have no prefix. Files have one address, without it.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, include, path
from django.utils.functional import lazy
from django.utils.translation import get_language, override


def path_prefix(language: str | None) -> str:
    """Return the prefix of the paths of pages in a language, such as "de/"; empty for the site's own."""
    return "" if language in (None, settings.LANGUAGE_CODE) else f"{language}/"


def language_of_path(address: str) -> str:
    """Return the language of the page at a path."""
    return _split_language(address)[0]


def strip_language(address: str) -> str:
    """Return the path in the site's own language: "/2026/" of "/de/2026/"."""
    return _split_language(address)[1]


def path_in_language(address: str, language: str) -> str:
    """Return the path of the same page in a language."""
    return f"/{path_prefix(language)}{strip_language(address).removeprefix('/')}"


def _split_language(address: str) -> tuple[str, str]:
    """Return the language of a path, and the path without it."""
    first, slash, remaining = address.removeprefix("/").partition("/")
    if slash and first != settings.LANGUAGE_CODE and first in dict(settings.LANGUAGES):
        return first, f"/{remaining}"
    return settings.LANGUAGE_CODE, address


def html_lang(language: str | None = None) -> str:
    """Return a language (default: the current one) for HTML: "zh-Hans"; "en" for any kind of English."""
    code = language or get_language() or "en"
    if code.startswith("en-"):
        return "en"
    language_code, *subtags = code.split("-")
    return "-".join([language_code, *(part.title() if len(part) > 2 else part.upper() for part in subtags)])


class LanguageMiddleware:
    """Activates the language of the path. The languages that the browser prefers are ignored."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        language = language_of_path(request.path_info)
        if language == settings.LANGUAGE_CODE:
            response = self.get_response(request)
        else:
            with override(language):
                response = self.get_response(request)
        if response.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault("Content-Language", html_lang(language))
        return response


# This works like `i18n_patterns()`, which Django allows only in the root URLconf. Here, pages and files of an
# app share one namespace.
CURRENT_PREFIX = lazy(lambda: path_prefix(get_language()), str)()


_views: set[Callable[..., object]] = set()


def in_each_language(*pages: URLPattern) -> URLResolver:
    """Return addresses of pages that exist in every language."""
    _views.update(page.callback for page in pages)
    return path(CURRENT_PREFIX, include(list(pages)))


def is_in_each_language(request: HttpRequest) -> bool:
    """Return whether the page of this request exists in every language."""
    return bool(request.resolver_match and request.resolver_match.func in _views)
