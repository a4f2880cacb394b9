"""What takes place on the days of a paper: read once per revision for all papers of the day.

A poster session holds hundreds, and each of their pages needs the same rows. They are read as plain columns:
there are few different times and keywords, and each is parsed once.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from sys import intern
from typing import Any

from django.db.models import TextField
from django.db.models.functions import Cast

from conference.models import Edition
from content.querysets import published_rows
from pagecache.per_revision import cached_per_revision
from papers.board_order import NO_TIME, running_order
from papers.models import Paper

# Half a megabyte each for 1,500 posters.
CACHED_DAYS = 16
# The same topic says as much as two keywords.
TOPIC_WEIGHT = 2
# Keyword lists, and times, that are parsed already.
PARSED_ENTRIES = 16_000


@dataclass(slots=True, eq=False)
class DayTalk:
    """What takes place: a paper, if it is of one, in a session. `place` is the name of its room."""

    key: int
    paper: int | None
    session: int | None
    starts: datetime | None
    ends: datetime | None
    board: str
    position: int
    is_poster: bool
    topic: int | None
    keywords: frozenset[str]
    uid: str
    title: str
    title_html: str
    place: str
    room_id: int | None


class PosterIndex:
    """Posters, found by what their papers are about."""

    def __init__(self, posters: Iterable[DayTalk]) -> None:
        self._of_topic: dict[int, list[DayTalk]] = defaultdict(list)
        self._with_keyword: dict[str, list[DayTalk]] = defaultdict(list)
        for poster in posters:
            if poster.topic:
                self._of_topic[poster.topic].append(poster)
            for keyword in poster.keywords:
                self._with_keyword[keyword].append(poster)

    def likeness(self, topic: int | None, keywords: Iterable[str]) -> dict[DayTalk, int]:
        """Return the posters that share topic or keywords, with how much they share."""
        found: Counter[DayTalk] = Counter()
        for keyword in keywords:
            found.update(self._with_keyword.get(keyword, ()))
        for poster in self._of_topic.get(topic or 0, ()):
            found[poster] += TOPIC_WEIGHT
        return found


def most_similar(
    posters: Iterable[PosterIndex], topic: int | None, keywords: Collection[str]
) -> list[DayTalk]:
    """Return the first poster of each paper that shares topic or keywords, likest first, else by time."""
    likeness: dict[DayTalk, int] = {}
    for some in posters:
        likeness |= some.likeness(topic, keywords)

    def rank(poster: DayTalk) -> tuple[object, ...]:
        return -likeness[poster], poster.starts or NO_TIME, poster.position, poster.key

    first: dict[int | None, DayTalk] = {}
    for poster in sorted(likeness, key=rank):
        first.setdefault(poster.paper, poster)
    return [*first.values()]


class DayTalks:
    """What takes place in the sessions of a day, and its posters. What nobody asks for is not worked out."""

    def __init__(self, talks: Iterable[DayTalk]) -> None:
        # Equals stand in order as they came.
        self.talks = sorted(talks, key=attrgetter("key"))
        self._members: dict[int | None, list[DayTalk]] = defaultdict(list)
        for talk in self.talks:
            self._members[talk.session].append(talk)
        self._orders: dict[int, tuple[int | None, ...]] = {}
        self._posters: PosterIndex | None = None

    def order(self, session: int) -> tuple[int | None, ...]:
        """Return the papers of a session in the order in which one meets them."""
        if session not in self._orders:
            met = running_order(self._members.get(session, ()))
            self._orders[session] = tuple(dict.fromkeys(talk.paper for talk in met))
        return self._orders[session]

    @property
    def posters(self) -> PosterIndex:
        """The posters of papers."""
        if self._posters is None:
            self._posters = PosterIndex(talk for talk in self.talks if talk.is_poster and talk.paper)
        return self._posters


@cached_per_revision(CACHED_DAYS)
def day_talks_around(edition: Edition, at: datetime, start: datetime, end: datetime) -> DayTalks:
    """Return what takes place in the sessions that begin between two moments.

    One query after a change.
    """
    return DayTalks(map(_talk, talk_rows(edition.pk, at, start, end)))


def _talk(columns: Sequence[Any]) -> DayTalk:
    key, paper, session, starts, ends, board, position, poster, topic, keywords, uid, *named, room = columns
    title, title_html, place = (intern(name or "") for name in named)
    return DayTalk(
        key,
        paper,
        session,
        moment_of(starts),
        moment_of(ends),
        intern(board),
        position,
        bool(poster),
        topic,
        keywords_of(keywords),
        uid,
        title,
        title_html,
        place,
        room,
    )


def folded(keywords: Collection[str] | None) -> frozenset[str]:
    """Return keywords as they are compared."""
    return frozenset(keyword.casefold() for keyword in keywords or ())


@lru_cache(maxsize=PARSED_ENTRIES)
def keywords_of(written: str | None) -> frozenset[str]:
    return folded(json.loads(written) if written else ())


@lru_cache(maxsize=PARSED_ENTRIES)
def moment_of(written: str | None) -> datetime | None:
    """Return a moment as the database writes it: without zone, where it knows none, it is of UTC."""
    found = datetime.fromisoformat(written) if written else None
    return found.replace(tzinfo=found.tzinfo or UTC) if found else None


def talk_rows(edition: int, at: datetime, start: datetime, end: datetime) -> Any:
    """Return the columns of what takes place between two moments, as the database holds them."""
    rows = published_rows(Paper, "presentations", at).filter(edition=edition).on_day(start, end)
    times = (Cast(name, TextField()) for name in ("starts", "ends"))
    shown = ("uid", "title", "title_html", "place", "room_key")
    columns = ("board", "position", "poster", "paper__topic_id", Cast("paper__keywords", TextField()), *shown)
    return rows.order_by().values_list("pk", "paper_id", "session_id", *times, *columns)
