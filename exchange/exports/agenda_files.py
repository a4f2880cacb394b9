"""Views of a visitor's agenda as a calendar, table or references. Only public rows are exported."""

from collections.abc import Callable, Iterable

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.http import content_disposition_header

import markup
from conference.models import Edition
from content.times import clock_time, zone_label
from exchange.exports.calendars import calendar_scope
from exchange.exports.citation_files import dump_for_citation
from exchange.formats import bibtex, csv_files, ics
from exchange.reading.sheets import write_sheet
from schedule.agenda import agendas
from schedule.agenda.agendas import AgendaStop, plan_agenda
from schedule.agenda.stars import Star
from schedule.agenda.views import agenda_page, stars_of

COLUMNS = (
    *("day", "start", "end", "zone", "kind", "title"),
    *("people", "room", "board", "session", "status", "link"),
)


@agenda_page("GET", "HEAD", "POST")
def agenda_file(request: HttpRequest, edition: Edition, ending: str) -> HttpResponseBase:
    """Send the stars that the form or the address lists as a file."""
    stars = stars_of(request) if request.method == "POST" or "s" in request.GET else []
    return _file(request, edition, stars, ending)


@agenda_page("GET", "HEAD")
def agenda_calendar(request: HttpRequest, edition: Edition, token: str) -> HttpResponseBase:
    """Send the agenda behind a secret link as a calendar to subscribe to."""
    agenda = agendas.find_agenda(edition, token)
    if agenda is None:
        raise Http404("No such agenda.")
    return _file(request, edition, agenda.stars(), "ics")


def _file(request: HttpRequest, edition: Edition, stars: Iterable[Star], ending: str) -> HttpResponse:
    if ending not in KINDS:
        raise Http404("There is no such file.")
    media_type, write = KINDS[ending]
    current_stars = [star for star in stars if not star.removed]
    response = HttpResponse(b"".join(write(request, edition, current_stars)), content_type=media_type)
    name = f"{edition.slug}-agenda.{ending}"
    response.headers["Content-Disposition"] = content_disposition_header(True, name)
    return response


def _uids(stars: Iterable[Star], kind: str) -> list[str]:
    return [star.uid for star in stars if star.kind == kind]


def _calendar(request: HttpRequest, edition: Edition, stars: list[Star]) -> Iterable[bytes]:
    scope = calendar_scope(
        edition, sessions=Q(uid__in=_uids(stars, "s")), presentations=Q(uid__in=_uids(stars, "p"))
    )
    address = request.build_absolute_uri() if request.method != "POST" else ""
    return ics.calendar([scope], f"{edition.name}: my agenda", address)


def _references(request: HttpRequest, edition: Edition, stars: list[Star]) -> Iterable[bytes]:
    talks = edition.presentations.published().filter(uid__in=_uids(stars, "p"))
    papers = Q(pk__in=talks.order_by().values("paper"))
    return bibtex.cite([dump_for_citation(edition, papers)])


def _table(request: HttpRequest, edition: Edition, stars: list[Star]) -> Iterable[bytes]:
    agenda = plan_agenda(edition, stars, timezone.now())
    rows = [row for stop in agenda.stops for row in (stop, *stop.talks) if row.star]
    rows.sort(key=lambda row: (row.start is None, row.start, row.key))
    yield write_sheet(COLUMNS, [_row(request, edition, row) for row in rows])


def _row(request: HttpRequest, edition: Edition, row: AgendaStop) -> list[str]:
    event, session = row.entry, row.session
    if row.is_session:
        credits = event.shown_roles
    else:
        credits = event.shown_speakers or (event.paper.shown_authors if event.paper else ())
    return [
        edition.day_of(row.start).isoformat() if row.start else "",
        clock_time(row.start, edition.zone) if row.start else "",
        clock_time(row.end, edition.zone) if row.end else "",
        zone_label(row.start, edition.zone) if row.start else "",
        event.get_kind_display(),
        str(event),
        "; ".join(person.shown_name for person in credits),
        row.room.name if row.room else "",
        "" if row.is_session else event.board,
        markup.plain(session.title) if session and not row.is_session else "",
        "cancelled" if row.cancelled else "",
        request.build_absolute_uri(event.get_absolute_url()),
    ]


type FileWriter = Callable[[HttpRequest, Edition, list[Star]], Iterable[bytes]]

KINDS: dict[str, tuple[str, FileWriter]] = {
    "ics": (ics.FORMAT.media_type, _calendar),
    "csv": (csv_files.FORMAT.media_type, _table),
    "bib": (bibtex.FORMAT.media_type, _references),
}
