"""A visitor's agenda as it is shown: what was starred, by day and time, with clashes, moves and routes.

How stars are written is `stars`' business, how they are kept `following`'s.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from conference.models import Edition
from papers.rows import running_order
from schedule import timetable
from schedule.agenda.stars import Seen, Star
from schedule.models import Presentation, Room, Session
from schedule.timetable import back_to_back, overlapping

type Thing = Session | Presentation


def star_of(thing: Thing) -> Star:
    """Return the star that a thing would get now, with where it stands. Needs its session, no room."""
    if isinstance(thing, Session):
        return Star("s", thing.uid, Seen(thing.start, thing.room_id))
    room = thing.room_id or (thing.session.room_id if thing.session else None)
    return Star("p", thing.uid, Seen(thing.starts, room))


@dataclass(slots=True, eq=False)
class AgendaStop:
    """A place in an agenda: a session, or a talk with a time of its own; starred talks without one inside."""

    thing: Any
    star: Star | None = None
    talks: list["AgendaStop"] = field(default_factory=list)
    moved_from: Seen | None = None
    old_room: Room | None = None
    clashes: list["AgendaStop"] = field(default_factory=list)
    straight_on: "AgendaStop | None" = None

    @property
    def is_session(self) -> bool:
        return isinstance(self.thing, Session)

    @property
    def key(self) -> str:
        return star_of(self.thing).key

    @property
    def now(self) -> Star:
        """The star with where the thing stands now: who gives it anew has noticed that it moved."""
        return star_of(self.thing)

    @property
    def session(self) -> Session | None:
        found: Session | None = self.thing if self.is_session else self.thing.session
        return found

    @property
    def start(self) -> datetime | None:
        found: datetime | None = self.thing.start if self.is_session else self.thing.starts
        return found

    @property
    def end(self) -> datetime | None:
        found: datetime | None = self.thing.end if self.is_session else self.thing.ends
        return found

    @property
    def place(self) -> Room | None:
        found: Room | None = self.thing.room if self.is_session else self.thing.place
        return found

    @property
    def cancelled(self) -> bool:
        return bool(self.thing.cancelled)

    @property
    def title_html(self) -> str:
        return str(self.thing.title_html if self.is_session else self.thing.shown_title_html)

    @property
    def within(self) -> frozenset[str]:
        """It and the wholes that it is part of: going to one of them is no clash with another."""
        session = self.session
        wholes = {f"s{pk}" for pk in (session and session.pk, session and session.parent_id) if pk}
        return frozenset(wholes if self.is_session else {*wholes, f"p{self.thing.pk}"})

    @property
    def is_route(self) -> bool:
        """Whether it leads along the boards of a poster session."""
        return any(talk.thing.board or talk.thing.counts_as == "poster" for talk in self.talks)


@dataclass(frozen=True, slots=True)
class AgendaView:
    """All stops by program day; those without a time; how many starred things are in the program no more."""

    days: list[timetable.ProgramDay[Any]]
    unscheduled: list[AgendaStop]
    stops: list[AgendaStop]
    missing: int

    @property
    def stars(self) -> list[Star]:
        """The stars of what is shown."""
        return [star for stop in self.stops for star in _stars(stop)]

    @property
    def clash_count(self) -> int:
        return sum(len(stop.clashes) for stop in self.stops) // 2

    @property
    def moved_count(self) -> int:
        shown = [one for stop in self.stops for one in (stop, *stop.talks)]
        return sum(one.moved_from is not None for one in shown)


def plan(edition: Edition, stars: Iterable[Star], at: datetime) -> AgendaView:
    """Return the agenda of what is public among the starred. At most 16 queries, however many stars."""
    kept = {star.key: star for star in stars if not star.removed}
    things = _things(edition, kept, at)
    rooms: Mapping[int, Room] = edition.rooms.published(at).in_bulk() if things else {}
    picks = [_pick(thing, kept[key], rooms) for key, thing in things.items()]
    stops = _gathered(picks)
    timed: list[Any] = [stop for stop in stops if stop.start]
    _note_clashes([stop for stop in timed if not stop.cancelled])
    days = timetable.days(timed, edition.day_of)
    return AgendaView(days, [stop for stop in stops if not stop.start], stops, len(kept) - len(things))


def _stars(stop: AgendaStop) -> list[Star]:
    return [one.star for one in (stop, *stop.talks) if one.star]


def _uids(stars: Mapping[str, Star], kind: str) -> list[str]:
    return [star.uid for star in stars.values() if star.kind == kind]


def _things(edition: Edition, stars: Mapping[str, Star], at: datetime) -> dict[str, Thing]:
    """Return the public things among the starred, with all that a stop shows, sessions first."""
    sessions = edition.sessions.published(at).filter(uid__in=_uids(stars, "s"))
    talks = edition.presentations.published(at).filter(uid__in=_uids(stars, "p"))
    shown: Sequence[Thing] = [
        *sessions.for_timetable(at),
        *talks.with_session().with_credits(at).by_time(),
    ]
    return {star_of(thing).key: thing for thing in shown}


def _pick(thing: Thing, star: Star, rooms: Mapping[int, Room]) -> AgendaStop:
    now, seen = star_of(thing).seen, star.seen
    if seen is None or seen == now or thing.cancelled:
        return AgendaStop(thing, star)
    return AgendaStop(thing, star, moved_from=seen, old_room=rooms.get(seen.room or 0))


def _gathered(picks: Iterable[AgendaStop]) -> list[AgendaStop]:
    """Put talks without a time of their own into the stop of their session, along the boards."""
    stops: dict[str, AgendaStop] = {}
    for pick in picks:
        session = pick.session
        if pick.is_session or session is None or pick.thing.start:
            stops[pick.key] = pick
        else:
            stops.setdefault(f"s.{session.uid}", AgendaStop(session)).talks.append(pick)
    for stop in stops.values():
        by_thing = {id(talk.thing): talk for talk in stop.talks}
        stop.talks = [by_thing[id(thing)] for thing in running_order(t.thing for t in stop.talks)]
    return list(stops.values())


def _note_clashes(stops: Sequence[Any]) -> None:
    for one, other in overlapping(stops):
        one.clashes.append(other)
        other.clashes.append(one)
    for one, other in back_to_back(stops):
        if one.place != other.place and not one.clashes:
            one.straight_on = other
