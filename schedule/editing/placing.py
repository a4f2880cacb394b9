"""Where and when a session takes place, before and after a move; what is in it moves along. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from schedule.timetable import instant


@dataclass(frozen=True, slots=True)
class Placement:
    """Start, end and room of a session."""

    start: datetime
    end: datetime
    room: int | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Placement):
            return NotImplemented
        mine, theirs = ((instant(one.start), instant(one.end), one.room) for one in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    def shifted(self, by: timedelta) -> "Placement":
        """Return it earlier or later, as long as it was: by the time that passes, not by the clock."""
        return replace(self, start=later(self.start, by), end=later(self.end, by))


def later(moment: datetime, by: timedelta) -> datetime:
    """Return the moment after that much time, whatever the clocks do meanwhile."""
    return instant(moment) + by


def delay(before: Placement, after: Placement) -> timedelta:
    """Return by how much a move puts the beginning off."""
    return instant(after.start) - instant(before.start)


@dataclass(frozen=True, slots=True)
class NestedSession:
    """A session inside another: its key and its place."""

    pk: int
    placement: Placement


def follow(before: Placement, after: Placement, parts: Iterable[NestedSession]) -> dict[int, Placement]:
    """Return where the parts of a whole go when it moves: at their distance, in its room if they share it."""
    by = delay(before, after)
    found = {}
    for part in parts:
        room = after.room if part.placement.room == before.room else part.placement.room
        moved = replace(part.placement.shifted(by), room=room)
        if moved != part.placement:
            found[part.pk] = moved
    return found


type Times = Mapping[str, datetime | None]


def along(by: timedelta, times: Times) -> dict[str, datetime]:
    """Return the own times of a presentation whose session begins so much later; what follows it has none."""
    return {name: later(moment, by) for name, moment in times.items() if moment is not None and by}
