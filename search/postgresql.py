"""The index in PostgreSQL's full text."""

from collections.abc import Iterable
from dataclasses import replace

from search.engine import Engine, Found, SearchScope, WeightedWords, bound, year_word
from search.query import Field, Query, Term

LABELS = {Field.TITLE: "A", Field.PEOPLE: "B", Field.TOPIC: "C", Field.AWARDS: "D"}
# From D to A. Dividing by the length (1) puts short titles first, 32 brings the rank below 1.
RANK = "ts_rank('{0.2, 0.3, 0.5, 1.0}', head, %s::tsquery, 33)"
COLUMNS = "id, kind, object_id, edition, head"
# A phrase is looked for in so many documents that hold its words: each has to be read.
MAX_PHRASE_DOCUMENTS = 2_500
# So many changed documents change what the planner has to know.
ANALYZE_ROWS = 2_000


class PostgreSQL(Engine):
    """What was found is ranked by its head alone: the vector of a body would have to be fetched for each."""

    AMONG_WORDS = "= ANY(string_to_array((SELECT text FROM words), ' '))"

    def in_head(self, query: Query, scope: SearchScope, most: int) -> list[Found]:
        source = "search_document WHERE head @@ %s::tsquery"
        return self._ranked(query, source, [self._expression(query.terms, scope)], most)

    def in_whole(self, query: Query, scope: SearchScope, most: int) -> list[Found]:
        terms = tuple(_anywhere(query.terms))
        loose = tuple(_loose(terms))
        source = "search_document WHERE whole @@ %s::tsquery"
        parameters = [self._expression(loose, scope)]
        if wanted := bound(query.wanted):
            source += " AND head @@ %s::tsquery"
            parameters.append(self._expression(tuple(wanted), SearchScope()))
        if excluded := bound(query.excluded):
            source += " AND NOT head @@ %s::tsquery"
            parameters.append(_any(map(self._match, excluded)))
        if loose != terms:
            near = f"SELECT {COLUMNS}, whole FROM {source} LIMIT {MAX_PHRASE_DOCUMENTS}"
            source = f"({near}) AS near WHERE whole @@ %s::tsquery"
            parameters.append(self._expression(terms, SearchScope()))
        return self._ranked(query, source, parameters, most)

    def holds(self, term: Term) -> bool:
        column = "head" if term.where else "whole"
        statement = f"SELECT 1 FROM search_document WHERE {column} @@ %s::tsquery LIMIT 1"
        return bool(self.rows(statement, [self._match(term)]))

    def sharing(self, word: str, weight: float, likeness: WeightedWords) -> tuple[str, list[object]]:
        # A limit keeps the planner from starting workers for what takes a few milliseconds; the kind in an
        # expression keeps it from walking through all documents of this kind for each word.
        statement = (
            "(SELECT id, %s::float AS weight FROM search_document"
            " WHERE whole @@ %s::tsquery AND kind || '' = %s AND id <> %s LIMIT 10000)"
        )
        return statement, [weight, f"'{word}'", likeness.kind, likeness.document]

    def settle(self, changed: int) -> None:
        with self.connection.cursor() as cursor:
            # Every search would have to read through the rows that wait to be sorted in.
            for name in ("search_head", "search_whole"):
                cursor.execute("SELECT gin_clean_pending_list(%s)", [name])
            if changed >= ANALYZE_ROWS:
                cursor.execute("ANALYZE search_document")

    def _ranked(self, query: Query, source: str, parameters: list[str], most: int) -> list[Found]:
        return self.rows(
            f"SELECT id, {RANK} AS score, kind, object_id, edition"
            f" FROM (SELECT {COLUMNS} FROM {source} LIMIT %s) AS found ORDER BY score DESC, id DESC",
            [_any(map(_phrase, query.wanted)), *parameters, most],
        )

    def _expression(self, terms: tuple[Term, ...], scope: SearchScope) -> str:
        """Write a query as a tsquery."""
        parts = [self._match(term) for term in terms if not term.excluded]
        parts += [_any(f"'{word}'" for word in group) for group in scope.required()]
        refused = [self._match(term) for term in terms if term.excluded]
        return " & ".join([*parts, f"!{_any(refused)}"] if refused else parts)

    def _match(self, term: Term) -> str:
        if term.where is Field.YEAR:
            return _any(f"'{year_word(year)}'" for year in term.words)
        label = LABELS.get(term.where, "")
        if term.prefix and (known := self.spelt_out(term)):
            return _any(f"'{word}':{label}" for word in known)
        return _phrase(term, label)


def _anywhere(terms: Iterable[Term]) -> Iterable[Term]:
    """Take words out of their fields, for the index that knows none.

    What is left out of a field may stay, and a beginning that most texts hold narrows no other word.
    """
    terms = tuple(terms)
    is_narrow = any(term.where is Field.ANY and not term.excluded for term in terms)
    for term in terms:
        if term.where in (Field.ANY, Field.YEAR):
            yield term
        elif not term.excluded and not (term.vague and is_narrow):
            yield replace(term, where=Field.ANY)


def _loose(terms: Iterable[Term]) -> Iterable[Term]:
    """Take phrases to words: the index knows which documents hold them, not whether side by side."""
    for term in terms:
        *before, last = term.words
        if not before or term.where is Field.YEAR:
            yield term
        elif not term.excluded:
            yield from (replace(term, words=(word,), prefix=False) for word in before)
            yield replace(term, words=(last,))


def _phrase(term: Term, label: str = "") -> str:
    *before, last = (f"'{word}':" for word in term.words)
    words = [*before, f"{last}*" if term.prefix else last]
    return f"({' <-> '.join(f'{word}{label}' for word in words)})"


def _any(parts: Iterable[str]) -> str:
    return f"({' | '.join(parts)})"
