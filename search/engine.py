"""The full-text index in SQLite (FTS5) and in PostgreSQL.

Both translate the same query over the same words, so that they find the same documents. Ranking differs.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, ClassVar

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from search.folding import MARKER_LETTER, fold_words
from search.models import AFTER_LETTERS, MIN_WORD_CHARS, Document, Word
from search.query import Field, Query, Term

# The primary key of a document, its score above 0, and the row: its kind, primary key, edition, markers.
type ScoredDocument = tuple[int, float, str, int, int | None, str]
# Groups of marker words; a document has to contain one word of each group.
type Markers = Sequence[Sequence[str]]

# A prefix is replaced by the words that begin with it if there are at most this many.
MAX_EXPANDED_WORDS = 64
# PostgreSQL plans better for words than for a prefix if more documents than this contain them.
MANY_DOCUMENTS = 20_000
# A prefix of two letters is replaced by at most this many of the commonest words that begin with it.
COMMON_WORDS = 12
# PostgreSQL parses some digits in a word as a number, so that markers use letters instead.
DIGIT_LETTERS = str.maketrans("0123456789", "ghijklmnop")


def edition_word(edition: int | None) -> str:
    """Return the marker word of the documents of an edition, or of the whole site."""
    return f"{MARKER_LETTER}e{edition or 0}"


def kind_word(kind: str) -> str:
    return f"{MARKER_LETTER}k{kind}"


def year_word(year: int | str) -> str:
    return f"{MARKER_LETTER}y{year}"


def area_key(name: str) -> str:
    """Return the key of an area in addresses, which is the same for all spellings."""
    return "-".join(fold_words(name))


def area_word(key: str) -> str:
    """Return the marker word of an area, a single word for any name."""
    digest = blake2b(key.encode(), digest_size=6).hexdigest()
    return f"{MARKER_LETTER}t{digest.translate(DIGIT_LETTERS)}"


def required_markers(edition: int | None, kinds: Iterable[str] = (), area: str = "") -> Markers:
    """Return the markers for an edition with the whole site, for kinds and for an area; empty for all."""
    editions = [] if edition is None else [edition_word(edition), edition_word(None)]
    groups = (editions, [kind_word(kind) for kind in kinds], [area_word(area)] if area else [])
    return [group for group in groups if group]


# The words with a prefix, whose number identifies it; one more than may be expanded.
WORDS_WITH_PREFIX = (
    f"SELECT * FROM (SELECT %s AS number, word, documents FROM {Word._meta.db_table}"
    f" WHERE word >= %s AND word < %s LIMIT {MAX_EXPANDED_WORDS + 1}) AS known"
)

# The words of a document (title and topic, body), then the number of documents that contain each word.
DOCUMENT_WORDS = f"""
    WITH document AS (
        SELECT id, title || ' ' || topic AS head, body, people || ' ' || awards AS rest
        FROM search_document WHERE kind = %s AND object_id = %s
    ), words AS (SELECT head || ' ' || body || ' ' || rest AS text FROM document)
    SELECT id, head, body FROM document
    UNION ALL SELECT documents, word, NULL FROM {Word._meta.db_table} WHERE word {{in_words}}
