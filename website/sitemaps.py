"""Site maps for search engines: an index, and pages of public, lasting addresses."""

from collections.abc import Callable, Iterable
from datetime import datetime
from math import ceil
from typing import Any
from xml.sax.saxutils import escape

from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from conference.menu_sections import SECTIONS
from conference.models import Edition, Page
from conference.page_metadata import absolute
from conference.request_edition import edition_page, published_editions
from content import revision
from papers.models import Paper
from people.models import Institution, Person
from schedule.models import Session
from website.menu import filled_sections

# Far below what is allowed, and quick to make.
PER_FILE = 2000
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def edition_rows(edition: Edition) -> dict[str, Any]:
    """Return what has pages in an edition, by section."""
    return {
        "papers": edition.papers.published().order_by("uid").only("uid", "title", "edition"),
        "sessions": edition.sessions.published().order_by("uid").only("uid", "title", "edition"),
        "topics": edition.topics.published().order_by("slug"),
        "rooms": edition.rooms.published().order_by("slug"),
    }


def site_rows() -> dict[str, Any]:
    """Return the rows with pages that belong to no edition, by section."""
    return {
        "people": Person.objects.published().order_by("uid").only("uid", "name"),
        "institutions": Institution.objects.published().order_by("slug").only("slug"),
    }


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """List the site maps that are not empty. Seven queries, however many editions there are."""
    editions = published_editions(request)
    counted = {
        name: dict(model.objects.published().order_by().values_list("edition").annotate(Count("pk")))
        for name, model in (("papers", Paper), ("sessions", Session))
    }
    files: list[tuple[str, datetime | None]] = []
    for edition in editions:
        sizes = {"pages": 1, **{name: counts.get(edition.pk, 0) for name, counts in counted.items()}}
        changed = edition_changed(edition)
        for name, size in sizes.items():
            files += [
                (reverse("website:edition_sitemap", args=[edition.slug, name, number]), changed)
                for number in numbers(size)
            ]
    changed = revision.current(None).changed_at
    for name, size in {"pages": 1, **{name: rows.count() for name, rows in site_rows().items()}}.items():
        files += [(reverse("website:sitemap", args=[name, number]), changed) for number in numbers(size)]
    return reply("sitemapindex", "sitemap", files)


def numbers(size: int) -> range:
    """Return the numbers of the files for this many addresses."""
    return range(1, ceil(size / PER_FILE) + 1)


@edition_page
def edition_sitemap(request: HttpRequest, edition: Edition, section: str, page: int) -> HttpResponse:
    """List a page of an edition's addresses."""

    def pages() -> Iterable[str]:
        rows = edition_rows(edition)
        own = [edition.get_absolute_url(), *section_links(edition)]
        parts = [*rows["topics"], *rows["rooms"], *edition.pages.published()]
        for part in parts:
            part.edition = edition
        return dict.fromkeys([*own, *(part.get_absolute_url() for part in parts)])

    if section == "pages":
        return one_file(pages, page, edition_changed(edition))
    rows = edition_rows(edition).get(section) if section in {"papers", "sessions"} else None
    if rows is None:
        raise Http404("There is no such site map.")
    shown = list(rows[(page - 1) * PER_FILE : page * PER_FILE] if page else ())
    for row in shown:
        row.edition = edition
    return listed([row.get_absolute_url() for row in shown], edition_changed(edition))


@require_safe
def sitemap(request: HttpRequest, section: str, page: int) -> HttpResponse:
    """List a page of the addresses that belong to no edition."""

    def pages() -> Iterable[str]:
        fixed = ("people:list", "people:institutions", "papers:all_awards")
        free = Page.objects.published().filter(edition=None).order_by("slug")
        return [*map(reverse, fixed), *(one.get_absolute_url() for one in free)]

    changed = revision.current(None).changed_at
    if section == "pages":
        return one_file(pages, page, changed)
    rows = site_rows().get(section)
    if rows is None:
        raise Http404("There is no such site map.")
    shown = rows[(page - 1) * PER_FILE : page * PER_FILE] if page else ()
    return listed([row.get_absolute_url() for row in shown], changed)


def section_links(edition: Edition) -> list[str]:
    """Return the pages of an edition that have something to show."""
    urls = [SECTIONS[name].url(edition) for name in sorted(filled_sections(edition).sections)]
    return [url for url in urls if url.startswith(edition.get_absolute_url())]


def edition_changed(edition: Edition) -> datetime:
    """Return when something of an edition last changed."""
    return edition.changed_at


def one_file(make: Callable[[], Iterable[str]], page: int, changed: datetime) -> HttpResponse:
    return listed(list(make()) if page == 1 else [], changed)


def listed(paths: list[str], changed: datetime) -> HttpResponse:
    """Return the addresses as a site map; a page without any does not exist."""
    if not paths:
        raise Http404("There is no such site map.")
    return reply("urlset", "url", [(path, changed) for path in paths])


def reply(root: str, part: str, entries: Iterable[tuple[str, datetime | None]]) -> HttpResponse:
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<{root} xmlns="{NAMESPACE}">']
    for path, changed in entries:
        when = f"<lastmod>{changed.isoformat(timespec='seconds')}</lastmod>" if changed else ""
        lines.append(f"<{part}><loc>{escape(absolute(path))}</loc>{when}</{part}>")
    body = "\n".join([*lines, f"</{root}>", ""])
    return HttpResponse(body, content_type="application/xml; charset=utf-8")
