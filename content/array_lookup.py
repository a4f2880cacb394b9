"""A lookup that passes thousands of keys as one parameter.

`IN` has a parameter for each key. Preparing them takes longer than most queries, and databases accept only
some ten thousand.
"""

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from django.core.exceptions import EmptyResultSet
from django.db.models import Expression, F, Field, Lookup
from django.db.models.sql.compiler import SQLCompiler

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

# SQL and its parameters. psycopg adapts a list to an array.
type Sql = tuple[str, tuple[Any, ...]]


class Keys(tuple[int, ...]):
    """Primary keys that a prepared query takes as one value."""

    __slots__ = ()


class KeysField(Field[Iterable[int | str], object]):
    """Adapts keys to one query parameter."""

    def get_db_prep_value(
        self, value: Iterable[int | str], connection: "BaseDatabaseWrapper", prepared: bool = False
    ) -> list[int | str] | str:
        return list(value) if connection.vendor == "postgresql" else json.dumps(list(value))


KEYS = KeysField()


class AnyOf(Lookup):
    """A lookup of rows whose column has one of these keys: `rows.filter(AnyOf("paper_id", keys))`."""

    prepare_rhs = False

    def __init__(self, column: str | Expression, keys: Expression | Iterable[int | str]) -> None:
        keys = keys if isinstance(keys, Expression) else list(keys)
        super().__init__(F(column) if isinstance(column, str) else column, keys)

    def as_sql(self, compiler: SQLCompiler, connection: "BaseDatabaseWrapper") -> Sql:
        column, params = self.process_lhs(compiler, connection)
        # The column is a name that Django has quoted.
        sql = f"{column} IN (SELECT value FROM json_each(%s))"  # noqa: S608
        return sql, (*params, *self._keys(compiler, connection))

    def as_postgresql(self, compiler: SQLCompiler, connection: "BaseDatabaseWrapper") -> Sql:
        column, params = self.process_lhs(compiler, connection)
        return f"{column} = ANY(%s)", (*params, *self._keys(compiler, connection))

    def _keys(self, compiler: SQLCompiler, connection: "BaseDatabaseWrapper") -> Sequence[object]:
        if isinstance(self.rhs, Expression):
            return compiler.compile(self.rhs)[1]
        if not self.rhs:
            raise EmptyResultSet
        return [KEYS.get_db_prep_value(self.rhs, connection)]
