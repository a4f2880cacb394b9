"""The pages of the timetable. What is public and what a page needs is asked of the querysets."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from conference.addressed import edition_page
from conference.models import Edition
from conference.times import short_day
from schedule import timetable
from schedule.models import Room, Session
from schedule.querysets import LIGHT
from schedule.recorded import recordings_by_day

# Up to so many presentations, one page shows the talks of all days; beyond, it is an overview of sessions.
WHOLE = 300
# How many rows stand for a list that is too long for its page.
FIRST = 10


def schedule_crumb(edition: Edition) -> tuple[str, str]:
    return "Schedule", reverse("schedule:index", args=[edition.slug])


@edition_page
def index(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show all days: with their talks where the program is small, else session by session."""
    at = timezone.now()
    sessions = edition.sessions.published(at)
    shown = sessions.for_timetable(at)
    if sessions.talk_total(at) <= WHOLE:
        shown = shown.with_talks(at, most=LIGHT)
    days = timetable.days(timetable.nest(shown), edition.day_of)
    used = [day.date for day in days]
    context = {
        "at": at,
        "today": edition.day_of(at),
        "strip": timetable.strip(edition.start_date, edition.end_date, used),
        "days": days,
    }
    return render(request, "schedule/index.html", context)


@edition_page
def day(request: HttpRequest, edition: Edition, day: str) -> HttpResponse:
    """Show one program day. A day outside the program is a 404 that leads to those inside."""
    at = timezone.now()
    sessions = edition.sessions.published(at)
    used = sessions.program_days(edition.day_of)
    strip = timetable.strip(edition.start_date, edition.end_date, used)
    date = timetable.read_day(day)
    context = {"at": at, "today": edition.day_of(at), "strip": strip, "date": date, "written": day}
    if date is None or date not in strip:
        return render(request, "schedule/no_day.html", context, status=404)
    begun = sessions.starting_between(*edition.day_bounds(date))
    abstracts = begun.talk_total(at) <= LIGHT
    shown = begun.for_timetable(at).with_talks(at, most=LIGHT, abstracts=abstracts)
    blocks = timetable.blocks(timetable.nest(shown))
    return render(request, "schedule/day.html", {**context, "blocks": blocks, "abstracts": abstracts})


@edition_page
def session(request: HttpRequest, edition: Edition, uid: str, slug: str = "") -> HttpResponse:
    """Show a session with all that is in it; abstracts of a hall full of posters are left to their pages."""
    at = timezone.now()
    sessions = edition.sessions.published(at)
    shown: Session = get_object_or_404(sessions.for_timetable(at), uid=uid)
    if request.path != shown.get_absolute_url():
        return redirect(shown, permanent=True)
    abstracts = shown.talk_count <= LIGHT
    talks = shown.presentations.published(at).with_credits(at, abstracts=abstracts, materials=True)
    date = edition.day_of(shown.start)
    beside = sessions.starting_between(*edition.day_bounds(date)).beside(shown)
    day_crumb = short_day(date), reverse("schedule:day", args=[edition.slug, date.isoformat()])
    context = {
        "at": at,
        "crumbs": [schedule_crumb(edition), day_crumb],
        "session": shown,
        "date": date,
        "talks": timetable.running_order(talks),
        "abstracts": abstracts,
        "parts": timetable.blocks(shown.parts.published(at).for_timetable(at).with_talks(at, most=LIGHT)),
        "neighbours": timetable.neighbours(beside, shown),
    }
    return render(request, "schedule/session.html", context)


@edition_page
def room(request: HttpRequest, edition: Edition, slug: str) -> HttpResponse:
    """Show a room and what takes place in it, day by day."""
    at = timezone.now()
    place: Room = get_object_or_404(edition.rooms.published(at), slug=slug)
    sessions = edition.sessions.published(at).held_in(place, at).for_timetable(at)
    days = timetable.days(timetable.nest(sessions), edition.day_of)
    context = {"at": at, "crumbs": [schedule_crumb(edition)], "room": place, "days": days}
    return render(request, "schedule/room.html", context)


@edition_page
def talks(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show the invited talks with the biographies of their speakers."""
    at = timezone.now()
    invited = edition.sessions.published(at).invited_talks().for_timetable(at)
    return render(request, "schedule/talks.html", {"talks": invited})


@edition_page
def posters(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show poster sessions with their boards in walking order, and the posters without a session."""
    at = timezone.now()
    sessions = edition.sessions.published(at).with_posters(at)
    most = LIGHT if sessions.talk_total(at) <= WHOLE else FIRST
    unscheduled = edition.presentations.published(at).posters().unscheduled().by_title()
    context = {
        "at": at,
        "sessions": sessions.for_timetable(at).with_talks(at, most=most, posters=True),
        "unscheduled": unscheduled.with_credits(at),
        "most": LIGHT,
    }
    return render(request, "schedule/posters.html", context)


@edition_page
def recordings(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show what can be watched afterwards, day by day."""
    return render(
        request, "schedule/recordings.html", {"days": recordings_by_day(edition, at=timezone.now())}
    )
