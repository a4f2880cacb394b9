"""The front door: the home of the site and of each edition, and the answers to what cannot be read."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from conference.addressed import current_edition, edition_page, published_editions, show_edition
from conference.models import Edition
from conference.paging import BadParameter
from schedule.models import Session
from website.contents import counts
from website.menu import ways


@require_safe
def home(request: HttpRequest) -> HttpResponse:
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
    sessions = Session.objects.published().filter(edition=edition)
    context = {
        "running": sessions.running().in_order().with_place(),
        "upcoming": sessions.next_after().in_order().with_place(),
        "announcements": edition.announcements.published(),
        "ways": ways(edition, counts(edition)),
    }
    return render(request, "website/home.html", context)


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Say that the process answers."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say in a sentence which part of the address cannot be read."""
    reason = str(exception) if isinstance(exception, BadParameter) else ""
    return render(request, "400.html", {"reason": reason}, status=400)
