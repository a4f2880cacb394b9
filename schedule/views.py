"""Views of the timetable. Querysets select the public rows and the data of pages."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conference.cards import Picture, card_response, edition_line
from conference.models import Edition
from conference.page_metadata import Card
from conference.request_edition import edition_page
from content.times import clock_time, day_and_time_range, short_day
from papers.models import Material, Paper
from schedule import timetable
from schedule.agenda.agendas import set_star_keys
from schedule.day_grid import day_grid
from schedule.models import Presentation, Room, Session
from schedule.notices.live import mark_notices, notices_about
from schedule.page_metadata import card_text, session_head
from schedule.poster_pages import filter_posters, page_of_board, poster_page, read_poster_choice
from schedule.querysets import MAX_LISTED_TALKS, PresentationQuerySet, SessionQuerySet
from schedule.releases import mark_moved, moved_times, release_view
from schedule.rows import TALKS_SHOWN, attach_talks
from schedule.schedule_filters import (
    NORMAL_ZOOM,
    ZOOMS,
    ScheduleFilter,
    read_choice,
    read_option,
    sort_as_tree,
    used_days,
)

# The maximum number of talks on the page of all days; with more, it lists sessions only.
MAX_PROGRAM_TALKS = 300


def schedule_crumb(edition: Edition) -> tuple[str, str]:
    return gettext("Schedule"), reverse("schedule:index", args=[edition.slug])


@edition_page
def index(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show today during the conference, else all days; on request a week, or the current sessions."""
    at = timezone.now()
    view = read_option(request, "view", ("list", "week", "now"))
    if view == "now":
        return now(request, edition, at)
    sessions = edition.sessions.published(at)
    used = used_days(edition, at)
    today = edition.day_of(at)
    if not view and today in used:
        return one_day(request, edition, today, at, used)
    choice, moved = read_choice(request, edition, at), moved_times(edition, at)
    shown = mark_moved(sessions.chosen(choice, at).for_timetable(at, choice.topic), moved, at)
    mark_notices(shown, edition, at)
    if view != "week" and talk_total(shown) <= MAX_PROGRAM_TALKS:
        talks = edition.presentations.published(at).about(choice.topic, at)
        attach_talks(shown, talks, at, most=MAX_LISTED_TALKS, moves=moved)
    context = {
        **schedule_context(edition, used, at, choice, view or "list"),
        "whole_program": view != "week",
        "late": True,
        "days": timetable.days(timetable.nest(shown), edition.day_of),
    }
    return render(request, f"schedule/{'week' if view == 'week' else 'index'}.html", context)


def talk_total(sessions: Iterable[Session]) -> int:
    return sum(session.talk_count for session in sessions)


@edition_page
def day(request: HttpRequest, edition: Edition, day: str) -> HttpResponse:
    """Show one program day. A day outside the program is a 404 with links to the days of the program."""
    at = timezone.now()
    used = used_days(edition, at)
    strip = timetable.day_strip(edition.start_date, edition.end_date, used)
    date = timetable.read_day(day)
    if date is None or date not in strip:
        context = {"strip": strip, "date": date, "written": day}
        return render(request, "schedule/no_day.html", context, status=404)
    return one_day(request, edition, date, at, used)


def one_day(
    request: HttpRequest, edition: Edition, date: date, at: datetime, used: set[date]
) -> HttpResponse:
    """Show a day as a list, or as a grid of rooms and times."""
    view = read_option(request, "view", ("list", "grid"), "list")
    choice = read_choice(request, edition, at)
    sessions, moved = edition.sessions.published(at), moved_times(edition, at)
    chosen = sessions.starting_between(*edition.day_bounds(date)).chosen(choice, at)
    shown = mark_moved(chosen.for_timetable(at, choice.topic), moved, at)
    mark_notices(shown, edition, at)
    context = {**schedule_context(edition, used, at, choice, view), "date": date}
    if date == context["today"]:
        context |= now_and_next(sessions, at)
    talks = edition.presentations.published(at).about(choice.topic, at)
    if view == "grid":
        attach_talks(shown, talks, at, most=TALKS_SHOWN, moves=moved)
        context |= grid_context(edition, shown, talks, at)
        context |= {"zoom": read_option(request, "zoom", ZOOMS, NORMAL_ZOOM), "zooms": ZOOMS}
        return render(request, "schedule/grid.html", context)
    abstracts = talk_total(shown) <= MAX_LISTED_TALKS
    attach_talks(shown, talks, at, most=MAX_LISTED_TALKS, moves=moved, abstracts=abstracts)
    blocks = timetable.blocks(timetable.nest(shown))
    context |= {"blocks": blocks, "abstracts": abstracts, "late": not abstracts}
    return render(request, "schedule/day.html", context)


