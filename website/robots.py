"""What crawlers and programs may read, and where they find it."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from conference.page_metadata import absolute
from conference.request_edition import published_editions

PLAIN = "text/plain; charset=utf-8"
# Personal pages, searches, and combined facets, which show the same papers again.
DISALLOWED = (
    "/admin/",
    "/search/",
    "/*/search/",
    "/*/agenda/",
    "/*/papers/?*&",
    "/*/papers/?*sort=random",
)


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Return robots.txt: what crawlers may read, and the site map."""
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in DISALLOWED), ""]
    return HttpResponse("\n".join([*lines, f"Sitemap: {absolute('/sitemap.xml')}", ""]), content_type=PLAIN)


@require_safe
def llms(request: HttpRequest) -> HttpResponse:
    """Return llms.txt: what the site holds, and where its data is."""
    editions = published_editions(request)
    lines = [
        f"# {settings.SITE_NAME}",
        "",
        "> Programs of academic conferences: each year's papers, authors, sessions, awards and people.",
        "",
        "Everything here is public and may be fetched as data instead of being read off the pages.",
        "",
        "## Data",
        "",
        f"- [API]({absolute('/api/v1/')}): everything published as JSON, with filters and full text search",
        f"- [Schema of the API]({absolute(reverse('api:schema'))}): OpenAPI",
        f"- [Site map]({absolute('/sitemap.xml')}): every page",
        f"- [Search]({absolute(reverse('website:search'))}?q=): add words; `author:` and `topic:` narrow it",
        "",
        "## Editions",
        "",
    ]
    for one in editions:
        files = absolute(reverse("exchange:downloads", args=[one.slug]))
        home = absolute(one.get_absolute_url())
        lines.append(f"- [{one.name}]({home}): {one.date_line}; [files of the whole program]({files})")
    return HttpResponse("\n".join([*lines, ""]), content_type=PLAIN)
