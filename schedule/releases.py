"""Releases of a program: snapshots of the public program, changes between two, and their display.

Comparing two snapshots is pure. A session that moves is listed without its talks, which move with it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Self

from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext_lazy, pgettext_lazy
from django.utils.translation import gettext_lazy as _

import markup
from conference.feeds import MAX_ENTRIES, EditionFeed, writable
from conference.models import Edition
from conference.page_metadata import absolute
from content import revision
from papers.rows import UNSCHEDULED
from schedule.entries import Status
from schedule.models import Release, Session
from schedule.timetable import instant

# The kinds of change, in the order in which pages list them.
KINDS = {
    "cancelled": pgettext_lazy("change of the program", "Canceled"),
    "withdrawn": pgettext_lazy("change of the program", "Withdrawn"),
    "moved": pgettext_lazy("change of the program", "Moved"),
    "room": pgettext_lazy("change of the program", "New room"),
    "new": pgettext_lazy("change of the program", "New"),
    "reinstated": pgettext_lazy("change of the program", "Taking place after all"),
    "retitled": pgettext_lazy("change of the program", "New title"),
}
ORDER = list(KINDS)


def from_timestamp(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


@dataclass(frozen=True, slots=True)
class TimeAndRoom:
    """A time and a room, empty while unknown. The room is a slug, or a name in announced changes."""

    start: datetime | None = None
    end: datetime | None = None
    room: str = ""

    def to_json(self, rooms: Mapping[str, str]) -> list[object]:
        return [*(at and int(at.timestamp()) for at in (self.start, self.end)), rooms.get(self.room, "")]

    @classmethod
    def read(cls, row: list[Any]) -> Self:
        return cls(from_timestamp(row[0]), from_timestamp(row[1]), row[2])


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """The compared fields of a session, presentation or paper; times and room are its own, not its session's.

    `title` is plain text, empty if it is the paper's; `within` is the key of the containing session.
    """

    title: str = ""
    start: datetime | None = None
    end: datetime | None = None
    room: str = ""
    within: str = ""
    paper: str = ""
    cancelled: bool = False

    def to_json(self) -> list[Any]:
        """Return the row as a list without trailing empty values."""
        times = [at and int(at.timestamp()) for at in (self.start, self.end)]
        row: list[object] = [self.title, *times, self.room, self.within, self.paper, int(self.cancelled)]
        while row and not row[-1]:
            row.pop()
        return row

    @classmethod
    def read(cls, row: list[Any]) -> Self:
        title, start, end, room, within, paper, cancelled = (row + [None] * 7)[:7]
        times = from_timestamp(start), from_timestamp(end)
        return cls(title or "", *times, room or "", within or "", paper or "", bool(cancelled))


@dataclass(frozen=True)
class Snapshot:
    """A program at a moment: its rows by kind and uid, such as "session:s1"."""

    things: Mapping[str, SnapshotRow]

    def whole(self, key: str) -> str:
        """Return the key of the session that contains a row, empty if the snapshot does not have it."""
        within = self.things[key].within
        return within if within in self.things else ""

    def title(self, key: str) -> str:
        thing = self.things[key]
        paper = self.things.get(thing.paper)
        return thing.title or (paper.title if paper else "")

    def place(self, key: str) -> TimeAndRoom:
        """Return the time and room of a row, with those of the containing session as fallbacks."""
        thing = self.things[key]
        whole = self.whole(key)
        above = self.place(whole) if whole else TimeAndRoom()
        times = (thing.start or above.start, thing.end or above.end)
        start, end = (at and instant(at).replace(microsecond=0) for at in times)
        return TimeAndRoom(start, end, thing.room or above.room)

    def cancelled(self, key: str) -> bool:
        whole = self.whole(key)
        return self.things[key].cancelled or bool(whole and self.cancelled(whole))

    def count(self, kind: str) -> int:
        return sum(key.startswith(f"{kind}:") for key in self.things)


@dataclass(frozen=True, slots=True)
class ProgramChange:
    """A row that differs from the announced program. `before` and `after` are set where they apply.

    `note` is text that the chairs add.
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
        """The key of this change within a release."""
        return f"{self.kind}:{self.key}"

    def to_json(self, rooms: Mapping[str, str]) -> dict[str, object]:
        """Return the stored form, with the names of `rooms` by slug, because rooms may be deleted later."""
        row: dict[str, object] = {"kind": self.kind, "key": self.key, "title": self.title, "was": self.was}
        for name, place in (("before", self.before), ("after", self.after)):
            if place:
                row[name] = place.to_json(rooms)
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


