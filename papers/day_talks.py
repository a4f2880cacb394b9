"""What stands around a paper on its days: read once for all papers there, and mended where a few change.

A poster session holds hundreds, and each of their pages asks for the same rows. They are read as the database
holds them: times and keywords are few, and each is understood once.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from sys import intern
from typing import Any

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from conference.models import Edition
from content import touches
from content.querysets import published_rows
from pagecache.per_revision import kept_while_it_stands
from papers.board_order import NO_TIME, running_order
from papers.models import Paper

# Days that are kept: half a megabyte each for 1,500 posters.
KEPT = 16
# The same topic says as much as two keywords.
TOPIC = 2
# What is read of them; not the words of papers.
TALKS, PAPERS = "*schedule.presentation", "*papers.paper"
KINDS = frozenset([PAPERS, TALKS, "*schedule.room", "*schedule.session"])
# Keywords of so many papers, and so many times, are understood already.
UNDERSTOOD = 16_000


@dataclass(slots=True, eq=False)
class Talk:
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


class Posters:
    """Posters, found by what their papers are about."""

    def __init__(self, posters: Iterable[Talk]) -> None:
        self._of_topic: dict[int, list[Talk]] = defaultdict(list)
        self._with_keyword: dict[str, list[Talk]] = defaultdict(list)
        for poster in posters:
            if poster.topic:
                self._of_topic[poster.topic].append(poster)
            for keyword in poster.keywords:
                self._with_keyword[keyword].append(poster)

    def likeness(self, topic: int | None, keywords: Iterable[str]) -> dict[Talk, int]:
        """Return the posters that share topic or keywords, with how much they share."""
        found: Counter[Talk] = Counter()
        for keyword in keywords:
            found.update(self._with_keyword.get(keyword, ()))
        for poster in self._of_topic.get(topic or 0, ()):
            found[poster] += TOPIC
        return found


def likest(posters: Iterable[Posters], topic: int | None, keywords: Collection[str]) -> list[Talk]:
    """Return the first poster of each paper that shares topic or keywords, likest first, else by time."""
    likeness: dict[Talk, int] = {}
    for some in posters:
        likeness |= some.likeness(topic, keywords)

    def rank(poster: Talk) -> tuple[object, ...]:
        return -likeness[poster], poster.starts or NO_TIME, poster.position, poster.key

    first: dict[int | None, Talk] = {}
    for poster in sorted(likeness, key=rank):
        first.setdefault(poster.paper, poster)
    return [*first.values()]


class Day:
    """What takes place in the sessions of a day, and its posters. What nobody asks for is not worked out."""

    def __init__(self, talks: Iterable[Talk]) -> None:
        # Equals stand in order as they came.
        self.talks = sorted(talks, key=attrgetter("key"))
        self._members: dict[int | None, list[Talk]] = defaultdict(list)
        for talk in self.talks:
            self._members[talk.session].append(talk)
        self._orders: dict[int, tuple[int | None, ...]] = {}
        self._posters: Posters | None = None

    def order(self, session: int) -> tuple[int | None, ...]:
        """Return the papers of a session in the order in which one meets them."""
        if session not in self._orders:
            met = running_order(self._members.get(session, ()))
            self._orders[session] = tuple(dict.fromkeys(talk.paper for talk in met))
        return self._orders[session]

    @property
    def posters(self) -> Posters:
        """The posters of papers."""
        if self._posters is None:
            self._posters = Posters(talk for talk in self.talks if talk.is_poster and talk.paper)
        return self._posters


def _mended(found: Day, names: Set[str], edition: Edition, at: datetime, *span: datetime) -> Day | None:
    """Read again the talks that changed, and those of the papers that did. One query."""
    keys, papers = (set(map(int, touches.keys(names, kind))) for kind in (TALKS, PAPERS))
    if len(keys) + len(papers) < len(names):
        return None
    left = (talk for talk in found.talks if talk.key not in keys and talk.paper not in papers)
    return Day([*left, *map(_talk, _changed(edition.pk, at, keys, papers, *span))])


@kept_while_it_stands(KEPT, of=KINDS, mended=_mended)
def around(edition: Edition, at: datetime, start: datetime, end: datetime) -> Day:
    """Return what takes place in the sessions that begin between two moments.

    One query, unless it was asked since the last change.
    """
    return Day(map(_talk, _taking_place(edition.pk, at, start, end)))


def _talk(columns: Sequence[Any]) -> Talk:
    key, paper, session, starts, ends, board, position, poster, topic, keywords, uid, *named, room = columns
    title, title_html, place = (intern(name or "") for name in named)
    return Talk(
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


@lru_cache(maxsize=UNDERSTOOD)
def keywords_of(written: str | None) -> frozenset[str]:
    return folded(json.loads(written) if written else ())


@lru_cache(maxsize=UNDERSTOOD)
def moment_of(written: str | None) -> datetime | None:
    """Return a moment as the database writes it: without zone, where it knows none, it is of UTC."""
    found = datetime.fromisoformat(written) if written else None
    return found.replace(tzinfo=found.tzinfo or UTC) if found else None


# Questions


def _taking_place(edition: int, at: datetime, start: datetime, end: datetime) -> Any:
    return _on_day(edition, at, start, end)


def _changed(
    edition: int, at: datetime, keys: Collection[int], papers: Collection[int], start: datetime, end: datetime
) -> Any:
    return _on_day(edition, at, start, end).filter(Q(pk__in=keys) | Q(paper__in=papers))


def _on_day(edition: int, at: datetime, start: datetime, end: datetime) -> Any:
    rows = published_rows(Paper, "presentations", at).filter(edition=edition).on_day(start, end)
    times = (Cast(name, TextField()) for name in ("starts", "ends"))
    shown = ("uid", "title", "title_html", "place", "room_key")
    columns = ("board", "position", "poster", "paper__topic_id", Cast("paper__keywords", TextField()), *shown)
    return rows.order_by().values_list("pk", "paper_id", "session_id", *times, *columns)
