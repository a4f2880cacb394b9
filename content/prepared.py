"""Questions to the database that are composed once and asked again with other values.

With all that `published()` demands, composing a statement takes ten times as long as asking it. So a function
that returns a queryset is called once, with blanks in the places of its values, and what Django made of it is
kept. Asked with values it returns rows, made by Django as ever. PostgreSQL plans it for a connection once, or
as often as the plan for any values seems dear to it, which takes it as long as answering.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, wraps
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import NotSupportedError, connections, transaction
from django.db.models import (
    BigIntegerField,
    DateTimeField,
    Expression,
    Field,
    ManyToOneRel,
    Prefetch,
    TextField,
)
from django.db.models.sql import UpdateQuery
from psycopg import Error as DatabaseError
from psycopg.sql import Literal

from content import preview_context
from content.array_lookup import KEYS, Keys

FIELDS: dict[type, Field[Any, Any]] = {
    int: BigIntegerField(),
    str: TextField(),
    datetime: DateTimeField(),
    Keys: KEYS,
}
# So many forms of a question are kept, with those of previews.
FORMS = 64
# What PostgreSQL is asked more often than that is planned once.
ASKED = 1
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Form:
    """What a statement hangs on: the kind of a value that is filled in, and how many there are in a list."""

    kind: type
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value of this argument is filled in; of a list, which one."""

    argument: int
    number: int = 0


class Blank(Expression):
    """The places of an argument in a statement."""

    def __init__(self, argument: int, form: Form) -> None:
        super().__init__(output_field=FIELDS[form.kind])
        self.argument, self.form = argument, form

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        if self.form.length is None:
            return "%s", (Place(self.argument),)
        if not self.form.length:
            raise EmptyResultSet
        places = tuple(Place(self.argument, number) for number in range(self.form.length))
        return f"({', '.join(['%s'] * len(places))})", places


class Part:
    """Rows that point at those found, which get them as an attribute: what `Prefetch` says of them."""

    def __init__(self, model: Any, prefetch: Any, argument: int) -> None:
        relation = isinstance(prefetch, Prefetch) and model._meta.get_field(prefetch.prefetch_through)
        if not isinstance(relation, ManyToOneRel) or prefetch.queryset is None:
            raise TypeError(f"{prefetch} cannot be fetched with a prepared question.")
        self.field, self.attribute = relation.field, prefetch.to_attr

        def composed(form: Form) -> Composed | None:
            return compose(prefetch.queryset.filter(**{f"{self.field.name}__in": Blank(argument, form)}))

        self.composed = lru_cache(maxsize=FORMS)(composed)

    def fetch(self, owners: Sequence[Any], values: Sequence[Sequence[Any]]) -> None:
        """Give each owner its rows. One query."""
        form, keys = read([owner.pk for owner in owners])
        known, found = self.composed(form), defaultdict(list)
        for row in known.ask([*values, keys]) if known else ():
            found[getattr(row, self.field.attname)].append(row)
        for owner in owners:
            setattr(owner, self.attribute, found[owner.pk])
            for row in found[owner.pk]:
                setattr(row, self.field.name, owner)


