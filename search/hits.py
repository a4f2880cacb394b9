"""What a query finds, best first: title over people over body.

Callers fetch the things themselves through `published()`.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from search.databases import engine
from search.engine import Engine, Found, SearchScope, free
from search.query import Query, parse

# Nobody reads further, and counting on would cost more than finding.
MAX_HITS = 1000
SUGGESTIONS = 8
# The best of so many: somebody who types does not wait.
SUGGESTION_CANDIDATES = 250


@dataclass(frozen=True, slots=True)
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

    At most 1,000 are found, the newest where the database can tell. At most five queries.
    """
    if not query:
        return Hits()
    found = _found(engine(), query, SearchScope(edition, tuple(kinds), tuple(hidden)))
    hits = list(found.values())[:MAX_HITS]
    return Hits(tuple(hits[max(0, offset) :][: max(0, limit)]), len(hits), len(found) >= MAX_HITS)


def suggest(text: str, edition: int | None = None, hidden: Collection[int] = ()) -> list[Hit]:
    """Find a few documents by title, people, topic and award while somebody types."""
    query = parse(text)
    if not query:
        return []
    scope = SearchScope(edition, hidden=tuple(hidden))
    asked = engine()
    glanced = asked.glance(query.terms)
    found = _in_head(asked, query, scope, SUGGESTION_CANDIDATES)
    if glanced and len(found) < SUGGESTIONS:
        found = _in_head(engine(), query, scope, SUGGESTION_CANDIDATES)
    return list(found.values())[:SUGGESTIONS]


def _found(asked: Engine, query: Query, scope: SearchScope) -> dict[int, Hit]:
    """Return what was found by its document, in order: the head is small and asked first, its hits lead."""
    # What must not stand in a body is not seen in a head.
    hits = {} if free(query.excluded) else _in_head(asked, query, scope, MAX_HITS)
    if free(query.terms) and len(hits) < MAX_HITS:
        asked.learn(query.terms)
        asked.glance(query.terms)
        _follow(hits, 0, asked.in_whole(query, scope, MAX_HITS))
    return hits


def _in_head(asked: Engine, query: Query, scope: SearchScope, most: int) -> dict[int, Hit]:
    """Whole words lead, words that only begin so follow."""
    hits: dict[int, Hit] = {}
    whole_words = query.whole_words()
    if whole_words != query:
        _follow(hits, 2, asked.in_head(whole_words, scope, most))
    if len(hits) < most:
        asked.learn(query.terms)
        _follow(hits, 1, asked.in_head(query, scope, most))
    return hits


def _follow(hits: dict[int, Hit], rank: int, found: Iterable[Found]) -> None:
    """Put documents behind those that are there, with scores between this rank and the next."""
    for document, score, kind, object_id, edition in found:
        if document not in hits:
            hits[document] = Hit(kind, object_id, edition, rank + score / (1 + score))
