"""What the frame of every page needs: the year menu, the edition's own menu, the links of the whole site."""

from typing import Any

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from conference.models import Edition
from conference.previews import public_address
from conference.request_edition import addressed_edition, published_editions
from website.menu import menus
from website.page_frame import default_head, feeds

# Parameters that make a page of its own: its lasting address keeps them and drops all others.
LASTING = ("letter", "page", "show", "topic", "track")


def site(request: HttpRequest) -> dict[str, Any]:
    """Return the frame's variables. One query, and up to three more after a change.

    None for the admin, which has its own frame.
    """
    if request.path.startswith(reverse("admin:index")):
        return {"site_name": settings.SITE_NAME}
    edition = addressed_edition(request)
    editions = published_editions(request)
    menu, site_links = menus(edition, request.path, timezone.now(), editions)
    return {
        "site_name": settings.SITE_NAME,
        "editions": [one for one in editions if edition is None or one.conference == edition.conference],
        "edition": edition,
        "menu": menu,
        "site_links": site_links,
        "search_url": (
            reverse("website:edition_search", args=[edition.slug]) if edition else reverse("website:search")
        ),
        "accent_url": edition and reverse("conference:accent", args=[edition.slug, edition.accent[1:]]),
        "canonical_url": canonical_url(request, edition),
        "head": default_head(edition),
        "feeds": feeds(edition),
        "preview": preview_of(request),
    }


def preview_of(request: HttpRequest) -> dict[str, Any] | None:
    """Return what the mark of a preview says, and its ways out; nothing on a page as the public sees it."""
    edition: Edition | None = vars(request).get("preview")
    if edition is None:
        return None
    desk = f"{reverse('admin:index')}?{urlencode({'edition': edition.pk})}"
    return {
        "edition": edition,
        "public_url": public_address(edition, request.get_full_path()),
        "desk_url": desk,
    }


def canonical_url(request: HttpRequest, edition: Edition | None) -> str:
    """Return the lasting address of this page, with nothing in it that only says where a reader came from."""
    path = edition.get_absolute_url() if edition and request.path == "/" else request.path
    try:
        kept = {name: request.GET[name] for name in LASTING if request.GET.get(name)}
    except SuspiciousOperation:
        kept = {}
    return f"{settings.SITE_URL}{path}{'?' if kept else ''}{urlencode(kept)}"
