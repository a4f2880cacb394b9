"""Releases of a program: what is public when one is announced, and what changed since the one before."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.utils.translation import gettext, ngettext_lazy

import markup as text
from conference.models import Edition
from content import revision
from schedule.entries import Status
from schedule.models import Release
from schedule.releases.changes import ProgramChange, Snapshot, SnapshotRow, TimeAndRoom, changes

# In the sentence of the first release.
COUNTED = {
    "session": ngettext_lazy("%(count)s session", "%(count)s sessions", "number"),
    "paper": ngettext_lazy("%(count)s paper", "%(count)s papers", "number"),
}


@dataclass(frozen=True, slots=True)
class PendingRelease:
    """What a release would announce. The first one needs no list: the whole program is new."""

    number: int
    program: Snapshot
    changes: list[ProgramChange]
    is_first: bool

    @property
    def title(self) -> str:
        return gettext("The program is out") if self.is_first else ""

    @property
    def text(self) -> str:
        """How much there is, for the first release."""
        numbers = [(self.program.counted(kind), words) for kind, words in COUNTED.items()]
        said = [words % {"number": number, "count": f"{number:,}"} for number, words in numbers if number]
        if not said or not self.is_first:
            return ""
        if len(said) == 1:
            return f"{said[0]}."
        return gettext("%(sessions)s and %(papers)s.") % {"sessions": said[0], "papers": said[1]}


def snapshot(edition: Edition, at: datetime) -> Snapshot:
    """Return what `published(at)` shows of an edition. Three queries."""
    return Snapshot({**_sessions(edition, at), **_papers(edition, at), **_presentations(edition, at)})


def _sessions(edition: Edition, at: datetime) -> dict[str, SnapshotRow]:
    columns = ("uid", "title", "start", "end", "room__slug", "parent__uid", "status")
    rows = edition.sessions.published(at).order_by("uid").values_list(*columns)
    return {
        f"session:{uid}": SnapshotRow(
            text.plain(title),
            start,
            end,
            room or "",
            f"session:{parent}" if parent else "",
            "",
            _is_off(status),
        )
        for uid, title, start, end, room, parent, status in rows
    }


def _presentations(edition: Edition, at: datetime) -> dict[str, SnapshotRow]:
    columns = ("uid", "title", "start", "end", "room__slug", "session__uid", "paper__uid", "status")
    rows = edition.presentations.published(at).order_by("uid").values_list(*columns)
    return {
        f"presentation:{uid}": SnapshotRow(
            text.plain(title),
            start,
            end,
            room or "",
            f"session:{session}" if session else "",
            f"paper:{paper}" if paper else "",
            _is_off(status),
        )
        for uid, title, start, end, room, session, paper, status in rows
    }


def _papers(edition: Edition, at: datetime) -> dict[str, SnapshotRow]:
    rows = edition.papers.published(at).order_by("uid").values_list("uid", "title")
    return {f"paper:{uid}": SnapshotRow(text.plain(title)) for uid, title in rows}


def _is_off(status: str) -> bool:
    return status == Status.CANCELLED


# What is stored


def written_program(program: Snapshot) -> dict[str, list[object]]:
    return {key: thing.written() for key, thing in program.things.items()}


def read_program(stored: dict[str, list[object]]) -> Snapshot:
    return Snapshot({key: SnapshotRow.read(row, _moment) for key, row in stored.items()})


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def written_change(change: ProgramChange, rooms: dict[str, str]) -> dict[str, object]:
    """Return what is stored of a change: with the names of rooms, which may be gone one day."""
    places = {"before": change.before, "after": change.after}
    told = {name: _written_place(place, rooms) for name, place in places.items() if place}
    noted = {"note": change.note} if change.note else {}
    return {"kind": change.kind, "key": change.key, "title": change.title, "was": change.was, **told, **noted}


def _written_place(place: TimeAndRoom, rooms: dict[str, str]) -> list[object]:
    times = [moment and int(moment.timestamp()) for moment in (place.start, place.end)]
    return [*times, rooms.get(place.room, "")]


def read_change(stored: dict[str, Any]) -> ProgramChange:
    """Return a change as announced; the rooms in it are names."""
    places = {name: _read_place(stored[name]) for name in ("before", "after") if name in stored}
    note = stored.get("note", "")
    return ProgramChange(
        stored["kind"], stored["key"], stored["title"], was=stored["was"], note=note, **places
    )


def _read_place(stored: list[Any]) -> TimeAndRoom:
    start, end, room = stored
    return TimeAndRoom(start and _moment(start), end and _moment(end), room)


# To announce


def pending_release(edition: Edition, at: datetime) -> PendingRelease:
    """Return what a release at this moment would announce."""
    program = snapshot(edition, at)
    last = edition.releases.order_by("-number").first()
    if last is None or last.snapshot is None:
        return PendingRelease(last.number + 1 if last else 1, program, [], is_first=True)
    return PendingRelease(
        last.number + 1, program, changes(read_program(last.snapshot), program), is_first=False
    )


def announce(
    edition: Edition,
    at: datetime,
    title: str | None = None,
    text: str | None = None,
    *,
    without: Collection[str] = (),
    notes: Mapping[str, str] = MappingProxyType({}),
) -> Release:
    """Announce what is public at that moment, with the chairs' notes by line.

    Lines named in `without` are never announced.
    """
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
                written_change(replace(one, note=notes.get(one.line, "")), rooms)
                for one in ready.changes
                if one.line not in without
            ],
            snapshot=written_program(ready.program),
            published_at=at,
        )
        release.save()
        edition.papers.published(at).filter(announced_at=None).update(announced_at=at)
    return release
