"""An expression with another value for each row, for updates of many rows.

`Case` with a `When` for each row takes ten times as long to prepare as the database needs for the update.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.db.models import F, Field, Func
from django.db.models.sql.compiler import SQLCompiler

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


class ValueByKey(Func):
    """The value of a row by its primary key; of other rows, the present value of the field."""

    def __init__(self, field: "Field[Any, Any]", values: Mapping[int, Any]) -> None:
        super().__init__(F("pk"), F(field.name), output_field=field)
        self.values = values

    def as_sql(  # type: ignore[override] # the stubs name the parameters of templates
        self, compiler: SQLCompiler, connection: "BaseDatabaseWrapper"
    ) -> tuple[str, tuple[Any, ...]]:
        (key, key_params), (default, default_params) = map(compiler.compile, self.source_expressions)
        params = [*key_params]
        for row_key, value in self.values.items():
            params += [row_key, self.output_field.get_db_prep_save(value, connection=connection)]
        whens = " ".join(["WHEN %s THEN %s"] * len(self.values))
        return f"CASE {key} {whens} ELSE {default} END", (*params, *default_params)
