"""Combined pending changes: how each row differs in the working copy, by whom and since when. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from content.row_values import Key

if TYPE_CHECKING:
    from schedule.working_copy.models import PendingChanges

# Field -> [before, after]; None where the row does not exist.
type Pairs = dict[str, list[Any]]
type StoredRow = dict[str, Any]

CREATED, CHANGED, DELETED = "created", "changed", "deleted"


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
    # The account that created the row or last changed its person, else the last one.
    made_by: int | None = None

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
            "made_by": self.made_by,
        }

    @classmethod
    def read(cls, row: StoredRow) -> "PendingRow":
        return cls(
            row["kind"],
            row["model"],
            row["key"],
            row["label"],
            dict(row["values"]),
            dict(row["follows"]),
            made_by=row.get("made_by"),
        )


def key_of(row: StoredRow) -> Key:
    return row["model"], row["key"]


def names_person(row: PendingRow) -> bool:
    """Return whether the change decides which person the row refers to."""
    return row.kind == CREATED or "person" in row.values


def combine(sets: "Iterable[PendingChanges]") -> dict[Key, PendingRow]:
    """Return how rows differ after these sets, in order, without rows that were changed back."""
    rows: dict[Key, PendingRow] = {}
    for changes in sets:
        for stored in changes.rows:
            change = PendingRow.read(stored)
            change.made_by = change.made_by or changes.user_id
            earlier = rows.pop(change.name, None)
            row = combine_two(earlier, change)
            if row is not None:
                row.made_by = change.made_by
                if earlier is not None and names_person(earlier) and not names_person(change):
                    row.made_by = earlier.made_by
                row.at = changes.at
                row.by = [*dict.fromkeys([*(earlier.by if earlier else ()), changes.user_name])]
                rows[row.name] = row
    return rows


def combine_two(earlier: PendingRow | None, change: PendingRow) -> PendingRow | None:
    """Return a row's difference after one more change, or `None` if none is left."""
    if earlier is None:
        return change
    if earlier.kind == CREATED and change.kind == DELETED:
        return None
    if change.kind == DELETED:
        change.values = {
            name: [earlier.values.get(name, pair)[0], None] for name, pair in change.values.items()
        }
        return change
    pairs = {name: [earlier.values.get(name, pair)[0], pair[1]] for name, pair in change.values.items()}
    combined = PendingRow(
        earlier.kind,
        change.model,
        change.key,
        change.label,
        earlier.values | pairs,
        earlier.follows | change.follows,
    )
    if earlier.kind == DELETED:
        # It was created again.
        combined.kind = CHANGED
    if combined.kind == CHANGED:
        combined.values = {name: pair for name, pair in combined.values.items() if pair[0] != pair[1]}
        return combined if combined.values else None
    return combined
