"""Merging people, or institutions, into one of them, and marking them as distinct.

Merged rows are not deleted, so that their address and ORCID or ROR iD in links, calendars and files still
resolve. A merge is one change set, which can be reverted (`content.history.revert`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, cast

from django.core.exceptions import ValidationError
from django.db.models import ForeignObjectRel, ManyToManyRel, Model, QuerySet, UniqueConstraint
from django.utils.translation import gettext

from content import revision
from content.history import ChangeSet, Origin
from content.history.recording import editions_by_row, record_link_changes, recording
from content.models import Ordered
from content.ordering import reorder
from content.row_values import is_recorded, recorded_fields
from people import names
from people.duplicates import storage
from people.models import (
    Institution,
    InstitutionDistinction,
    Mergeable,
    Person,
    PersonDistinction,
    PersonIdentifier,
    PersonName,
)

if TYPE_CHECKING:
    from content.actor import User
    from content.models import Content


def relations(model: type[Model]) -> "Iterator[tuple[type[Content], ForeignObjectRel]]":
    """Yield the content models that reference a model, each with the relation."""
    for relation in model._meta.related_objects:
        if is_recorded(relation.related_model):
            yield relation.related_model, relation


def referenced_key(change_set: ChangeSet) -> int:
    """Return the key of the survivor of a merge, or of the new person of a split."""
    return int(change_set.reference.rpartition(":")[2])


def parent_of(row: Model) -> "Content | None":
    """Return the row that lists another one, such as the paper of an authorship."""
    parent: Content | None = getattr(row, getattr(row, "siblings_of", ""), None)
    return parent


def move_references(source: Model, target: Model, dropped: list[str]) -> int:
    """Move all rows that reference `source` to `target`, as `move_rows` does. Return their number."""
    count = 0
    for model, relation in relations(type(source)):
        name = relation.field.name
        if isinstance(relation, ManyToManyRel):
            count += _move_links(relation, source, target)
        else:
            count += move_rows(model._default_manager.filter(**{name: source}), name, target, dropped)
    return count


def move_rows(rows: "QuerySet[Content]", name: str, target: Model, dropped: list[str]) -> int:
    """Move these rows to `target` by setting the foreign key `name`, and return their number.

    A row that would violate a unique constraint is merged with the existing one, and is added to `dropped`.
    """
    unique_columns = _unique_columns(rows.model, name)

    def unique_keys(row: "Content") -> list[tuple[object, ...]]:
        """Return a key for each unique constraint. Rows with a common key cannot both reference `target`."""
        return [
            (index, *(getattr(row, column) for column in columns))
            for index, columns in enumerate(unique_columns)
        ]

    target_rows = rows.model._default_manager.filter(**{name: target}) if unique_columns else ()
    rows_by_key = {key: row for row in target_rows for key in unique_keys(row)}
    moved_keys: list[int] = []
    for row in rows.order_by("pk"):
        existing = next((rows_by_key[key] for key in unique_keys(row) if key in rows_by_key), None)
        if existing is None:
            moved_keys.append(row.pk)
            rows_by_key |= dict.fromkeys(unique_keys(row), row)
        else:
            dropped.append(f"{row}, {parent_of(row) or row._meta.verbose_name}")
            _absorb(existing, row)
    return rows.model._default_manager.filter(pk__in=moved_keys).update(**{name: target})


def _unique_columns(model: type[Model], name: str) -> list[list[str]]:
    """Return the other columns of each unique constraint with this field."""
    return [
        [
            field.attname
            for field in model._meta.concrete_fields
            if field.name in constraint.fields and field.name != name
        ]
        for constraint in model._meta.constraints
        if isinstance(constraint, UniqueConstraint)
        and name in constraint.fields
        and constraint.condition is None
    ]


def _absorb(remaining: "Content", duplicate: "Content") -> None:
    """Delete a duplicate. The other row gets the earlier position, and the values that it lacks."""
    fields = recorded_fields(type(remaining))
    field_names = [name for name, field in fields.items() if not field.is_relation and name != "position"]
    changed_names = [name for name in field_names if _fill(remaining, duplicate, name)]
    for relation in remaining._meta.local_many_to_many:
        getattr(remaining, relation.name).add(*getattr(duplicate, relation.name).all())
    if isinstance(remaining, Ordered):
        _delete_and_renumber(remaining, duplicate)
    else:
        duplicate.delete()
    if changed_names:
        remaining.refresh_from_db(fields=["position"] if isinstance(remaining, Ordered) else [])
        remaining.save(update_fields=changed_names)


def _fill(remaining: Model, duplicate: Model, name: str) -> bool:
    """Fill an empty field from the other row, or join lists. Return whether it changed."""
    own_value, other_value = getattr(remaining, name), getattr(duplicate, name)
    if isinstance(own_value, list):
        value = [*own_value, *(item for item in other_value if item not in own_value)]
    else:
        value = own_value or other_value
    setattr(remaining, name, value)
    return bool(value != own_value)


def _delete_and_renumber(remaining: Ordered, duplicate: Model) -> None:
    """Delete the duplicate, and give the other row the earlier position of the two."""
    order = list(remaining.siblings().order_by("position", "pk").values_list("pk", flat=True))
    if order.index(duplicate.pk) < order.index(remaining.pk):
        order.remove(remaining.pk)
        order[order.index(duplicate.pk)] = remaining.pk
    else:
        order.remove(duplicate.pk)
    duplicate.delete()
    reorder(type(remaining)._default_manager.filter(pk__in=order), order)


def _move_links(relation: ManyToManyRel, source: Model, target: Model) -> int:
    """Move the rows that reference `source` by a many-to-many relation to `target`. Return their number."""
    field = relation.field
    row_column, target_column = field.m2m_column_name(), field.m2m_reverse_name()
    links = cast(type[Model], relation.through)._base_manager
    row_keys = list(links.filter(**{target_column: source.pk}).values_list(row_column, flat=True))
    with record_link_changes(field.model, field.name, row_keys):
        target_links = links.filter(**{target_column: target.pk, f"{row_column}__in": row_keys})
        linked_keys = set(target_links.values_list(row_column, flat=True))
        links.filter(**{target_column: source.pk, f"{row_column}__in": linked_keys}).delete()
        count = links.filter(**{target_column: source.pk}).update(**{target_column: target.pk})
    revision.advance(editions_by_row(field.model, row_keys).values())
    return count


# Fields whose value a chair chooses. `NAME_PARTS` are taken from the row of the chosen name.
CHOSEN_FIELDS: dict[type[Model], tuple[str, ...]] = {
    Person: ("name", "native_name", "affiliation", "orcid", "homepage", "photo", "biography", "email"),
    Institution: ("name", "country", "ror"),
}
NAME_PARTS = ("given", "family")
# The unique identifier of each model.
UNIQUE_FIELD: dict[type[Model], str] = {Person: "orcid", Institution: "ror"}
DISTINCTIONS: dict[type[Model], type[PersonDistinction | InstitutionDistinction]] = {
    Person: PersonDistinction,
    Institution: InstitutionDistinction,
}


class CannotMergeError(Exception):
    """The rows cannot be merged. `reasons` are sentences."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class Merged[R: Mergeable]:
    """The result of a merge."""

    survivor: R
    moved_count: int
    # Rows that were merged with a row of the survivor, as "person, parent".
    dropped: list[str]
    change_set: int


