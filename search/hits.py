"""What a query finds, best first: title over people over body; and what is like a document.

Callers fetch the things themselves through `published()`.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from search.databases import engine
from search.engine import Described, Engine, Found, SearchScope, WeightedWords, free
from search.query import Query, parse

# Readers go no further, and counting would cost more than finding.
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
    limit: int = 20,
    offset: int = 0,
) -> Hits:
    """Find documents of one edition with those of the whole site, or of all editions.

    At most 1,000 are found, the newest where the database can tell. At most five queries.
    """
    if not query:
        return Hits()
    found = _found(engine(), query, SearchScope(edition, tuple(kinds)))
    hits = list(found.values())[:MAX_HITS]
    return Hits(tuple(hits[max(0, offset) :][: max(0, limit)]), len(hits), len(found) >= MAX_HITS)


def suggest(text: str, edition: int | None = None) -> list[Hit]:
    """Find a few documents by title, people, topic and award while somebody types."""
    query = parse(text)
    if not query:
        return []
    scope = SearchScope(edition)
    asked = engine()
    glanced = asked.glance(query.terms)
    found = _in_head(asked, query, scope, SUGGESTION_CANDIDATES)
    if glanced and len(found) < SUGGESTIONS:
        found = _in_head(engine(), query, scope, SUGGESTION_CANDIDATES)
    return list(found.values())[:SUGGESTIONS]


def _found(asked: Engine, query: Query, scope: SearchScope) -> dict[int, Hit]:
    """Return what was found by its document, in order: the head is small and asked first, its hits lead."""
    # Excluded words may occur in the body, which a head does not show.
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


WORDS = 10
# Weight of words of the title and topic, as occurrences in the text.
TITLE_TIMES = 3
# Maximum documents for all words together, to bound the time of a search.
MAX_FOUND = 1000


def related(kind: str, object_id: int, limit: int = 6) -> list[Hit]:
    """Find things of the same kind that share the document's ten strongest words (TF-IDF). Two queries."""
    document = engine().described(kind, object_id)
    weights = _strongest(document) if document else {}
    if not document or not weights:
        return []
    found = engine().alike(WeightedWords(weights, document.key, kind), limit)
    return [Hit(kind, *thing, 1 / place) for place, thing in enumerate(found, start=1)]


def _strongest(document: Described) -> dict[str, float]:
    times, known = Counter(document.body.split()), document.documents
    for word in document.head.split():
        times[word] += TITLE_TIMES
    # The commonest word of a text occurs in nearly every document, which approximates their count.
    total = max(known.values(), default=0)
    weights = {
        word: (1 + math.log(times[word])) * math.log(1 + total / documents)
        for word, documents in known.items()
        if documents > 1 and times[word]
    }
    return _affordable(weights, known)


def _affordable(weights: dict[str, float], known: Mapping[str, int]) -> dict[str, float]:
    """Take the weightiest words as long as they do not occur in too many documents."""
    taken: dict[str, float] = {}
    left = MAX_FOUND
    for word in sorted(weights, key=lambda word: (-weights[word], word)):
        if len(taken) < WORDS and known[word] <= left:
            taken[word] = weights[word]
            left -= known[word]
    return taken
