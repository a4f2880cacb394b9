"""A preview: the site's own pages, for staff who may see the edition, with all that is not public yet.

It hangs on the session of who asked for it. Pages alone are previewed; files, feeds, maps, the API and
whatever is written stay as the public has them. No cache may keep such a page, here or on the way.
"""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme, urlencode

from conference.models import Edition
from content.preview_context import Lifted, preview_as

# Where the session keeps the key of the edition.
SESSION_KEY = "preview"
# First parts of addresses that hold no pages of the site.
EXCLUDED_PREFIXES = frozenset(("admin", "api", "media", "static"))
# Whoever has the public page must not be told that it is still the one.
CONDITIONAL_HEADERS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE")
SAFE_METHODS = frozenset(("GET", "HEAD"))


def is_page(path: str) -> bool:
    """Whether a page, or the colours of one, stands at this address: files have endings."""
    first, _, _ = path.removeprefix("/").partition("/")
    return first not in EXCLUDED_PREFIXES and (path.endswith("/") or "/accent-" in path)


def visible_edition(request: HttpRequest, key: Any) -> Edition | None:
    """Return the edition with this key, if somebody may see it in the admin."""
    desk = admin.site.get_model_admin(Edition)
    if not (key and admin.site.has_permission(request) and desk.has_view_permission(request)):
        return None
    edition: Edition | None = desk.get_queryset(request).filter(pk=key).first()
    return edition if edition and desk.has_view_permission(request, edition) else None


def wanted(request: HttpRequest) -> Edition | None:
    """Return the edition that this page is a preview of, if its reader asked for that and may see it."""
    # A reader without a session keeps having none: the answer does not vary with what nobody looked at.
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or not is_page(request.path_info):
        return None
    return visible_edition(request, request.session.get(SESSION_KEY))


def public_address(edition: Edition, path: str = "") -> str:
    """Return the address that leads to a page as the public sees it."""
    address = reverse("admin:conference_edition_as_public", args=[edition.pk])
    return f"{address}?{urlencode({'next': path})}" if path else address


def page_asked_for(request: HttpRequest, edition: Edition) -> str:
    """Return the page of this site to go on to, the edition's home where none is named."""
    path = request.GET.get("next", "")
    is_own = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if is_own else edition.get_absolute_url()


class PreviewMiddleware:
    """Shows an edition with its drafts, and before its time, to who previews it; to others as it is."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        edition = wanted(request)
        if edition is None:
            return self.get_response(request)
        for condition in CONDITIONAL_HEADERS:
            request.META.pop(condition, None)
        vars(request)["preview"] = edition
        with preview_as(Lifted(edition.pk, drafts=True)):
            if request.method in SAFE_METHODS:
                response = self.get_response(request)
            else:
                response = render(request, "preview_refused.html", status=403)
        response.headers["Cache-Control"] = "private, no-store"
        patch_vary_headers(response, ["Cookie"])
        return response