def hidden_names(people: Iterable[Mergeable]) -> set[str]:
    """Return the hidden names of these people, casefolded."""
    rows = PersonName.objects.filter(person__in=[person.pk for person in people], hidden=True)
    return {name.casefold() for name in rows.values_list("name", flat=True)}


def default_choices(rows: Sequence[Mergeable], hidden: Iterable[str] = ()) -> dict[str, int]:
    """Return for each field the key of the first row with a value. A merge uses it by default."""
    choices = {}
    for name in CHOSEN_FIELDS[type(rows[0])]:
        with_value = [row for row in rows if getattr(row, name)]
        if name == "name":
            with_value = [row for row in with_value if row.name.casefold() not in set(hidden)]
        choices[name] = (with_value or rows)[0].pk
    return choices


def merge[R: Mergeable](
    survivor: R,
    others: Iterable[R],
    choices: Mapping[str, int] | None = None,
    *,
    hide: Iterable[str] = (),
    user: "User" = None,
) -> Merged[R]:
    """Merge the others into the survivor. `choices` maps fields to the key of the row whose value is used.

    `hide` are names to hide. Raise `CannotMergeError`, without any change, if the rows cannot be merged.
    """
    merged_rows = [row for row in others if row.pk != survivor.pk]
    detail = gettext("%(others)s into %(survivor)s") % {
        "others": ", ".join(str(row) for row in merged_rows),
        "survivor": survivor,
    }
    keys = [survivor.pk, *(row.pk for row in merged_rows)]
    with (
        storage.deciding(type(survivor), keys),
        recording(Origin.MERGE, user, detail) as log,
        revision.lock(),
    ):
        log.set_reference(survivor)
        rows = _lock_rows(type(survivor), [survivor, *merged_rows])
        survivor, merged_rows = rows[0], rows[1:]
        hidden = {*hidden_names(rows), *(names.normalize(name).casefold() for name in hide)}
        keys_by_field = {**default_choices(rows, hidden), **(choices or {})}
        rows_by_key = {row.pk: row for row in rows}
        values = {name: getattr(rows_by_key[key], name) for name, key in keys_by_field.items()}
        if values["name"].casefold() in hidden:
            raise CannotMergeError(
                [gettext("“%(name)s” is hidden and must not appear anywhere. Choose another name.") % values]
            )
        if isinstance(survivor, Person):
            values |= {name: getattr(rows_by_key[keys_by_field["name"]], name) for name in NAME_PARTS}
        former_names = [row.name for row in rows]
        dropped: list[str] = []
        moved_count = sum(move_references(row, survivor, dropped) for row in merged_rows)
        _move_distinctions(survivor, merged_rows)
        _mark_as_merged(survivor, merged_rows, values)
        _write_values(survivor, values)
        _add_names(survivor, merged_rows, former_names, hide)
        log.write()
        return Merged(survivor, moved_count, dropped, log.change_set.pk if log.change_set else 0)


