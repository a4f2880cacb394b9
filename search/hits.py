"""Search results, best first: title over people over body; related documents; corrected queries.

Callers must fetch the rows through `published()`.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from rapidfuzz.distance import OSA

from search.engine import Engine, Markers, ScoredDocument, engine, required_markers
from search.models import Word
from search.query import Field, Query, Term, parse_query

# Readers page no further, and counting more hits would take longer than the search.
MAX_HITS = 1000
MAX_SUGGESTIONS = 8
# So many words are left out in turn if nothing matches all.
MAX_DROPPED_WORDS = 6
# Suggestions are the best of at most this many documents, since they are needed while a visitor types.
SUGGESTION_CANDIDATES = 250


# The kind and the primary key of a row.
type RowKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Hit:
    """A found row. Scores are comparable only within one search."""

    kind: str
    object_id: int
    edition: int | None
    score: float
    # The marker words of its document.
    scope: str = ""

    @property
    def row(self) -> RowKey:
        return self.kind, self.object_id


@dataclass(frozen=True)
class Hits:
    """The first hits, and the number of all hits, which is `capped` at `MAX_HITS`."""

    page: tuple[Hit, ...] = ()
    count: int = 0
    capped: bool = False


def find_documents(
    query: Query,
    *,
    edition: int | None = None,
    kinds: Collection[str] = (),
    area: str = "",
    limit: int = 20,
) -> Hits:
    """Find documents of one edition and of the whole site, or of all editions; optionally in one area.

    At most 1,000 are found, in SQLite the newest ones. At most five queries.
    """
    if not query:
        return Hits()
    hits_by_document = _find_hits(engine(), query, required_markers(edition, kinds, area))
    hits = list(hits_by_document.values())[:MAX_HITS]
    return Hits(tuple(hits[:limit]), len(hits), len(hits_by_document) >= MAX_HITS)


def find_or_correct(query: Query, edition: int | None = None) -> tuple[Query, Hits, bool]:
    """Find documents; without any hits, correct typing errors in the query and search again.

    Return the words that were searched for, the hits, and whether they were corrected.
    """
    find = partial(find_documents, edition=edition, limit=MAX_HITS)
    hits = find(query)
    if query and not hits.count and (corrected := correct_query(query)):
        corrected_hits = find(corrected)
        if corrected_hits.count:
            return corrected, corrected_hits, True
    return query, hits, False


def matching_keys(query: Query, edition: int | None, kind: str) -> list[int]:
    """Return the primary keys of all rows of a kind that are found in an edition or in all, in no order.

    One query, or two if the query contains prefixes.
    """
    if not query:
        return []
    index = engine()
    index.expand(query.terms)
    return index.matching_keys(query, required_markers(edition, [kind]))


def found_without(query: Query, edition: int | None, area: str = "") -> dict[Term, list[RowKey]]:
    """Return the rows that are found without one of the first required words, if any are left.

    At most two queries.
    """
    reduced = {term: query.without(term) for term in query.required[:MAX_DROPPED_WORDS]}
    reduced = {term: rest for term, rest in reduced.items() if rest}
    index = engine()
    index.expand(query.terms)
    rows = index.matching_rows([*reduced.values()], required_markers(edition, (), area), MAX_HITS)
    return {term: found for term, found in zip(reduced, rows, strict=True) if found}


def count_by_scope(query: Query) -> dict[str, int]:
    """Return how many documents match, by their marker words. One query, or two, as `matching_keys`."""
    index = engine()
    index.expand(query.terms)
    return index.count_by_scope(query)


def suggest(text: str, edition: int | None = None) -> list[Hit]:
    """Find documents by title, people, topic and award, best first, for suggestions while a visitor types."""
    query = parse_query(text)
    if not query:
        return []
    markers = required_markers(edition)
    index = engine()
    is_replaced = index.use_common_words(query.terms)
    hits_by_document = _find_in_head(index, query, markers, SUGGESTION_CANDIDATES)
    if is_replaced and len(hits_by_document) < MAX_SUGGESTIONS:
        hits_by_document = _find_in_head(engine(), query, markers, SUGGESTION_CANDIDATES)
    return list(hits_by_document.values())[:SUGGESTION_CANDIDATES]


def _find_hits(index: Engine, query: Query, markers: Markers) -> dict[int, Hit]:
    """Return hits by document, in order: those in the head (all fields but the body) come first."""
    # Excluded words may occur in the body, which the head does not contain.
    has_free_exclusion = any(term.where is Field.ANY for term in query.excluded)
    hits = {} if has_free_exclusion else _find_in_head(index, query, markers, MAX_HITS)
    if any(term.where is Field.ANY for term in query.terms) and len(hits) < MAX_HITS:
        index.expand(query.terms)
        index.use_common_words(query.terms)
        _add_hits(hits, 0, index.search_whole(query, markers, MAX_HITS))
    return hits


def _find_in_head(index: Engine, query: Query, markers: Markers, limit: int) -> dict[int, Hit]:
    """Return hits of whole words, then of prefixes."""
    hits: dict[int, Hit] = {}
    whole_words = query.whole_words()
    if whole_words != query:
        _add_hits(hits, 2, index.search_head(whole_words, markers, limit))
    if len(hits) < limit:
        index.expand(query.terms)
        _add_hits(hits, 1, index.search_head(query, markers, limit))
    return hits


def _add_hits(hits: dict[int, Hit], rank: int, documents: Iterable[ScoredDocument]) -> None:
    """Add documents that are not among the hits, with scores between this rank and the next."""
    for document, score, kind, object_id, edition, scope in documents:
        if document not in hits:
            hits[document] = Hit(kind, object_id, edition, rank + score / (1 + score), scope)


MAX_RELATED_WORDS = 10
# A word of the title or topic counts as this many occurrences in the text.
TITLE_WEIGHT = 3
# The maximum for all words together, to bound the time of a search.
MAX_RELATED_DOCUMENTS = 1000


def find_related(kind: str, object_id: int, limit: int = 6) -> list[Hit]:
    """Find rows of the same kind that share the document's ten strongest words (TF-IDF). Two queries."""
    index = engine()
    document = index.describe_document(kind, object_id)
    if document is None:
        return []
    counts = Counter(document.body.split())
    for word in document.head.split():
        counts[word] += TITLE_WEIGHT
    # The commonest word of a text occurs in nearly every document, which approximates their number.
    total = max(document.documents.values(), default=0)
    weights = {
        word: (1 + math.log(counts[word])) * math.log(1 + total / documents)
        for word, documents in document.documents.items()
        if documents > 1 and counts[word]
    }
    strongest = _strongest_words(weights, document.documents)
    rows = index.similar_rows(document.key, kind, strongest, limit) if strongest else []
    return [Hit(kind, *row, 1 / rank) for rank, row in enumerate(rows, start=1)]


