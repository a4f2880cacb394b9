"""What stands beside a paper: before and after it in its sessions, posters of its days and papers like it.

What takes place on a day is read once per revision for all papers of the day: a poster session holds
hundreds, and each of their pages needs the same rows.
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
from papers.querysets import PaperQuerySet
from papers.rows import PaperRow, RoomRow, TalkRow, authors, labels_of, paper_rows
from search import hits

# So many papers and so many posters are shown.
MAX_PAPERS, MAX_POSTERS = 5, 4
# Half a megabyte each for 1,500 posters.
CACHED_DAYS = 16
# Keyword lists, and times, that are parsed already.
PARSED_ENTRIES = 16_000
# Of posters, the same topic says as much as two keywords.
TOPIC_WEIGHT = 2
# Of papers, what each author and each keyword in common says, where a word of the title says 1.
SAME_AUTHOR, SAME_KEYWORD = 4, 3
# Shorter words of a title say little of what a paper is about.
MIN_WORD_CHARS = 6
# The keys of the papers before and after; `None` at the ends.
type Way = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The papers before and after a paper in one session; `None` at the ends."""

    session: Any
    before: PaperRow | None
    after: PaperRow | None


@dataclass(frozen=True, slots=True)
class Related:
    """Where one may go on to from a paper."""

    neighbors: list[Neighbors]
    posters: list[TalkRow]
    related: list[PaperRow]


def related(paper: Paper, at: datetime | None = None, most: int = MAX_POSTERS) -> Related:
    """Return what stands beside a paper that was fetched `in_full()`.

    Two queries, those of `similar_papers()`, and one for each day that is not cached.
    """
    papers = Paper.objects.published(at)
    sessions = {one.session_id: one.session for one in _taking_place(paper)}
    ways = {key: _way(paper, _day(paper, session.start, at).order(key)) for key, session in sessions.items()}
    alike, like = _similar_posters(paper, at)[:most], similar_papers(papers, paper, at)
    shown = {poster.paper for poster in alike if poster.paper} | {*like}
    found = paper_rows(papers, shown | {key for way in ways.values() for key in way if key}, at)
    people = authors(papers, shown, at)
    named = {key: line._replace(shown_authors=people[key]) for key, line in found.items()}
    neighbors = [
        Neighbors(sessions[key], found.get(before or 0), found.get(after or 0))
        for key, (before, after) in ways.items()
    ]
    return Related(
        [pair for pair in neighbors if pair.before or pair.after],
        [poster.row._replace(paper=named[poster.paper]) for poster in alike if poster.paper in named],
        [named[key] for key in like if key in named],
    )


def _taking_place(paper: Any) -> list[Any]:
    return [one for one in paper.appearances if one.session and not one.called_off]


def _day(paper: Paper, moment: datetime, at: datetime | None) -> "DayTalks":
    edition = paper.edition
    return day_talks_around(edition, at, *edition.day_bounds(edition.day_of(moment)))


def _way(paper: Paper, order: Sequence[int | None]) -> Way:
    """Return the keys of the papers before and after this one in a session."""
    if paper.pk not in order:
        return None, None
    place = order.index(paper.pk)
    return order[place - 1] if place else None, (*order, None)[place + 1]


# Papers like a paper


def similar_papers(papers: PaperQuerySet, paper: Paper, at: datetime | None = None) -> list[int]:
    """Return keys of papers like this one, the likest first: by words they share, in the search index.

    A paper that is alone there is shown with those of its authors and its topic.
    """
    if found := hits.related("paper", paper.pk, MAX_PAPERS):
        return [hit.object_id for hit in found]
    authors = [author.person_id for author in paper.shown_authors]
    wrote = published_rows(Paper, "authorships", at).filter(person__in=authors, paper__in=papers.values("pk"))
    same = papers.filter(topic=paper.topic_id) if paper.topic_id else papers.none()
    candidates = same.order_by().values_list("pk", "keywords", "sort_title")
    return most_similar(paper, wrote.order_by().values_list("paper_id", flat=True), candidates)


