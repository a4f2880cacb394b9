"""Views of downloads. Query sets and `dump` select the public rows, and formats write them."""

from collections.abc import Callable, Iterable
from functools import partial

from django.conf import settings
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from conference.models import Edition
from conference.request_edition import edition_page, published_editions
from exchange.exports import calendars, downloads
from exchange.exports.citation_files import FORMATS, dump_for_citation, search_condition
from exchange.exports.columns import documented_tables
from exchange.exports.downloads import conditional_response, state_of, state_of_all, url_name
from exchange.exports.dump import dump_for_format, selection_for_table, stream, writing_context
from exchange.files import Format
from exchange.formats import ics, writable, xcal
from exchange.records import Program
from pagecache.cors import public_file
from people.models import Person
from schedule import timetable
from schedule.schedule_filters import ScheduleFilter, read_choice


@edition_page
def index(request: HttpRequest, edition: Edition) -> HttpResponse:
    """List all downloads of an edition."""
    groups = downloads.download_groups(edition)
    context: dict[str, object] = {
        "groups": groups,
        "schedule_url": downloads.schedule_url(edition),
        "tables": documented_tables() if groups else [],
    }
    if groups and edition.data_license:
        context["dataset"] = downloads.dataset_json_ld(edition, groups)
    return render(request, "exchange/downloads.html", context)


@public_file
@edition_page
def program_file(request: HttpRequest, edition: Edition, form: str, file: str) -> HttpResponseBase:
    """Send a file with the whole program of an edition, in one of the registered formats."""
    fmt = writable().get(form)
    if fmt is None or file not in downloads.file_names(fmt, edition):
        raise Http404("There is no such file.")
    return _file(request, edition, fmt, file, lambda: _program(fmt, edition))


@public_file
@edition_page
def app_schedule(request: HttpRequest, edition: Edition, ending: str) -> HttpResponseBase:
    """Send the schedule at the permanent address to which conference apps subscribe."""
    fmt = writable()[downloads.APP_FORMATS[ending]]
    (output_name,) = downloads.file_names(fmt, edition)
    name = f"{edition.slug}-schedule.{ending}"
    return _file(request, edition, fmt, name, lambda: _program(fmt, edition), output_name)


def _file(
    request: HttpRequest,
    edition: Edition,
    fmt: Format,
    name: str,
    program: Callable[[], Program],
    output_name: str = "",
) -> HttpResponseBase:
    """Send one of the files that a format makes of a program: the one with `output_name`, or else `name`."""

    def build_content() -> Iterable[bytes]:
        outputs = fmt.outputs(program(), writing_context(edition))
        return next(output.chunks for output in outputs if output.name == (output_name or name))

    return conditional_response(request, state_of(edition), name, fmt.media_type, build_content)


def _program(fmt: Format, edition: Edition) -> Program:
    """Return the program for a format. Calendars and files for apps get only the rows that they need."""
    if fmt in (ics.FORMAT, xcal.FORMAT):
        return calendars.edition_calendar(edition).program
    if fmt.name in downloads.APP_FORMATS.values():
        return calendars.app_program(edition)
    return dump_for_format(fmt, edition)


# References


@public_file
@edition_page
def paper_references(request: HttpRequest, edition: Edition, uid: str, ending: str) -> HttpResponseBase:
    paper = get_object_or_404(edition.papers.published(), uid=uid)
    name = f"{edition.slug}-{paper.uid}"
    return _references(request, edition, name, ending, Q(pk=paper.pk))


@public_file
@edition_page
def topic_references(request: HttpRequest, edition: Edition, slug: str, ending: str) -> HttpResponseBase:
    topic = get_object_or_404(edition.topics.published(), slug=slug)
    papers = edition.papers.published().in_topic(topic)
    name = f"{edition.slug}-{slug}"
    return _references(request, edition, name, ending, Q(pk__in=papers.order_by().values("pk")))


@public_file
@edition_page
def edition_references(request: HttpRequest, edition: Edition, ending: str) -> HttpResponseBase:
    """Send the citations of the papers of an edition that match the parameters of the list."""
    condition = search_condition(edition, request.GET)
    return _references(request, edition, f"{edition.slug}-papers", ending, condition)


@public_file
@require_safe
def person_references(request: HttpRequest, uid: str, ending: str) -> HttpResponseBase:
    person = _person(uid)
    if person.uid != uid:
        return redirect(f"exchange:person_{url_name(ending)}", person.uid, permanent=True)
    by_person = Q(pk__in=person.authorships.order_by().values("paper"))
    fmt, cite = FORMATS[ending]

    def build_content() -> Iterable[bytes]:
        editions = Edition.objects.published().filter(papers__in=person.authorships.values("paper"))
        return cite([dump_for_citation(edition, by_person) for edition in editions.distinct()])

    return conditional_response(
        request, state_of_all(request), f"{uid}.{ending}", fmt.media_type, build_content
    )


def _references(
    request: HttpRequest, edition: Edition, name: str, ending: str, papers: Q
) -> HttpResponseBase:
    fmt, cite = FORMATS[ending]
    return conditional_response(
        request,
        state_of(edition),
        f"{name}.{ending}",
        fmt.media_type,
        lambda: cite([dump_for_citation(edition, papers)]),
    )


