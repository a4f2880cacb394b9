"""What cached values have read from the database, so that they are kept while other things change.

The names in SQL are compared with those of what changed: a value is affected if its queries name a changed
table and, if rows were only changed in it, one of the changed columns.
"""

import re
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connections

from content.editions import get_edition_model
from content.history.changed_rows import Changes
from content.row_values import date_columns, is_recorded, many_to_many_fields

QUOTED_NAME = re.compile(r'"(\w+)"')

_names: ContextVar[set[str] | None] = ContextVar("names", default=None)


@contextmanager
def noted() -> Iterator[set[str]]:
    """Note the tables and columns that the block reads, also in nested blocks."""
    outer, names = _names.get(), set[str]()
    token = _names.set(names)
    try:
        with ExitStack() as stack:
            if outer is None:
                for alias in settings.DATABASES:
                    stack.enter_context(connections[alias].execute_wrapper(_note_statement))
            yield names
    finally:
        _names.reset(token)
        add(names)


@contextmanager
def ignored() -> Iterator[None]:
    """Note nothing that the block reads: which revision is the current one is part of no value."""
    token = _names.set(set())
    try:
        yield
    finally:
        _names.reset(token)


def add(names: Collection[str]) -> None:
    """Note what a value had read that is used again."""
    noted_names = _names.get()
    if noted_names is not None:
        noted_names.update(names)


def _note_statement(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
    add(QUOTED_NAME.findall(sql))
    return execute(sql, params, many, context)


def is_affected(names: Collection[str], changed: Collection[str] | None) -> bool:
    """Return whether a value that read these names may differ after the changes; `None`: unknown ones.

    Every value depends on its edition.
    """
    known_names = {*names, get_edition_model()._meta.db_table}
    if changed is None or not known_names.isdisjoint(untracked_names()):
        return True
    return any(_names_any(known_names, *change.split()) for change in changed)


def _names_any(names: set[str], table: str, *columns: str) -> bool:
    is_edition = table == get_edition_model()._meta.db_table
    return table in names and (is_edition or not columns or not names.isdisjoint(columns))


@cache
def untracked_names() -> frozenset[str]:
    """Return the tables of rows, and the columns, whose changes are not noted.

    Models outside of the history may note theirs: they have `notes_changes`.
    """
    models = apps.get_models()
    recorded = [model for model in models if is_recorded(model)]
    unnoted = [model for model in models if not is_recorded(model) and not hasattr(model, "notes_changes")]
    return frozenset({model._meta.db_table for model in unnoted}.union(*map(date_columns, recorded)))


def describe(changes: Changes) -> Iterator[str]:
    """Yield each changed table, followed by the changed columns if no rows were added or deleted."""
    for label in {*changes.rows, *changes.columns}:
        model: Any = apps.get_model(label)
        table = model._meta.db_table
        if not is_recorded(model):
            yield table
            continue
        rows = changes.rows.get(label, {}).values()
        link_tables = {name: field.m2m_db_table() for name, field in many_to_many_fields(model).items()}
        if any(row.fields is None for row in rows):
            yield from (table, *link_tables.values())
            continue
        names = changes.columns.get(label, set()).union(*(row.fields or () for row in rows))
        yield from (link_tables[name] for name in names & link_tables.keys())
        columns = [str(field.column) for field in model._meta.concrete_fields if field.name in names]
        if columns:
            yield " ".join([table, *sorted(columns)])
