"""Views for crawlers and programs: robots.txt, llms.txt and site maps."""

from collections.abc import Iterable
from datetime import datetime
from math import ceil
from xml.sax.saxutils import escape

from django.conf import settings
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from conference.menu_sections import SECTIONS
from conference.models import Edition, Page
from conference.page_metadata import absolute
from conference.request_edition import edition_page, published_editions
from content import revision
from papers.models import Paper, Topic
from people.models import Institution, Person
from schedule.models import Room, Session
from website.menu import filled_sections

PLAIN_TEXT = "text/plain; charset=utf-8"
# Personal pages, searches, and combined facets, which only repeat papers of other pages.
DISALLOWED = (
    "/admin/",
    "/search/",
    "/*/search/",
    "/*/agenda/",
    "/*/papers/?*&",
    "/*/papers/?*sort=random",
)
# The protocol allows 50,000. Fewer are faster to generate.
PATHS_PER_FILE = 2000
# The protocol allows no more. Far larger numbers do not fit into a query.
MAX_FILES = 50_000
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
# The models with many pages, in each edition and outside of editions.
EDITION_SECTIONS: dict[str, type[Paper] | type[Session]] = {"papers": Paper, "sessions": Session}
SITE_SECTIONS: dict[str, type[Person] | type[Institution]] = {"people": Person, "institutions": Institution}


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """List the site maps that are not empty. Seven queries for any number of editions."""
    editions = published_editions(request)
    counted = {
        name: dict(model.objects.published().order_by().values_list("edition").annotate(Count("pk")))
        for name, model in EDITION_SECTIONS.items()
    }
    files: list[tuple[str, datetime | None]] = []
    for edition in editions:
        sizes = {"pages": 1, **{name: counts.get(edition.pk, 0) for name, counts in counted.items()}}
        for name, size in sizes.items():
            files += [
                (reverse("website:edition_sitemap", args=[edition.slug, name, number]), edition.changed_at)
                for number in file_numbers(size)
            ]
    changed = revision.current(None).changed_at
    sizes = {"pages": 1, **{name: rows.objects.published().count() for name, rows in SITE_SECTIONS.items()}}
    for name, size in sizes.items():
        files += [(reverse("website:sitemap", args=[name, number]), changed) for number in file_numbers(size)]
    return xml_response("sitemapindex", "sitemap", files)


def file_numbers(size: int) -> range:
    return range(1, ceil(size / PATHS_PER_FILE) + 1)


@edition_page
def edition_sitemap(request: HttpRequest, edition: Edition, section: str, page: int) -> HttpResponse:
    if section == "pages":
        return sitemap_response(page_paths(edition) if page == 1 else [], edition.changed_at)
    if section not in EDITION_SECTIONS:
        raise Http404("There is no such site map.")
    rows = EDITION_SECTIONS[section].objects.published().filter(edition=edition)
    file_rows = rows.order_by("uid").only("uid", "title", "edition")[file_slice(page)]
    return sitemap_response(paths_of(file_rows, edition), edition.changed_at)


@require_safe
def sitemap(request: HttpRequest, section: str, page: int) -> HttpResponse:
    changed = revision.current(None).changed_at
    if section == "pages":
        paths = map(reverse, ("people:list", "people:institutions", "papers:all_awards"))
        pages = Page.objects.published().filter(edition=None).order_by("slug")
        return sitemap_response(
            [*paths, *(row.get_absolute_url() for row in pages)] if page == 1 else [], changed
        )
    if section not in SITE_SECTIONS:
        raise Http404("There is no such site map.")
    model = SITE_SECTIONS[section]
    columns = ("uid", "name") if model is Person else ("slug",)
    rows = model.objects.published().order_by(columns[0]).only(*columns)[file_slice(page)]
    return sitemap_response([row.get_absolute_url() for row in rows], changed)


def file_slice(page: int) -> slice:
    """Return the slice of the addresses in the file with this number, counted from 1."""
    if not 1 <= page <= MAX_FILES:
        raise Http404("There is no such site map.")
    return slice((page - 1) * PATHS_PER_FILE, page * PATHS_PER_FILE)


def page_paths(edition: Edition) -> list[str]:
    """Return the addresses of an edition and its sections, topics, rooms and pages, without duplicates."""
    topics, rooms = edition.topics.published().order_by("slug"), edition.rooms.published().order_by("slug")
    parts = paths_of([*topics, *rooms, *edition.pages.published()], edition)
    home = edition.get_absolute_url()
    sections = [SECTIONS[name].url(edition) for name in sorted(filled_sections(edition).sections)]
    return list(dict.fromkeys([home, *(url for url in sections if url.startswith(home)), *parts]))


def paths_of(rows: Iterable[Paper | Session | Topic | Room | Page], edition: Edition) -> list[str]:
    """Return the addresses of rows of an edition, without fetching it for each row."""
    paths = []
    for row in rows:
        row.edition = edition
        paths.append(row.get_absolute_url())
    return paths


def sitemap_response(paths: list[str], changed: datetime) -> HttpResponse:
    """Return the addresses as a site map. Raise `Http404` if there are none."""
    if not paths:
        raise Http404("There is no such site map.")
    return xml_response("urlset", "url", [(path, changed) for path in paths])


def xml_response(root: str, part: str, entries: Iterable[tuple[str, datetime | None]]) -> HttpResponse:
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<{root} xmlns="{NAMESPACE}">']
    for path, changed in entries:
        lastmod = f"<lastmod>{changed.isoformat(timespec='seconds')}</lastmod>" if changed else ""
        lines.append(f"<{part}><loc>{escape(absolute(path))}</loc>{lastmod}</{part}>")
    body = "\n".join([*lines, f"</{root}>", ""])
    return HttpResponse(body, content_type="application/xml; charset=utf-8")


# For crawlers and programs


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in DISALLOWED), ""]
    return HttpResponse(
        "\n".join([*lines, f"Sitemap: {absolute('/sitemap.xml')}", ""]), content_type=PLAIN_TEXT
    )


@require_safe
def llms(request: HttpRequest) -> HttpResponse:
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
    for edition in editions:
        files = absolute(reverse("exchange:downloads", args=[edition.slug]))
        home = absolute(edition.get_absolute_url())
        lines.append(
            f"- [{edition.name}]({home}): {edition.date_line}; [files of the whole program]({files})"
        )
    return HttpResponse("\n".join([*lines, ""]), content_type=PLAIN_TEXT)
