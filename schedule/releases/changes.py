"""What changed between two states of a program. Pure: knows no models and no clock.

A whole speaks for its parts: where a session moves, its talks are not listed singly.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Self

from django.utils.translation import pgettext_lazy

from papers.rows import NO_TIME
from schedule.timetable import instant

# The kinds of change, in the order in which visitors need to hear of them.
KINDS = {
    "cancelled": pgettext_lazy("change of the program", "Cancelled"),
    "withdrawn": pgettext_lazy("change of the program", "Withdrawn"),
    "moved": pgettext_lazy("change of the program", "Moved"),
    "room": pgettext_lazy("change of the program", "New room"),
    "new": pgettext_lazy("change of the program", "New"),
    "reinstated": pgettext_lazy("change of the program", "Takes place after all"),
    "retitled": pgettext_lazy("change of the program", "New title"),
}
ORDER = list(KINDS)


def moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


@dataclass(frozen=True, slots=True)
class TimeAndRoom:
    """When and where, empty while not known. The room is its slug, or its name in what was announced."""

    start: datetime | None = None
    end: datetime | None = None
    room: str = ""

    def written(self, rooms: Mapping[str, str]) -> list[object]:
        return [*(at and int(at.timestamp()) for at in (self.start, self.end)), rooms.get(self.room, "")]

    @classmethod
    def read(cls, row: list[Any]) -> Self:
        return cls(moment(row[0]), moment(row[1]), row[2])


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """What is compared of a session, presentation or paper; times and room are its own, not its whole's.

    `title` is plain text, empty for the paper's; `within` is the key of the session that it is part of.
    """

    title: str = ""
    start: datetime | None = None
    end: datetime | None = None
    room: str = ""
    within: str = ""
    paper: str = ""
    cancelled: bool = False

    def written(self) -> list[Any]:
        """Return what JSON takes, as short as possible."""
        times = [at and int(at.timestamp()) for at in (self.start, self.end)]
        row: list[object] = [self.title, *times, self.room, self.within, self.paper, int(self.cancelled)]
        while row and not row[-1]:
            row.pop()
        return row

    @classmethod
    def read(cls, row: list[Any]) -> Self:
        title, start, end, room, within, paper, cancelled = (row + [None] * 7)[:7]
        times = moment(start), moment(end)
        return cls(title or "", *times, room or "", within or "", paper or "", bool(cancelled))


@dataclass(frozen=True)
class Snapshot:
    """A program at a moment: its things by kind and uid, such as "session:s1"."""

    things: Mapping[str, SnapshotRow]

    def whole(self, key: str) -> str:
        """Return the key of the session that a thing is part of, if that is here too."""
        within = self.things[key].within
        return within if within in self.things else ""

    def title(self, key: str) -> str:
        thing = self.things[key]
        paper = self.things.get(thing.paper)
        return thing.title or (paper.title if paper else "")

    def place(self, key: str) -> TimeAndRoom:
        """Return when and where a thing is, its whole's where it has none of its own."""
        thing = self.things[key]
        whole = self.whole(key)
        above = self.place(whole) if whole else TimeAndRoom()
        times = (thing.start or above.start, thing.end or above.end)
        start, end = (at and instant(at).replace(microsecond=0) for at in times)
        return TimeAndRoom(start, end, thing.room or above.room)

    def cancelled(self, key: str) -> bool:
        whole = self.whole(key)
        return self.things[key].cancelled or bool(whole and self.cancelled(whole))

    @cached_property
    def shown_papers(self) -> set[str]:
        return {thing.paper for thing in self.things.values() if thing.paper}

    def counted(self, kind: str) -> int:
        return sum(key.startswith(f"{kind}:") for key in self.things)


