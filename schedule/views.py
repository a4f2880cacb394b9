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
from conference.request_edition import edition_page, shows_planned_state
from content.times import clock_time, day_and_time_range, short_day
from content.unreleased.plan import match
from papers.models import Material, Paper
from schedule import timetable
from schedule.agenda.agendas import set_star_keys
from schedule.day_grid import day_grid
from schedule.day_size import talks_listed
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


@shows_planned_state
@edition_page
def index(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show today during the conference, else all days; on request a week, or the current sessions."""
    at = timezone.now()
    view = read_option(request, "view", ("list", "week", "now"))
    if view == "now":
        return now(request, edition, at)
    sessions = edition.sessions.published(at)
    program_days = used_days(edition, at)
    today = edition.day_of(at)
    if not view and today in program_days:
        return one_day(request, edition, today, at, program_days)
    choice, earlier_starts = read_choice(request, edition, at), moved_times(edition, at)
    shown_sessions = mark_moved(
        sessions.chosen(choice, at).for_timetable(at, choice.topic), earlier_starts, at
    )
    mark_notices(shown_sessions, edition, at)
    if view != "week" and talk_total(shown_sessions) <= MAX_PROGRAM_TALKS:
        talks = edition.presentations.published(at).about(choice.topic, at)
        attach_talks(shown_sessions, talks, at, max_talks=MAX_LISTED_TALKS, moves=earlier_starts)
    context = {
        **schedule_context(edition, program_days, at, choice, view or "list"),
        "whole_program": view != "week",
        "is_deferred": True,
        "days": timetable.days(timetable.nest(shown_sessions), edition.day_of),
    }
    return render(request, f"schedule/{'week' if view == 'week' else 'index'}.html", context)


def talk_total(sessions: Iterable[Session]) -> int:
    return sum(session.talk_count for session in sessions)


@shows_planned_state
@edition_page
def day(request: HttpRequest, edition: Edition, day: str) -> HttpResponse:
    """Show one program day. A day outside the program is a 404 with links to the days of the program."""
    at = timezone.now()
    program_days = used_days(edition, at)
    strip = timetable.day_strip(edition.start_date, edition.end_date, program_days)
    date = timetable.read_day(day)
    if date is None or date not in strip:
        context = {"strip": strip, "date": date}
        return render(request, "schedule/no_day.html", context, status=404)
    return one_day(request, edition, date, at, program_days)


def one_day(
    request: HttpRequest, edition: Edition, date: date, at: datetime, program_days: set[date]
) -> HttpResponse:
    """Show a day as a list, or as a grid of rooms and times."""
    view = read_option(request, "view", ("list", "grid"), "list")
    choice = read_choice(request, edition, at)
    sessions, earlier_starts = edition.sessions.published(at), moved_times(edition, at)
    day_sessions = sessions.starting_between(*edition.day_bounds(date)).chosen(choice, at)
    shown_sessions = mark_moved(day_sessions.for_timetable(at, choice.topic), earlier_starts, at)
    mark_notices(shown_sessions, edition, at)
    context = {**schedule_context(edition, program_days, at, choice, view), "date": date}
    if date == context["today"]:
        context |= now_and_next(sessions, at)
    talks = edition.presentations.published(at).about(choice.topic, at)
    if view == "grid":
        attach_talks(shown_sessions, talks, at, max_talks=TALKS_SHOWN, moves=earlier_starts)
        context |= grid_context(edition, shown_sessions, talks, at)
        context |= {"zoom": read_option(request, "zoom", ZOOMS, NORMAL_ZOOM), "zooms": ZOOMS}
        return render(request, "schedule/grid.html", context)
    abstracts = talk_total(shown_sessions) <= MAX_LISTED_TALKS
    listed = talks_listed([row.talk_count for row in shown_sessions])
    attach_talks(
        shown_sessions,
        talks,
        at,
        max_talks=listed,
        talks_shown=min(listed, TALKS_SHOWN),
        moves=earlier_starts,
        abstracts=abstracts,
    )
    blocks = timetable.blocks(timetable.nest(shown_sessions))
    context |= {"blocks": blocks, "abstracts": abstracts, "is_deferred": not abstracts}
    context["is_folded"] = listed < MAX_LISTED_TALKS
    return render(request, "schedule/day.html", context)


def grid_context(
    edition: Edition, sessions: Iterable[Session], talks: PresentationQuerySet, at: datetime
) -> dict[str, Any]:
    """Return the template context of a day's grid: the grid, its kinds, and the row of the current time."""

    def rooms_of(session: Session) -> set[int | None]:
        return {talk.room_id for talk in session.shown_talks}

    nested = timetable.nest(sessions, same_room=True)
    set_star_keys(nested, talks)
    grid = day_grid(nested, edition.zone, rooms_of)
    kinds = {slot.session.kind: slot.session.get_kind_display() for slot in grid.slots} if grid else {}
    return {
        "grid": grid,
        "legend": list(kinds.items()),
        "now_row": grid and grid.row_at(at),
        "now_label": clock_time(at, edition.zone),
    }


def now_and_next(sessions: SessionQuerySet, at: datetime) -> dict[str, Any]:
    """Return the running sessions and the next ones, for the top of a page."""
    querysets = {"running": sessions.running(at), "upcoming": sessions.next_after(at)}
    return {
        name: timetable.sort_series(queryset.in_order().with_place()) for name, queryset in querysets.items()
    }


def schedule_context(
    edition: Edition, program_days: set[date], at: datetime, choice: ScheduleFilter, view: str
) -> dict[str, Any]:
    """Return the template context that all views of the schedule share: days, views and filters."""
    return {
        "today": edition.day_of(at),
        "strip": timetable.day_strip(edition.start_date, edition.end_date, program_days),
        "choice": choice,
        "view": view,
        "grid_day": edition.day_of(at)
        if edition.day_of(at) in program_days
        else min(program_days, default=None),
        # Links to other days preserve the filters and the grid.
        "day_query": f"{choice.query}{'view=grid&' if view == 'grid' else ''}".rstrip("&"),
    }


def now(request: HttpRequest, edition: Edition, at: datetime) -> HttpResponse:
    """Show the current and the next sessions of each room, for a screen in the lobby."""
    sessions = edition.sessions.published(at)
    # A session that began on an earlier program day may still take place.
    begun_or_today = sessions.matching(start__lt=edition.day_bounds(edition.day_of(at))[1])
    remaining = begun_or_today.filter(match(Session, end__gt=at) | match(Session, start__gte=at))
    statuses = timetable.room_statuses(
        mark_moved(remaining.for_timetable(at), moved_times(edition, at), at), at
    )
    context = {"at": at, "room_statuses": statuses}
    if not statuses:
        context |= {
            "next_session": sessions.first_after(at),
            "has_begun": sessions.matching(start__lte=at).exists(),
        }
    return render(request, "schedule/now.html", context)


@shows_planned_state
@edition_page
def session(request: HttpRequest, edition: Edition, uid: str, slug: str = "") -> HttpResponse:
    """Show a session with its parts and talks; the abstracts of many posters are only on their own pages."""
    at = timezone.now()
    sessions, earlier_starts = edition.sessions.published(at), moved_times(edition, at)
    whole_and_parts = sessions.filter(Q(uid=uid) | match(Session, parent__uid=uid))
    session_and_parts = mark_moved(whole_and_parts.for_timetable(at), earlier_starts, at)
    session = next((row for row in session_and_parts if row.uid == uid), None)
    if session is None:
        raise Http404("No such session.")
    if request.path != session.get_absolute_url():
        return redirect(session, permanent=True)
    parts = [row for row in session_and_parts if row is not session]
    mark_notices(parts, edition, at)
    abstracts = session.talk_count <= MAX_LISTED_TALKS
    talks, choice = edition.presentations.published(at), None
    if session.talk_count > MAX_LISTED_TALKS:
        topics = sort_as_tree(edition.topics.published(at))
        choice = read_poster_choice(request, topics, session.talk_count)
        talks = talks.about(choice.topic, at)
    attach_talks(
        session_and_parts,
        talks,
        at,
        max_talks=MAX_LISTED_TALKS,
        full_session=session,
        moves=earlier_starts,
        abstracts=abstracts,
        materials=True,
    )
    listed_talks = filter_posters(session.talks, choice) if choice is not None else session.talks
    if choice is not None and (page_and_poster := page_of_board(listed_talks, choice.board)):
        page, poster = page_and_poster
        return redirect(f"{request.path}?{choice.query}page={page}#talk-{poster.uid}")
    date = edition.day_of(session.start)
    siblings = sessions.starting_between(*edition.day_bounds(date)).beside(session.pk, session.parent_id)
    ordered_siblings = [row for block in timetable.blocks(siblings) for row in block.sessions]
    day_crumb = short_day(date), reverse("schedule:day", args=[edition.slug, date.isoformat()])
    card = Card(reverse("schedule:card", args=[edition.slug, uid]), card_text(session))
    context = {
        "head": session_head(session, parts, earlier_starts, card),
        "crumbs": [schedule_crumb(edition), day_crumb],
        "session": session,
        "date": date,
        "talks": listed_talks,
        "choice": choice,
        "posters": poster_page(request, listed_talks) if choice is not None else None,
        "abstracts": abstracts,
        "notices": notices_about(edition, at, [session]),
        "parts": timetable.blocks(parts),
        "neighbors": timetable.neighbors(ordered_siblings, session),
    }
    return render(request, "schedule/session.html", context)


@edition_page
def session_card(request: HttpRequest, edition: Edition, uid: str) -> HttpResponse:
    rows = edition.sessions.published().select_related("room", "parent").with_people()
    session: Session = get_object_or_404(rows, uid=uid)
    time = day_and_time_range(session.start, session.end, edition.zone)
    kind = " · ".join(
        filter(None, (session.get_kind_display(), time, session.room.name if session.room else ""))
    )
    roles: Any = session.shown_roles
    names = dict.fromkeys(role.shown_name for role in roles)
    picture = Picture(kind, str(session), ", ".join(names), edition_line(edition), edition.accent)
    return card_response(request, edition, picture)


@edition_page
def room(request: HttpRequest, edition: Edition, slug: str) -> HttpResponse:
    """Show a room and the sessions in it, day by day."""
    at = timezone.now()
    room: Room = get_object_or_404(edition.rooms.published(at), slug=slug)
    sessions = mark_moved(edition.sessions.published(at).held_in(room, at).for_timetable(at), {}, at)
    mark_notices(sessions, edition, at)
    days = timetable.days(timetable.nest(sessions), edition.day_of)
    context = {"crumbs": [schedule_crumb(edition)], "room": room, "days": days}
    return render(request, "schedule/room.html", context)


@edition_page
def talks(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show the invited talks with the biographies of their speakers."""
    at = timezone.now()
    invited_talks = edition.sessions.published(at).invited_talks().for_timetable(at)
    return render(request, "schedule/talks.html", {"talks": invited_talks})


@edition_page
def posters(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show poster sessions with their boards in walking order, and the posters without a session."""
    at = timezone.now()
    sessions = list(edition.sessions.published(at).with_posters(at).for_timetable(at))
    posters = edition.presentations.published(at).posters()
    attach_talks(
        sessions,
        posters,
        at,
        max_talks=MAX_LISTED_TALKS if talk_total(sessions) <= MAX_PROGRAM_TALKS else TALKS_SHOWN,
    )
    context = {
        "at": at,
        "sessions": sessions,
        "unscheduled": posters.unscheduled().by_title().with_credits(at),
        "max_listed_talks": MAX_LISTED_TALKS,
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
    entry: Session | Presentation | Paper
    title_html: str
    start: datetime | None = None
    paper: Paper | None = None
    watch: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_session(self) -> bool:
        return isinstance(self.entry, Session)

    def add(self, label: str, url: str) -> None:
        """Add an address once: the recording of a talk and the paper's video are often the same."""
        if url and url not in {known_url for _, known_url in self.watch}:
            self.watch.append((label, url))


def recordings_by_day(edition: Edition, at: datetime) -> list[tuple[date | None, list[Recording]]]:
    """Return the recordings of each program day by time; those without a time are last, under `None`."""
    recordings = list(_talk_and_paper_recordings(edition, at))
    for session in edition.sessions.published(at).recorded().for_timetable(at):
        watch = [(gettext("Watch"), session.recording_url)]
        kind = session.get_kind_display()
        recordings.append(Recording(kind, session, session.title_html, session.start, watch=watch))
    by_day: dict[date | None, list[Recording]] = {}
    for recording in sorted(
        recordings, key=lambda recording: (recording.start is None, recording.start, not recording.is_session)
    ):
        day = edition.day_of(recording.start) if recording.start else None
        by_day.setdefault(day, []).append(recording)
    return list(by_day.items())


def _talk_and_paper_recordings(edition: Edition, at: datetime) -> Iterable[Recording]:
    """Return recorded talks. A paper shown twice is listed once, at its first time, with all addresses."""
    talks = edition.presentations.published(at).recorded(at).with_session().by_time()
    recordings: dict[tuple[str, int], Recording] = {}
    for talk in talks.with_credits(at):
        key = ("paper", talk.paper_id) if talk.paper_id else ("talk", talk.pk)
        if key not in recordings:
            kind, title = talk.get_kind_display(), talk.shown_title_html
            recordings[key] = Recording(kind, talk, title, talk.starts, talk.paper)
        recordings[key].add(str(WATCH[talk.counts_as]), talk.recording_url)
    videos = Material.objects.published(at).filter(kind="video", paper__edition=edition)
    papers = edition.papers.published(at).filter(pk__in=videos.values("paper")).with_authors(at).by_title()
    videos_by_paper = videos.order_by("position", "pk").grouped("paper_id")
    for paper in papers:
        key = ("paper", paper.pk)
        if key not in recordings:
            recordings[key] = Recording(gettext("Paper"), paper, paper.title_html, paper=paper)
        for video in videos_by_paper.get(paper.pk, []):
            recordings[key].add(video.label or gettext("Watch the video"), video.href)
    return recordings.values()
