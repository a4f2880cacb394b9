"""The index in SQLite's FTS5."""

from collections.abc import Iterable

from search.engine import Engine, Found, SearchScope, WeightedWords, year_word
from search.query import Field, Query, Term

COLUMNS = {Field.TITLE: "title", Field.PEOPLE: "people", Field.TOPIC: "topic", Field.AWARDS: "awards"}
HEAD_WEIGHTS = "10.0, 5.0, 3.0, 2.0, 0.0"
WHOLE_WEIGHTS = "10.0, 5.0, 3.0, 2.0, 1.0, 0.0"
# So many changed documents leave an index in pieces that are worth putting together.
MERGE_ROWS = 500
PAGES = 500
# bm25 looks a phrase up in the whole index a second time. Of one in more texts than these the newest lead.
RANKED = 300


class SQLite(Engine):
    """bm25 ranks what was found among the newest documents."""

    # Folded words need no escape.
    AMONG_WORDS = """IN (SELECT value FROM words, json_each('["' || replace(text, ' ', '","') || '"]'))"""

    def in_head(self, query: Query, scope: SearchScope, most: int) -> list[Found]:
        score = f"bm25(search_head, {HEAD_WEIGHTS})"
        return self._ranked("search_head", score, [self._expression(query, scope)], most)

    def in_whole(self, query: Query, scope: SearchScope, most: int) -> list[Found]:
        match = self._expression(query, scope)
        score, matches = f"bm25(search_whole, {WHOLE_WEIGHTS})", [match]
        if any(len(term.words) > 1 and term.where is not Field.YEAR for term in query.wanted):
            held = f"SELECT 1 FROM search_whole WHERE search_whole MATCH %s LIMIT {RANKED + 1}"
            score = f"CASE WHEN (SELECT count(*) FROM ({held})) > {RANKED} THEN 0.0 ELSE {score} END"
            matches.append(match)
        return self._ranked("search_whole", score, matches, most)

    def holds(self, term: Term) -> bool:
        table = "search_head" if term.where else "search_whole"
        return bool(self.rows(f"SELECT 1 FROM {table} WHERE {table} MATCH %s LIMIT 1", [self._match(term)]))

    def sharing(self, word: str, weight: float, likeness: WeightedWords) -> tuple[str, list[object]]:
        match = self._expression(Query((Term((word,)),)), SearchScope(kinds=(likeness.kind,)))
        statement = (
            "SELECT rowid AS id, %s AS weight FROM search_whole WHERE search_whole MATCH %s AND rowid <> %s"
        )
        return statement, [weight, match, likeness.document]

    def settle(self, changed: int) -> None:
        if changed < MERGE_ROWS:
            return
        with self.connection.cursor() as cursor:
            for table in ("search_head", "search_whole"):
                cursor.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', %s)", [PAGES])

    def _ranked(self, table: str, score: str, matches: list[str], most: int) -> list[Found]:
        holding = f"{table} WHERE {table} MATCH %s ORDER BY rowid DESC LIMIT %s"
        newest = f"SELECT rowid AS id, {score} AS score FROM {holding}"
        # bm25 is the lower the better.
        return self.rows(
            f"SELECT id, -score, kind, object_id, edition FROM ({newest}) JOIN search_document USING (id)"
            " ORDER BY score, id DESC",
            [*matches, most],
        )

    def _expression(self, query: Query, scope: SearchScope) -> str:
        wanted = [self._match(term) for term in query.wanted]
        wanted += [_any(f'scope : "{word}"' for word in group) for group in scope.required()]
        refused = [self._match(term) for term in query.excluded]
        found = f"({' AND '.join(wanted)})"
        return f"{found} NOT {_any(refused)}" if refused else found

    def _match(self, term: Term) -> str:
        if term.where is Field.YEAR:
            return _any(f'scope : "{year_word(year)}"' for year in term.words)
        phrase = f'"{" ".join(term.words)}"'
        if term.prefix:
            known = self.spelt_out(term)
            phrase = _any(f'"{word}"' for word in known) if known else f"{phrase} *"
        return f"{COLUMNS[term.where]} : {phrase}" if term.where else phrase


def _any(parts: Iterable[str]) -> str:
    return f"({' OR '.join(parts)})"