"""


@dataclass(frozen=True)
class DescribedDocument:
    """A document: its key, the words of title and topic, those of the body, the documents with each word."""

    key: int
    head: str
    body: str
    documents: Mapping[str, int]


class Engine(ABC):
    """The full-text search of a database. The best matches come first."""

    # The SQL condition that a word occurs in `words.text`.
    IN_WORDS: ClassVar[str]

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self.connection = connection
        self._expansions: dict[str, list[str]] = {}

    def expansion(self, term: Term) -> list[str]:
        """Return the words that begin with a term, if they are few and together occur often; otherwise empty.

        This is faster: a database stops reading the documents of words at the limit, not those of a prefix.
        """
        if not _is_prefix(term):
            return []
        if term.words[-1] not in self._expansions:
            self.expand([term])
        return self._expansions[term.words[-1]]

    def expand(self, terms: Iterable[Term]) -> None:
        """Read the expansions of all these terms. One query, or none without new prefixes."""
        prefixes = sorted({term.words[-1] for term in terms if _is_prefix(term)} - self._expansions.keys())
        if not prefixes:
            return
        statement = " UNION ALL ".join([WORDS_WITH_PREFIX] * len(prefixes))
        parameters = [
            value for n, prefix in enumerate(prefixes) for value in (n, prefix, f"{prefix}{AFTER_LETTERS}")
        ]
        counts_by_prefix: list[dict[str, int]] = [{} for _ in prefixes]
        for number, word, documents in self.fetch_all(statement, parameters):
            counts_by_prefix[number][word] = documents
        for prefix, counts in zip(prefixes, counts_by_prefix, strict=True):
            self._expansions[prefix] = []
            if len(counts) > MAX_EXPANDED_WORDS:
                continue
            if len(prefix) < MIN_WORD_CHARS:
                # The vocabulary does not contain words as short as the prefix itself.
                self._expansions[prefix] = [prefix, *counts]
            elif sum(counts.values()) >= MANY_DOCUMENTS:
                self._expansions[prefix] = [*counts]

    def use_common_words(self, terms: Iterable[Term]) -> bool:
        """Replace prefixes of two letters by the commonest words, if many documents contain these.

        Prefixes of a field, such as a name, are not replaced. Return whether any was. At most one query, as
        only the last term of a query can be such a prefix.
        """
        is_replaced = False
        for term in terms:
            if term.is_vague and term.where is Field.ANY and not self.expansion(term):
                prefix = term.words[-1]
                words = Word.objects.starting_with(prefix).order_by("-documents")
                commonest = dict(words.values_list("word", "documents")[:COMMON_WORDS])
                if sum(commonest.values()) >= MANY_DOCUMENTS:
                    self._expansions[prefix] = [prefix, *commonest]
                    is_replaced = True
        return is_replaced

    def fetch_all(self, statement: str, parameters: Sequence[Any]) -> list[Any]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            rows: list[Any] = cursor.fetchall()
        return rows

    @abstractmethod
    def search_head(self, query: Query, markers: Markers, limit: int) -> list[ScoredDocument]:
        """Return documents that contain every required word outside their body."""

    @abstractmethod
    def search_whole(self, query: Query, markers: Markers, limit: int) -> list[ScoredDocument]:
        """Return documents that contain the required words anywhere."""

    @abstractmethod
    def matching_keys(self, query: Query, markers: Markers) -> list[int]:
        """Return the primary keys of all rows whose documents match, without a limit and in no order."""

    @abstractmethod
    def select_matching(self, query: Query, markers: Markers) -> tuple[str, list[str]]:
        """Return a query, with its parameters, for the rows that match: `kind`, `object_id`."""

    def matching_rows(
        self, queries: Sequence[Query], markers: Markers, limit: int
    ) -> list[list[tuple[str, int]]]:
        """Return at most `limit` matching rows of each of the queries, in no order. One query."""
        selections = [self.select_matching(query, markers) for query in queries]
        statement = " UNION ALL ".join(
            f"SELECT * FROM (SELECT {number} AS number, kind, object_id FROM ({select}) AS found"
            f" LIMIT {limit}) AS limited"
            for number, (select, _) in enumerate(selections)
        )
        rows: list[list[tuple[str, int]]] = [[] for _ in queries]
        parameters = [parameter for _, parameters in selections for parameter in parameters]
        for number, kind, object_id in self.fetch_all(statement, parameters) if selections else ():
            rows[number].append((kind, object_id))
        return rows

    @abstractmethod
    def count_by_scope(self, query: Query) -> dict[str, int]:
        """Return the number of matching documents by their markers, without a limit."""

    @abstractmethod
    def contains(self, term: Term) -> bool:
        """Return whether any document contains the term."""

    def describe_document(self, kind: str, object_id: int) -> DescribedDocument | None:
        """Return the document of a row, with the number of documents that contain each word; or `None`."""
        rows = self.fetch_all(DOCUMENT_WORDS.format(in_words=self.IN_WORDS), [kind, object_id])
        word_counts = {word: number for number, word, body in rows if body is None}
        documents = ((key, head, body) for key, head, body in rows if body is not None)
        return next((DescribedDocument(*document, word_counts) for document in documents), None)

    def similar_rows(
        self, document: int, kind: str, weights: Mapping[str, float], limit: int
    ) -> list[tuple[int, int | None]]:
        """Return other rows of this kind that share the words of most weight, each with its edition."""
        selections = [self.select_sharing(word, weight, kind, document) for word, weight in weights.items()]
        ranking = (
            "SELECT id, sum(weight) AS likeness"
            f" FROM ({' UNION ALL '.join(statement for statement, _ in selections)}) AS shared"
            " GROUP BY id ORDER BY likeness DESC, id DESC LIMIT %s"
        )
        return self.fetch_all(
            f"SELECT object_id, edition FROM search_document JOIN ({ranking}) AS found USING (id)"
            " ORDER BY likeness DESC, id DESC",
            [*(parameter for _, parameters in selections for parameter in parameters), limit],
        )

    @abstractmethod
    def select_sharing(self, word: str, weight: float, kind: str, document: int) -> tuple[str, list[object]]:
        """Return a query, with its parameters, for other documents with the word: `id`, `weight`."""

    @abstractmethod
    def optimize(self, changed: int) -> None:
        """Optimize the index after this many changed documents."""


def _is_prefix(term: Term) -> bool:
    return term.prefix and len(term.words) == 1


SQLITE_COLUMNS = {Field.TITLE: "title", Field.PEOPLE: "people", Field.TOPIC: "topic", Field.AWARDS: "awards"}
HEAD_WEIGHTS = "10.0, 5.0, 3.0, 2.0, 0.0"
WHOLE_WEIGHTS = "10.0, 5.0, 3.0, 2.0, 1.0, 0.0"
# From this many changed documents on, the segments of the index are merged.
MIN_MERGED_ROWS = 500
MERGED_PAGES = 500
# bm25 reads the whole index again for a phrase. Of one in more documents, the newest come first.
MAX_RANKED_PHRASES = 300


class SQLite(Engine):
    """bm25 ranks the newest documents that match."""

    # Folded words need no escape.
    IN_WORDS = """IN (SELECT value FROM words, json_each('["' || replace(text, ' ', '","') || '"]'))"""

    def search_head(self, query: Query, markers: Markers, limit: int) -> list[ScoredDocument]:
        score = f"bm25(search_head, {HEAD_WEIGHTS})"
        return self._fetch_ranked("search_head", score, [self._expression(query, markers)], limit)

    def search_whole(self, query: Query, markers: Markers, limit: int) -> list[ScoredDocument]:
        match = self._expression(query, markers)
        score, matches = f"bm25(search_whole, {WHOLE_WEIGHTS})", [match]
        if any(len(term.words) > 1 and term.where is not Field.YEAR for term in query.required):
            rows = f"SELECT 1 FROM search_whole WHERE search_whole MATCH %s LIMIT {MAX_RANKED_PHRASES + 1}"
            score = (
                f"CASE WHEN (SELECT count(*) FROM ({rows})) > {MAX_RANKED_PHRASES} THEN 0.0 ELSE {score} END"
            )
            matches.append(match)
        return self._fetch_ranked("search_whole", score, matches, limit)

    def matching_keys(self, query: Query, markers: Markers) -> list[int]:
        matching_ids = "SELECT rowid FROM search_whole WHERE search_whole MATCH %s"
        statement = f"SELECT object_id FROM search_document WHERE id IN ({matching_ids})"
        return [key for (key,) in self.fetch_all(statement, [self._expression(query, markers)])]

    def select_matching(self, query: Query, markers: Markers) -> tuple[str, list[str]]:
        matching_ids = "SELECT rowid FROM search_whole WHERE search_whole MATCH %s"
        statement = f"SELECT kind, object_id FROM search_document WHERE id IN ({matching_ids})"
        return statement, [self._expression(query, markers)]

    def count_by_scope(self, query: Query) -> dict[str, int]:
        matching_ids = "SELECT rowid FROM search_whole WHERE search_whole MATCH %s"
        statement = f"SELECT scope, count(*) FROM search_document WHERE id IN ({matching_ids}) GROUP BY scope"
        return dict(self.fetch_all(statement, [self._expression(query, [])]))

    def contains(self, term: Term) -> bool:
        table = "search_head" if term.where else "search_whole"
        return bool(
            self.fetch_all(f"SELECT 1 FROM {table} WHERE {table} MATCH %s LIMIT 1", [self._match(term)])
        )

    def select_sharing(self, word: str, weight: float, kind: str, document: int) -> tuple[str, list[object]]:
        match = self._expression(Query((Term((word,)),)), required_markers(None, [kind]))
        statement = (
            "SELECT rowid AS id, %s AS weight FROM search_whole WHERE search_whole MATCH %s AND rowid <> %s"
        )
        return statement, [weight, match, document]

    def optimize(self, changed: int) -> None:
        if changed < MIN_MERGED_ROWS:
            return
        with self.connection.cursor() as cursor:
            for table in ("search_head", "search_whole"):
                cursor.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', %s)", [MERGED_PAGES])

    def _fetch_ranked(self, table: str, score: str, matches: list[str], limit: int) -> list[ScoredDocument]:
        matching = f"{table} WHERE {table} MATCH %s ORDER BY rowid DESC LIMIT %s"
        newest = f"SELECT rowid AS id, {score} AS score FROM {matching}"
        # Lower values of bm25 are better.
        return self.fetch_all(
            f"SELECT id, -score, kind, object_id, edition, scope FROM ({newest})"
            " JOIN search_document USING (id) ORDER BY score, id DESC",
            [*matches, limit],
        )

    def _expression(self, query: Query, markers: Markers) -> str:
        required = [self._match(term) for term in query.required]
        required += [_or(f'scope : "{word}"' for word in group) for group in markers]
        excluded = [self._match(term) for term in query.excluded]
        expression = f"({' AND '.join(required)})"
        return f"{expression} NOT {_or(excluded)}" if excluded else expression

    def _match(self, term: Term) -> str:
        if term.where is Field.YEAR:
            return _or(f'scope : "{year_word(year)}"' for year in term.words)
        phrase = f'"{" ".join(term.words)}"'
        if term.prefix:
            words = self.expansion(term)
            phrase = _or(f'"{word}"' for word in words) if words else f"{phrase} *"
        return f"{SQLITE_COLUMNS[term.where]} : {phrase}" if term.where else phrase


def _or(parts: Iterable[str]) -> str:
    return f"({' OR '.join(parts)})"


POSTGRESQL_LABELS = {Field.TITLE: "A", Field.PEOPLE: "B", Field.TOPIC: "C", Field.AWARDS: "D"}
# Weights from D to A. Normalization 1 divides by the length, so that short titles are first; 32 scales the
# rank to less than 1.
POSTGRESQL_RANK = "ts_rank('{0.2, 0.3, 0.5, 1.0}', head, %s::tsquery, 33)"
POSTGRESQL_COLUMNS = "id, kind, object_id, edition, scope, head"
# A phrase is checked in at most this many documents with its words, since each has to be read.
MAX_PHRASE_DOCUMENTS = 2_500
# From this many changed documents on, the planner needs new statistics.
ANALYZE_ROWS = 2_000


class PostgreSQL(Engine):
    """Ranks documents by their head alone, since the vector of each body would have to be fetched."""

    IN_WORDS = "IN (SELECT unnest(string_to_array(text, ' ')) FROM words)"

    def search_head(self, query: Query, markers: Markers, limit: int) -> list[ScoredDocument]:
        source = "search_document WHERE head @@ %s::tsquery"
        return self._fetch_ranked(query, source, [self._expression(query.terms, markers)], limit)

    def search_whole(self, query: Query, markers: Markers, limit: int) -> list[ScoredDocument]:
        source, parameters = self._whole_source(query, markers)
        return self._fetch_ranked(query, source, parameters, limit)

    def _whole_source(self, query: Query, markers: Markers) -> tuple[str, list[str]]:
        """Return the FROM clause for documents with the required words anywhere, and its parameters."""
        terms = tuple(_without_fields(query.terms))
        split_terms = tuple(_split_phrases(terms))
        source = "search_document WHERE whole @@ %s::tsquery"
        parameters = [self._expression(split_terms, markers)]
        if required := _in_head_fields(query.required):
            source += " AND head @@ %s::tsquery"
            parameters.append(self._expression(tuple(required), []))
        if excluded := _in_head_fields(query.excluded):
            source += " AND NOT head @@ %s::tsquery"
            parameters.append(_pg_or(map(self._match, excluded)))
        if split_terms != terms:
            candidates = f"SELECT {POSTGRESQL_COLUMNS}, whole FROM {source} LIMIT {MAX_PHRASE_DOCUMENTS}"
            source = f"({candidates}) AS near WHERE whole @@ %s::tsquery"
            parameters.append(self._expression(terms, []))
        return source, parameters

    def matching_keys(self, query: Query, markers: Markers) -> list[int]:
        source, parameters = self._whole_source(query, markers)
        return [key for (key,) in self.fetch_all(f"SELECT object_id FROM {source}", parameters)]

    def select_matching(self, query: Query, markers: Markers) -> tuple[str, list[str]]:
        source, parameters = self._whole_source(query, markers)
        return f"SELECT kind, object_id FROM {source}", parameters

    def count_by_scope(self, query: Query) -> dict[str, int]:
        source, parameters = self._whole_source(query, [])
        return dict(self.fetch_all(f"SELECT scope, count(*) FROM {source} GROUP BY scope", parameters))

    def contains(self, term: Term) -> bool:
        column = "head" if term.where else "whole"
        statement = f"SELECT 1 FROM search_document WHERE {column} @@ %s::tsquery LIMIT 1"
        return bool(self.fetch_all(statement, [self._match(term)]))

    def select_sharing(self, word: str, weight: float, kind: str, document: int) -> tuple[str, list[object]]:
        # The limit prevents parallel workers for a query of a few milliseconds. The expression with the kind
        # prevents a scan of all documents of this kind for each word.
        statement = (
            "(SELECT id, %s::float AS weight FROM search_document"
            " WHERE whole @@ %s::tsquery AND kind || '' = %s AND id <> %s LIMIT 10000)"
        )
        return statement, [weight, f"'{word}'", kind, document]

    def optimize(self, changed: int) -> None:
        with self.connection.cursor() as cursor:
            # Otherwise every search would have to scan the pending rows.
            for name in ("search_head", "search_whole"):
                cursor.execute("SELECT gin_clean_pending_list(%s)", [name])
            if changed >= ANALYZE_ROWS:
                cursor.execute("ANALYZE search_document")

    def _fetch_ranked(
        self, query: Query, source: str, parameters: list[str], limit: int
    ) -> list[ScoredDocument]:
        return self.fetch_all(
            f"SELECT id, {POSTGRESQL_RANK} AS score, kind, object_id, edition, scope"
            f" FROM (SELECT {POSTGRESQL_COLUMNS} FROM {source} LIMIT %s) AS found"
            " ORDER BY score DESC, id DESC",
            [_pg_or(map(_pg_phrase, query.required)), *parameters, limit],
        )

    def _expression(self, terms: tuple[Term, ...], markers: Markers) -> str:
        """Return a query as a tsquery."""
        parts = [self._match(term) for term in terms if not term.excluded]
        parts += [_pg_or(f"'{word}'" for word in group) for group in markers]
        excluded = [self._match(term) for term in terms if term.excluded]
        return " & ".join([*parts, f"!{_pg_or(excluded)}"] if excluded else parts)

    def _match(self, term: Term) -> str:
        if term.where is Field.YEAR:
            return _pg_or(f"'{year_word(year)}'" for year in term.words)
        label = POSTGRESQL_LABELS.get(term.where, "")
        if term.prefix and (words := self.expansion(term)):
            return _pg_or(f"'{word}':{label}" for word in words)
        return _pg_phrase(term, label)


def _without_fields(terms: Iterable[Term]) -> Iterable[Term]:
    """Yield terms without their fields, for the index that does not distinguish them.

    Terms that exclude words from a field are dropped. So are short prefixes of a field, which most documents
    contain, if the query has another word.
    """
    terms = tuple(terms)
    is_narrow = any(term.where is Field.ANY and not term.excluded for term in terms)
    for term in terms:
        if term.where in (Field.ANY, Field.YEAR):
            yield term
        elif not term.excluded and not (term.is_vague and is_narrow):
            yield replace(term, where=Field.ANY)


def _split_phrases(terms: Iterable[Term]) -> Iterable[Term]:
    """Split phrases into words: the index finds documents with these, but not whether they are adjacent."""
    for term in terms:
        *before, last = term.words
        if not before or term.where is Field.YEAR:
            yield term
        elif not term.excluded:
            yield from (replace(term, words=(word,), prefix=False) for word in before)
            yield replace(term, words=(last,))


def _pg_phrase(term: Term, label: str = "") -> str:
    *before, last = (f"'{word}':" for word in term.words)
    words = [*before, f"{last}*" if term.prefix else last]
    return f"({' <-> '.join(f'{word}{label}' for word in words)})"


def _in_head_fields(terms: Iterable[Term]) -> list[Term]:
    """Return the terms of operators for a field of the head; a year is in both indexes."""
    return [term for term in terms if term.where not in (Field.ANY, Field.YEAR)]


def _pg_or(parts: Iterable[str]) -> str:
    return f"({' | '.join(parts)})"


def engine() -> Engine:
    """Return the engine of the database that contains the index."""
    connection = connections[Document.objects.db]
    return PostgreSQL(connection) if connection.vendor == "postgresql" else SQLite(connection)
