"""Live notices: announcements about a session, shown as a banner until a set time.

A live notice is an announcement with `banner_until`. Its text is also in the news and in their feed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Exists, OuterRef, QuerySet

from conference.models import Announcement, Edition
from pagecache.per_revision import cached_per_revision
from schedule.models import Session

CACHED_EDITIONS = 12
# The default for editions that were fetched without the end of their last banner.
NEVER_ENDS = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LiveNotice:
    """An announcement with a visible banner. News are a lower package, so it has the uid of its session."""

    announcement: Announcement
    about: str
    # Whether the session is public, so that it has a page.
    is_linked: bool


def with_sessions(edition: Edition, at: datetime) -> QuerySet[Announcement]:
    """Return the public news of an edition, annotated with `has_session`: whether the session is public."""
    sessions = edition.sessions.published(at).filter(uid=OuterRef("session_uid"))
    return edition.announcements.published(at).annotate(has_session=Exists(sessions.order_by()))


def banners(news: Iterable[Announcement], at: datetime) -> list[LiveNotice]:
    """Return the notices among news `with_sessions()` whose banner is shown at a moment, newest first."""
    current = [row for row in news if row.banner_until is not None and at < row.banner_until]
    current.sort(key=lambda row: row.published_at, reverse=True)
    return [LiveNotice(row, row.session_uid, vars(row)["has_session"]) for row in current]


@cached_per_revision(CACHED_EDITIONS, is_dated=True)
def _with_shown_banner(edition: Edition, at: datetime) -> tuple[Announcement, ...]:
    """Return the announcements whose banner is shown at a moment. One query."""
    return tuple(with_sessions(edition, at).filter(banner_until__gt=at))


def live_notices(edition: Edition, at: datetime) -> list[LiveNotice]:
    """Return the notices whose banner is shown at a moment, newest first.

    No query for an edition of `published_editions()` whose last banner has ended.
    """
    last = vars(edition).get("last_banner", NEVER_ENDS)
    return banners(_with_shown_banner(edition, at), at) if last is not None and at < last else []


def notices_about(edition: Edition, at: datetime, sessions: Iterable[Session | None]) -> list[LiveNotice]:
    """Return the notices of these sessions and their parents."""
    notices = live_notices(edition, at)
    if not notices:
        return []
    session_uids: set[str] = set()
    for session in filter(None, sessions):
        session_uids.update((session.uid, session.parent.uid) if session.parent else (session.uid,))
    return [notice for notice in notices if notice.about in session_uids]


def mark_notices(sessions: Iterable[Session], edition: Edition, at: datetime) -> None:
    """Set `notices` of the sessions: the titles of their own notices."""
    notices = live_notices(edition, at)
    if notices:
        for session in sessions:
            session.notices = [notice.announcement.title for notice in notices if notice.about == session.uid]
