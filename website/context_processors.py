"""What the frame of every page needs: the year menu, the edition's own menu, links, the head, the feeds."""

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from conference.models import Edition
from conference.page_metadata import Card, Head, HeadLink, edition_head, open_graph
from conference.request_edition import addressed_edition, public_address, published_editions
from content.preview_context import GATES
from content.querysets import public_parts
from website.menu import menus

# Parameters of a page's canonical address; all others are dropped.
LASTING = ("letter", "page", "show", "topic", "track")


def site(request: HttpRequest) -> dict[str, object]:
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
        "head": Head(tags=open_graph("website", "", edition_card(edition) if edition else None)),
        "feeds": feeds(edition),
        "preview": preview_of(request),
    }


def preview_of(request: HttpRequest) -> dict[str, object] | None:
    """Return the text and links of the preview bar; `None` on a page as the public sees it."""
    edition: Edition | None = vars(request).get("preview")
    if edition is None:
        return None
    return {
        "edition": edition,
        "public_url": public_address(edition, request.get_full_path()),
        "desk_url": f"{reverse('admin:index')}?{urlencode({'edition': edition.pk})}",
    }


def canonical_url(request: HttpRequest, edition: Edition | None) -> str:
    """Return the canonical address of this page, without parameters such as `utm_source`."""
    path = edition.get_absolute_url() if edition and request.path == "/" else request.path
    try:
        kept = {name: request.GET[name] for name in LASTING if request.GET.get(name)}
    except SuspiciousOperation:
        kept = {}
    return f"{settings.SITE_URL}{path}{'?' if kept else ''}{urlencode(kept)}"


ATOM = "application/atom+xml"


def edition_card(edition: Edition) -> Card:
    """Return the card of an edition, also used by pages without a card of their own."""
    words = ", ".join(filter(None, (edition.name, edition.date_line, edition.place_line)))
    return Card(reverse("website:card", args=[edition.slug]), words)


def home_head(edition: Edition) -> Head:
    """Return the head of an edition's home. No query."""
    has_schedule = public_parts(edition)[GATES.index("schedule_public_from")]
    schedule = reverse("schedule:index", args=[edition.slug]) if has_schedule else ""
    return edition_head(edition, edition_card(edition), (), schedule)


def feeds(edition: Edition | None) -> list[HeadLink]:
    if edition is None:
        return []
    offered = {
        "website:announcements_feed": _("%(name)s: announcements"),
        "schedule:changes_feed": _("%(name)s: changes of the program"),
        "website:papers_feed": _("%(name)s: papers"),
    }
    return [
        HeadLink("alternate", reverse(name, args=[edition.slug]), ATOM, words % {"name": edition.name})
        for name, words in offered.items()
    ]
