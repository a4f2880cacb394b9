"""Which sessions and presentations a calendar holds: of a day, a session, a room, a topic, a paper,
a presentation, a person, or what is chosen of a schedule.

Public rows alone, as records. How they are written is `formats.ics`' business.
"""

from collections.abc import Iterable
from datetime import date
from typing import Any

from django.db.models import Q

from conference.models import Edition
from exchange.dump import NOTHING, dump, writing_context
from exchange.formats.ics import Part
from exchange.formats.ics.appointments import Wanted
from papers.models import Paper, Topic
from people.models import Person
from schedule.choosing import Choice
from schedule.models import Presentation, Room, Session

# A talk in the order of its session, or a poster among hundreds, has no time of its own.
OWN_TIME = Q(start__isnull=False)


def of_edition(edition: Edition, choice: Choice | None = None) -> Part:
    """Return all sessions, or those chosen, and the talks with a time of their own."""
    sessions, talks = _chosen(edition, choice)
    return part(edition, sessions=sessions, presentations=talks & OWN_TIME)


def of_day(edition: Edition, day: date, choice: Choice | None = None) -> Part:
    """Return what begins on a program day, or what was chosen of it."""
    start, end = edition.day_bounds(day)
    begins = Q(start__gte=start, start__lt=end)
    sessions, talks = _chosen(edition, choice)
    return part(edition, sessions=begins & sessions, presentations=begins & talks)


def _chosen(edition: Edition, choice: Choice | None) -> tuple[Q, Q]:
    """Return the conditions on sessions and on presentations that a choice among the schedule sets."""
    if not choice:
        return Q(), Q()
    sessions = edition.sessions.published().chosen(choice).order_by().values("pk")
    talks = Q(session__in=sessions)
    if choice.topic:
        talks &= Q(paper__in=edition.papers.published().below(choice.topic).order_by().values("pk"))
    return Q(pk__in=sessions), talks


def of_session(session: Session) -> Part:
    """Return a session with its parts, and the talks in them with a time of their own."""
    inside = Q(session=session) | Q(session__parent=session)
    return part(
        session.edition, sessions=Q(pk=session.pk) | Q(parent=session), presentations=inside & OWN_TIME
    )


def of_room(room: Room) -> Part:
    """Return the sessions in a room, and what stands there though its session is elsewhere."""
    inside = Q(room=None, session__room=room) & OWN_TIME
    return part(room.edition, sessions=Q(room=room), presentations=Q(room=room) | inside)


def of_topic(topic: Topic) -> Part:
    """Return the presentations of the papers in a topic and below it."""
    papers = topic.edition.papers.published().below(topic)
    return part(topic.edition, presentations=Q(paper__in=papers.order_by().values("pk")))


def of_sessions(edition: Edition, wanted: Q) -> Part:
    """Return sessions, and the talks in them with a time of their own."""
    found = edition.sessions.published().filter(wanted).order_by().values("pk")
    return part(edition, sessions=wanted, presentations=Q(session__in=found) & OWN_TIME)


def of_presentations(edition: Edition, wanted: Q) -> Part:
    """Return presentations alone, each at its own time or that of its session."""
    return part(edition, presentations=wanted)


def of_paper(paper: Paper) -> Part:
    """Return the presentations of a paper."""
    return part(paper.edition, presentations=Q(paper=paper))


def of_presentation(shown: Presentation) -> Part:
    """Return one appearance of a paper, or one talk."""
    return part(shown.edition, presentations=Q(pk=shown.pk))


def of_person(person: Person, editions: Iterable[Edition]) -> list[Part]:
    """Return what a person takes part in, edition by edition."""
    sessions = Q(pk__in=person.session_roles.order_by().values("session"))
    speaks = Q(pk__in=person.talks.order_by().values("presentation"))
    wrote = Q(paper__in=person.authorships.order_by().values("paper"))
    parts = (part(edition, sessions=sessions, presentations=speaks | wrote) for edition in editions)
    return [one for one in parts if one.wanted.sessions or one.wanted.presentations]


def part(edition: Edition, *, sessions: Q = NOTHING, presentations: Q = NOTHING) -> Part:
    """Return the rows that meet the conditions, with what they need: sessions, wholes, papers and rooms."""
    own = edition.sessions.published().filter(sessions).order_by()
    talks = edition.presentations.published().filter(presentations).order_by()
    needed = Q(pk__in=own.values("pk")) | Q(pk__in=own.values("parent"))
    needed |= Q(pk__in=talks.values("session")) | Q(pk__in=talks.values("session__parent"))
    wanted = Wanted(_uids(own), _uids(talks))
    only = {
        "session": needed,
        "presentation": Q(pk__in=talks.values("pk")),
        "paper": Q(pk__in=talks.values("paper")),
        "room": Q(),
    }
    program = dump(edition, only=only if wanted.sessions or wanted.presentations else {})
    return Part(program, writing_context(edition), wanted)


def _uids(rows: Any) -> frozenset[str]:
    return frozenset(rows.values_list("uid", flat=True))
