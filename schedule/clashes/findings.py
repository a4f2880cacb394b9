"""Data classes of the clash rules: the program, and clashes with their kind, sentence and rows. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Any, TypedDict
from zoneinfo import ZoneInfo

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

import markup
from content import times
from schedule.timetable import instant

# Kinds of presentations that are shown during their whole session, at the same time as others.
POSTER_KINDS = ("poster", "demo")
# Kinds of sessions that may share a room with others: coffee is served next to the posters.
SIDE_KINDS = ("break", "meal", "registration", "social")


@dataclass(frozen=True, slots=True)
class ClashSubject:
    """A row that a clash is about: a session, presentation, room or person."""

    model: str
    pk: int
    uid: str
    name: str
    # The label of its kind, such as Oral; empty for rooms and people.
    kind: Any = ""

    @property
    def key(self) -> tuple[str, int]:
        return self.model, self.pk

    def __str__(self) -> str:
        return f"{self.kind} “{markup.plain(self.name)}”" if self.kind else self.name


@dataclass(frozen=True, slots=True, eq=False)
class ClashEvent:
    """A session or presentation with its effective times; `timed` if they are its own, not its session's.

    `room` is the row's own. `people` are the keys of those who must attend.
    """

    subject: ClashSubject
    # The built-in kind that its own kind counts as.
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
    def effective_room(self) -> int | None:
        """The room in which it takes place: its own, else its session's."""
        return self.room or (self.session.room if self.session else None)

    @property
    def is_poster(self) -> bool:
        """Return whether it is a poster or a demo, or anything else in a poster session."""
        in_poster_session = self.session is not None and self.session.kind == "poster"
        return not self.is_session and (self.kind in POSTER_KINDS or in_poster_session)

    @property
    def is_talk(self) -> bool:
        return not (self.is_session or self.is_poster)

    @property
    def within(self) -> frozenset[str]:
        """The keys of it and its sessions. A talk without its own time only has those of its sessions."""
        session = self if self.is_session else self.session
        session_keys = [session.subject.pk, session.parent and session.parent.subject.pk] if session else []
        keys = {f"s{key}" for key in session_keys if key}
        is_independent = not self.is_session and (self.timed or self.is_poster or not keys)
        return frozenset(keys | {f"p{self.subject.pk}"} if is_independent else keys)


class SessionColumns(TypedDict):
    """The columns of a session that a clash search reads."""

    pk: int
    uid: str
    kind: str
    counts_as: str
    kind_name: str
    title: str
    start: datetime
    end: datetime
    room: int | None
    parent: int | None


class TalkColumns(TypedDict):
    """The columns of a presentation that a clash search reads."""

    pk: int
    uid: str
    kind: str
    counts_as: str
    kind_name: str
    title: str
    start: datetime | None
    end: datetime | None
    room: int | None
    session: int | None
    board: str
    paper: int | None
    paper__title: str | None


# Keys of planned presentations are negative, unlike those of stored ones.
NEW_TALK_SIGN = -1


@dataclass(frozen=True, slots=True)
class PlannedEdit:
    """The planned values of fields, such as a session's start, by the key of their row."""

    sessions: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    talks: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    # Presentations of papers that are to be added, with the keys of the papers times `NEW_TALK_SIGN`.
    new_talks: Sequence[TalkColumns] = ()


@dataclass(frozen=True, slots=True)
class RoomCapacity:
    """A room with its capacity, if known. A virtual room is never full."""

    subject: ClashSubject
    capacity: int | None = None
    virtual: bool = False


@dataclass(frozen=True, slots=True)
class Away:
    """A span in which a person or a room is not available."""

    subject: ClashSubject
    start: datetime
    end: datetime


@dataclass(frozen=True)
class ClashProgram:
    zone: ZoneInfo
    sessions: list[ClashEvent] = field(default_factory=list)
    talks: list[ClashEvent] = field(default_factory=list)
    rooms: Mapping[int, RoomCapacity] = field(default_factory=dict)
    people: Mapping[int, ClashSubject] = field(default_factory=dict)
    # In order of time.
    away: list[Away] = field(default_factory=list)

    @property
    def events(self) -> list[ClashEvent]:
        return [*self.sessions, *self.talks]

    @cached_property
    def by_session(self) -> list[tuple[ClashEvent, list[ClashEvent]]]:
        """The sessions with presentations, by key, and their presentations."""
        groups: dict[ClashEvent, list[ClashEvent]] = defaultdict(list)
        for talk in self.talks:
            if talk.session:
                groups[talk.session].append(talk)
        return sorted(groups.items(), key=lambda group: group[0].subject.pk)


def close_open_ends(talks: Iterable[ClashEvent], open_ended: set[int]) -> list[ClashEvent]:
    """Return the talks of one session. One without an end lasts until the next begins, or the session ends.

    `open_ended` are the keys of the presentations that have a start of their own and no end.
    """
    rows = list(talks)
    starts = sorted({talk.start for talk in rows if talk.timed})
    next_starts = dict(pairwise(starts))
    return [
        replace(talk, end=max(talk.start, min(talk.end, next_starts.get(talk.start, talk.end))))
        if talk.subject.pk in open_ended
        else talk
        for talk in rows
    ]


