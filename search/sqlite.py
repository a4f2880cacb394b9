"""The index in SQLite's FTS5."""

from collections.abc import Iterable

from search.engine import Engine, Found, Likeness, Scope, year_word
from search.query import Field, Query, Term

COLUMNS = {Field.TITLE: "title", Field.PEOPLE: "people", Field.TOPIC: "topic", Field.AWARDS: "awards"}
HEAD_WEIGHTS = "10.0, 5.0, 3.0, 2.0, 0.0"
WHOLE_WEIGHTS = "10.0, 5.0, 3.0, 2.0, 1.0, 0.0"
# So many changed documents leave an index in pieces that are worth putting together.
MANY = 500
PAGES = 500


class SQLite(Engine):
    """bm25 ranks what was found among the newest documents."""

    def in_head(self, query: Query, scope: Scope, most: int) -> list[Found]:
        return self._ranked("search_head", HEAD_WEIGHTS, self._expression(query, scope), most)

    def in_whole(self, query: Query, scope: Scope, most: int) -> list[Found]:
        return self._ranked("search_whole", WHOLE_WEIGHTS, self._expression(query, scope), most)

    def holds(self, term: Term) -> bool:
        table = "search_head" if term.where else "search_whole"
        return bool(self.rows(f"SELECT 1 FROM {table} WHERE {table} MATCH %s LIMIT 1", [self._match(term)]))

    def sharing(self, word: str, weight: float, likeness: Likeness) -> tuple[str, list[object]]:
        match = self._expression(Query((Term((word,)),)), Scope(kinds=(likeness.kind,)))
        statement = (
            "SELECT rowid AS id, %s AS weight FROM search_whole WHERE search_whole MATCH %s AND rowid <> %s"
        )
        return statement, [weight, match, likeness.document]

    def settle(self, changed: int) -> None:
        if changed < MANY:
            return
        with self.connection.cursor() as cursor:
            for table in ("search_head", "search_whole"):
                cursor.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', %s)", [PAGES])

    def _ranked(self, table: str, weights: str, match: str, most: int) -> list[Found]:
        newest = (
            f"SELECT rowid AS id, bm25({table}, {weights}) AS score"
            f" FROM {table} WHERE {table} MATCH %s ORDER BY rowid DESC LIMIT %s"
        )
        # bm25 is the lower the better.
        return self.rows(
            f"SELECT id, -score, kind, object_id, edition FROM ({newest}) JOIN search_document USING (id)"
            " ORDER BY score, id DESC",
            [match, most],
        )

    def _expression(self, query: Query, scope: Scope) -> str:
        wanted = [self._match(term) for term in query.wanted]
        wanted += [_any(f'scope : "{word}"' for word in group) for group in scope.required()]
        refused = [self._match(term) for term in query.excluded]
        refused += [f'scope : "{word}"' for word in scope.refused()]
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