def grid_context(
    edition: Edition, shown: Iterable[Session], talks: PresentationQuerySet, at: datetime
) -> dict[str, Any]:
    """Return the template context of a day's grid: the grid, its kinds, and the row of the current time."""

    def rooms_of(session: Session) -> set[int | None]:
        return {talk.room_id for talk in session.shown_talks}

    nested = timetable.nest(shown, beside=True)
    set_star_keys(nested, talks)
    grid = day_grid(nested, edition.zone, rooms_of)
    kinds = {slot.session.kind: slot.session.get_kind_display() for slot in grid.slots} if grid else {}
    return {
        "grid": grid,
        "face": edition.face,
        "legend": list(kinds.items()),
        "now_row": grid and grid.row_at(at),
        "now_words": clock_time(at, edition.zone),
    }


def now_and_next(sessions: SessionQuerySet, at: datetime) -> dict[str, Any]:
    """Return the running sessions and the next ones, for the top of a page."""
    rows = {"running": sessions.running(at), "upcoming": sessions.next_after(at)}
    return {name: timetable.sort_series(found.in_order().with_place()) for name, found in rows.items()}


def schedule_context(
    edition: Edition, used: set[date], at: datetime, choice: ScheduleFilter, view: str
) -> dict[str, Any]:
    """Return the template context that all views of the schedule share: days, views and filters."""
    return {
        "today": edition.day_of(at),
        "strip": timetable.day_strip(edition.start_date, edition.end_date, used),
        "choice": choice,
        "view": view,
        "grid_day": edition.day_of(at) if edition.day_of(at) in used else min(used, default=None),
        # Links to other days preserve the filters and the grid.
        "day_query": f"{choice.query}{'view=grid&' if view == 'grid' else ''}".rstrip("&"),
    }


def now(request: HttpRequest, edition: Edition, at: datetime) -> HttpResponse:
    """Show the current and the next sessions of each room, for a screen in the lobby."""
    sessions = edition.sessions.published(at)
    today = sessions.starting_between(*edition.day_bounds(edition.day_of(at)))
    ahead = today.filter(Q(end__gt=at) | Q(start__gte=at)).for_timetable(at)
    rooms = timetable.room_statuses(mark_moved(ahead, moved_times(edition, at), at), at)
    context = {"at": at, "boards": rooms}
    if not rooms:
        context |= {"coming": sessions.first_after(at), "begun": sessions.filter(start__lte=at).exists()}
    return render(request, "schedule/now.html", context)


@edition_page
def session(request: HttpRequest, edition: Edition, uid: str, slug: str = "") -> HttpResponse:
    """Show a session with its parts and talks; the abstracts of many posters are only on their own pages."""
    at = timezone.now()
    sessions, moved = edition.sessions.published(at), moved_times(edition, at)
    whole_and_parts = sessions.filter(Q(uid=uid) | Q(parent__uid=uid))
    together = mark_moved(whole_and_parts.for_timetable(at), moved, at)
    shown = next((one for one in together if one.uid == uid), None)
    if shown is None:
        raise Http404("No such session.")
    if request.path != shown.get_absolute_url():
        return redirect(shown, permanent=True)
    parts = mark_notices([one for one in together if one is not shown], edition, at)
    abstracts = shown.talk_count <= MAX_LISTED_TALKS
    options: dict[str, Any] = {"entire": shown, "moves": moved, "abstracts": abstracts, "materials": True}
    talks, choice = edition.presentations.published(at), None
    if shown.talk_count > MAX_LISTED_TALKS:
        topics = sort_as_tree(edition.topics.published(at))
        choice = read_poster_choice(request, topics, shown.talk_count)
        talks = talks.about(choice.topic, at)
    attach_talks(together, talks, at, most=MAX_LISTED_TALKS, **options)
    found = filter_posters(shown.talks, choice) if choice is not None else shown.talks
    if choice is not None and (place := page_of_board(found, choice.board)):
        page, poster = place
        return redirect(f"{request.path}?{choice.query}page={page}#talk-{poster.uid}")
    date = edition.day_of(shown.start)
    beside = sessions.starting_between(*edition.day_bounds(date)).beside(shown.pk, shown.parent_id)
    row = [one for block in timetable.blocks(beside) for one in block.sessions]
    day_crumb = short_day(date), reverse("schedule:day", args=[edition.slug, date.isoformat()])
    picture = Card(reverse("schedule:card", args=[edition.slug, uid]), card_text(shown))
    context = {
        "head": session_head(shown, parts, moved, picture),
        "crumbs": [schedule_crumb(edition), day_crumb],
        "session": shown,
        "date": date,
        "talks": found,
        "choice": choice,
        "posters": poster_page(request, found) if choice is not None else None,
        "face": edition.face,
        "abstracts": abstracts,
        "notices": notices_about(edition, at, [shown]),
        "parts": timetable.blocks(parts),
        "neighbors": timetable.neighbors(row, shown),
    }
    return render(request, "schedule/session.html", context)


