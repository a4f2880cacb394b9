"""Releases of a program: snapshots of the public program, changes between two, and their display.

Comparing two snapshots is pure. A session that moves is listed without its talks, which move with it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
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
from content.unreleased.plan import public_state
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

    rows: Mapping[str, SnapshotRow]

    def session_of(self, key: str) -> str:
        """Return the key of the session that contains a row, empty if the snapshot does not have it."""
        within = self.rows[key].within
        return within if within in self.rows else ""

    def title(self, key: str) -> str:
        row = self.rows[key]
        paper = self.rows.get(row.paper)
        return row.title or (paper.title if paper else "")

    def time_and_room(self, key: str) -> TimeAndRoom:
        """Return the time and room of a row, with those of the containing session as fallbacks."""
        row = self.rows[key]
        session_key = self.session_of(key)
        fallback = self.time_and_room(session_key) if session_key else TimeAndRoom()
        times = (row.start or fallback.start, row.end or fallback.end)
        start, end = (at and instant(at).replace(microsecond=0) for at in times)
        return TimeAndRoom(start, end, row.room or fallback.room)

    def cancelled(self, key: str) -> bool:
        session_key = self.session_of(key)
        return self.rows[key].cancelled or bool(session_key and self.cancelled(session_key))

    @cached_property
    def presented_papers(self) -> set[str]:
        """The keys of the papers that have a presentation."""
        return {row.paper for row in self.rows.values()}

    def count(self, kind: str) -> int:
        return sum(key.startswith(f"{kind}:") for key in self.rows)


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
    def label(self) -> str:
        return str(KINDS[self.kind])

    @property
    def line(self) -> str:
        """The key of this change within a release."""
        return f"{self.kind}:{self.key}"

    def to_json(self, rooms: Mapping[str, str]) -> dict[str, object]:
        """Return the stored form, with the names of `rooms` by slug, because rooms may be deleted later."""
        row: dict[str, object] = {"kind": self.kind, "key": self.key, "title": self.title, "was": self.was}
        for name, time_and_room in (("before", self.before), ("after", self.after)):
            if time_and_room:
                row[name] = time_and_room.to_json(rooms)
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

    def sort_key(change: ProgramChange) -> tuple[int, datetime, str, str]:
        time_and_room = change.after or change.before
        start = instant(time_and_room.start) if time_and_room and time_and_room.start else UNSCHEDULED
        return ORDER.index(change.kind), start, change.title.casefold(), change.key

    changes = [*_find_withdrawals(before, after)]
    for key in _touched_keys(before, after):
        changes += _find_row_changes(key, before, after)
    return sorted(changes, key=sort_key)


def _touched_keys(before: Snapshot, after: Snapshot) -> set[str]:
    """Return the rows of `after` that differ, or are in a session or of a paper that does."""
    # In the form that is stored, hours that come twice at the end of summer time differ.
    stored = {key: row.to_json() for key, row in before.rows.items()}
    touched = {key for key, row in after.rows.items() if stored.get(key) != row.to_json()}
    found = touched | (before.rows.keys() - after.rows.keys())
    while found:
        found = {key for key, row in after.rows.items() if row.within in found or row.paper in found}
        found -= touched
        touched |= found
    return touched


def _find_withdrawals(before: Snapshot, after: Snapshot) -> Iterator[ProgramChange]:
    for key, row in before.rows.items():
        containers = {row.paper, before.session_of(key)} - {""}
        if key not in after.rows and containers <= after.rows.keys():
            time_and_room = None if key.startswith("paper:") else before.time_and_room(key)
            yield ProgramChange("withdrawn", key, before.title(key), before=time_and_room)


def _find_row_changes(key: str, before: Snapshot, after: Snapshot) -> Iterator[ProgramChange]:
    if key not in before.rows:
        yield from _find_addition(key, before, after)
        return
    title, old_title = after.title(key), before.title(key)
    if title != old_title and after.rows[key].title:
        yield ProgramChange("retitled", key, title, was=old_title)
    was_canceled, is_canceled = before.cancelled(key), after.cancelled(key)
    if was_canceled != is_canceled and not _changed_with_session(Snapshot.cancelled, key, before, after):
        yield ProgramChange(
            "cancelled" if is_canceled else "reinstated", key, title, after=after.time_and_room(key)
        )
    elif not is_canceled and not was_canceled:
        yield from _find_move(key, before, after)


def _find_addition(key: str, before: Snapshot, after: Snapshot) -> Iterator[ProgramChange]:
    if key.startswith("paper:"):
        if key not in after.presented_papers:
            yield ProgramChange("new", key, after.title(key))
    elif not (session_key := after.session_of(key)) or session_key in before.rows:
        yield ProgramChange("new", key, after.title(key), after=after.time_and_room(key))


def _find_move(key: str, before: Snapshot, after: Snapshot) -> Iterator[ProgramChange]:
    def start_of(snapshot: Snapshot, row_key: str) -> datetime | None:
        return snapshot.time_and_room(row_key).start

    def room_of(snapshot: Snapshot, row_key: str) -> str:
        return snapshot.time_and_room(row_key).room

    old, new = before.time_and_room(key), after.time_and_room(key)
    old_duration, new_duration = _own_duration(key, before), _own_duration(key, after)
    has_new_duration = old_duration != new_duration and None not in (old_duration, new_duration)
    if has_new_duration or (
        old.start != new.start and not _changed_with_session(start_of, key, before, after)
    ):
        kind = "moved"
    elif old.room != new.room and not _changed_with_session(room_of, key, before, after):
        kind = "room"
    else:
        return
    yield ProgramChange(kind, key, after.title(key), old, new)


def _own_duration(key: str, snapshot: Snapshot) -> timedelta | None:
    """Return the duration of a row with its own end, else `None`."""
    span = snapshot.time_and_room(key)
    return span.end - span.start if snapshot.rows[key].end and span.end and span.start else None


def _changed_with_session(
    get_value: Callable[[Snapshot, str], Any], key: str, before: Snapshot, after: Snapshot
) -> bool:
    """Return whether a row's value changed in the same way as that of its session, before and after."""
    session_key = after.session_of(key)
    if not session_key or before.session_of(key) != session_key:
        return False
    values = [get_value(snapshot, row_key) for row_key in (key, session_key) for snapshot in (before, after)]
    if not isinstance(values[0], datetime):
        return values[:2] == values[2:]
    if None in {before.rows[key].start, after.rows[key].start}:
        # Only its own time within the session was added or removed.
        return True
    own_delay, session_delay = (instant(values[index + 1]) - instant(values[index]) for index in (0, 2))
    return own_delay == session_delay


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
        counts = [(self.program.count(kind), message) for kind, message in COUNT_MESSAGES.items()]
        phrases = [message % {"number": count, "count": f"{count:,}"} for count, message in counts if count]
        if not phrases or not self.is_first:
            return ""
        if len(phrases) == 1:
            return f"{phrases[0]}."
        return gettext("%(sessions)s and %(papers)s.") % {"sessions": phrases[0], "papers": phrases[1]}

    def create_release(self, edition: Edition, at: datetime, title: str, text: str = "") -> Release:
        """Create the release with these changes, and with the snapshot of this program."""
        rooms = dict(edition.rooms.values_list("slug", "name"))
        release = Release(
            edition=edition,
            number=self.number,
            title=title,
            text=text,
            changes=[change.to_json(rooms) for change in self.changes],
            snapshot={key: row.to_json() for key, row in self.program.rows.items()},
            published_at=at,
        )
        release.save()
        return release


