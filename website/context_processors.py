"""The context of the base template: the menus of years and editions, links, the head and the feeds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from conference.models import Edition
from conference.page_metadata import Card, Head, HeadLink, edition_head, open_graph
from conference.request_edition import (
    addressed_edition,
    current_edition,
    public_address,
    published_editions,
)
from content.languages import html_lang, is_in_each_language, language_of_path, path_in_language
from content.page_paths import with_edition
from content.preview_context import GATES
from content.querysets import public_parts
from schedule.unreleased.visible import visible_plans
from website.colors import colors_url
from website.menu import menus

# Parameters of a page's canonical address. All others are removed.
CANONICAL_PARAMETERS = ("letter", "page", "show", "topic", "track")


def site(request: HttpRequest) -> dict[str, object]:
    """Return the variables of the base template. One query, and up to four more after a change.

    The admin has its own base template, so its pages get only the site's name, without a query.
    """
    if request.path.startswith(reverse("admin:index")):
        return {"site_name": settings.SITE_NAME}
    edition = addressed_edition(request)
    editions = published_editions(request)
    has_conferences = len({row.conference_id for row in editions}) > 1
    # Pages of all years use the edition that their address names. The default is the current edition if the
    # site has a single conference, else none.
    linked = edition or named_edition(request, editions)
    framing = linked or (None if has_conferences else current_edition(editions))
    linked_slug = linked.slug if linked else ""
    menu, site_links = menus(framing, request.path, timezone.now(), editions)
    return {
        "site_name": settings.SITE_NAME,
        "editions": [row for row in editions if framing is None or row.conference == framing.conference],
        "edition": edition,
        # The edition whose name, menu and color the page shows.
        "framing_edition": framing,
        # Links to pages of all years name this edition, so that those pages show its menu.
        "linked_edition": linked,
        "menu": menu,
        "site_links": [replace(link, url=with_edition(link.url, linked_slug)) for link in site_links],
        "has_conferences": has_conferences,
        "search_url": (
            reverse("website:edition_search", args=[framing.slug]) if framing else reverse("website:search")
        ),
        "colors_url": framing and colors_url(framing, timezone.now()),
        "canonical_url": f"{settings.SITE_URL}{canonical_path(request, edition)}",
        "languages": language_links(request, edition),
        "head": Head(tags=open_graph("website", "", edition_card(edition) if edition else None)),
        "feeds": feeds(edition),
        "preview": preview_bar(request),
    }


def named_edition(request: HttpRequest, editions: Sequence[Edition]) -> Edition | None:
    """Return the edition that the parameter `edition` names, if it is one of `editions`."""
    slug = query_parameters(request).get("edition", "")
    return next((edition for edition in editions if edition.slug == slug), None)


def preview_bar(request: HttpRequest) -> dict[str, object] | None:
    """Return the edition and links of the preview bar, or `None` if the page is not a preview."""
    edition: Edition | None = vars(request).get("preview")
    if edition is None:
        return None
    plan = vars(request).get("plan")
    waiting = [] if plan else [row for row in visible_plans(request) if row.edition_id == edition.pk]
    return {
        "edition": edition,
        "change_count": plan.change_count if plan else 0,
        "hidden_count": vars(waiting[0])["change_count"] if waiting else 0,
        "release_url": reverse("admin:schedule_release_working_copy", query={"edition": edition.pk}),
        "public_url": public_address(edition, request.get_full_path()),
        "desk_url": f"{reverse('admin:index')}?{urlencode({'edition': edition.pk})}",
    }


def canonical_path(request: HttpRequest, edition: Edition | None) -> str:
    """Return the canonical path of this page, without parameters such as `utm_source`."""
    path = edition.get_absolute_url() if edition and request.path == reverse("website:home") else request.path
    parameters = query_parameters(request)
    canonical = {name: value for name in CANONICAL_PARAMETERS if (value := parameters.get(name, ""))}
    return f"{path}{'?' if canonical else ''}{urlencode(canonical)}"


@dataclass(frozen=True, slots=True)
class LanguageLink:
    """A link to this page in a language, named in that language. `url` is the canonical address."""

    tag: str
    name: str
    path: str
    url: str
    is_current: bool
    is_default: bool


def language_links(request: HttpRequest, edition: Edition | None) -> list[LanguageLink]:
    """Return links to the page in each language; none if it exists in only one."""
    if len(settings.LANGUAGES) < 2 or not is_in_each_language(request):
        return []
    current = language_of_path(request.path_info)
    # Sort the parameters as the page cache does.
    parameters = query_parameters(request)
    query = urlencode(sorted((name, value) for name in parameters for value in parameters.getlist(name)))
    canonical = canonical_path(request, edition)
    return [
        LanguageLink(
            html_lang(code),
            name,
            f"{path_in_language(request.path, code)}{query and f'?{query}'}",
            f"{settings.SITE_URL}{path_in_language(canonical, code)}",
            code == current,
            code == settings.LANGUAGE_CODE,
        )
        for code, name in settings.LANGUAGES
    ]


def query_parameters(request: HttpRequest) -> QueryDict:
    """Return the query parameters of a request; none if Django rejects them."""
    try:
        return request.GET
    except SuspiciousOperation:
        return QueryDict()


ATOM = "application/atom+xml"


def edition_card(edition: Edition) -> Card:
    """Return the card of an edition. Pages without their own card also use it."""
    text = ", ".join(filter(None, (edition.name, edition.date_line, edition.place_line)))
    return Card(reverse("website:card", args=[edition.slug]), text)


def home_head(edition: Edition) -> Head:
    """Return the head of an edition's home. No query."""
    has_schedule = public_parts(edition)[GATES.index("schedule_public_from")]
    schedule = reverse("schedule:index", args=[edition.slug]) if has_schedule else ""
    return edition_head(edition, edition_card(edition), (), schedule)


def feeds(edition: Edition | None) -> list[HeadLink]:
    if edition is None:
        return []
    titles = {
        "website:announcements_feed": _("%(name)s: announcements"),
        "schedule:changes_feed": _("%(name)s: changes of the program"),
        "website:papers_feed": _("%(name)s: papers"),
    }
    return [
        HeadLink("alternate", reverse(name, args=[edition.slug]), ATOM, title % {"name": edition.name})
        for name, title in titles.items()
    ]
