"""A condition with thousands of keys as one parameter.

`IN` has a parameter for each key: preparing them takes longer than most questions, and a database takes no
more than some ten thousand.
"""

import json
from collections.abc import Iterable
from typing import Any

from django.db.models import F, Lookup
from django.db.models.sql.compiler import SQLCompiler


class Among(Lookup[Any]):
    """Whether a column, such as "paper_id", holds one of these integers: `rows.filter(Among("pk", keys))`."""

    prepare_rhs = False

    def __init__(self, column: Any, keys: Iterable[int]) -> None:
        super().__init__(F(column) if isinstance(column, str) else column, list(keys))

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, Any]:
        column, params = self.process_lhs(compiler, connection)
        # The column is a name that Django has quoted.
        held = f"{column} IN (SELECT value FROM json_each(%s))"  # noqa: S608
        return held, [*params, json.dumps(self.rhs)]

    def as_postgresql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, Any]:
        column, params = self.process_lhs(compiler, connection)
        return f"{column} = ANY(%s)", [*params, self.rhs]