def find_changes(before: Snapshot, after: Snapshot) -> list[ProgramChange]:
    """Return the changes that concern visitors, ordered by kind, then by time and title."""

    def place_in_list(change: ProgramChange) -> tuple[int, datetime, str, str]:
        place = change.after or change.before
        start = instant(place.start) if place and place.start else UNSCHEDULED
        return ORDER.index(change.kind), start, change.title.casefold(), change.key

    found = [*_withdrawals(before, after)]
    for key in after.things:
        found += _changes_of(key, before, after)
    return sorted(found, key=place_in_list)


def _withdrawals(before: Snapshot, after: Snapshot) -> Iterator[ProgramChange]:
    for key, thing in before.things.items():
        above = {thing.paper, before.whole(key)} - {""}
        if key not in after.things and above <= after.things.keys():
            place = None if key.startswith("paper:") else before.place(key)
            yield ProgramChange("withdrawn", key, before.title(key), before=place)


def _changes_of(key: str, before: Snapshot, after: Snapshot) -> Iterator[ProgramChange]:
    if key not in before.things:
        yield from _new(key, before, after)
        return
    title, was = after.title(key), before.title(key)
    if title != was and after.things[key].title:
        yield ProgramChange("retitled", key, title, was=was)
    off_before, off_now = before.cancelled(key), after.cancelled(key)
    if off_before != off_now and not _changed_with_session(Snapshot.cancelled, key, before, after):
        yield ProgramChange("cancelled" if off_now else "reinstated", key, title, after=after.place(key))
    elif not off_now and not off_before:
        yield from _moved(key, before, after)


def _new(key: str, before: Snapshot, after: Snapshot) -> Iterator[ProgramChange]:
    if key.startswith("paper:"):
        if not any(thing.paper == key for thing in after.things.values()):
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
    if is_longer or (old.start != new.start and not _changed_with_session(start, key, before, after)):
        kind = "moved"
    elif old.room != new.room and not _changed_with_session(room, key, before, after):
        kind = "room"
    else:
        return
    yield ProgramChange(kind, key, after.title(key), old, new)


def _length(key: str, program: Snapshot) -> timedelta | None:
    """Return the duration of a row with its own end, else `None`."""
    place = program.place(key)
    return place.end - place.start if program.things[key].end and place.end and place.start else None


def _changed_with_session(
    asked: Callable[[Snapshot, str], Any], key: str, before: Snapshot, after: Snapshot
) -> bool:
    """Return whether a row's value changed in the same way as that of its session, before and after."""
    whole = after.whole(key)
    if not whole or before.whole(key) != whole:
        return False
    values = [asked(program, one) for one in (key, whole) for program in (before, after)]
    if not isinstance(values[0], datetime):
        return values[:2] == values[2:]
    if None in {before.things[key].start, after.things[key].start}:
        # Only its own time within the session was added or removed.
        return True
    own, above = (instant(values[n + 1]) - instant(values[n]) for n in (0, 2))
    return own == above


# Counts in the text of the first release.
COUNT_MESSAGES = {
    "session": ngettext_lazy("%(count)s session", "%(count)s sessions", "number"),
    "paper": ngettext_lazy("%(count)s paper", "%(count)s papers", "number"),
}


