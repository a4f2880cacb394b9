"""What stands around a paper in its sessions and on its days: read once for all papers there.

A poster session holds hundreds, and each of their pages asks for the same rows. They are read as the database
holds them: times and keywords are few, and each is understood once.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import TextField
from django.db.models.functions import Cast

from conference.models import Edition
from conference.prepared import prepared
from conference.querysets import published_rows
from conference.standing import kept_while_it_stands
from papers.boards import NO_TIME, running_order
from papers.models import Paper

# Sessions, each with its posters' days, that are kept.
KEPT = 16
# The same topic says as much as two keywords.
TOPIC = 2
# What is read of them; not the words of papers.
KINDS = frozenset(["*papers.paper", "*schedule.presentation", "*schedule.room", "*schedule.session"])
# Keywords of so many papers, and so many times, are understood already.
UNDERSTOOD = 16_000
SHOWN = ("pk", "uid", "title", "title_html", "starts", "ends", "place", "board", "room_key", "paper_id")


class Talk(NamedTuple):
    """A paper at its place in a session."""

    starts: datetime | None
    board: str
    position: int
    paper: int | None


class Hung(NamedTuple):
    """A poster of a paper, by keys, and when one meets it."""

    poster: int
    paper: int
    starts: datetime
    position: int


class Posters:
    """Posters, found by what their papers are about."""

    def __init__(self) -> None:
        self._of_topic: dict[int, list[Hung]] = defaultdict(list)
        self._with_keyword: dict[str, list[Hung]] = defaultdict(list)

    def add(self, hung: Hung, topic: int | None, keywords: Iterable[str]) -> None:
        if topic:
            self._of_topic[topic].append(hung)
        for keyword in keywords:
            self._with_keyword[keyword].append(hung)

    def like(self, topic: int | None, keywords: Iterable[str]) -> list[Hung]:
        """Return the first poster of each paper that shares topic or keywords, likest first, else by time."""
        likeness: Counter[Hung] = Counter()
        for keyword in keywords:
            likeness.update(self._with_keyword.get(keyword, ()))
        for hung in self._of_topic.get(topic or 0, ()):
            likeness[hung] += TOPIC
        ranked = sorted(likeness, key=lambda hung: (-likeness[hung], hung.starts, hung.position, hung.poster))
        first: dict[int, Hung] = {}
        for hung in ranked:
            first.setdefault(hung.paper, hung)
        return [*first.values()]


class Around(NamedTuple):
    """The papers of each session in the order in which one meets them, and the posters."""

    orders: Mapping[int, tuple[int | None, ...]]
    posters: Posters


NOTHING = Around({}, Posters())


@kept_while_it_stands(KEPT, of=KINDS)
def around(
    edition: Edition,
    at: datetime,
    sessions: frozenset[int],
    spans: tuple[tuple[datetime, datetime], ...],
) -> Around:
    """Return what takes place in sessions, given by their keys, and the posters that begin in spans.

    One query, unless it was asked since the last change.
    """
    members: dict[int, list[Talk]] = defaultdict(list)
    posters = Posters()
    bounds = (moment for span in spans for moment in span)
    rows = _taking_place(edition.pk, at, tuple(sessions), *bounds)
    for key, paper, session, starts, board, position, is_poster, topic, keywords in rows:
        begins = moment_of(starts)
        if session in sessions:
            members[session].append(Talk(begins, board, position, paper))
        if is_poster and paper:
            posters.add(Hung(key, paper, begins or NO_TIME, position), topic, keywords_of(keywords))
    orders = {
        session: tuple(dict.fromkeys(talk.paper for talk in running_order(members[session])))
        for session in sessions
    }
    return Around(orders, posters)


def posters(keys: Collection[int], at: datetime) -> dict[int, Any]:
    """Return these posters by their keys, with their columns that are shown. One query, none without keys."""
    return {row[0]: row for row in _posters(keys, at)} if keys else {}


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


@prepared
def _taking_place(edition: int, at: datetime, sessions: Collection[int], *bounds: datetime) -> Any:
    spans = zip(bounds[::2], bounds[1::2], strict=True)
    rows = published_rows(Paper, "presentations", at).filter(edition=edition).beside(sessions, spans)
    begun = Cast("starts", TextField())
    keywords = Cast("paper__keywords", TextField())
    columns = ("pk", "paper_id", "session_id", begun, "board", "position", "poster", "paper__topic_id")
    # Each session is put in order by itself, and of the posters those that are shown; equals as they came.
    return rows.order_by("pk").values_list(*columns, keywords)


@prepared
def _posters(keys: Collection[int], at: datetime) -> Any:
    return published_rows(Paper, "presentations", at).filter(pk__in=keys).placed().values_list(*SHOWN)
