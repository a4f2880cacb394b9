"""The edition of a request, and previews of editions for staff.

A preview belongs to the session that started it. It applies to pages only: files, feeds, sitemaps and the
API are shown as to the public, and writes are refused. No cache may store a preview.
"""

from collections.abc import Callable, Sequence
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
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_safe

from accounts.access_scope import access_of
from conference.models import Announcement, Edition
from content.languages import strip_language
from content.preview_context import PreviewScope, preview_as
from content.querysets import at_or_now
from content.revision import SiteRevision
from content.unreleased.plan import planned

# Annotations with the revision of the site, other than that of an edition.
SITE_REVISION = {
    f"site_{name}": Subquery(SiteRevision.objects.filter(pk=1).values(name))
    for name in ("revision", "changed_at")
}
# The end of the last banner of an edition, so that pages without a banner need no query for it.
LAST_BANNER = Subquery(
    Announcement._base_manager.filter(edition=OuterRef("pk"), banner_until__isnull=False)
    .order_by()
    .values("edition")
    .annotate(ends=Max("banner_until"))
    .values("ends")
)


def published_editions(request: HttpRequest) -> list[Edition]:
    """Return all published editions with their conferences, newest first. One query per request.

    They are annotated with `site_revision`, `site_changed_at` and `last_banner`.
    """
    attributes = vars(request)
    if "published_editions" not in attributes:
        rows = Edition.objects.published(timezone.now()).select_related("conference")
        attributes["published_editions"] = rows.annotate(**SITE_REVISION, last_banner=LAST_BANNER)
    editions: list[Edition] = attributes["published_editions"]
    return editions


def first_path_part(request: HttpRequest) -> str:
    """Return the first part of the path after the language: an edition's slug, or a section of the site."""
    return strip_language(request.path_info).lstrip("/").partition("/")[0]


def addressed_edition(request: HttpRequest) -> Edition | None:
    """Return the published edition that this page belongs to, if any."""
    slug = vars(request).get("edition_slug") or first_path_part(request)
    return next((edition for edition in published_editions(request) if edition.slug == slug), None)


def show_edition(request: HttpRequest, edition: Edition) -> None:
    """Show this page with the header and menu of the edition, although its URL does not contain the slug."""
    vars(request)["edition_slug"] = edition.slug


def current_edition(editions: Sequence[Edition], at: datetime | None = None) -> Edition | None:
    """Return the edition that is running or next, else the latest. Pass editions in order, newest first."""
    not_ended = [edition for edition in editions if edition.end_date >= edition.day_of(at_or_now(at))]
    return not_ended[-1] if not_ended else next(iter(editions), None)


def edition_page[**P](
    view: Callable[Concatenate[HttpRequest, Edition, P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Decorate a view to get the published edition in its URL (`edition`); raise a 404 if there is none."""

    @require_safe
    @wraps(view)
    def wrapped(request: HttpRequest, edition: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        published_edition = addressed_edition(request)
        if published_edition is None or published_edition.slug != edition:
            raise Http404("No such edition.")
        return view(request, published_edition, *args, **kwargs)

    return wrapped


def shows_planned_state[**P](
    view: Callable[Concatenate[HttpRequest, P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Decorate a page that a preview shows as it will be after the next release; others stay as they are."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        edition: Edition | None = vars(request).get("preview")
        if edition is None:
            return view(request, *args, **kwargs)
        with planned(edition) as plan:
            vars(request)["plan"] = plan
            return view(request, *args, **kwargs)

    return wrapped


# The name of the edition's key in the session.
SESSION_KEY = "preview"
# First parts of paths without pages of the site.
EXCLUDED_PREFIXES = frozenset(("admin", "api", "media", "static"))
# Removed, because a browser with the public page must not get a 304.
CONDITIONAL_HEADERS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE")
SAFE_METHODS = frozenset(("GET", "HEAD"))


def visible_edition(request: HttpRequest, key: int | str | None) -> Edition | None:
    """Return the edition with this primary key, if the user may see and preview it in the admin."""
    model_admin = admin.site.get_model_admin(Edition)
    if not (key and admin.site.has_permission(request) and model_admin.has_view_permission(request)):
        return None
    edition: Edition | None = model_admin.get_queryset(request).filter(pk=key).first()
    may_preview = edition is not None and access_of(request.user).may("preview", Edition, edition)
    return edition if may_preview else None


def get_previewed_edition(request: HttpRequest) -> Edition | None:
    """Return the edition of the preview if the session has one, the user may see it, and this is a page."""
    # Do not read the session unless there is one, so that the response does not vary by cookie.
    path = request.path_info
    # Paths of files have extensions. The colors and art of an edition are part of its pages.
    is_page = path.endswith("/") or "/colors-" in path or "/art-" in path
    is_excluded = first_path_part(request) in EXCLUDED_PREFIXES
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or is_excluded or not is_page:
        return None
    return visible_edition(request, request.session.get(SESSION_KEY))


def public_address(edition: Edition, path: str) -> str:
    """Return the address that ends the preview and redirects to a page."""
    return reverse("admin:conference_edition_as_public", args=[edition.pk], query={"next": path})


def next_page(request: HttpRequest, edition: Edition) -> str:
    """Return the path in `next` if it is on this site, otherwise the home page of the edition."""
    path = request.GET.get("next", "")
    is_local = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if is_local else edition.get_absolute_url()


class PreviewMiddleware:
    """Middleware that shows an edition with its drafts and closed gates to users who preview it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        # The page of editions decides who may preview one, also before the first address is looked up.
        admin.autodiscover()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        edition = get_previewed_edition(request)
        if edition is None:
            return self.get_response(request)
        for header in CONDITIONAL_HEADERS:
            request.META.pop(header, None)
        vars(request)["preview"] = edition
        with preview_as(PreviewScope(edition.pk, drafts=True)):
            if request.method in SAFE_METHODS:
                response = self.get_response(request)
            else:
                response = render(request, "preview_refused.html", status=403)
        response.headers["Cache-Control"] = "private, no-store"
        patch_vary_headers(response, ["Cookie"])
        return response