@dataclass(frozen=True, slots=True)
class Composed:
    """A statement with places, and the queryset that makes rows of what it finds."""

    rows: Any
    compiler: Any
    sql: str
    parameters: Sequence[Any]
    mode: str = AUTO

    def ask(self, values: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the rows for the values of each argument."""
        alias = self.rows.db
        connection = connections[alias]
        filled = filled_in(self.parameters, values, connection)
        # What a compiler found out about the rows holds for every thread, its connection for one.
        compiler = copy(self.compiler)
        compiler.connection, compiler.using = connection, alias
        compiler.as_sql = lambda: (self.sql, filled)
        rows = self.rows.all()
        rows.query.get_compiler = lambda *args, **kwargs: compiler
        try:
            with planned_once(connection, self.mode):
                return list(rows)
        except NotSupportedError:
            # An upgrade gave a column another type: the connection holds on to the plan from before.
            if connection.in_atomic_block:
                raise
            connection.close()
            return list(rows)


@contextmanager
def planned_once(connection: Any, mode: str = AUTO) -> Iterator[None]:
    """Let PostgreSQL keep its plans of what is asked within.

    Not of all statements: a plan for any words is a bad one for a search of two common ones. The mode is its
    `plan_cache_mode`.
    """
    if not connection.settings_dict["OPTIONS"].get("server_side_binding"):
        yield
        return
    connection.ensure_connection()
    held = connection.connection
    held.prepare_threshold = ASKED
    try:
        with planned_as(connection, mode):
            yield
    finally:
        held.prepare_threshold = None


@contextmanager
def planned_as(connection: Any, mode: str) -> Iterator[None]:
    """Let PostgreSQL plan in this mode. In a transaction that fails, that ends with it."""
    if mode == AUTO:
        yield
        return
    with connection.wrap_database_errors:
        connection.connection.execute(f"SET plan_cache_mode = {mode}", prepare=False)
    try:
        yield
    finally:
        with suppress(DatabaseError):
            connection.connection.execute(f"SET plan_cache_mode = {AUTO}", prepare=False)


def filled_in(parameters: Sequence[Any], values: Sequence[Sequence[Any]], connection: Any) -> tuple[Any, ...]:
    """Return the parameters of a statement with the values of each argument in their places."""
    fitted = [[_fitted(one, connection) for one in some] for some in values]
    return tuple(fitted[one.argument][one.number] if isinstance(one, Place) else one for one in parameters)


def compose(rows: Any, mode: str = AUTO) -> Composed | None:
    """Compose the statement of a queryset; `None` where it can find nothing."""
    compiler = rows.query.get_compiler(rows.db)
    try:
        return Composed(rows, compiler, *_written_out(compiler.connection, *compiler.as_sql()), mode)
    except EmptyResultSet:
        return None


def _written_out(connection: Any, sql: str, parameters: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Write what is the same whenever it is asked, such as a status, into the statement.

    PostgreSQL, which plans for any values, then knows how many rows have these.
    """
    if connection.vendor != "postgresql":
        return sql, parameters
    connection.ensure_connection()
    left, kept = iter(parameters), []

    def written(mark: re.Match[str]) -> str:
        if mark[0] != "%s":
            return mark[0]
        value = next(left)
        if isinstance(value, (str, int)):
            return str(Literal(value).as_string(connection.connection)).replace("%", "%%")
        kept.append(value)
        return mark[0]

    return re.sub("%.", written, sql), kept


def prepared_for_any(question: Callable[..., Any]) -> Callable[..., list[Any]]:
    """As `prepared`, where PostgreSQL takes longer to plan than to answer, whatever the values are.

    It would do so each time where it takes the plan for any values to be dearer.
    """
    return prepared(question, "force_generic_plan")


def prepared(question: Callable[..., Any], mode: str = AUTO) -> Callable[..., list[Any]]:
    """Let a question be composed once for each form of its arguments, and return rows when it is asked.

    Numbers, words, moments and collections of these are filled in; without `Keys` to look among nothing is
    asked. Anything else belongs to the form, and nothing but its arguments may decide what is asked. In a
    preview each question is another one.
    """

    @lru_cache(maxsize=FORMS)
    def composed(_preview: Hashable, *forms: Hashable) -> tuple[Composed | None, list[Part]]:
        rows = question(*(_blank(number, form) for number, form in enumerate(forms)))
        prefetches = rows._prefetch_related_lookups
        parts = [Part(rows.model, prefetch, len(forms)) for prefetch in prefetches]
        return compose(rows.prefetch_related(None) if parts else rows, mode), parts

    @wraps(question)
    def asked(*arguments: Any) -> list[Any]:
        if any(isinstance(argument, Keys) and not argument for argument in arguments):
            return []
        both = [read(argument) for argument in arguments]
        known, parts = composed(preview_context.mark(), *(form for form, _ in both))
        values = [values for _, values in both]
        rows = known.ask(values) if known else []
        for part in parts if rows else ():
            part.fetch(rows, values)
        return rows

    return asked


def prepared_update(change: Callable[..., tuple[Any, dict[str, Any]]]) -> Callable[..., int]:
    """Let an update be composed once for each form of its arguments; it returns how many rows it changed.

    The function returns the rows and what is written into them. It may hang on no preview.
    """

    @lru_cache(maxsize=FORMS)
    def composed(*forms: Hashable) -> tuple[Any, str, Sequence[Any]]:
        rows, written = change(*(_blank(number, form) for number, form in enumerate(forms)))
        rows._for_write = True
        query = rows.query.chain(UpdateQuery)
        query.add_update_values(written)
        return rows, *query.get_compiler(rows.db).as_sql()

    @wraps(change)
    def asked(*arguments: Any) -> int:
        both = [read(argument) for argument in arguments]
        rows, sql, parameters = composed(*(form for form, _ in both))
        connection = connections[rows.db]
        filled = filled_in(parameters, [values for _, values in both], connection)
        with (
            transaction.mark_for_rollback_on_error(rows.db),
            planned_once(connection),
            connection.cursor() as cursor,
        ):
            cursor.execute(sql, filled)
            return int(cursor.rowcount)

    return asked


def read(argument: Any) -> tuple[Any, Sequence[Any]]:
    """Return the form of an argument, and the values that are filled in."""
    if type(argument) in FIELDS:
        return Form(type(argument)), (argument,)
    if not isinstance(argument, Collection):
        return argument, ()
    # Lists grow to the next power of two by their last value, so that few statements serve all of them.
    values = tuple(argument)
    length = 1 << (len(values) - 1).bit_length() if values else 0
    return Form(type(values[0]) if values else int, length), values + values[-1:] * (length - len(values))


def _blank(number: int, form: Hashable) -> Any:
    return Blank(number, form) if isinstance(form, Form) else form


def _fitted(value: Any, connection: Any) -> Any:
    """Return a value as this database takes it."""
    return FIELDS[type(value)].get_db_prep_value(value, connection)
