"""A lookup that passes thousands of keys as one parameter.

`IN` has a parameter for each key. Preparing them takes longer than most queries, and databases accept only
some ten thousand.
"""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.core.exceptions import EmptyResultSet
from django.db.models import F, Lookup
from django.db.models.sql.compiler import SQLCompiler

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

# SQL and its parameters. psycopg adapts a list to an array.
type Sql = tuple[str, tuple[Any, ...]]
# Fewer keys are a list on SQLite.
MAX_LISTED_KEYS = 100


class AnyOf(Lookup):
    """A lookup of rows whose column has one of these keys: `rows.filter(AnyOf("paper_id", keys))`."""

    prepare_rhs = False

    def __init__(self, column: str, keys: Iterable[int | str]) -> None:
        super().__init__(F(column), list(keys))

    def as_sql(self, compiler: SQLCompiler, connection: "BaseDatabaseWrapper") -> Sql:
        column, params = self._column(compiler, connection)
        if len(self.rhs) <= MAX_LISTED_KEYS:
            # From a list, SQLite concludes that the column is not null, and begins with the keys.
            placeholders = ", ".join(["%s"] * len(self.rhs))
            return f"{column} IN ({placeholders})", (*params, *self.rhs)
        # The column is a name that Django has quoted.
        sql = f"{column} IN (SELECT value FROM json_each(%s))"  # noqa: S608
        return sql, (*params, json.dumps(self.rhs))

    def as_postgresql(self, compiler: SQLCompiler, connection: "BaseDatabaseWrapper") -> Sql:
        column, params = self._column(compiler, connection)
        return f"{column} = ANY(%s)", (*params, self.rhs)

    def _column(self, compiler: SQLCompiler, connection: "BaseDatabaseWrapper") -> Sql:
        if not self.rhs:
            raise EmptyResultSet
        column, params = self.process_lhs(compiler, connection)
        return column, tuple(params)