def snapshot(edition: Edition, at: datetime) -> Snapshot:
    """Return the rows of an edition that are public at a moment. Three queries."""
    columns = ("uid", "title", "start", "end", "room__slug", "status")
    sessions = edition.sessions.published(at).order_by().rows(*columns, "parent__uid")
    presentations = edition.presentations.published(at).order_by()
    talks = presentations.rows(*columns, "session__uid", "paper__uid")
    papers = edition.papers.published(at).order_by().values_list("uid", "title")
    # Sort by unique identifier here, because a database takes much longer.
    return Snapshot(
        {
            **{f"session:{uid}": _snapshot_row(*row) for uid, *row in sorted(sessions)},
            **{f"paper:{uid}": SnapshotRow(markup.plain(title)) for uid, title in sorted(papers)},
            **{f"presentation:{uid}": _snapshot_row(*row) for uid, *row in sorted(talks)},
        }
    )


def _snapshot_row(
    title: str,
    start: datetime | None,
    end: datetime | None,
    room: str | None,
    status: str,
    within: str | None,
    paper: str | None = None,
) -> SnapshotRow:
    session_key, paper_key = f"session:{within}" if within else "", f"paper:{paper}" if paper else ""
    return SnapshotRow(
        markup.plain(title), start, end, room or "", session_key, paper_key, status == Status.CANCELLED
    )


def announced_program(edition: Edition, at: datetime) -> Snapshot:
    """Return the program as it was last announced, else as it is public: what a release compares with."""
    last_release = edition.releases.order_by("-number").first()
    if last_release is None or last_release.snapshot is None:
        with public_state():
            return snapshot(edition, at)
    return Snapshot({key: SnapshotRow.read(row) for key, row in last_release.snapshot.items()})


