"""What every page of the timetable asks of the database.

Rows know the edition that they were queried for, so that none is fetched with each.
"""

from collections.abc import Iterable
from datetime import date, datetime

from conference.models import Edition
from pagecache.per_revision import cached_per_revision
from papers.models import Topic
from schedule.models import Release, Room, Session
from schedule.querysets import SessionQuerySet
from schedule.session_kinds import AppliesTo, kind_label

type Span = tuple[datetime, datetime]
CACHED_EDITIONS = 24


def day_sessions(edition: Edition, day: date, at: datetime) -> list[Session]:
    """Return the sessions that begin on a program day, as a timetable shows them. Two queries."""
    return known(_shown(_published(edition, at).starting_between(*edition.day_bounds(day)), at), edition)


def family(edition: Edition, uid: str, at: datetime) -> list[Session]:
    """Return the session with this uid and its parts, as a timetable shows them. Two queries."""
    return known(_shown(_published(edition, at).with_parts(uid), at), edition)


def sessions_beside(session: Session, at: datetime) -> list[Session]:
    """Return the sessions of the same day that one may go on to from there, in order. One query."""
    edition = session.edition
    span = edition.day_bounds(edition.day_of(session.start))
    rows = _published(edition, at).starting_between(*span).beside(session.pk, session.parent_id)
    for row in rows:
        row.edition = edition
    return list(rows)


def used_days(edition: Edition, at: datetime) -> set[date]:
    """Return the program days on which sessions begin. One query, with the kinds."""
    return {edition.day_of(start) for start, *_ in used(edition, at)}


def used_kinds(edition: Edition, at: datetime) -> list[tuple[str, str]]:
    """Return the kinds of sessions that occur, slug and label: each by what it counts as, built-in first.

    One query, with the days.
    """
    order = {slug: place for place, slug in enumerate(Session.Kind.values)}
    kinds = {(order[counts_as], name, kind) for _, kind, counts_as, name in used(edition, at)}
    return [(kind, kind_label(AppliesTo.SESSION, kind, name)) for _, name, kind in sorted(kinds)]


@cached_per_revision(CACHED_EDITIONS)
def used(edition: Edition, at: datetime) -> list[tuple[datetime, str, str, str]]:
    """Return the different starts and kinds of sessions: slug, what it counts as, own name."""
    return list(
        _published(edition, at).order_by().values_list("start", "kind", "counts_as", "kind_name").distinct()
    )


def used_rooms(edition: Edition, at: datetime) -> list[Room]:
    """Return the rooms in which something takes place, in order. One query."""
    return list(Room.objects.published(at).filter(edition=edition))


def used_topics(edition: Edition, at: datetime) -> list[Topic]:
    """Return the topics that have papers. One query."""
    return list(Topic.objects.published(at).filter(edition=edition))


def current_release(edition: Edition, at: datetime) -> Release | None:
    """Return the newest release that is out. One query."""
    return Release.objects.published(at).filter(edition=edition).newest_first().first()


def known(sessions: Iterable[Session], edition: Edition) -> list[Session]:
    """Return sessions of an edition with it, in their rooms and wholes too."""
    found = list(sessions)
    for session in found:
        for row in (session, session.room, session.parent):
            if row:
                row.edition = edition
    return found


def _published(edition: Edition, at: datetime) -> SessionQuerySet:
    return Session.objects.published(at).filter(edition=edition)


def _shown(rows: SessionQuerySet, at: datetime) -> SessionQuerySet:
    return rows.in_order().select_related("room", "parent").with_people(at).with_talk_counts(at)
