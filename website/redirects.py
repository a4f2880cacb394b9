"""Permanent redirects of the old site's addresses. They only lead to public pages."""

import re
from datetime import date

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from conference.models import Edition
from papers.models import Paper
from schedule.models import Presentation, Session

# Old paths below an edition, with the views that replace them.
OLD_PAGES = {
    "": "website:edition",
    "index.html": "website:edition",
    "calendar": "schedule:index",
    "papers.html": "papers:list",
    "paper_vis.html": "papers:list",
    "search": "website:edition_search",
    "awards_detail": "papers:awards",
    "recorded-events": "schedule:recordings",
    "sponsor_list": "conference:sponsors",
    "organizers": "people:committee",
    "eventlistwithbios/Invited Talk": "schedule:talks",
}
# Lists of events by type. Other types redirect to the schedule.
EVENT_PAGES = {
    "poster": "schedule:posters",
    "oral": "papers:list",
    "spotlight": "papers:list",
    "paper": "papers:list",
    "invited talk": "schedule:talks",
    "award": "papers:awards",
}
# Parameters of old addresses that contain the words of a search.
SEARCH_WORDS = ("search", "query", "q")
EVENT_UID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@require_safe
def old_page(request: HttpRequest, year: int, page: str = "") -> HttpResponse:
    """Redirect a page of an edition, with the words of a search."""
    view = OLD_PAGES.get(page.rstrip("/"))
    if view is None:
        raise Http404("No such page.")
    url = reverse(view, args=[get_edition_of_year(year).slug])
    text = next((request.GET[name] for name in SEARCH_WORDS if request.GET.get(name)), "")
    if text and view in {"papers:list", "website:edition_search"}:
        url = f"{url}?{urlencode({'q': text})}"
    return redirect(url, permanent=True)


@require_safe
def old_events(request: HttpRequest, year: int, kind: str) -> HttpResponse:
    view = EVENT_PAGES.get(kind.lower().replace("-", " ").strip(), "schedule:index")
    return redirect(reverse(view, args=[get_edition_of_year(year).slug]), permanent=True)


@require_safe
def old_day(request: HttpRequest, year: int, month: int, day: int) -> HttpResponse:
    try:
        target = date(year, month, day)
    except (OverflowError, ValueError) as error:
        raise Http404("No such day.") from error
    return redirect("schedule:day", get_edition_of_year(year).slug, target.isoformat(), permanent=True)


@require_safe
def old_event(request: HttpRequest, year: int, kind: str, uid: str) -> HttpResponse:
    """Redirect an oral, a poster, a session, a workshop or a tutorial."""
    return redirect(get_event(year, uid), permanent=True)


@require_safe
def old_schedule(request: HttpRequest, year: int) -> HttpResponse:
    """Redirect the oldest schedule, which had a parameter for single events."""
    uid = request.GET.get("showEvent")
    if uid is None:
        return redirect("schedule:index", get_edition_of_year(year).slug, permanent=True)
    return redirect(get_event(year, uid), permanent=True)


def get_edition_of_year(year: int) -> Edition:
    """Return the published edition of a year, preferably the one whose slug is the year."""
    editions: list[Edition] = list(Edition.objects.published().filter(year=year))
    if not editions:
        raise Http404("No edition of this year.")
    return min(editions, key=lambda edition: (edition.slug != str(year), edition.slug))


def get_event(year: int, uid: str) -> Presentation | Session | Paper:
    """Return the public presentation, session or paper of that year with this identifier."""
    if EVENT_UID.fullmatch(uid):
        for model in (Presentation, Session, Paper):
            event: Presentation | Session | Paper | None = (
                model.objects.published().filter(edition__year=year, uid=uid).order_by("pk").first()
            )
            if event is not None:
                return event
    raise Http404("No such event.")