@dataclass(frozen=True, slots=True)
class PendingRelease:
    """The content of the next release. The first one lists no changes: the whole program is new."""

    number: int
    program: Snapshot
    # The program when the last release was announced.
    before: Snapshot | None
    changes: list[ProgramChange]

    @property
    def is_first(self) -> bool:
        return self.before is None

    @property
    def title(self) -> str:
        return gettext("The program is public") if self.is_first else ""

    @property
    def text(self) -> str:
        """The numbers of sessions and papers for the first release, else empty."""
        numbers = [(self.program.count(kind), words) for kind, words in COUNT_MESSAGES.items()]
        said = [words % {"number": number, "count": f"{number:,}"} for number, words in numbers if number]
        if not said or not self.is_first:
            return ""
        if len(said) == 1:
            return f"{said[0]}."
        return gettext("%(sessions)s and %(papers)s.") % {"sessions": said[0], "papers": said[1]}


def snapshot(edition: Edition, at: datetime) -> Snapshot:
    """Return the rows of an edition that are public at a moment. Three queries."""
    columns = ("uid", "title", "start", "end", "room__slug", "status")
    sessions = edition.sessions.published(at).order_by().values_list(*columns, "parent__uid")
    presentations = edition.presentations.published(at).order_by()
    talks = presentations.values_list(*columns, "session__uid", "paper__uid")
    papers = edition.papers.published(at).order_by().values_list("uid", "title")
    # Sort by unique identifier here, because a database takes much longer.
    return Snapshot(
        {
            **{f"session:{uid}": _row(*row) for uid, *row in sorted(sessions)},
            **{f"paper:{uid}": SnapshotRow(markup.plain(title)) for uid, title in sorted(papers)},
            **{f"presentation:{uid}": _row(*row) for uid, *row in sorted(talks)},
        }
    )


def _row(
    title: str,
    start: datetime | None,
    end: datetime | None,
    room: str | None,
    status: str,
    within: str | None,
    paper: str | None = None,
) -> SnapshotRow:
    whole, shown = f"session:{within}" if within else "", f"paper:{paper}" if paper else ""
    return SnapshotRow(markup.plain(title), start, end, room or "", whole, shown, status == Status.CANCELLED)


def pending_release(edition: Edition, at: datetime) -> PendingRelease:
    """Return the content of a release at this moment."""
    program = snapshot(edition, at)
    last = edition.releases.order_by("-number").first()
    number = last.number + 1 if last else 1
    if last is None or last.snapshot is None:
        return PendingRelease(number, program, None, [])
    before = Snapshot({key: SnapshotRow.read(row) for key, row in last.snapshot.items()})
    return PendingRelease(number, program, before, find_changes(before, program))


def announce(
    edition: Edition,
    at: datetime,
    title: str | None = None,
    text: str | None = None,
    *,
    without: Collection[str] = (),
    notes: Mapping[str, str] = MappingProxyType({}),
) -> Release:
    """Create a release of the public program, `without` these lines, and with the chairs' notes by line."""
    with revision.lock(), transaction.atomic():
        Edition.objects.select_for_update().get(pk=edition.pk)
        ready = pending_release(edition, at)
        rooms = dict(edition.rooms.values_list("slug", "name"))
        release = Release(
            edition=edition,
            number=ready.number,
            title=ready.title if title is None else title,
            text=ready.text if text is None else text,
            changes=[
                replace(one, note=notes.get(one.line, "")).to_json(rooms)
                for one in ready.changes
                if one.line not in without
            ],
            snapshot={key: thing.to_json() for key, thing in ready.program.things.items()},
            published_at=at,
        )
        release.save()
        edition.papers.published(at).filter(announced_at=None).update(announced_at=at)
    return release


# Labels of deleted rows, and of rows without a kind of their own.
KIND_LABELS = {"session": _("Session"), "presentation": _("Presentation"), "paper": _("Paper")}
# Fields that no line of a change shows.
DEFERRED_FIELDS = ("abstract", "abstract_html")


