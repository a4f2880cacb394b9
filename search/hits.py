"""What a query finds, best first: title over people over body.

Callers fetch the things themselves through `published()`.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from search.databases import engine
from search.engine import Engine, Scope, free
from search.models import Document
from search.query import Query, parse

# Nobody reads further, and counting on would cost more than finding.
MOST = 1000
SUGGESTIONS = 8


@dataclass(frozen=True)
class Hit:
    """A thing that was found; the score orders the hits of one search and means nothing else."""

    kind: str
    object_id: int
    edition: int | None
    score: float


@dataclass(frozen=True)
class Hits:
    """One page of what was found, and how much there is: exactly, or `capped` at the most that is counted."""

    page: tuple[Hit, ...] = ()
    count: int = 0
    capped: bool = False


def find(
    query: Query,
    *,
    edition: int | None = None,
    kinds: Collection[str] = (),
    hidden: Collection[int] = (),
    limit: int = 20,
    offset: int = 0,
) -> Hits:
    """Find documents of one edition with those of the whole site, or of all editions but the `hidden` ones.

    At most 1,000 are found, the newest where the database can tell. At most four
    queries, and one for each beginning of a word.
    """
    if not query:
        return Hits()
    scores = _scores(engine(), query, Scope(edition, tuple(kinds), tuple(hidden)))
    capped = len(scores) >= MOST
    found = list(scores.items())[:MOST]
    return Hits(tuple(_hits(found[max(0, offset) :][: max(0, limit)])), len(found), capped)


def suggest(text: str, edition: int | None = None, hidden: Collection[int] = ()) -> list[Hit]:
    """Find a few documents by title, people, topic and award while somebody types."""
    query = parse(text)
    if not query:
        return []
    scores = _in_head(engine(), query, Scope(edition, hidden=tuple(hidden)))
    return list(_hits([*scores.items()][:SUGGESTIONS]))


def _scores(asked: Engine, query: Query, scope: Scope) -> dict[int, float]:
    """Return the documents in their order: the head is small and asked first, and its hits lead."""
    # What must not stand in a body is not seen in a head.
    scores = {} if free(query.excluded) else _in_head(asked, query, scope)
    if free(query.terms) and len(scores) < MOST:
        _follow(scores, 0, asked.in_whole(query, scope, MOST))
    return scores


def _in_head(asked: Engine, query: Query, scope: Scope) -> dict[int, float]:
    """Whole words lead, words that only begin so follow."""
    scores: dict[int, float] = {}
    whole_words = query.whole_words()
    if whole_words != query:
        _follow(scores, 2, asked.in_head(whole_words, scope, MOST))
    if len(scores) < MOST:
        _follow(scores, 1, asked.in_head(query, scope, MOST))
    return scores


def _follow(scores: dict[int, float], rank: int, found: Iterable[tuple[int, float]]) -> None:
    """Put documents behind those that are there, with scores between this rank and the next."""
    for key, score in found:
        scores.setdefault(key, rank + score / (1 + score))


def _hits(found: Collection[tuple[int, float]]) -> Iterable[Hit]:
    rows = Document.objects.in_bulk([key for key, _ in found])
    for key, score in found:
        if row := rows.get(key):
            yield Hit(row.kind, row.object_id, row.edition, score)
