"""A change of one session that is applied and announced at once: its text, its release, its banner.

The caller must use a single change set, so that everything can be reverted together.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import QuerySet, TextChoices
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from conference.models import Announcement, Edition
from content import times
from content.models import Status as PageStatus
from schedule.clashes import PlannedEdit
from schedule.editing import Placement, PlannedSessions, SessionRow, validation_errors
from schedule.entries import Status
from schedule.models import Release, Room, Session
from schedule.releases import Snapshot, pending_release

MAX_TITLE_CHARS = 200
# The maximum length of the session's title in the title of a notice.
MAX_NAME_CHARS = 120


class ChangeKind(TextChoices):
    ROOM = "room", gettext_lazy("Another room")
    TIME = "time", gettext_lazy("Another time")
    CANCEL = "cancel", gettext_lazy("Cancellation")
    NOTE = "note", pgettext_lazy("kind of a notice", "A note in your own words")


@dataclass(frozen=True, slots=True)
class AnnouncedChange:
    """The change of a session: its new placement, or the reason for its cancellation. A note has neither."""

    kind: str
    session: Session
    placement: Placement
    reason: str = ""

    @property
    def end(self) -> datetime:
        return self.placement.end

    def title(self) -> str:
        """Return the suggested title of the notice."""
        params = {"title": Truncator(str(self.session)).chars(MAX_NAME_CHARS), "room": self._room()}
        if self.kind == ChangeKind.ROOM:
            return _("“%(title)s” moves to %(room)s") % params
        if self.kind == ChangeKind.TIME:
            return _("“%(title)s” has a new time") % params
        if self.kind == ChangeKind.CANCEL:
            return _("“%(title)s” is canceled") % params
        return _("About “%(title)s”") % params

    def text(self) -> str:
        """Return the suggested text of the notice."""
        session, zone = self.session, self.session.edition.zone
        params = {
            "when": times.day_and_time_range(self.placement.start, self.placement.end, zone),
            "was": times.day_and_time_range(session.start, session.end, zone),
            "room": self._room(),
            "old": session.room.name if session.room else "",
        }
        if self.kind == ChangeKind.ROOM:
            sentence = _("It takes place in %(room)s, not in %(old)s: %(when)s.") if session.room else ""
            return (sentence or _("It takes place in %(room)s: %(when)s.")) % params
        if self.kind == ChangeKind.TIME:
            return _("It takes place %(when)s, not %(was)s.") % params
        return self.reason if self.kind == ChangeKind.CANCEL else ""

    def _room(self) -> str:
        room = Room.objects.filter(pk=self.placement.room).first() if self.placement.room else None
        return room.name if room else ""

    def planned_sessions(self) -> PlannedSessions:
        """Return the move of the session and its parts as a plan of the timetable editor."""
        edition = self.session.edition
        rooms = {room.pk: room for room in edition.rooms.all()}
        sessions: QuerySet[Session] = edition.sessions.select_related("room", "parent")
        session_and_parts = sessions.filter(pk=self.session.pk) | sessions.filter(parent=self.session.pk)
        plan = PlannedSessions(
            [SessionRow(session, edition, rooms) for session in session_and_parts.order_by("start", "pk")]
        )
        if self.kind in (ChangeKind.ROOM, ChangeKind.TIME):
            session_row = next(row for row in plan.rows if row.pk == self.session.pk)
            session_row.plan(self.placement)
            plan.move_parts(session_row)
        return plan

    def planned_edit(self) -> PlannedEdit:
        return self.planned_sessions().planned_edit()

    def apply(self) -> list[str]:
        """Store the change, or return the errors that prevent it."""
        if self.kind == ChangeKind.CANCEL:
            self.session.status, self.session.cancellation_reason = Status.CANCELLED, self.reason
            if not (problems := validation_errors(self.session)):
                self.session.save()
            return problems
        sessions = self.planned_sessions()
        if sessions.moved and not sessions.save():
            row_errors = (row.errors.values() for row in sessions.wrong)
            return [
                message for field_errors in row_errors for messages in field_errors for message in messages
            ]
        return []


def publish(
    change: AnnouncedChange, at: datetime, title: str, text: str, until: datetime
) -> tuple[Announcement, Release | None]:
    """Publish the notice of an applied change, and a release with the changes of the session."""
    session = change.session
    notice = Announcement(
        edition=session.edition,
        title=title,
        text=text,
        status=PageStatus.PUBLISHED,
        published_at=at,
        banner_until=until,
        session_uid=session.uid,
    )
    notice.full_clean()
    notice.save()
    return notice, announce_session(session.edition, f"session:{session.uid}", at, title)


def announce_session(edition: Edition, key: str, at: datetime, title: str) -> Release | None:
    """Create a release with the changes of one session and its contents; others wait for the next release.

    Returns `None` if there are no such changes, or before the first release of the whole program.
    """
    Edition.objects.select_for_update().get(pk=edition.pk)
    pending = pending_release(edition, at)
    if pending.before is None:
        return None
    keys = {*keys_within(pending.before, key), *keys_within(pending.program, key)}
    changes = [change for change in pending.changes if change.key in keys]
    if not changes:
        return None
    announced_rows = {row_key: row for row_key, row in pending.before.rows.items() if row_key not in keys}
    announced_rows |= {row_key: row for row_key, row in pending.program.rows.items() if row_key in keys}
    announced = replace(pending, program=Snapshot(announced_rows), changes=changes)
    return announced.create_release(edition, at, title)


def keys_within(program: Snapshot, key: str) -> Iterable[str]:
    """Yield the key of a row, and of the rows that it contains at any depth."""
    for row_key in program.rows:
        ancestor = row_key
        while ancestor and ancestor != key:
            ancestor = program.session_of(ancestor)
        if ancestor:
            yield row_key