@dataclass(frozen=True, slots=True)
class ProgramChange:
    """One thing that is not as it was announced. `before` and `after` are set where they say something.

    `note` is what the chairs add in their own words.
    """

    kind: str
    key: str
    title: str
    before: TimeAndRoom | None = None
    after: TimeAndRoom | None = None
    was: str = ""
    note: str = ""

    @property
    def words(self) -> str:
        return str(KINDS[self.kind])

    @property
    def line(self) -> str:
        """What names this change among those of a release."""
        return f"{self.kind}:{self.key}"

    def written(self, rooms: Mapping[str, str]) -> dict[str, object]:
        """Return what is stored, with the names of rooms by slug, which may be gone one day."""
        row: dict[str, object] = {"kind": self.kind, "key": self.key, "title": self.title, "was": self.was}
        for name, place in (("before", self.before), ("after", self.after)):
            if place:
                row[name] = place.written(rooms)
        if self.note:
            row["note"] = self.note
        return row

    @classmethod
    def read(cls, stored: dict[str, Any]) -> Self:
        """Return a change as announced; the rooms in it are names."""
        values = dict(stored)
        for name in {"before", "after"} & stored.keys():
            values[name] = TimeAndRoom.read(stored[name])
        return cls(**values)


def changes(before: Snapshot, after: Snapshot) -> list[ProgramChange]:
    """Return what visitors who knew the program before must know now: by kind, then by time and title."""

    def place_in_list(change: ProgramChange) -> tuple[int, datetime, str, str]:
        place = change.after or change.before
        start = instant(place.start) if place and place.start else NO_TIME
        return ORDER.index(change.kind), start, change.title.casefold(), change.key

    found = [*_gone(before, after)]
    for key in after.things:
        found += _changed(key, before, after)
    return sorted(found, key=place_in_list)


def _gone(before: Snapshot, after: Snapshot) -> Iterator[ProgramChange]:
    for key, thing in before.things.items():
        above = {thing.paper, before.whole(key)} - {""}
        if key not in after.things and above <= after.things.keys():
            place = None if key.startswith("paper:") else before.place(key)
            yield ProgramChange("withdrawn", key, before.title(key), before=place)


def _changed(key: str, before: Snapshot, after: Snapshot) -> Iterator[ProgramChange]:
    if key not in before.things:
        yield from _new(key, before, after)
        return
    title, was = after.title(key), before.title(key)
    if title != was and after.things[key].title:
        yield ProgramChange("retitled", key, title, was=was)
    off_before, off_now = before.cancelled(key), after.cancelled(key)
    if off_before != off_now and not _with_its_whole(Snapshot.cancelled, key, before, after):
        yield ProgramChange("cancelled" if off_now else "reinstated", key, title, after=after.place(key))
    elif not off_now and not off_before:
        yield from _moved(key, before, after)


def _new(key: str, before: Snapshot, after: Snapshot) -> Iterator[ProgramChange]:
    if key.startswith("paper:"):
        if key not in after.shown_papers:
            yield ProgramChange("new", key, after.title(key))
    elif not (whole := after.whole(key)) or whole in before.things:
        yield ProgramChange("new", key, after.title(key), after=after.place(key))


def _moved(key: str, before: Snapshot, after: Snapshot) -> Iterator[ProgramChange]:
    def start(program: Snapshot, one: str) -> datetime | None:
        return program.place(one).start

    def room(program: Snapshot, one: str) -> str:
        return program.place(one).room

    old, new = before.place(key), after.place(key)
    lasted, lasts = _length(key, before), _length(key, after)
    is_longer = lasted is not None and lasts is not None and lasted != lasts
    if is_longer or (old.start != new.start and not _with_its_whole(start, key, before, after)):
        kind = "moved"
    elif old.room != new.room and not _with_its_whole(room, key, before, after):
        kind = "room"
    else:
        return
    yield ProgramChange(kind, key, after.title(key), old, new)


def _length(key: str, program: Snapshot) -> timedelta | None:
    """Return how long a thing with an end of its own lasts."""
    place = program.place(key)
    return place.end - place.start if program.things[key].end and place.end and place.start else None


def _with_its_whole(
    asked: Callable[[Snapshot, str], Any], key: str, before: Snapshot, after: Snapshot
) -> bool:
    """Whether what changed about a thing changed alike about the session that it is and was part of."""
    whole = after.whole(key)
    if not whole or before.whole(key) != whole:
        return False
    values = [asked(program, one) for one in (key, whole) for program in (before, after)]
    if not isinstance(values[0], datetime):
        return values[:2] == values[2:]
    if None in {before.things[key].start, after.things[key].start}:
        # Only its time inside the session became known.
        return True
    own, above = (instant(values[n + 1]) - instant(values[n]) for n in (0, 2))
    return own == above
