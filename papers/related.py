"""Related papers: the neighbors in a paper's sessions, similar posters of the same days, and similar papers.

The talks of a day are cached per revision, because the pages of hundreds of posters need the same rows.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any, NamedTuple

from conference.models import Edition
from content.querysets import published_rows
from pagecache.per_revision import cached_per_revision
from papers.models import Paper
from papers.querysets import PaperQuerySet
from papers.rows import (
    PaperRow,
    TalkRow,
    appearances_by_paper,
    authors_by_paper,
    group_values,
    paper_rows,
    running_order,
)
from search import hits

MAX_PAPERS, MAX_POSTERS = 5, 4
# A cache entry takes about 1 MB for 1,500 posters.
CACHED_DAYS = 16
# For posters, a common topic counts as much as two common keywords.
TOPIC_WEIGHT = 2
# For papers, a common title word counts 1.
SAME_AUTHOR_WEIGHT, SAME_KEYWORD_WEIGHT = 4, 3
# Shorter title words are not distinctive.
MIN_WORD_CHARS = 6
# The keys of the papers before and after; `None` at the ends.
type NeighborKeys = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The papers before and after a paper in one session; `None` at the ends."""

    session: Any
    before: PaperRow | None
    after: PaperRow | None


@dataclass(frozen=True, slots=True)
class Related:
    neighbors: list[Neighbors]
    posters: list[TalkRow]
    papers: list[PaperRow]


def find_related(paper: Paper, at: datetime | None = None) -> Related:
    """Return the related papers of a paper, which must be fetched `with_details()`.

    Two queries, those of `similar_papers()`, one for similar posters, one for each day that is not cached.
    """
    papers = Paper.objects.published(at)
    sessions = {appearance.session_id: appearance.session for appearance in _scheduled_appearances(paper)}
    neighbors_by_session = {
        key: _neighbor_keys(paper, _day_talks(paper, session.start, at).orders.get(key, ()))
        for key, session in sessions.items()
    }
    similar, similar_keys = similar_posters(paper, at)[:MAX_POSTERS], similar_papers(papers, paper, at)
    shown_keys = {poster.paper for poster in similar if poster.paper} | {*similar_keys}
    neighbor_keys = {key for pair in neighbors_by_session.values() for key in pair if key}
    rows = paper_rows(papers, shown_keys | neighbor_keys, at)
    authors = authors_by_paper(papers, shown_keys, at)
    full_rows = {key: row._replace(shown_authors=authors[key]) for key, row in rows.items()}
    posters = appearances_by_paper(papers, {poster.paper for poster in similar if poster.paper}, at)
    posters_by_uid = {poster.uid: poster for rows in posters.values() for poster in rows}
    neighbors = [
        Neighbors(sessions[key], rows.get(before or 0), rows.get(after or 0))
        for key, (before, after) in neighbors_by_session.items()
    ]
    return Related(
        [pair for pair in neighbors if pair.before or pair.after],
        [
            posters_by_uid[poster.uid]._replace(paper=full_rows[poster.paper])
            for poster in similar
            if poster.paper in full_rows and poster.uid in posters_by_uid
        ],
        [full_rows[key] for key in similar_keys if key in full_rows],
    )


def _scheduled_appearances(paper: Any) -> list[Any]:
    return [talk for talk in paper.appearances if talk.session and not talk.called_off]


def _day_talks(paper: Paper, moment: datetime, at: datetime | None) -> "DayTalks":
    edition = paper.edition
    return day_talks(edition, at, *edition.day_bounds(edition.day_of(moment)))


def _neighbor_keys(paper: Paper, order: Sequence[int | None]) -> NeighborKeys:
    """Return the keys of the papers before and after this one in a session."""
    if paper.pk not in order:
        return None, None
    index = order.index(paper.pk)
    return order[index - 1] if index else None, (*order, None)[index + 1]


# Similar papers


def similar_papers(papers: PaperQuerySet, paper: Paper, at: datetime | None = None) -> list[int]:
    """Return the keys of papers with common words in the search index, most similar first.

    If there are none, fall back to papers by its authors and on its topic.
    """
    if related_hits := hits.find_related("paper", paper.pk, MAX_PAPERS):
        return [hit.object_id for hit in related_hits]
    authors = [author.person_id for author in paper.shown_authors]
    coauthored = published_rows(Paper, "authorships", at).filter(
        person__in=authors, paper__in=papers.values("pk")
    )
    same_topic = papers.filter(topic=paper.topic_id) if paper.topic_id else papers.none()
    candidates = same_topic.order_by().values_list("pk", "keywords", "sort_title")
    return most_similar(paper, coauthored.order_by().values_list("paper_id", flat=True), candidates)