def most_similar(
    paper: Paper, authored: Iterable[int], candidates: Iterable[tuple[int, Collection[str], str]]
) -> list[int]:
    """Return the keys of the papers most like this one: by authors in common, keywords, words of the title.

    `authored` has the key of another paper once for each author in common.
    """
    points = Counter({key: SAME_AUTHOR * times for key, times in Counter(authored).items()})
    keywords, words = folded(paper.keywords), distinctive(paper.sort_title)
    for key, others, title in candidates:
        points[key] += SAME_KEYWORD * len(keywords & folded(others)) + len(words & distinctive(title))
    del points[paper.pk]
    ranked = sorted((key for key in points if points[key]), key=lambda key: (-points[key], key))
    return ranked[:MAX_PAPERS]


def distinctive(title: str) -> set[str]:
    """Return the words of a folded title that say what a paper is about."""
    return {word for word in title.split() if len(word) >= MIN_WORD_CHARS}


def folded(keywords: Collection[str] | None) -> frozenset[str]:
    """Return keywords as they are compared."""
    return frozenset(keyword.casefold() for keyword in keywords or ())


# Posters like a paper's own


def _similar_posters(paper: Any, at: datetime | None) -> "list[DayTalk]":
    """Return the posters of others on its posters' days that share topic or keywords, likest first."""
    if not (paper.topic_id or paper.keywords):
        return []
    own = [one for one in _taking_place(paper) if "poster" in (one.counts_as, one.session.counts_as)]
    day_of, days = paper.edition.day_of, {paper.edition.day_of(one.begins) for one in own}
    # A session may go on from one day to the next.
    posters = {_day(paper, moment, at).posters for one in own for moment in (one.begins, one.session.start)}
    found = most_similar_posters(posters, paper.topic_id, folded(paper.keywords))
    return [one for one in found if one.paper != paper.pk and one.starts and day_of(one.starts) in days]


@dataclass(slots=True, eq=False)
class DayTalk:
    """What takes place: a paper, if it is of one, in a session; `row` is its line, without the paper."""

    key: int
    paper: int | None
    session: int | None
    is_poster: bool
    topic: int | None
    keywords: frozenset[str]
    row: TalkRow

    @property
    def starts(self) -> datetime | None:
        return self.row.start

    @property
    def board(self) -> str:
        return self.row.board

    @property
    def position(self) -> int:
        return self.row.position


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


def most_similar_posters(
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


# What takes place on a day


class DayTalks:
    """What takes place in the sessions of a day, and its posters. Computed only when needed."""

    def __init__(self, talks: Iterable[DayTalk]) -> None:
        # The sort is stable.
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
    labels = labels_of(Paper, "presentations")
    return DayTalks(_talk(labels, columns) for columns in _day_rows(edition.pk, at, start, end))


# The columns of a day, as the database holds them: there are few different times and keywords, and each is
# parsed once.
INDEX_COLUMNS = ("pk", "paper_id", "session_id", "poster", "paper__topic_id")
LINE_COLUMNS = (
    *("uid", "kind", "kind_name", "counts_as", "board", "position", "title", "title_html"),
    *("room_key", "room_slug", "place"),
)


def _day_rows(edition: int, at: datetime, start: datetime, end: datetime) -> Any:
    rows = published_rows(Paper, "presentations", at).filter(edition=edition).on_day(start, end)
    texts = (Cast(name, TextField()) for name in ("paper__keywords", "starts", "ends"))
    return rows.order_by().values_list(*INDEX_COLUMNS, *texts, *LINE_COLUMNS)


def _talk(labels: dict[str, str], columns: Sequence[Any]) -> DayTalk:
    key, paper, session, poster, topic, keywords, starts, ends, *line = columns
    uid, kind, name, counts_as, board, position, title, title_html, room, slug, place = line
    row = TalkRow(
        uid,
        intern(kind),
        name or labels[kind],
        intern(counts_as),
        title,
        title_html,
        moment_of(starts),
        moment_of(ends),
        intern(board),
        position,
        room_id=room,
        room=room_row(slug, place) if room else None,
    )
    return DayTalk(key, paper, session, bool(poster), topic, keywords_of(keywords), row)


@lru_cache(maxsize=PARSED_ENTRIES)
def keywords_of(written: str | None) -> frozenset[str]:
    return folded(json.loads(written) if written else ())


@lru_cache(maxsize=PARSED_ENTRIES)
def moment_of(written: str | None) -> datetime | None:
    """Return a moment as the database writes it: without zone, where it knows none, it is of UTC."""
    found = datetime.fromisoformat(written) if written else None
    return found.replace(tzinfo=found.tzinfo or UTC) if found else None


room_row = lru_cache(maxsize=PARSED_ENTRIES)(RoomRow)
