"""Combined pending changes: how each row differs in the working copy, by whom and since when. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from content.row_values import Key

# Field -> [before, after]; None where the row does not exist.
type Pairs = dict[str, list[Any]]
type StoredRow = dict[str, Any]

CREATED, CHANGED, DELETED = "created", "changed", "deleted"


class ChangesOfSomebody(Protocol):
    """A stored set of pending changes."""

    pk: int
    at: datetime
    user_name: str
    rows: list[StoredRow]


@dataclass(slots=True)
class PendingRow:
    """How one row differs in the working copy."""

    kind: str
    model: str
    key: int
    label: str = ""
    values: Pairs = field(default_factory=dict)
    # Computed columns: rendered texts, copies of the kind.
    follows: dict[str, Any] = field(default_factory=dict)
    at: datetime | None = None
    # The names of the users that changed it, in order.
    by: list[str] = field(default_factory=list)

    @property
    def name(self) -> Key:
        return self.model, self.key

    @property
    def line(self) -> str:
        """The key of the row in a form."""
        return f"{self.model}:{self.key}"

    @property
    def after(self) -> dict[str, Any]:
        return {name: pair[1] for name, pair in self.values.items()}

    def stored(self) -> StoredRow:
        return {
            "kind": self.kind,
            "model": self.model,
            "key": self.key,
            "label": self.label,
            "values": self.values,
            "follows": self.follows,
        }

    @classmethod
    def read(cls, row: StoredRow) -> "PendingRow":
        return cls(
            row["kind"], row["model"], row["key"], row["label"], dict(row["values"]), dict(row["follows"])
        )


def key_of(row: StoredRow) -> Key:
    return row["model"], row["key"]


def combine(sets: Iterable[ChangesOfSomebody]) -> dict[Key, PendingRow]:
    """Return how rows differ after these sets, in order, without rows that were changed back."""
    found: dict[Key, PendingRow] = {}
    for one in sets:
        for stored in one.rows:
            news = PendingRow.read(stored)
            known = found.pop(news.name, None)
            row = combine_two(known, news)
            if row is not None:
                row.at = one.at
                row.by = [*dict.fromkeys([*(known.by if known else ()), one.user_name])]
                found[row.name] = row
    return found


def combine_two(known: PendingRow | None, news: PendingRow) -> PendingRow | None:
    """Return a row's difference after one more change, or `None` if none is left."""
    if known is None:
        return news
    if known.kind == CREATED and news.kind == DELETED:
        return None
    if news.kind == DELETED:
        news.values = {name: [known.values.get(name, pair)[0], None] for name, pair in news.values.items()}
        return news
    pairs = {name: [known.values.get(name, pair)[0], pair[1]] for name, pair in news.values.items()}
    both = PendingRow(
        known.kind, news.model, news.key, news.label, known.values | pairs, known.follows | news.follows
    )
    if known.kind == DELETED:
        # It was created again.
        both.kind = CHANGED
    if both.kind == CHANGED:
        both.values = {name: pair for name, pair in both.values.items() if pair[0] != pair[1]}
        return both if both.values else None
    return both


def rows_building_on(
    later: Iterable[ChangesOfSomebody],
    rows: Iterable[StoredRow],
    targets: Callable[[PendingRow], set[Key]],
) -> list[StoredRow]:
    """Return the rows of later sets that build on these: same field, or a row created or deleted here."""
    fields: dict[Key, set[str]] = {}
    whole: set[Key] = set()
    for row in rows:
        fields.setdefault(key_of(row), set()).update(row["values"])
        if row["kind"] != CHANGED:
            whole.add(key_of(row))
    return [
        row
        for one in later
        for row in one.rows
        if key_of(row) in whole
        or (key_of(row) in fields and (row["kind"] != CHANGED or fields[key_of(row)] & {*row["values"]}))
        or targets(PendingRow.read(row)) & whole
    ]


def add_required(
    rows: dict[Key, PendingRow], chosen: set[Key], targets: Callable[[PendingRow], set[Key]]
) -> set[Key]:
    """Return the keys of the chosen rows, and of the new rows that they reference."""
    found, fresh = {*chosen}, {*chosen}
    while fresh:
        needed = {key for name in fresh for key in targets(rows[name]) if key in rows}
        fresh = {key for key in needed if rows[key].kind == CREATED} - found
        found |= fresh
    return found
