"""Merge one row with its record and its last import, field by field, and read the last imports of rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import FilteredRelation, Q

from conference.models import Edition
from exchange.imports.kinds import Kind, Listing, Values
from exchange.imports.rows import in_batches
from exchange.models import Conflict, Provenance

# The columns that are read of a conflict.
CONFLICT_COLUMNS = ("field", "label", "base", "ours", "theirs")


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field changed on both sides since the last import."""

    base: object
    ours: object
    theirs: object


@dataclass(slots=True)
class Merge:
    """Result of comparing one row with its record."""

    # Values of the file that are to be written.
    updates: Values = field(default_factory=dict)
    # Edited here, while the file is unchanged.
    kept_edits: dict[str, FieldConflict] = field(default_factory=dict)
    # Changed both here and in the file.
    conflicts: dict[str, FieldConflict] = field(default_factory=dict)
    # Stated fields about which both sides agree now.
    agreed: list[str] = field(default_factory=list)
    # The values to store as last imported.
    last_import: Values = field(default_factory=dict)


def is_empty(value: object) -> bool:
    """Return whether a field is empty. False and 0 are values."""
    return value is None or value == "" or value == []


def merge(ours: Values, base: Values, theirs: Values, *, is_another: bool = False) -> Merge:
    """Compare the stated fields one by one. A field that was never imported has no base.

    `is_another`: all fields that differ are conflicts, since the file means another row.
    """
    result = Merge(last_import=dict(base))
    for name, their_value in theirs.items():
        our_value = ours[name]
        is_untouched = our_value == base[name] if name in base else is_empty(our_value)
        if our_value == their_value or (is_untouched and not is_another):
            result.agreed.append(name)
            result.last_import[name] = their_value
            if our_value != their_value:
                result.updates[name] = their_value
        elif name in base and their_value == base[name] and not is_another:
            result.kept_edits[name] = FieldConflict(base[name], our_value, their_value)
        else:
            result.conflicts[name] = FieldConflict(base.get(name), our_value, their_value)
    return result


@dataclass(slots=True)
class LastImport:
    """Last import of one row: the key of its `Provenance`, the values, and undecided conflicts by field."""

    key: int
    values: Values
    conflicts: dict[str, Conflict] = field(default_factory=dict)

    def has_conflict(self, name: str, conflict: FieldConflict) -> bool:
        """Return whether the same conflict is already stored and undecided."""
        stored = self.conflicts.get(name)
        return stored is not None and FieldConflict(stored.base, stored.ours, stored.theirs) == conflict


def load_last_imports(kind: Kind, row_keys: Iterable[int]) -> dict[int, LastImport]:
    """Return the last imports of these rows, by primary key of the row."""
    last_imports: dict[int, LastImport] = {}
    for batch in in_batches(row_keys):
        undecided = FilteredRelation("conflicts", condition=Q(conflicts__resolved_at__isnull=True))
        provenances = Provenance.objects.filter(kind=kind.name, object_id__in=batch)
        conflict_columns = (f"undecided__{name}" for name in ("pk", *CONFLICT_COLUMNS))
        lines = provenances.annotate(undecided=undecided).values_list(
            "pk", "object_id", "values", *conflict_columns
        )
        for key, row_key, values, conflict_key, *conflict_values in lines.order_by():
            last_import = last_imports.setdefault(row_key, LastImport(key, values))
            if conflict_key is not None:
                conflict_fields = dict(zip(CONFLICT_COLUMNS, conflict_values, strict=True))
                last_import.conflicts[conflict_fields["field"]] = Conflict(
                    pk=conflict_key, provenance_id=key, **conflict_fields
                )
    return last_imports


def imported_rows(kind: Kind, edition: Edition) -> set[int]:
    """Return the primary keys of all rows of a kind that any import brought into an edition."""
    rows = Provenance.objects.filter(kind=kind.name, edition=edition)
    return set(rows.values_list("object_id", flat=True))


@dataclass(frozen=True, slots=True)
class Successors:
    """Merged people and institutions: the old key -> the key of the row that they were merged into."""

    people: Mapping[str, str]
    institutions: Mapping[str, str]


def with_successors(values: Values, kind: Kind, successors: Successors) -> Values:
    """Return last imported values with merged rows replaced by their targets, without duplicates."""
    if not (successors.people or successors.institutions):
        return values
    lists = {
        listing.name: _without_repeats(
            listing, [_replace_merged(part, successors) for part in values[listing.name]]
        )
        for listing in kind.listings
        if "person" in listing.columns and listing.name in values
    }
    return {**values, **lists}


def _replace_merged(part: Values, successors: Successors) -> Values:
    new_part = {**part, "person": successors.people.get(part["person"], part["person"])}
    if part.get("institutions"):
        slugs = (successors.institutions.get(slug, slug) for slug in part["institutions"])
        new_part["institutions"] = list(dict.fromkeys(slugs))
    return new_part


def _without_repeats(listing: Listing, parts: list[Values]) -> list[Values]:
    unique: dict[tuple[object, ...], Values] = {}
    for part in parts:
        unique.setdefault(tuple(part[name] for name in listing.identity), part)
    return list(unique.values())
