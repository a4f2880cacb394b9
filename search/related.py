"""What is like a document: the words that say most about it, asked for in the same index."""

import math
from collections import Counter
from collections.abc import Mapping

from search.databases import engine
from search.engine import Described, WeightedWords
from search.hits import Hit

WORDS = 10
# Words of the title and topic count as often as if they stood so many times in the text.
TITLE_TIMES = 3
# All words together may stand in so many documents: the time of an answer grows with them.
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
    # The commonest word of a text stands in nearly every document: near enough to counting them.
    total = max(known.values(), default=0)
    weights = {
        word: (1 + math.log(times[word])) * math.log(1 + total / documents)
        for word, documents in known.items()
        if documents > 1 and times[word]
    }
    return _affordable(weights, known)


def _affordable(weights: dict[str, float], known: Mapping[str, int]) -> dict[str, float]:
    """Take the weightiest words as long as they do not stand in too many documents."""
    taken: dict[str, float] = {}
    left = MAX_FOUND
    for word in sorted(weights, key=lambda word: (-weights[word], word)):
        if len(taken) < WORDS and known[word] <= left:
            taken[word] = weights[word]
            left -= known[word]
    return taken