@dataclass(frozen=True, slots=True)
class ReleaseLine:
    """One change and its row; `thing` is `None` if the row is not public."""

    change: ProgramChange
    thing: Any

    @property
    def title_html(self) -> str:
        if self.thing is None:
            return markup.inline(self.change.title)
        return str(getattr(self.thing, "shown_title_html", self.thing.title_html))

    @property
    def url(self) -> str:
        return self.thing.get_absolute_url() if self.thing else ""

    @property
    def what(self) -> str:
        kind = self.change.key.partition(":")[0]
        display = getattr(self.thing, "get_kind_display", None)
        return display() if display else str(KIND_LABELS[kind])

    @property
    def note_html(self) -> str:
        return markup.inline(self.change.note)

    @property
    def reason(self) -> str:
        return self.thing.why_cancelled if self.thing and self.change.kind == "cancelled" else ""


def release_view(edition: Edition, at: datetime, newest: int | None = None) -> list[Release]:
    """Return the published releases with their `shown_lines`, newest first. Four queries.

    Changes of rows that are not public are shown only if the last one announces the withdrawal: a withdrawn
    paper may be named, but not one that became a draft again.
    """
    releases = list(edition.releases.published(at).newest_first())
    changes = {release.pk: [ProgramChange.read(row) for row in release.changes] for release in releases}
    last = {change.key: change.kind for one in reversed(releases) for change in changes[one.pk]}
    gone = {key for key, kind in last.items() if kind == "withdrawn"}
    shown = releases[:newest]
    things = _public_things({change.key for release in shown for change in changes[release.pk]}, edition, at)
    for release in shown:
        release.shown_lines = [
            ReleaseLine(change, things.get(change.key))
            for change in changes[release.pk]
            if change.key in things or change.key in gone
        ]
    return shown


def _public_things(keys: set[str], edition: Edition, at: datetime) -> dict[str, Any]:
    """Return the public rows with these keys, by key. Three queries."""
    rows: dict[str, Any] = {
        "session": edition.sessions.select_related("parent").defer(*DEFERRED_FIELDS),
        "paper": edition.papers.defer(*DEFERRED_FIELDS),
        "presentation": edition.presentations.with_session()
        .select_related("paper__edition")
        .defer(*DEFERRED_FIELDS, *(f"paper__{name}" for name in DEFERRED_FIELDS)),
    }
    found: dict[str, Any] = {}
    for kind, things in rows.items():
        uids = [key.partition(":")[2] for key in keys if key.startswith(f"{kind}:")]
        found |= {f"{kind}:{thing.uid}": thing for thing in things.published(at).filter(uid__in=uids)}
    return found


def moved_times(edition: Edition, at: datetime) -> dict[str, datetime]:
    """Return the earlier starts of rows that the current release moved, by key. One query."""
    release = edition.releases.published(at).newest_first().first()
    changes = [ProgramChange.read(row) for row in release.changes] if release else []
    return {
        change.key: change.before.start
        for change in changes
        if change.kind == "moved" and change.before and change.before.start
    }


def mark_moved(sessions: Iterable[Session], moves: Mapping[str, datetime], at: datetime) -> list[Session]:
    """Return the sessions with `on_now` (in progress) and `moved_from` (the earlier announced start)."""
    rows = list(sessions)
    for session in rows:
        session.on_now = session.start <= at < session.end
        session.moved_from = moves.get(f"session:{session.uid}")
    return rows


class ChangesFeed(EditionFeed):
    view = "schedule:changes_feed"
    name = pgettext_lazy("name of a feed", "changes of the program")

    def link(self, edition: Edition) -> str:
        return absolute(reverse("schedule:changes", args=[edition.slug]))

    def items(self, edition: Edition) -> list[Release]:
        return release_view(edition, timezone.now(), MAX_ENTRIES)

    def item_title(self, item: Any) -> str:
        return writable(str(item))

    def item_link(self, item: Release) -> str:
        return absolute(item.get_absolute_url())

    item_guid = item_link

    def item_description(self, item: Any) -> str:
        context = {"release": item, "edition": item.edition, "site": settings.SITE_URL}
        return writable(render_to_string("schedule/_release.html", context))

    def item_pubdate(self, item: Release) -> datetime:
        return item.published_at

    item_updateddate = item_pubdate