def _strongest_words(weights: dict[str, float], documents: Mapping[str, int]) -> dict[str, float]:
    """Return the words of most weight that together occur in at most `MAX_RELATED_DOCUMENTS`."""
    strongest: dict[str, float] = {}
    remaining = MAX_RELATED_DOCUMENTS
    for word in sorted(weights, key=lambda word: (-weights[word], word)):
        if len(strongest) < MAX_RELATED_WORDS and documents[word] <= remaining:
            strongest[word] = weights[word]
            remaining -= documents[word]
    return strongest


# A typing error in a shorter word often results in another word.
MIN_CORRECTED_CHARS = 5
# At most this many likely spellings are looked up in the index.
MAX_CORRECTED_WORDS = 5


def correct_query(query: Query) -> Query | None:
    """Correct one typing error in each long word that no document contains; `None` without corrections.

    Words with a hyphen that no document contains are joined.
    """
    index = engine()
    terms = tuple(_correct_term(index, term) for term in query.terms)
    return Query(terms) if terms != query.terms else None


def _correct_term(index: Engine, term: Term) -> Term:
    if term.excluded or term.quoted or term.where is Field.YEAR or index.contains(term):
        return term
    joined = "".join(term.words)
    if len(term.words) > 1:
        # GPT-J also finds GPTJ.
        spellings = [joined]
    else:
        spellings = likely_spellings(joined) if len(joined) >= MIN_CORRECTED_CHARS else []
    candidates = (replace(term, words=(word,), text=word) for word in spellings)
    return next(filter(index.contains, candidates), term)


def likely_spellings(word: str) -> list[str]:
    """Return known words at an edit distance of one, where swapped letters count as one, commonest first."""
    # With one error, the first or the last half of the word is still correct.
    half = len(word) // 2
    candidates = Word.objects.starting_with(word[:half]) | Word.objects.ending_with(word[half + 1 :])
    ranked = [
        (-documents, spelling)
        for spelling, documents in candidates.values_list("word", "documents")
        if OSA.distance(word, spelling, score_cutoff=1) == 1
    ]
    return [spelling for _, spelling in sorted(ranked)[:MAX_CORRECTED_WORDS]]