def most_similar(
    paper: Paper, authored_keys: Iterable[int], candidates: Iterable[tuple[int, Collection[str], str]]
) -> list[int]:
    """Return the keys of the most similar papers, by common authors, keywords and title words.

    `authored_keys` contains the key of another paper once for each common author.
    """
    points = Counter({key: SAME_AUTHOR_WEIGHT * count for key, count in Counter(authored_keys).items()})
    keywords, words = fold_keywords(paper.keywords), distinctive_words(paper.sort_title)
    for key, other_keywords, title in candidates:
        points[key] += SAME_KEYWORD_WEIGHT * len(keywords & fold_keywords(other_keywords))
        points[key] += len(words & distinctive_words(title))
    del points[paper.pk]
    ranked = sorted((key for key in points if points[key]), key=lambda key: (-points[key], key))
    return ranked[:MAX_PAPERS]


def distinctive_words(title: str) -> set[str]:
    """Return the longer words of a folded title."""
    return {word for word in title.split() if len(word) >= MIN_WORD_CHARS}


def fold_keywords(keywords: Collection[str] | None) -> frozenset[str]:
    return frozenset(keyword.casefold() for keyword in keywords or ())


# Similar posters


def similar_posters(paper: Any, at: datetime | None = None) -> "list[DayTalk]":
    """Return posters of other papers on the same days with a common topic or keyword, most similar first.

    Of a paper with several posters, only the first is returned.
    """
    keywords = fold_keywords(paper.keywords)
    if not (paper.topic_id or keywords):
        return []
    own_posters = [
        talk for talk in _scheduled_appearances(paper) if "poster" in (talk.counts_as, talk.session.counts_as)
    ]
    day_of = paper.edition.day_of
    days = {day_of(talk.begins) for talk in own_posters}
    # A session may last past midnight, so include the day of its start.
    moments = {moment for talk in own_posters for moment in (talk.begins, talk.session.start)}
    posters = {poster.uid: poster for moment in moments for poster in _day_talks(paper, moment, at).posters}
    ranked = []
    for poster in posters.values():
        points = len(keywords & poster.keywords)
        points += TOPIC_WEIGHT if poster.topic and poster.topic == paper.topic_id else 0
        if points and poster.paper != paper.pk and poster.starts and day_of(poster.starts) in days:
            ranked.append(((-points, poster.starts, poster.position), poster))
    first_posters: dict[int | None, DayTalk] = {}
    for _, poster in sorted(ranked, key=itemgetter(0)):
        first_posters.setdefault(poster.paper, poster)
    return [*first_posters.values()]


# The talks of a day


class DayTalk(NamedTuple):
    """The values of a presentation by which neighbors and similar posters are found and sorted."""

    uid: str
    paper: int | None
    session: int | None
    topic: int | None
    starts: datetime | None
    board: str
    position: int
    keywords: frozenset[str]


@dataclass(frozen=True, slots=True)
class DayTalks:
    """The papers of each session of a day in running order, and the posters of papers."""

    orders: Mapping[int | None, Sequence[int | None]]
    posters: Sequence[DayTalk]


@cached_per_revision(CACHED_DAYS)
def day_talks(edition: Edition, at: datetime, start: datetime, end: datetime) -> DayTalks:
    """Return the talks of sessions that begin between two moments. One query after a change."""
    rows = published_rows(Paper, "presentations", at).filter(edition=edition).on_day(start, end)
    columns = ("uid", "paper_id", "session_id", "paper__topic_id", "begins", "board", "position")
    talks, posters = [], []
    for *values, keywords, is_poster in rows.order_by("pk").rows(*columns, "paper__keywords", "poster"):
        talk = DayTalk._make((*values, fold_keywords(keywords)))
        talks.append(talk)
        if is_poster and talk.paper:
            posters.append(talk)
    sessions = group_values((talk.session, talk) for talk in talks)
    orders = {
        session: [*dict.fromkeys(talk.paper for talk in running_order(session_talks))]
        for session, session_talks in sessions.items()
    }
    return DayTalks(orders, posters)