def _lock_rows[R: Mergeable](model: type[R], rows: Sequence[R]) -> list[R]:
    """Fetch the rows again, in the same order, and lock them until the end of the transaction."""
    queryset = model._default_manager.select_for_update(no_key=True).order_by("pk")
    rows_by_key = queryset.in_bulk([row.pk for row in rows])
    reasons = []
    if len(rows_by_key) < 2:
        reasons.append(gettext("Choose two or more existing entries."))
    reasons += [
        gettext("%(name)s has already been merged into another entry.") % {"name": row}
        for row in rows_by_key.values()
        if row.merged_into_id
    ]
    if reasons or rows[0].pk not in rows_by_key:
        raise CannotMergeError(reasons or [gettext("The entry to keep no longer exists.")])
    return [cast(R, rows_by_key[row.pk]) for row in rows if row.pk in rows_by_key]


def _move_distinctions(survivor: Mergeable, merged_rows: Sequence[Mergeable]) -> None:
    """Move distinctions to the survivor. Delete those between merged rows."""
    distinctions = DISTINCTIONS[type(survivor)]._default_manager
    keys = [row.pk for row in merged_rows]
    for field, other_field in (("first", "second"), ("second", "first")):
        for row in distinctions.filter(**{f"{field}__in": keys}):
            other_key = getattr(row, f"{other_field}_id")
            first, second = sorted((survivor.pk, other_key))
            if other_key in {survivor.pk, *keys} or distinctions.filter(first=first, second=second).exists():
                row.delete()
            else:
                row.first_id, row.second_id = first, second
                row.save()


def _mark_as_merged(
    survivor: Mergeable, merged_rows: Sequence[Mergeable], values: Mapping[str, object]
) -> None:
    """Set `merged_into` of the merged rows."""
    unique_field = UNIQUE_FIELD[type(survivor)]
    for row in merged_rows:
        row.merged_into = survivor
        if getattr(row, unique_field) == values[unique_field]:
            setattr(row, unique_field, "")
        row.save()


def _write_values(survivor: Mergeable, values: Mapping[str, object]) -> None:
    former_identifier = getattr(survivor, UNIQUE_FIELD[type(survivor)])
    for name, value in values.items():
        setattr(survivor, name, value)
    try:
        survivor.full_clean()
    except ValidationError as error:
        raise CannotMergeError(error.messages) from error
    survivor.save()
    if isinstance(survivor, Person) and former_identifier and former_identifier != survivor.orcid:
        # Imports still match the person by the former ORCID iD.
        PersonIdentifier.objects.get_or_create(
            scheme="orcid", value=former_identifier, defaults={"person": survivor}
        )


def _add_names(
    survivor: Mergeable, merged_rows: Sequence[Mergeable], former_names: Iterable[str], hide: Iterable[str]
) -> None:
    """Add the names of the merged rows as other names of the survivor."""
    other_names = [name for name in dict.fromkeys(former_names) if name != survivor.name]
    if isinstance(survivor, Institution):
        merged_aliases = [
            alias for row in merged_rows if isinstance(row, Institution) for alias in row.aliases
        ]
        aliases = [*survivor.aliases, *other_names, *merged_aliases]
        survivor.aliases = [name for name in dict.fromkeys(aliases) if name != survivor.name]
        survivor.save(update_fields=["aliases"])
        return
    hidden = {names.normalize(name).casefold() for name in hide}
    rows_by_name = {row.name.casefold(): row for row in survivor.names.all()}
    for name in [*other_names, *hide]:
        row = rows_by_name.get(names.normalize(name).casefold())
        if row is None:
            row = PersonName(person=survivor, name=name)
        row.hidden = row.hidden or row.name.casefold() in hidden
        row.full_clean(exclude=["person"])
        row.save()
        rows_by_name[row.name.casefold()] = row


def mark_distinct(rows: Sequence[Mergeable]) -> int:
    """Mark all pairs of these rows as distinct. Return the number of new pairs."""
    keys = sorted({row.pk for row in rows})
    model = DISTINCTIONS[type(rows[0])]
    with storage.deciding(type(rows[0]), keys):
        distinct_pairs = model.objects.filter(first__in=keys, second__in=keys).pairs()
        new_pairs = [pair for pair in combinations(keys, 2) if frozenset(pair) not in distinct_pairs]
        for first, second in new_pairs:
            model.objects.create(first_id=first, second_id=second)
    return len(new_pairs)
