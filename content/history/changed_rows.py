"""The rows that a transaction changes, for what follows them in it, such as the search index.

Rows and revisions are collected until the outermost block ends that records history or advances revisions.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

# Called with the changes at the end of the block, in its transaction.
FOLLOWERS: "list[Callable[[Changes], None]]" = []


@dataclass(slots=True)
class ChangedRow:
    """The changed fields, `None` for a new or deleted row, and the keys that it referred to before."""

    fields: set[str] | None
    old_keys: dict[str, int]


@dataclass(slots=True)
class Changes:
    """The changed rows by model label and key, and the new revisions by the key of the edition (0: site).

    `columns` are fields by model label that were written in bulk, whether rows are known or not.
    """

    rows: dict[str, dict[int, ChangedRow]] = field(default_factory=dict)
    columns: dict[str, set[str]] = field(default_factory=dict)
    revisions: dict[int, set[int]] = field(default_factory=dict)


_changes: ContextVar[Changes | None] = ContextVar("changes", default=None)


@contextmanager
def collected() -> Iterator[None]:
    """Collect what the block changes; nested blocks join it. Call the followers when the outermost ends.

    The block is in a transaction.
    """
    if _changes.get() is not None:
        yield
        return
    changes = Changes()
    token = _changes.set(changes)
    try:
        yield
        if changes.rows or changes.revisions:
            for follow in FOLLOWERS:
                follow(changes)
    finally:
        _changes.reset(token)


def add_row(
    model: str, key: int, fields: set[str] | None = None, before: Mapping[str, object] | None = None
) -> None:
    """Note that a row changed; `before` are the values that it had."""
    changes = _changes.get()
    if changes is None:
        return
    old_keys = {name: value for name, value in (before or {}).items() if type(value) is int}
    rows = changes.rows.setdefault(model, {})
    row = rows.get(key)
    if row is None:
        rows[key] = ChangedRow(fields, old_keys)
        return
    row.fields = None if row.fields is None or fields is None else row.fields | fields
    row.old_keys = old_keys | row.old_keys


def add_columns(model: str, names: Iterable[str]) -> None:
    """Note that these fields of any rows of a model were written."""
    changes = _changes.get()
    if changes is not None:
        changes.columns.setdefault(model, set()).update(names)


def current() -> Changes:
    """Return what has changed so far."""
    return _changes.get() or Changes()


def add_revision(edition: int, revision: int) -> None:
    """Note that the changes have advanced an edition (0: the site) to this revision."""
    changes = _changes.get()
    if changes is not None:
        changes.revisions.setdefault(edition, set()).add(revision)