@public_file
@edition_page
def paper_table(request: HttpRequest, edition: Edition, form: str) -> HttpResponseBase:
    """Send the papers that match the parameters of the list as a table."""
    fmt = writable()[form]
    selection = selection_for_table(edition, "paper", search_condition(edition, request.GET))
    name = f"{edition.slug}-papers.{form}"
    return _file(request, edition, fmt, name, lambda: stream(edition, only=selection))


# Calendars


@public_file
@edition_page
def papers_calendar(request: HttpRequest, edition: Edition) -> HttpResponseBase:
    papers = edition.papers.published().filter(search_condition(edition, request.GET))
    return _calendar(
        request, edition, "papers", edition.name, lambda: calendars.paper_calendars(edition, papers)
    )


@public_file
@edition_page
def edition_calendar(request: HttpRequest, edition: Edition) -> HttpResponseBase:
    """Send the calendar of an edition: all sessions, or those of a kind, room or topic, and their talks."""
    choice = _choice(request, edition)
    load_scope = partial(calendars.edition_calendar, edition, choice)
    return _calendar(request, edition, edition.slug, edition.name, load_scope, choice.query if choice else "")


@public_file
@edition_page
def day_calendar(request: HttpRequest, edition: Edition, day: str) -> HttpResponseBase:
    choice = _choice(request, edition)
    date = timetable.read_day(day)
    used_days = edition.sessions.published().program_days(edition.day_of)
    if date is None or date not in timetable.day_strip(edition.start_date, edition.end_date, used_days):
        raise Http404("The edition has no such day.")
    title = f"{edition.name}, {date.isoformat()}"
    load_scope = partial(calendars.day_calendar, edition, date, choice)
    return _calendar(request, edition, day, title, load_scope, choice.query if choice else "")


@public_file
@edition_page
def session_calendar(request: HttpRequest, edition: Edition, uid: str) -> HttpResponseBase:
    """Send the calendar of a session, its parts, and the talks in them with a time of their own."""
    session = get_object_or_404(edition.sessions.published(), uid=uid)
    load_scope = partial(calendars.sessions_calendar, edition, Q(pk=session.pk) | Q(parent=session))
    return _calendar(request, edition, uid, str(session), load_scope)


@public_file
@edition_page
def room_calendar(request: HttpRequest, edition: Edition, slug: str) -> HttpResponseBase:
    room = get_object_or_404(edition.rooms.published().select_related("edition"), slug=slug)
    return _calendar(request, edition, slug, f"{room}, {edition.name}", lambda: calendars.room_calendar(room))


@public_file
@edition_page
def topic_calendar(request: HttpRequest, edition: Edition, slug: str) -> HttpResponseBase:
    topic = get_object_or_404(edition.topics.published().select_related("edition"), slug=slug)
    title = f"{topic}, {edition.name}"
    papers = edition.papers.published().in_topic(topic)
    return _calendar(request, edition, slug, title, lambda: calendars.paper_calendars(edition, papers))


@public_file
@edition_page
def paper_calendar(request: HttpRequest, edition: Edition, uid: str) -> HttpResponseBase:
    paper = get_object_or_404(edition.papers.published().select_related("edition"), uid=uid)
    return _calendar(
        request,
        edition,
        uid,
        str(paper),
        lambda: calendars.calendar_scope(edition, presentations=Q(paper=paper)),
    )


@public_file
@edition_page
def presentation_calendar(request: HttpRequest, edition: Edition, uid: str) -> HttpResponseBase:
    presentation = get_object_or_404(edition.presentations.published().select_related("paper"), uid=uid)
    load_scope = partial(calendars.calendar_scope, edition, presentations=Q(pk=presentation.pk))
    return _calendar(request, edition, uid, str(presentation), load_scope)


@public_file
@require_safe
def person_calendar(request: HttpRequest, uid: str) -> HttpResponseBase:
    person = _person(uid)
    if person.uid != uid:
        return redirect("exchange:person_calendar", person.uid, permanent=True)
    editions = published_editions(request)

    def build_content() -> Iterable[bytes]:
        return ics.calendar(calendars.person_calendars(person, editions), str(person), _address(request))

    return conditional_response(
        request, state_of_all(request), f"{uid}.ics", ics.FORMAT.media_type, build_content
    )


def _calendar(
    request: HttpRequest,
    edition: Edition,
    name: str,
    title: str,
    load_scopes: Callable[[], ics.CalendarScope | Iterable[ics.CalendarScope]],
    query: str = "",
) -> HttpResponseBase:
    def build_content() -> Iterable[bytes]:
        scopes = load_scopes()
        return ics.calendar(
            [scopes] if isinstance(scopes, ics.CalendarScope) else scopes, title, _address(request, query)
        )

    return conditional_response(
        request,
        state_of(edition),
        f"{name}.ics" if name.startswith(edition.slug) else f"{edition.slug}-{name}.ics",
        ics.FORMAT.media_type,
        build_content,
    )


def _choice(request: HttpRequest, edition: Edition) -> ScheduleFilter | None:
    """Return the filter of the query string, or `None` without one, which needs no query."""
    return read_choice(request, edition, timezone.now()) if request.GET else None


def _address(request: HttpRequest, query: str = "") -> str:
    """Return the absolute URL of the file, with the normalized query string `query`."""
    return f"{settings.SITE_URL}{request.path}{f'?{query}'.rstrip('?&')}"


def _person(uid: str) -> Person:
    person: Person | None = Person.objects.published().filter(uid=uid).first() or Person.objects.survivor(uid)
    if person is None:
        raise Http404("No such person.")
    return person
