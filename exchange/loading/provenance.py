"""The three-way merge of an import, field by field, and the memory of what came in.

base = as last imported, ours = as it stands here, theirs = as the file says it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conference.models import Edition
from exchange.loading.kinds import Kind
from exchange.loading.listings import Values
from exchange.loading.rows import in_batches
from exchange.models import Conflict, Provenance


@dataclass(frozen=True, slots=True)
class Clash:
    """A field changed on both sides since the last import."""

    base: Any
    ours: Any
    theirs: Any


@dataclass(slots=True)
class Merge:
    """What follows from comparing one row with its record."""

    taken: Values = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    clashes: dict[str, Clash] = field(default_factory=dict)
    # Stated fields about which both sides agree now.
    agreed: list[str] = field(default_factory=list)
    # What is to be remembered as last imported.
    memory: Values = field(default_factory=dict)


def is_empty(value: Any) -> bool:
    """Whether a field says nothing yet. False and 0 say something."""
    return value is None or value == "" or value == []


def merge(ours: Mapping[str, Any], base: Mapping[str, Any], theirs: Mapping[str, Any]) -> Merge:
    """Compare the stated fields one by one. A field that was never imported has no base."""
    found = Merge(memory=dict(base))
    for name, new in theirs.items():
        mine = ours[name]
        is_untouched = mine == base[name] if name in base else is_empty(mine)
        if mine == new or is_untouched:
            found.agreed.append(name)
            found.memory[name] = new
            if mine != new:
                found.taken[name] = new
        elif name in base and new == base[name]:
            found.kept.append(name)
        else:
            found.clashes[name] = Clash(base.get(name), mine, new)
    return found


@dataclass(slots=True)
class Memory:
    """What is remembered of one row: where it is stored, and the values."""

    key: int
    values: Values


def remembered(kind: Kind, rows: Iterable[int]) -> dict[int, Memory]:
    """Return what is remembered of these rows, by primary key."""
    found: dict[int, Memory] = {}
    for batch in in_batches(rows):
        stored = Provenance.objects.filter(kind=kind.name, object_id__in=batch)
        for key, row, values in stored.values_list("pk", "object_id", "values"):
            found[row] = Memory(key, values)
    return found


def imported_rows(kind: Kind, edition: Edition) -> set[int]:
    """Return the primary keys of all rows of a kind that any import brought into an edition."""
    rows = Provenance.objects.filter(kind=kind.name, edition=edition)
    return set(rows.values_list("object_id", flat=True))


def open_conflicts(memories: Iterable[int]) -> dict[tuple[int, str], Conflict]:
    """Return the undecided conflicts by provenance and field."""
    found: dict[tuple[int, str], Conflict] = {}
    for batch in in_batches(memories):
        for conflict in Conflict.objects.filter(provenance__in=batch, resolved_at__isnull=True):
            found[conflict.provenance_id, conflict.field] = conflict
    return found


def with_successors(values: Values, kind: Kind, successors: Mapping[str, str]) -> Values:
    """Return remembered values in which merged people are those whom they were merged into."""
    if not successors:
        return values
    lists = {
        listing.name: [
            {**part, "person": successors.get(part["person"], part["person"])}
            for part in values[listing.name]
        ]
        for listing in kind.listings
        if "person" in listing.columns and listing.name in values
    }
    return {**values, **lists}
