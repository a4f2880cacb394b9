"""Which sessions and presentations a calendar holds: of a day, a session, a room, a topic, a paper,
a presentation, a person, or what is chosen of a schedule.

Public rows alone, as records. How they are written is `formats.ics`' business.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Q
from django.utils import timezone

from conference.models import Edition
from exchange.exports.calendar_rows import parts
from exchange.exports.dump import NOTHING
from exchange.formats.ics import CalendarScope
from papers.models import Authorship, Paper, Topic
from people.models import Person
from schedule.models import Presentation, Room, Session, SessionRole, Speaker
from schedule.schedule_filters import ScheduleFilter

if TYPE_CHECKING:
    from papers.querysets import PaperQuerySet

# A talk in the order of its session, or a poster among hundreds, has no time of its own.
OWN_TIME = Q(start__isnull=False)
# So many presentations are read at once, with their people.
SLICE = 1_000


def of_edition(edition: Edition, choice: ScheduleFilter | None = None) -> CalendarScope:
    """Return all sessions, or those chosen, and the talks with a time of their own."""
    sessions, talks = _chosen(edition, choice)
    return part(edition, sessions=sessions, presentations=talks & OWN_TIME)


def of_day(edition: Edition, day: date, choice: ScheduleFilter | None = None) -> CalendarScope:
    """Return what begins on a program day, or what was chosen of it."""
    start, end = edition.day_bounds(day)
    begins = Q(start__gte=start, start__lt=end)
    sessions, talks = _chosen(edition, choice)
    return part(edition, sessions=begins & sessions, presentations=begins & talks)


def _chosen(edition: Edition, choice: ScheduleFilter | None) -> tuple[Q, Q]:
    """Return the conditions on sessions and on presentations that a choice among the schedule sets."""
    if not choice:
        return Q(), Q()
    sessions = edition.sessions.published().chosen(choice).order_by().values("pk")
    talks = Q(session__in=sessions)
    if choice.topic:
        talks &= Q(paper__in=edition.papers.published().below(choice.topic).order_by().values("pk"))
    return Q(pk__in=sessions), talks


def of_session(session: Session) -> CalendarScope:
    """Return a session with its parts, and the talks in them with a time of their own."""
    now = timezone.now()
    return _part(session.edition, _family(session.pk, now), _timed(session.pk, now), now)


def of_room(room: Room) -> CalendarScope:
    """Return the sessions in a room, and what stands there though its session is elsewhere."""
    inside = Q(room=None, session__room=room) & OWN_TIME
    return part(room.edition, sessions=Q(room=room), presentations=Q(room=room) | inside)


def of_topic(topic: Topic) -> Iterator[CalendarScope]:
    """Yield the presentations of the papers in a topic and below it."""
    return of_papers(topic.edition, topic.edition.papers.published().below(topic))


def of_papers(edition: Edition, papers: "PaperQuerySet") -> Iterator[CalendarScope]:
    """Yield the presentations of these papers of an edition: part by part, as they may be thousands."""
    now = timezone.now()
    shown = edition.presentations.published(now).filter(paper__in=papers.order_by().values("pk"))
    keys = list(_keys(shown))
    for first in range(0, max(1, len(keys)), SLICE):
        yield _part(edition, (), keys[first : first + SLICE], now)


def of_sessions(edition: Edition, wanted: Q) -> CalendarScope:
    """Return sessions, and the talks in them with a time of their own."""
    found = edition.sessions.published().filter(wanted).order_by().values("pk")
    return part(edition, sessions=wanted, presentations=Q(session__in=found) & OWN_TIME)


def of_presentations(edition: Edition, wanted: Q) -> CalendarScope:
    """Return presentations alone, each at its own time or that of its session."""
    return part(edition, presentations=wanted)


def of_paper(paper: Paper) -> CalendarScope:
    """Return the presentations of a paper."""
    now = timezone.now()
    return _part(paper.edition, (), _of_paper(paper.pk, now), now)


def of_presentation(edition: Edition, shown: Presentation) -> CalendarScope:
    """Return one appearance of a paper, or one talk."""
    return _part(edition, (), [shown.pk], timezone.now())


def of_person(person: Person, editions: Iterable[Edition]) -> list[CalendarScope]:
    """Return what a person takes part in, edition by edition."""
    now = timezone.now()
    talks = {*_spoken(person.pk, now), *_written(person.pk, now)}
    found = parts(editions, _held(person.pk, now), talks, now)
    return [one for one in found if one.wanted.sessions or one.wanted.presentations]


def part(edition: Edition, *, sessions: Q = NOTHING, presentations: Q = NOTHING) -> CalendarScope:
    """Return the rows that meet the conditions, with what they need: sessions, wholes, papers and rooms."""
    now = timezone.now()
    own = edition.sessions.published(now).filter(sessions)
    talks = edition.presentations.published(now).filter(presentations)
    return _part(edition, _keys(own), _keys(talks), now)


def _part(
    edition: Edition, sessions: Collection[int], presentations: Collection[int], at: datetime
) -> CalendarScope:
    return next(iter(parts([edition], sessions, presentations, at)))


def _keys(rows: Any) -> Any:
    return rows.order_by().values_list("pk", flat=True)


# Questions


def shown_presentation(edition: Edition, uid: str) -> Presentation | None:
    """Return a published presentation with no more than what it is called. One query."""
    found: Presentation | None = next(iter(_presentation(edition.pk, uid, timezone.now())), None)
    return found


def _presentation(edition: int, uid: str, at: datetime) -> Any:
    rows = Presentation.objects.published(at).filter(edition=edition, uid=uid)
    return rows.select_related("paper").only("title", "paper__title")


def _of_paper(paper: int, at: datetime) -> Any:
    return _keys(Presentation.objects.published(at).filter(paper=paper))


def _family(session: int, at: datetime) -> Any:
    return _keys(Session.objects.published(at).filter(Q(pk=session) | Q(parent=session)))


def _timed(session: int, at: datetime) -> Any:
    inside = Q(session=session) | Q(session__parent=session)
    return _keys(Presentation.objects.published(at).filter(inside & OWN_TIME))


def _held(person: int, at: datetime) -> Any:
    roles = SessionRole.objects.filter(person=person).order_by().values("session")
    return _keys(Session.objects.published(at).filter(pk__in=roles))


def _spoken(person: int, at: datetime) -> Any:
    talks = Speaker.objects.filter(person=person).order_by().values("presentation")
    return _keys(Presentation.objects.published(at).filter(pk__in=talks))


def _written(person: int, at: datetime) -> Any:
    papers = Authorship.objects.filter(person=person).order_by().values("paper")
    return _keys(Presentation.objects.published(at).filter(paper__in=papers))
