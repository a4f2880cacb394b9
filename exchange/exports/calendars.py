"""Selection of the public rows for calendars, such as of a day or person, and for files of conference apps.

The rows are returned as records; `formats.ics` and `formats.frab` write them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime
from itertools import batched
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone

from conference.models import Edition
from content.array_lookup import AnyOf
from content.querysets import at_or_now
from exchange.exports.dump import NO_ROWS, Dump, dump, writing_context
from exchange.formats.ics import CalendarScope
from exchange.records import PaperRecord, PresentationRecord, Program, is_stated
from people.models import Person
from schedule.models import Room, Session
from schedule.schedule_filters import ScheduleFilter

if TYPE_CHECKING:
    from papers.querysets import PaperQuerySet

# Talks listed in the order of their session, and posters, have no time of their own.
HAS_OWN_TIME = Q(start__isnull=False)
TIMED_FIELDS = ("kind", "title", "abstract", "start", "end", "room")
EVENT_FIELDS = (*TIMED_FIELDS, "status", "cancellation_reason", "rescheduled_at")
FIELDS = {
    "room": ("name", "virtual"),
    "session": (*EVENT_FIELDS, "parent", "roles"),
    "presentation": (*EVENT_FIELDS, "session", "paper", "board", "speakers"),
    "paper": ("title", "abstract", "authors"),
    "authors": ("person", "name"),
    "roles": ("person", "name", "role"),
    "speakers": ("person", "name"),
}
PRESENTATIONS_PER_BATCH = 1_000


def edition_calendar(edition: Edition, choice: ScheduleFilter | None = None) -> CalendarScope:
    """Return all sessions, or those that a filter selects, and the talks with a time of their own."""
    sessions, talks = _filter_conditions(edition, choice)
    return calendar_scope(edition, sessions=sessions, presentations=talks & HAS_OWN_TIME)


def day_calendar(edition: Edition, day: date, choice: ScheduleFilter | None = None) -> CalendarScope:
    """Return sessions and presentations that begin on a program day, and that a filter selects."""
    start, end = edition.day_bounds(day)
    starts_that_day = Q(start__gte=start, start__lt=end)
    sessions, talks = _filter_conditions(edition, choice)
    return calendar_scope(edition, sessions=starts_that_day & sessions, presentations=starts_that_day & talks)


def _filter_conditions(edition: Edition, choice: ScheduleFilter | None) -> tuple[Q, Q]:
    """Return the conditions on sessions and on presentations that a filter of the schedule sets."""
    if not choice:
        return Q(), Q()
    sessions = edition.sessions.published().chosen(choice).order_by().values("pk")
    talks = Q(session__in=sessions)
    if choice.topic:
        talks &= Q(paper__in=edition.papers.published().in_topic(choice.topic).order_by().values("pk"))
    return Q(pk__in=sessions), talks


def room_calendar(room: Room) -> CalendarScope:
    """Return the sessions in a room, and presentations there whose session is elsewhere."""
    in_room_session = Q(room=None, session__room=room) & HAS_OWN_TIME
    return calendar_scope(room.edition, sessions=Q(room=room), presentations=Q(room=room) | in_room_session)


def paper_calendars(edition: Edition, papers: "PaperQuerySet") -> Iterator[CalendarScope]:
    """Yield the presentations of these papers of an edition in batches, as they may be thousands."""
    at = timezone.now()
    presentations = edition.presentations.published(at).filter(paper__in=papers.order_by().values("pk"))
    keys = presentations.order_by().values_list("pk", flat=True)
    # A calendar without talks still states its time zone.
    for batch in list(batched(keys, PRESENTATIONS_PER_BATCH, strict=False)) or [()]:
        yield calendar_scope(edition, presentations=Q(AnyOf("pk", batch)), at=at)


def sessions_calendar(edition: Edition, condition: Q) -> CalendarScope:
    """Return sessions, and the talks in them with a time of their own."""
    session_keys = edition.sessions.published().filter(condition).order_by().values("pk")
    return calendar_scope(
        edition, sessions=condition, presentations=Q(session__in=session_keys) & HAS_OWN_TIME
    )


def person_calendars(person: Person, editions: Iterable[Edition]) -> Iterator[CalendarScope]:
    """Yield sessions and presentations of a person, edition by edition."""
    sessions = Q(pk__in=person.session_roles.order_by().values("session"))
    talks = Q(pk__in=person.talks.order_by().values("presentation"))
    papers = Q(paper__in=person.authorships.order_by().values("paper"))
    rows = (
        person.session_roles.values_list("session__edition", flat=True),
        person.talks.values_list("presentation__edition", flat=True),
        person.authorships.values_list("paper__edition", flat=True),
    )
    edition_keys = {key for keys in rows for key in keys.order_by().distinct()}
    for edition in editions:
        if edition.pk not in edition_keys:
            continue
        scope = calendar_scope(edition, sessions=sessions, presentations=talks | papers)
        if scope.sessions or scope.presentations:
            yield scope


def calendar_scope(
    edition: Edition, *, sessions: Q = NO_ROWS, presentations: Q = NO_ROWS, at: datetime | None = None
) -> CalendarScope:
    """Return the rows that meet the conditions, with their sessions, parent sessions, papers and rooms."""
    at = at_or_now(at)
    uids_by_key = dict(edition.sessions.published(at).filter(sessions).order_by().values_list("pk", "uid"))
    columns = ("pk", "uid", "session_id", "paper_id")
    talks = list(edition.presentations.published(at).filter(presentations).order_by().values_list(*columns))
    session_keys = {*uids_by_key, *(session for _, _, session, _ in talks if session)}
    parents = Session.objects.filter(AnyOf("pk", session_keys)).order_by().values("parent")
    # `Dump` does not check that the edition is public; `published` above does.
    program = Dump(
        edition,
        at=at,
        only={
            "room": Q(),
            "session": Q(AnyOf("pk", session_keys)) | Q(pk__in=parents),
            "presentation": Q(AnyOf("pk", [key for key, *_ in talks])),
            "paper": Q(AnyOf("pk", {paper for *_, paper in talks if paper})),
        },
        fields=FIELDS,
        people=False,
        is_sorted=False,
    ).load_all()
    presentation_uids = frozenset(uid for _, uid, *_ in talks)
    return CalendarScope(
        program, writing_context(edition), frozenset(uids_by_key.values()), presentation_uids
    )


# For conference apps: full presentations that are events, titles of the others


LISTED_FIELDS = ("paper", "session", "start", "title", "board", "status")
APP_EVENT_FIELDS = (
    *LISTED_FIELDS,
    *("kind", "abstract", "end", "room", "cancellation_reason", "recording_url", "speakers"),
)
APP_PAPER_FIELDS = ("title", "abstract", "track", "topic", "authors", "materials")


def app_program(edition: Edition) -> Program:
    """Return the program for conference apps."""
    at = timezone.now()
    overview = dump(
        edition,
        at=at,
        only=dict.fromkeys(("topic", "room", "paper", "presentation"), Q()),
        fields={"paper": ("title",), "presentation": LISTED_FIELDS},
        people=False,
    )
    # Presentations may be events if they have their own time, or are the only one of their session.
    talk_counts = Counter(presentation.session for presentation in overview.presentations)
    events = [
        presentation
        for presentation in overview.presentations
        if presentation.start or (presentation.session and talk_counts[presentation.session] == 1)
    ]
    paper_uids = {event.paper for event in events if is_stated(event.paper) and event.paper}
    details = dump(
        edition,
        at=at,
        only={
            "session": Q(),
            "paper": Q(AnyOf("uid", paper_uids)),
            "presentation": Q(AnyOf("uid", [event.uid for event in events])),
        },
        fields={"paper": APP_PAPER_FIELDS, "presentation": APP_EVENT_FIELDS},
    )
    return replace(
        details,
        topics=overview.topics,
        rooms=overview.rooms,
        papers=_replace_by_uid(overview.papers, details.papers),
        presentations=_replace_by_uid(overview.presentations, details.presentations),
    )


def _replace_by_uid[R: (PaperRecord, PresentationRecord)](
    rows: tuple[R, ...], others: tuple[R, ...]
) -> tuple[R, ...]:
    """Return the rows, with each row replaced by the one of `others` with its uid, if any."""
    replacements = {row.uid: row for row in others}
    return tuple(replacements.get(row.uid, row) for row in rows)
