"""What takes place in an edition, as the rules see it. Pure: knows no models and asks no database."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any
from zoneinfo import ZoneInfo

import markup

# What stands for the whole of its session beside others, and is visited.
STANDING = ("poster", "demo")
# What takes a room without claiming it: coffee is served beside the posters.
SIDE = ("break", "meal", "registration", "social")


@dataclass(frozen=True, slots=True)
class ClashSubject:
    """A row that a clash is about: a session, presentation, room or person. No address is known here."""

    model: str
    pk: int
    uid: str
    name: str
    # What it is called beside its title, such as Oral; empty for rooms and people, whose names say enough.
    kind: Any = ""

    @property
    def key(self) -> tuple[str, int]:
        return self.model, self.pk

    def __str__(self) -> str:
        return f"{self.kind} “{markup.plain(self.name)}”" if self.kind else self.name


@dataclass(frozen=True, slots=True, eq=False)
class ClashEvent:
    """A session, or a presentation with its session; its times are final, and `timed` if they are its own.

    `room` is the row's own. `people` are those who have to be there, by key.
    """

    subject: ClashSubject
    # A built-in kind: what its own counts as.
    kind: str
    start: datetime
    end: datetime
    session: "ClashEvent | None" = None
    parent: "ClashEvent | None" = None
    room: int | None = None
    timed: bool = True
    board: str = ""
    paper: int | None = None
    people: frozenset[int] = frozenset()

    @property
    def is_session(self) -> bool:
        return self.subject.model == "session"

    @property
    def place(self) -> int | None:
        """Where it takes place: in its own room, else in its session's."""
        return self.room or (self.session.room if self.session else None)

    @property
    def stands(self) -> bool:
        """Whether it is a poster or a demo, or anything else in a poster session."""
        in_poster_session = self.session is not None and self.session.kind == "poster"
        return not self.is_session and (self.kind in STANDING or in_poster_session)

    @property
    def speaks(self) -> bool:
        """Whether it is a talk inside a session."""
        return not (self.is_session or self.stands)

    @property
    def within(self) -> frozenset[str]:
        """The wholes that it is part of, and itself. A talk without a time of its own is its session."""
        session = self if self.is_session else self.session
        wholes = [session.subject.pk, session.parent and session.parent.subject.pk] if session else []
        keys = {f"s{key}" for key in wholes if key}
        alone = not self.is_session and (self.timed or self.stands or not keys)
        return frozenset(keys | {f"p{self.subject.pk}"} if alone else keys)


@dataclass(frozen=True, slots=True)
class PlannedEdit:
    """What is going to be otherwise than it is stored: fields by key, such as a session's start."""

    sessions: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    talks: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)


NOTHING = PlannedEdit()


@dataclass(frozen=True, slots=True)
class RoomCapacity:
    """A room: how many boards it holds, if that is known, and whether it is none that can be full."""

    subject: ClashSubject
    capacity: int | None = None
    virtual: bool = False


@dataclass(frozen=True)
class ClashProgram:
    """All that takes place in an edition, whether it is public yet or not."""

    zone: ZoneInfo
    sessions: list[ClashEvent] = field(default_factory=list)
    talks: list[ClashEvent] = field(default_factory=list)
    rooms: Mapping[int, RoomCapacity] = field(default_factory=dict)
    people: Mapping[int, ClashSubject] = field(default_factory=dict)

    @property
    def events(self) -> list[ClashEvent]:
        return [*self.sessions, *self.talks]

    @cached_property
    def by_session(self) -> list[tuple[ClashEvent, list[ClashEvent]]]:
        """The sessions with their presentations, those that have some."""

        def key(talk: ClashEvent) -> int:
            return talk.session.subject.pk if talk.session else 0

        scheduled = sorted((talk for talk in self.talks if talk.session), key=key)
        groups = (list(group) for _, group in groupby(scheduled, key=key))
        return [(talks[0].session, talks) for talks in groups if talks[0].session]


def until_the_next(talks: Iterable[ClashEvent], open_ended: set[int]) -> list[ClashEvent]:
    """Return the talks of one session; one without an end lasts until the next begins, or to the session's.

    `open_ended` are the keys of the presentations that have a start of their own and no end.
    """
    rows = list(talks)
    starts = sorted({talk.start for talk in rows if talk.timed})
    following = dict(pairwise(starts))
    return [
        replace(talk, end=max(talk.start, min(talk.end, following.get(talk.start, talk.end))))
        if talk.subject.pk in open_ended
        else talk
        for talk in rows
    ]