@edition_page
def session_card(request: HttpRequest, edition: Edition, uid: str) -> HttpResponse:
    rows = edition.sessions.published().select_related("room", "parent").with_people()
    shown: Session = get_object_or_404(rows, uid=uid)
    time = day_and_time_range(shown.start, shown.end, edition.zone)
    kind = " · ".join(filter(None, (shown.get_kind_display(), time, shown.room.name if shown.room else "")))
    roles: Any = shown.shown_roles
    names = dict.fromkeys(one.shown_name for one in roles)
    picture = Picture(kind, str(shown), ", ".join(names), edition_line(edition), edition.accent)
    return card_response(request, edition, picture)


@edition_page
def room(request: HttpRequest, edition: Edition, slug: str) -> HttpResponse:
    """Show a room and the sessions in it, day by day."""
    at = timezone.now()
    place: Room = get_object_or_404(edition.rooms.published(at), slug=slug)
    sessions = mark_moved(edition.sessions.published(at).held_in(place, at).for_timetable(at), {}, at)
    mark_notices(sessions, edition, at)
    days = timetable.days(timetable.nest(sessions), edition.day_of)
    context = {"crumbs": [schedule_crumb(edition)], "room": place, "days": days}
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
    sessions = list(edition.sessions.published(at).with_posters(at).for_timetable(at))
    shown = edition.presentations.published(at).posters()
    attach_talks(
        sessions,
        shown,
        at,
        most=MAX_LISTED_TALKS if talk_total(sessions) <= MAX_PROGRAM_TALKS else TALKS_SHOWN,
    )
    context = {
        "at": at,
        "face": edition.face,
        "sessions": sessions,
        "unscheduled": shown.unscheduled().by_title().with_credits(at),
        "most": MAX_LISTED_TALKS,
    }
    return render(request, "schedule/posters.html", context)


@edition_page
def recordings(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show the recordings, day by day."""
    days = recordings_by_day(edition, timezone.now())
    return render(request, "schedule/recordings.html", {"days": days})


@edition_page
def changes(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show the changes of each release of the program, newest first."""
    return render(request, "schedule/changes.html", {"releases": release_view(edition, timezone.now())})


# The link text of a recording, by kind of presentation.
WATCH = {
    "oral": _("Watch the oral"),
    "spotlight": _("Watch the spotlight"),
    "poster": _("Watch the poster"),
    "talk": _("Watch the talk"),
    "demo": _("Watch the demo"),
}


@dataclass(slots=True)
class Recording:
    """A recorded session or talk, and where to watch it: (label, address) pairs."""

    kind: str
    thing: Session | Presentation | Paper
    title_html: str
    start: datetime | None = None
    paper: Paper | None = None
    watch: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_session(self) -> bool:
        return isinstance(self.thing, Session)

    def add(self, label: str, url: str) -> None:
        """Add an address once: the recording of a talk and the paper's video are often the same."""
        if url and url not in {known for _, known in self.watch}:
            self.watch.append((label, url))


def recordings_by_day(edition: Edition, at: datetime) -> list[tuple[date | None, list[Recording]]]:
    """Return the recordings of each program day by time; those without a time are last, under `None`."""
    found = list(_talk_recordings(edition, at))
    for session in edition.sessions.published(at).recorded().for_timetable(at):
        watch = [(gettext("Watch"), session.recording_url)]
        kind = session.get_kind_display()
        found.append(Recording(kind, session, session.title_html, session.start, watch=watch))
    groups: dict[date | None, list[Recording]] = {}
    for recording in sorted(found, key=lambda one: (one.start is None, one.start, not one.is_session)):
        day = edition.day_of(recording.start) if recording.start else None
        groups.setdefault(day, []).append(recording)
    return list(groups.items())


def _talk_recordings(edition: Edition, at: datetime) -> Iterable[Recording]:
    """Return recorded talks. A paper shown twice is listed once, at its first time, with all addresses."""
    talks = edition.presentations.published(at).recorded(at).with_session().by_time()
    found: dict[tuple[str, int], Recording] = {}
    for talk in talks.with_credits(at):
        key = ("paper", talk.paper_id) if talk.paper_id else ("talk", talk.pk)
        if key not in found:
            kind, title = talk.get_kind_display(), talk.shown_title_html
            found[key] = Recording(kind, talk, title, talk.starts, talk.paper)
        found[key].add(str(WATCH[talk.counts_as]), talk.recording_url)
    videos = Material.objects.published(at).filter(kind="video", paper__edition=edition)
    papers = edition.papers.published(at).filter(pk__in=videos.values("paper")).with_authors(at).by_title()
    by_paper = videos.order_by("position", "pk").grouped("paper_id")
    for paper in papers:
        key = ("paper", paper.pk)
        if key not in found:
            found[key] = Recording(gettext("Paper"), paper, paper.title_html, paper=paper)
        for video in by_paper.get(paper.pk, []):
            found[key].add(video.label or gettext("Watch the video"), video.href)
    return found.values()
