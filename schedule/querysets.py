"""Which rooms, sessions and presentations are public, and the questions that pages ask about them."""

from datetime import datetime
from typing import Any, Self

from django.db.models import Q

from conference.querysets import ContentQuerySet, moment, schedule_public
from papers.querysets import paper_published

# A cancelled session stays in the program, marked as such: people look for it.
SHOWN = ("published", "cancelled")


def session_published(prefix: str, at: datetime | None) -> Q:
    """The session that `prefix` leads to (such as "session__") is public."""
    own = Q(**{f"{prefix}status__in": SHOWN})
    above = Q(**{f"{prefix}parent__isnull": True}) | Q(**{f"{prefix}parent__status__in": SHOWN})
    return schedule_public(f"{prefix}edition__", at) & own & above


class RoomQuerySet(ContentQuerySet[Any]):
    """Rooms of an edition, in order."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(schedule_public("edition__", at))


class SessionQuerySet(ContentQuerySet[Any]):
    """Sessions, by time."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(session_published("", at))

    def starting_between(self, start: datetime, end: datetime) -> Self:
        """Sessions that begin in the half-open span from `start` to `end`."""
        return self.filter(start__gte=start, start__lt=end)

    def running(self, at: datetime | None = None) -> Self:
        """Sessions going on at that moment."""
        return self.filter(start__lte=moment(at), end__gt=moment(at))


class SessionRoleQuerySet(ContentQuerySet[Any]):
    """People's parts in sessions."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(session_published("session__", at))


def presentation_published(prefix: str, at: datetime | None) -> Q:
    """The presentation that `prefix` leads to is public, and so are its session and its paper."""
    own = schedule_public(f"{prefix}edition__", at) & Q(**{f"{prefix}status__in": SHOWN})
    session = Q(**{f"{prefix}session__isnull": True}) | session_published(f"{prefix}session__", at)
    paper = Q(**{f"{prefix}paper__isnull": True}) | paper_published(f"{prefix}paper__", at)
    return own & session & paper


class PresentationQuerySet(ContentQuerySet[Any]):
    """Appearances of papers, and talks of their own."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(presentation_published("", at))


class SpeakerQuerySet(ContentQuerySet[Any]):
    """Speakers of talks that are not papers."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(presentation_published("presentation__", at))


class ReleaseQuerySet(ContentQuerySet[Any]):
    """Announcements of the program."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(schedule_public("edition__", at), published_at__lte=moment(at))


class AgendaQuerySet(ContentQuerySet[Any]):
    """Visitors' agendas: never public, found by their secret alone."""

    def published(self, at: datetime | None = None) -> Self:
        return self.none()
