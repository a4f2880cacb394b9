"""The home pages of the site and of each edition."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from conference.cards import Picture, card
from conference.models import Edition
from conference.request_edition import current_edition, edition_page, published_editions, show_edition
from website.context_processors import home_head
from website.menu import counts, program_links


@require_safe
def home(request: HttpRequest) -> HttpResponseBase:
    """Show the current edition's home; with several conferences, their list."""
    editions = published_editions(request)
    current = current_edition(editions)
    conferences: dict[str, list[Edition]] = {}
    for edition in editions:
        conferences.setdefault(edition.conference.name, []).append(edition)
    if current is None or len(conferences) > 1:
        return render(request, "website/conferences.html", {"conferences": dict(sorted(conferences.items()))})
    show_edition(request, current)
    return edition_home(request, edition=current.slug)


@edition_page
def edition_home(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show an edition's dates and place, what is on now and next, news, and the ways in."""
    at = timezone.now()
    sessions = edition.sessions.published(at)
    context = {
        "head": home_head(edition),
        "running": sessions.running(at).in_order().with_place(),
        "upcoming": sessions.next_after(at).in_order().with_place(),
        "today": edition.day_of(at),
        "strip": sorted(sessions.program_days(edition.day_of)),
        "announcements": edition.announcements.published(at),
        "ways": program_links(edition, counts(edition)),
    }
    return render(request, "website/home.html", context)


@edition_page
def edition_card(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Draw the card of an edition."""
    place = f"{edition.date_line} · {edition.place_line}" if edition.place_line else edition.date_line
    series = edition.conference.full_name
    return card(
        request, edition, Picture(edition.conference.name, edition.name, series, place, edition.accent)
    )
