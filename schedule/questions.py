"""What every page of the timetable asks of the database.

Rows know the edition that they were asked for, so that none is fetched with each.
"""

from datetime import date, datetime
from typing import Any

from conference.models import Edition
from pagecache.per_revision import cached_per_revision
from papers.models import Topic
from schedule.models import Release, Room, Session

type Span = tuple[datetime, datetime]
CACHED_EDITIONS = 24


def day_sessions(edition: Edition, day: date, at: datetime) -> list[Session]:
    """Return the sessions that begin on a program day, as a timetable shows them. Two queries."""
    return known(_between(edition.pk, *edition.day_bounds(day), at), edition)


def family(edition: Edition, uid: str, at: datetime) -> list[Session]:
    """Return the session with this uid and its parts, as a timetable shows them. Two queries."""
    return known(_family(edition.pk, uid, at), edition)


def sessions_beside(session: Session, at: datetime) -> list[Session]:
    """Return the sessions of the same day that one may go on to from there, in order. One query."""
    edition = session.edition
    span = edition.day_bounds(edition.day_of(session.start))
    rows: list[Session] = _beside(edition.pk, session.pk, session.parent_id, *span, at)
    for row in rows:
        row.edition = edition
    return rows


def used_days(edition: Edition, at: datetime) -> set[date]:
    """Return the program days on which sessions begin. One query, with the kinds."""
    return {edition.day_of(start) for start, _ in used(edition, at)}


def used_kinds(edition: Edition, at: datetime) -> set[str]:
    """Return the kinds of sessions that occur. One query, with the days."""
    return {kind for _, kind in used(edition, at)}


@cached_per_revision(CACHED_EDITIONS)
def used(edition: Edition, at: datetime) -> list[tuple[datetime, str]]:
    """Return the different starts and kinds of sessions."""
    return list(_used(edition.pk, at))


def used_rooms(edition: Edition, at: datetime) -> list[Room]:
    """Return the rooms in which something takes place, in order. One query."""
    return list(_rooms(edition.pk, at))


def used_topics(edition: Edition, at: datetime) -> list[Topic]:
    """Return the topics that have papers. One query."""
    return list(_topics(edition.pk, at))


def current_release(edition: Edition, at: datetime) -> Release | None:
    """Return the newest release that is out. One query."""
    return next(iter(_releases(edition.pk, at)), None)


def known(sessions: list[Session], edition: Edition) -> list[Session]:
    """Return sessions of an edition with it, in their rooms and wholes too."""
    for session in sessions:
        for row in (session, session.room, session.parent):
            if row:
                row.edition = edition
    return sessions


def _sessions(edition: int, at: datetime) -> Any:
    return Session.objects.published(at).filter(edition=edition)


def _shown(rows: Any, at: datetime) -> Any:
    return rows.in_order().select_related("room", "parent").with_people(at).with_talk_counts(at)


def _between(edition: int, start: datetime, end: datetime, at: datetime) -> Any:
    return _shown(_sessions(edition, at).starting_between(start, end), at)


def _family(edition: int, uid: str, at: datetime) -> Any:
    return _shown(_sessions(edition, at).with_parts(uid), at)


def _beside(edition: int, key: int, parent: int | None, start: datetime, end: datetime, at: datetime) -> Any:
    return _sessions(edition, at).starting_between(start, end).beside(key, parent)


def _used(edition: int, at: datetime) -> Any:
    return _sessions(edition, at).order_by().values_list("start", "kind").distinct()


def _rooms(edition: int, at: datetime) -> Any:
    return Room.objects.published(at).filter(edition=edition)


def _topics(edition: int, at: datetime) -> Any:
    return Topic.objects.published(at).filter(edition=edition)


def _releases(edition: int, at: datetime) -> Any:
    return Release.objects.published(at).filter(edition=edition).newest_first()[:1]
