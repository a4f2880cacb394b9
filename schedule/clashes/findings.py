"""What a clash is: its kind, how much it weighs, what it says, and the rows that it is about. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from content import times
from schedule.clashes.plan import ClashEvent, ClashProgram, ClashSubject
from schedule.timetable import instant

# So many names are listed; beyond, a sentence says how many there are.
NAMED = 5


class ClashKind(TextChoices):
    """What gets in each other's way."""

    PERSON = "person", _("Person in two places at once")
    POSTER = "poster", _("Poster hung while its author gives a talk")
    ROOM = "room", _("Room used twice at once")
    TALKS = "talks", _("Two talks of one session at once")
    OUTSIDE_SESSION = "outside_session", _("Presentation outside its session")
    OUTSIDE_PARENT = "outside_parent", _("Session outside the one it is part of")
    ENDS_EARLY = "ends_early", _("Session that ends before its last talk")
    BOARD = "board", _("Poster board used twice")
    BOARDS_FULL = "boards_full", _("More posters than the room holds")


class Severity(TextChoices):
    """Whether it cannot take place like this, or may be meant."""

    SERIOUS = "serious", _("Serious")
    LIGHT = "light", _("Worth a look")


SENTENCES = {
    ClashKind.PERSON: _("%(people)s: in two places at once: %(one)s, and %(other)s."),
    ClashKind.POSTER: _("%(one)s hangs while %(other)s is given by %(people)s."),
    ClashKind.ROOM: _("%(room)s is used twice at once: %(one)s, and %(other)s."),
    ClashKind.TALKS: _("Two talks at once in %(session)s: %(one)s, and %(other)s."),
    ClashKind.OUTSIDE_SESSION: _("%(one)s (%(when)s) lies outside its session, %(other)s (%(whole)s)."),
    ClashKind.OUTSIDE_PARENT: _("%(one)s (%(when)s) lies outside what it is part of, %(other)s (%(whole)s)."),
    ClashKind.ENDS_EARLY: _("%(one)s (%(whole)s) ends before its last talk does, %(other)s (%(when)s)."),
    ClashKind.BOARD: _("Board %(board)s is used %(number)s times in %(session)s: %(posters)s."),
    ClashKind.BOARDS_FULL: _("%(session)s has %(number)s posters at once; %(room)s holds %(capacity)s."),
}
# If no author is marked as presenting the paper.
SAME_PAPER = _("%(one)s hangs while its paper is presented: %(other)s.")


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
        """The sentence in the language in force, with places for the `facts`."""
        is_unknown = self.kind == ClashKind.POSTER and not self.facts["people"]
        return str(SAME_PAPER if is_unknown else SENTENCES[self.kind])

    @property
    def message(self) -> str:
        """What is wrong, in one sentence."""
        return self.sentence % self.facts

    @property
    def when(self) -> str:
        """When it is so: "Tue 6 Apr, 08:00 to 08:15 PDT"."""
        return times.when(self.start, self.end, self.zone)

    @property
    def is_serious(self) -> bool:
        return self.severity == Severity.SERIOUS

    @property
    def order(self) -> tuple[Any, ...]:
        """By time; what is serious first."""
        return self.start, self.severity == Severity.LIGHT, self.kind


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time that a sentence names."""

    start: datetime
    end: datetime
    zone: ZoneInfo

    def __str__(self) -> str:
        return times.when(self.start, self.end, self.zone)


@dataclass(frozen=True, slots=True)
class NameList:
    """Several names in a sentence."""

    names: tuple[Any, ...]

    def __bool__(self) -> bool:
        return bool(self.names)

    def __str__(self) -> str:
        return self.told(str)

    def told(self, show: Callable[[object], str]) -> str:
        """Return the names as `show` writes them, and how many more there are."""
        shown = ", ".join(show(name) for name in self.names[:NAMED])
        more = len(self.names) - NAMED
        return str(_("%(names)s and %(more)s more") % {"names": shown, "more": more}) if more > 0 else shown


def clash_of(plan: ClashProgram, kind: ClashKind, pair: tuple[ClashEvent, ClashEvent], **facts: Any) -> Clash:
    """Return the clash of two events that overlap; `severity` and `besides` (further rows) are no facts."""
    one, other = pair
    start = max(one.start, other.start, key=instant)
    end = max(start, min(one.end, other.end, key=instant), key=instant)
    severity = facts.pop("severity", Severity.SERIOUS)
    besides: Iterable[ClashSubject] = facts.pop("besides", ())
    subjects = (one.subject, other.subject, *besides)
    named = {"one": one.subject, "other": other.subject, **facts}
    return Clash(kind, severity, start, end, plan.zone, subjects, named)


def span_of(event: ClashEvent, plan: ClashProgram) -> Span:
    return Span(event.start, event.end, plan.zone)