# The maximum number of names in a sentence, which counts the others.
MAX_NAMES = 5


class ClashKind(TextChoices):
    PERSON = "person", _("Person in two places at once")
    POSTER = "poster", _("Poster presented during the author's talk")
    ROOM = "room", _("Room double-booked")
    TALKS = "talks", _("Overlapping talks in a session")
    OUTSIDE_SESSION = "outside_session", _("Presentation outside its session")
    OUTSIDE_PARENT = "outside_parent", _("Session outside its parent session")
    ENDS_EARLY = "ends_early", _("Session ending before its last talk")
    BOARD = "board", _("Poster board used twice")
    BOARDS_FULL = "boards_full", _("More posters than the room holds")
    PERSON_AWAY = "person_away", _("Person not available")
    ROOM_AWAY = "room_away", _("Room not available")


class Severity(TextChoices):
    """The severity of a clash: impossible to carry out, or perhaps intended."""

    SERIOUS = "serious", _("Serious")
    LIGHT = "light", _("Worth a look")


SENTENCES = {
    ClashKind.PERSON: _("%(people)s: in two places at once: %(one)s, and %(other)s."),
    ClashKind.POSTER: _("%(one)s is up while %(people)s presents %(other)s."),
    ClashKind.ROOM: _("%(room)s is double-booked: %(one)s and %(other)s."),
    ClashKind.TALKS: _("Two talks at once in %(session)s: %(one)s, and %(other)s."),
    ClashKind.OUTSIDE_SESSION: _("%(one)s (%(when)s) is outside its session, %(other)s (%(whole)s)."),
    ClashKind.OUTSIDE_PARENT: _("%(one)s (%(when)s) is outside its parent, %(other)s (%(whole)s)."),
    ClashKind.ENDS_EARLY: _("%(one)s (%(whole)s) ends before its last talk does, %(other)s (%(when)s)."),
    ClashKind.BOARD: _("Board %(board)s is used %(number)s times in %(session)s: %(posters)s."),
    ClashKind.BOARDS_FULL: _("%(session)s has %(number)s posters at once; %(room)s holds %(capacity)s."),
    ClashKind.PERSON_AWAY: _("%(person)s isn’t available for %(one)s (not there %(when)s)."),
    ClashKind.ROOM_AWAY: _("%(room)s isn’t available for %(one)s (not free %(when)s)."),
}
# The sentence if no author is marked as presenting the paper.
SAME_PAPER = _("%(one)s is up while its paper is being presented: %(other)s.")


@dataclass(frozen=True, slots=True)
class Clash:
    """One warning, from `start` to `end` in the edition's zone. `subjects` are all rows that it concerns."""

    kind: ClashKind
    severity: Severity
    start: datetime
    end: datetime
    zone: ZoneInfo
    subjects: tuple[ClashSubject, ...]
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def sentence(self) -> str:
        """The sentence in the active language, with placeholders for the `facts`."""
        is_presenter_unknown = self.kind == ClashKind.POSTER and not self.facts["people"]
        return str(SAME_PAPER if is_presenter_unknown else SENTENCES[self.kind])

    @property
    def message(self) -> str:
        return self.sentence % self.facts

    @property
    def when(self) -> str:
        """Its time: "Tue 6 Apr, 08:00 to 08:15 PDT"."""
        return times.day_and_time_range(self.start, self.end, self.zone)

    @property
    def is_serious(self) -> bool:
        return self.severity == Severity.SERIOUS

    @property
    def order(self) -> tuple[Any, ...]:
        """The sort key: by time, serious ones first."""
        return self.start, self.severity == Severity.LIGHT, self.kind


@dataclass(frozen=True, slots=True)
class NameList:
    names: tuple[Any, ...]

    def __bool__(self) -> bool:
        return bool(self.names)

    def __str__(self) -> str:
        return self.join(str)

    def join(self, format_name: Callable[[object], str]) -> str:
        text = ", ".join(format_name(name) for name in self.names[:MAX_NAMES])
        more_count = len(self.names) - MAX_NAMES
        if more_count <= 0:
            return text
        return str(_("%(names)s and %(more)s more") % {"names": text, "more": more_count})


def overlap_clash(
    program: ClashProgram,
    kind: ClashKind,
    pair: tuple[ClashEvent, ClashEvent],
    *,
    severity: Severity = Severity.SERIOUS,
    other_subjects: Iterable[ClashSubject] = (),
    **facts: Any,
) -> Clash:
    """Return the clash of two overlapping events, which also concerns `other_subjects`."""
    first, second = pair
    start = max(first.start, second.start, key=instant)
    end = max(start, min(first.end, second.end, key=instant), key=instant)
    subjects = (first.subject, second.subject, *other_subjects)
    placeholders = {"one": first.subject, "other": second.subject, **facts}
    return Clash(kind, severity, start, end, program.zone, subjects, placeholders)
