"""Papers with a talk sent to the poster session after it: who goes where, before anything is stored."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import Max

from papers.models import Paper
from schedule.models import Presentation, Session
from schedule.timetable import instant

SPOKEN = ("oral", "spotlight")


@dataclass
class SessionTalks:
    """A session with talks about papers, and the poster session that they could be sent to."""

    session: Session
    talks: list[Presentation] = field(default_factory=list)
    target: Session | None = None
    is_picked: bool = False
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Assignment:
    """A paper that gets a poster in a session; `poster` is one that waits for a session already."""

    paper: Paper
    talk: Presentation
    target: Session
    poster: Presentation | None = None


@dataclass
class AssignmentPlan:
    """What is going to be made, and the papers that have a poster in a session already."""

    sendings: list[Assignment] = field(default_factory=list)
    skipped: list[Presentation] = field(default_factory=list)
    # Why nothing can be made.
    problems: list[str] = field(default_factory=list)


def sessions_with_talks(talks: Iterable[Presentation], posters: Iterable[Session]) -> list[SessionTalks]:
    """Return the sessions that these talks are in, by time, each with the next poster session after it."""
    later = sorted(posters, key=lambda one: (instant(one.start), one.pk))
    found: dict[int, SessionTalks] = {}
    for talk in talks:
        if talk.session is not None:
            found.setdefault(talk.session.pk, SessionTalks(talk.session)).talks.append(talk)
    for one in found.values():
        ends = instant(one.session.end)
        one.target = next((p for p in later if instant(p.start) >= ends), None)
    return sorted(found.values(), key=lambda one: (instant(one.session.start), one.session.pk))


def plan(chosen: Iterable[SessionTalks], posters: Mapping[int, Presentation]) -> AssignmentPlan:
    """Return what sending these would do. `posters` are those that papers have: scheduled ones first."""
    found = AssignmentPlan()
    sent: set[int] = set()
    for one in chosen:
        for talk in one.talks:
            paper, target = talk.paper, one.target
            if paper is None or target is None or paper.pk in sent:
                continue
            sent.add(paper.pk)
            there = posters.get(paper.pk)
            if there is not None and there.session_id is not None:
                found.skipped.append(there)
            else:
                found.sendings.append(Assignment(paper, talk, target, there))
    return found


def made(sendings: Iterable[Assignment]) -> tuple[list[Presentation], list[Presentation]]:
    """Return the posters to be stored, new ones and those that only get a session, each last in it."""
    rows = list(sendings)
    targets = {one.target.pk for one in rows}
    stood = Presentation._base_manager.filter(session__in=targets).order_by().values("session")
    last = dict(stood.annotate(last=Max("position")).values_list("session", "last"))
    new, waiting = [], []
    for one in rows:
        place = last[one.target.pk] = last.get(one.target.pk, 0) + 1
        if one.poster is not None:
            one.poster.session, one.poster.position = one.target, place
            waiting.append(one.poster)
        else:
            common = {"edition": one.target.edition, "session": one.target, "paper": one.paper}
            new.append(Presentation(**common, kind="poster", position=place, status=one.talk.status))
    return new, waiting