def pending_release(edition: Edition, at: datetime, before: Snapshot | None = None) -> PendingRelease:
    """Return the content of a release at this moment.

    `before` is the program that it changes, if not that of the last release. Without either, it is the first
    one, and lists no changes.
    """
    program = snapshot(edition, at)
    last_release = edition.releases.order_by("-number").first()
    number = last_release.number + 1 if last_release else 1
    if before is None and last_release is not None and last_release.snapshot is not None:
        before = Snapshot({key: SnapshotRow.read(row) for key, row in last_release.snapshot.items()})
    return PendingRelease(number, program, before, find_changes(before, program) if before else [])


def announce(
    edition: Edition,
    at: datetime,
    title: str | None = None,
    text: str | None = None,
    *,
    without: Collection[str] = (),
    notes: Mapping[str, str] = MappingProxyType({}),
    before: Snapshot | None = None,
) -> Release:
    """Create a release of the public program, `without` these lines, and with the chairs' notes by line."""
    with revision.lock(), transaction.atomic():
        Edition.objects.select_for_update().get(pk=edition.pk)
        pending = pending_release(edition, at, before)
        changes = [
            replace(change, note=notes.get(change.line, ""))
            for change in pending.changes
            if change.line not in without
        ]
        release = replace(pending, changes=changes).create_release(
            edition,
            at,
            title=pending.title if title is None else title,
            text=pending.text if text is None else text,
        )
        edition.papers.published(at).filter(announced_at=None).update(announced_at=at)
    return release


# Labels of deleted rows, and of rows without a kind of their own.
KIND_LABELS = {"session": _("Session"), "presentation": _("Presentation"), "paper": _("Paper")}
# Fields that no line of a change shows.
DEFERRED_FIELDS = ("abstract", "abstract_html")


@dataclass(frozen=True, slots=True)
class ReleaseLine:
    """One change and its row; `row` is `None` if the row is not public."""

    change: ProgramChange
    row: Any

    @property
    def title_html(self) -> str:
        if self.row is None:
            return markup.inline(self.change.title)
        return str(getattr(self.row, "shown_title_html", self.row.title_html))

    @property
    def url(self) -> str:
        return self.row.get_absolute_url() if self.row else ""

    @property
    def kind_label(self) -> str:
        kind = self.change.key.partition(":")[0]
        display = getattr(self.row, "get_kind_display", None)
        return display() if display else str(KIND_LABELS[kind])

    @property
    def note_html(self) -> str:
        return markup.inline(self.change.note)

    @property
    def reason(self) -> str:
        return self.row.why_cancelled if self.row and self.change.kind == "cancelled" else ""


def release_view(edition: Edition, at: datetime, limit: int | None = None) -> list[Release]:
    """Return the published releases with their `shown_lines`, newest first. Four queries.

    Changes of rows that are not public are shown only if the last one announces the withdrawal: a withdrawn
    paper may be named, but not one that became a draft again.
    """
    releases = list(edition.releases.published(at).newest_first())
    changes_by_release = {
        release.pk: [ProgramChange.read(row) for row in release.changes] for release in releases
    }
    last_kinds = {
        change.key: change.kind for release in reversed(releases) for change in changes_by_release[release.pk]
    }
    withdrawn_keys = {key for key, kind in last_kinds.items() if kind == "withdrawn"}
    shown_releases = releases[:limit]
    rows_by_key = _public_rows(
        {change.key for release in shown_releases for change in changes_by_release[release.pk]}, edition, at
    )
    for release in shown_releases:
        release.shown_lines = [
            ReleaseLine(change, rows_by_key.get(change.key))
            for change in changes_by_release[release.pk]
            if change.key in rows_by_key or change.key in withdrawn_keys
        ]
    return shown_releases


def _public_rows(keys: set[str], edition: Edition, at: datetime) -> dict[str, Any]:
    """Return the public rows with these keys, by key. Three queries."""
    querysets: dict[str, Any] = {
        "session": edition.sessions.select_related("parent").defer(*DEFERRED_FIELDS),
        "paper": edition.papers.defer(*DEFERRED_FIELDS),
        "presentation": edition.presentations.with_session()
        .select_related("paper__edition")
        .defer(*DEFERRED_FIELDS, *(f"paper__{name}" for name in DEFERRED_FIELDS)),
    }
    rows_by_key: dict[str, Any] = {}
    for kind, queryset in querysets.items():
        uids = [key.partition(":")[2] for key in keys if key.startswith(f"{kind}:")]
        rows_by_key |= {f"{kind}:{row.uid}": row for row in queryset.published(at).filter(uid__in=uids)}
    return rows_by_key


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
