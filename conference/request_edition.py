"""The edition that an address names, found once per request; previews of it for staff.

A preview hangs on the session of who asked for it. Pages alone are previewed; files, feeds, maps, the API and
whatever is written stay as the public has them. No cache may keep such a page, here or on the way.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime
from functools import wraps
from typing import Concatenate

from django.conf import settings
from django.contrib import admin
from django.db.models import Max, OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.http import require_safe

from accounts.access_scope import access_of
from conference.models import Announcement, Edition
from content.languages import strip_language
from content.preview_context import PreviewScope, preview_as
from content.querysets import at_or_now
from content.revision import SiteRevision

# The site's revision; each edition has its own.
SITE_REVISION = {
    f"site_{name}": Subquery(SiteRevision.objects.filter(pk=1).values(name))
    for name in ("revision", "changed_at")
}
# When the last banner of an edition ends: pages without a banner need no query to know.
LAST_BANNER = Subquery(
    Announcement._base_manager.filter(edition=OuterRef("pk"), banner_until__isnull=False)
    .order_by()
    .values("edition")
    .annotate(ends=Max("banner_until"))
    .values("ends")
)


def published_editions(request: HttpRequest) -> list[Edition]:
    """Return all published editions with their conferences, newest first. One query per request.

    They carry the site's stamp too, as `site_revision` and `site_changed_at`, and `last_banner`.
    """
    memory = vars(request)
    if "published_editions" not in memory:
        rows = Edition.objects.published(timezone.now()).select_related("conference")
        memory["published_editions"] = rows.annotate(**SITE_REVISION, last_banner=LAST_BANNER)
    editions: list[Edition] = memory["published_editions"]
    return editions


def first_path_part(request: HttpRequest) -> str:
    """Return the first part of the path behind its language: an edition's slug, or a section of the site."""
    return strip_language(request.path_info).lstrip("/").partition("/")[0]


def addressed_edition(request: HttpRequest) -> Edition | None:
    """Return the published edition whose pages this address belongs to, if any."""
    slug = vars(request).get("edition_slug") or first_path_part(request)
    return next((edition for edition in published_editions(request) if edition.slug == slug), None)


def show_edition(request: HttpRequest, edition: Edition) -> None:
    """Let the frame of this page be the edition's, though its address does not name it."""
    vars(request)["edition_slug"] = edition.slug


def current_edition(editions: Sequence[Edition], at: datetime | None = None) -> Edition | None:
    """Return the edition that is running or comes next, else the latest. The editions come newest first."""
    ahead = [edition for edition in editions if edition.end_date >= edition.day_of(at_or_now(at))]
    return ahead[-1] if ahead else next(iter(editions), None)


def edition_page[**P](
    view: Callable[Concatenate[HttpRequest, Edition, P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Give a view the published edition that its address names by `edition`; without one, a 404."""

    @require_safe
    @wraps(view)
    def wrapped(request: HttpRequest, edition: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        addressed = addressed_edition(request)
        if addressed is None or addressed.slug != edition:
            raise Http404("No such edition.")
        return view(request, addressed, *args, **kwargs)

    return wrapped


# Where the session keeps the key of the edition.
SESSION_KEY = "preview"
# What the apps above show in a preview instead of the public rows.
PREVIEW_STATES: list[Callable[[HttpRequest, Edition], AbstractContextManager[None]]] = []
# First parts of addresses that hold no pages of the site.
EXCLUDED_PREFIXES = frozenset(("admin", "api", "media", "static"))
# A browser with the public page must not get a 304.
CONDITIONAL_HEADERS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE")
SAFE_METHODS = frozenset(("GET", "HEAD"))


def visible_edition(request: HttpRequest, key: int | str | None) -> Edition | None:
    """Return the edition with this key, if somebody may see it in the admin."""
    model_admin = admin.site.get_model_admin(Edition)
    if not (key and admin.site.has_permission(request) and model_admin.has_view_permission(request)):
        return None
    edition: Edition | None = model_admin.get_queryset(request).filter(pk=key).first()
    may_preview = edition is not None and access_of(request.user).may("preview", Edition, edition)
    return edition if may_preview else None


def get_previewed_edition(request: HttpRequest) -> Edition | None:
    """Return the edition that this page is a preview of, if its reader asked for that and may see it."""
    # A reader without a session gets none: the response does not vary with an unread cookie.
    path = request.path_info
    # Files have extensions; an edition's colors and art are part of its pages.
    is_page = path.endswith("/") or "/colors-" in path or "/art-" in path
    is_excluded = first_path_part(request) in EXCLUDED_PREFIXES
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or is_excluded or not is_page:
        return None
    return visible_edition(request, request.session.get(SESSION_KEY))


def public_address(edition: Edition, path: str = "") -> str:
    """Return the address that leads to a page as the public sees it."""
    address = reverse("admin:conference_edition_as_public", args=[edition.pk])
    return f"{address}?{urlencode({'next': path})}" if path else address


def next_page(request: HttpRequest, edition: Edition) -> str:
    """Return the page of this site to go on to, the edition's home where none is named."""
    path = request.GET.get("next", "")
    is_own = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if is_own else edition.get_absolute_url()


class PreviewMiddleware:
    """Shows an edition with its drafts, and before its time, to who previews it; to others as it is."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        edition = get_previewed_edition(request)
        if edition is None:
            return self.get_response(request)
        for condition in CONDITIONAL_HEADERS:
            request.META.pop(condition, None)
        vars(request)["preview"] = edition
        with preview_as(PreviewScope(edition.pk, drafts=True)), ExitStack() as states:
            if request.method in SAFE_METHODS:
                for state in PREVIEW_STATES:
                    states.enter_context(state(request, edition))
                response = self.get_response(request)
            else:
                response = render(request, "preview_refused.html", status=403)
        response.headers["Cache-Control"] = "private, no-store"
        patch_vary_headers(response, ["Cookie"])
        return response
