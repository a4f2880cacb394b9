"""The three-way merge of an import, field by field, and the last imported values.

base = as last imported, ours = as in the database, theirs = as in the file.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from conference.models import Edition
from exchange.imports.kinds import Kind, Listing, Values
from exchange.imports.rows import in_batches
from exchange.models import Conflict, Provenance


@dataclass(frozen=True, slots=True)
class Clash:
    """A field changed on both sides since the last import."""

    base: object
    ours: object
    theirs: object


@dataclass(slots=True)
class Merge:
    """What follows from comparing one row with its record."""

    taken: Values = field(default_factory=dict)
    # Edited here, and the file says what it said before.
    kept: dict[str, Clash] = field(default_factory=dict)
    clashes: dict[str, Clash] = field(default_factory=dict)
    # Stated fields about which both sides agree now.
    agreed: list[str] = field(default_factory=list)
    # What is to be remembered as last imported.
    memory: Values = field(default_factory=dict)


def is_empty(value: object) -> bool:
    """Whether a field says nothing yet. False and 0 say something."""
    return value is None or value == "" or value == []


def merge(ours: Values, base: Values, theirs: Values) -> Merge:
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
            found.kept[name] = Clash(base[name], mine, new)
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


@dataclass(frozen=True, slots=True)
class Successors:
    """Who was merged, and what: old key -> the key of the one that stays."""

    people: Mapping[str, str]
    institutions: Mapping[str, str]


def with_successors(values: Values, kind: Kind, successors: Successors) -> Values:
    """Return last imported values with merged rows replaced by their survivors, without repeats."""
    if not (successors.people or successors.institutions):
        return values
    lists = {
        listing.name: _once(listing, [_succeeded(part, successors) for part in values[listing.name]])
        for listing in kind.listings
        if "person" in listing.columns and listing.name in values
    }
    return {**values, **lists}


def _succeeded(part: Values, successors: Successors) -> Values:
    found = {**part, "person": successors.people.get(part["person"], part["person"])}
    if part.get("institutions"):
        slugs = (successors.institutions.get(slug, slug) for slug in part["institutions"])
        found["institutions"] = list(dict.fromkeys(slugs))
    return found


def _once(listing: Listing, parts: list[Values]) -> list[Values]:
    """Drop repeated people, as for a file."""
    found: dict[tuple[object, ...], Values] = {}
    for part in parts:
        found.setdefault(tuple(part[name] for name in listing.identity), part)
    return list(found.values())
