"""Releases of a program: what is public when one is announced, and what changed since the one before."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType

from django.db import transaction
from django.utils.translation import gettext, ngettext_lazy

import markup as text
from conference.models import Edition
from content import revision
from schedule.entries import Status
from schedule.models import Release
from schedule.releases.changes import ProgramChange, Snapshot, SnapshotRow, changes

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
    columns = ("uid", "title", "start", "end", "room__slug", "status")
    sessions = edition.sessions.published(at).order_by("uid").values_list(*columns, "parent__uid")
    presentations = edition.presentations.published(at).order_by("uid")
    talks = presentations.values_list(*columns, "session__uid", "paper__uid")
    papers = edition.papers.published(at).order_by("uid").values_list("uid", "title")
    return Snapshot(
        {
            **{f"session:{uid}": _row(*row) for uid, *row in sessions},
            **{f"paper:{uid}": SnapshotRow(text.plain(title)) for uid, title in papers},
            **{f"presentation:{uid}": _row(*row) for uid, *row in talks},
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
    whole, shown = (f"{kind}:{uid}" if uid else "" for kind, uid in (("session", within), ("paper", paper)))
    return SnapshotRow(text.plain(title), start, end, room or "", whole, shown, status == Status.CANCELLED)


def pending_release(edition: Edition, at: datetime) -> PendingRelease:
    """Return what a release at this moment would announce."""
    program = snapshot(edition, at)
    last = edition.releases.order_by("-number").first()
    if last is None or last.snapshot is None:
        return PendingRelease(last.number + 1 if last else 1, program, [], is_first=True)
    before = Snapshot({key: SnapshotRow.read(row) for key, row in last.snapshot.items()})
    return PendingRelease(last.number + 1, program, changes(before, program), is_first=False)


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
                replace(one, note=notes.get(one.line, "")).written(rooms)
                for one in ready.changes
                if one.line not in without
            ],
            snapshot={key: thing.written() for key, thing in ready.program.things.items()},
            published_at=at,
        )
        release.save()
        edition.papers.published(at).filter(announced_at=None).update(announced_at=at)
    return release
