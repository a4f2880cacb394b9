"""Copies of the program's frame to a new edition: rooms, and sessions without what was presented in them."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from conference.edition_copy import EDITION_PARTS, EditionCopy, EditionPart
from schedule.entries import Status
from schedule.models import Room, Session, SessionKind
from schedule.querysets import SessionQuerySet

# Fields that describe what happened in the earlier edition.
EMPTIED = ("abstract", "stream_url", "recording_url", "chat_url", "cancellation_reason", "language")


def copy_rooms(copying: EditionCopy) -> None:
    copying.copy_rows(copying.source.rooms.all())


def copied_sessions(edition: Any) -> SessionQuerySet:
    """Return the sessions that a new edition can take over: those that were not canceled."""
    sessions: SessionQuerySet = edition.sessions.exclude(status=Status.CANCELLED)
    return sessions.exclude(parent__isnull=False, parent__status=Status.CANCELLED)


def copy_sessions(copying: EditionCopy) -> None:
    """Copy kinds, titles, rooms and times, moved with the first day; whole sessions before their parts.

    A session of an invited talk gets the name of its kind as title.
    """
    rooms = copying.copies.get(Room, {})

    def changes(session: Session) -> dict[str, object]:
        room = rooms.get(session.room_id or 0)
        is_talk = session.counts_as == Session.Kind.INVITED_TALK
        return dict.fromkeys(EMPTIED, "") | {
            "start": copying.shift(session.start),
            "end": copying.shift(session.end),
            "room_id": room.pk if room else None,
            "title": str(session.get_kind_display()) if is_talk else session.title,
        }

    rows = [*copied_sessions(copying.source).order_by("start", "pk")]
    copies = copying.copies.setdefault(Session, {})
    while rows:
        level = [row for row in rows if row.parent_id is None or row.parent_id in copies]
        copying.copy_rows(level, changes)
        rows = [row for row in rows if row not in level] if level else []


EDITION_PARTS += [
    EditionPart("rooms", _("Rooms"), Room, lambda edition: edition.rooms.all(), copy_rooms, place=10),
    EditionPart(
        "sessions",
        _("Sessions with their times, without papers, talks and people"),
        Session,
        copied_sessions,
        copy_sessions,
        is_usual=False,
        place=20,
    ),
    EditionPart(
        "kinds",
        _("Kinds of sessions and presentations"),
        SessionKind,
        lambda edition: SessionKind.objects.filter(conference=edition.conference_id),
    ),
]
