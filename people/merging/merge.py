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
from content.history import Origin
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


def parent_of(row: Model) -> "Content | None":
    """Return the row that lists another one, such as the paper of an authorship."""
    parent: Content | None = getattr(row, getattr(row, "siblings_of", ""), None)
    return parent


def move_references(there: Model, here: Model, dropped: list[str]) -> int:
    """Move all rows that reference `there` to `here`, as `move_rows` does. Return their number."""
    count = 0
    for model, relation in relations(type(there)):
        name = relation.field.name
        if isinstance(relation, ManyToManyRel):
            count += _move_links(relation, there, here)
        else:
            count += move_rows(model._default_manager.filter(**{name: there}), name, here, dropped)
    return count


def move_rows(rows: "QuerySet[Content]", name: str, here: Model, dropped: list[str]) -> int:
    """Move these rows to `here` by setting the foreign key `name`, and return their number.

    A row that would violate a unique constraint is merged with the existing one, and is added to `dropped`.
    """
    rules = _unique_columns(rows.model, name)

    def unique_keys(row: "Content") -> list[tuple[object, ...]]:
        """Return a key for each unique constraint. Rows with a common key cannot both reference `here`."""
        return [(number, *(getattr(row, one) for one in rule)) for number, rule in enumerate(rules)]

    present = rows.model._default_manager.filter(**{name: here}) if rules else ()
    taken = {key: row for row in present for key in unique_keys(row)}
    keys: list[int] = []
    for row in rows.order_by("pk"):
        remaining = next((taken[key] for key in unique_keys(row) if key in taken), None)
        if remaining is None:
            keys.append(row.pk)
            taken |= dict.fromkeys(unique_keys(row), row)
        else:
            dropped.append(f"{row}, {parent_of(row) or row._meta.verbose_name}")
            _absorb(remaining, row)
    return rows.model._default_manager.filter(pk__in=keys).update(**{name: here})


def _unique_columns(model: type[Model], name: str) -> list[list[str]]:
    """Return the other columns of each unique constraint with this field."""
    return [
        [one.attname for one in model._meta.concrete_fields if one.name in rule.fields and one.name != name]
        for rule in model._meta.constraints
        if isinstance(rule, UniqueConstraint) and name in rule.fields and rule.condition is None
    ]


def _absorb(remaining: "Content", duplicate: "Content") -> None:
    """Delete a duplicate. The other row gets the earlier position, and the values that it lacks."""
    fields = recorded_fields(type(remaining))
    own = [name for name, one in fields.items() if not one.is_relation and name != "position"]
    changed = [name for name in own if _fill(remaining, duplicate, name)]
    for link in remaining._meta.local_many_to_many:
        getattr(remaining, link.name).add(*getattr(duplicate, link.name).all())
    if isinstance(remaining, Ordered):
        _delete_and_renumber(remaining, duplicate)
    else:
        duplicate.delete()
    if changed:
        remaining.refresh_from_db(fields=["position"] if isinstance(remaining, Ordered) else [])
        remaining.save(update_fields=changed)


def _fill(remaining: Model, duplicate: Model, name: str) -> bool:
    """Fill an empty field from the other row, or join lists. Return whether it changed."""
    own_value, other_value = getattr(remaining, name), getattr(duplicate, name)
    if isinstance(own_value, list):
        joined = [*own_value, *(one for one in other_value if one not in own_value)]
    else:
        joined = own_value or other_value
    setattr(remaining, name, joined)
    return bool(joined != own_value)


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


def _move_links(relation: ManyToManyRel, there: Model, here: Model) -> int:
    """Move the rows that reference `there` by a many-to-many relation to `here`. Return their number."""
    link = relation.field
    near, far = link.m2m_column_name(), link.m2m_reverse_name()
    rows = cast(type[Model], relation.through)._base_manager
    keys = list(rows.filter(**{far: there.pk}).values_list(near, flat=True))
    with record_link_changes(link.model, link.name, keys):
        both = set(rows.filter(**{far: here.pk, f"{near}__in": keys}).values_list(near, flat=True))
        rows.filter(**{far: there.pk, f"{near}__in": both}).delete()
        count = rows.filter(**{far: there.pk}).update(**{far: here.pk})
    revision.advance(editions_by_row(link.model, keys).values())
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
    rows = PersonName.objects.filter(person__in=[one.pk for one in people], hidden=True)
    return {name.casefold() for name in rows.values_list("name", flat=True)}


def default_choices(rows: Sequence[Mergeable], hidden: Iterable[str] = ()) -> dict[str, int]:
    """Return for each field the key of the first row with a value. A merge uses it by default."""
    found = {}
    for name in CHOSEN_FIELDS[type(rows[0])]:
        with_value = [row for row in rows if getattr(row, name)]
        if name == "name":
            with_value = [row for row in with_value if row.name.casefold() not in set(hidden)]
        found[name] = (with_value or rows)[0].pk
    return found


def merge[R: Mergeable](
    survivor: R,
    others: Iterable[R],
    chosen: Mapping[str, int] | None = None,
    *,
    hide: Iterable[str] = (),
    user: "User" = None,
) -> Merged[R]:
    """Merge the others into the survivor. `chosen` maps fields to the key of the row whose value is used.

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
        rows = _locked(type(survivor), [survivor, *merged_rows])
        survivor, merged_rows = rows[0], rows[1:]
        hidden = {*hidden_names(rows), *(names.normalize(name).casefold() for name in hide)}
        choice = {**default_choices(rows, hidden), **(chosen or {})}
        by_key = {row.pk: row for row in rows}
        values = {name: getattr(by_key[key], name) for name, key in choice.items()}
        if values["name"].casefold() in hidden:
            raise CannotMergeError(
                [gettext("“%(name)s” is hidden and must not appear anywhere. Choose another name.") % values]
            )
        if isinstance(survivor, Person):
            values |= {name: getattr(by_key[choice["name"]], name) for name in NAME_PARTS}
        former_names = [row.name for row in rows]
        dropped: list[str] = []
        moved_count = sum(move_references(row, survivor, dropped) for row in merged_rows)
        _move_distinctions(survivor, merged_rows)
        _point_to(survivor, merged_rows, values)
        _write_values(survivor, values)
        _add_names(survivor, merged_rows, former_names, hide)
        log.write()
        return Merged(survivor, moved_count, dropped, log.change_set.pk if log.change_set else 0)


def _locked[R: Mergeable](model: type[R], rows: Sequence[R]) -> list[R]:
    """Fetch the rows again, in the same order, and lock them until the end of the transaction."""
    locked = model._default_manager.select_for_update(no_key=True).order_by("pk")
    found = locked.in_bulk([row.pk for row in rows])
    reasons = []
    if len(found) < 2:
        reasons.append(gettext("Choose two or more existing entries."))
    reasons += [
        gettext("%(name)s has already been merged into another entry.") % {"name": row}
        for row in found.values()
        if row.merged_into_id
    ]
    if reasons or rows[0].pk not in found:
        raise CannotMergeError(reasons or [gettext("The entry to keep no longer exists.")])
    return [cast(R, found[row.pk]) for row in rows if row.pk in found]


def _move_distinctions(survivor: Mergeable, merged_rows: Sequence[Mergeable]) -> None:
    """Move distinctions to the survivor. Delete those between merged rows."""
    rows = DISTINCTIONS[type(survivor)]._default_manager
    keys = [row.pk for row in merged_rows]
    for name, other in (("first", "second"), ("second", "first")):
        for row in rows.filter(**{f"{name}__in": keys}):
            far = getattr(row, f"{other}_id")
            first, second = sorted((survivor.pk, far))
            if far in {survivor.pk, *keys} or rows.filter(first=first, second=second).exists():
                row.delete()
            else:
                row.first_id, row.second_id = first, second
                row.save()


def _point_to(survivor: Mergeable, merged_rows: Sequence[Mergeable], values: Mapping[str, object]) -> None:
    """Set `merged_into` of the merged rows."""
    unique = UNIQUE_FIELD[type(survivor)]
    for row in merged_rows:
        row.merged_into = survivor
        if getattr(row, unique) == values[unique]:
            setattr(row, unique, "")
        row.save()


def _write_values(survivor: Mergeable, values: Mapping[str, object]) -> None:
    former = getattr(survivor, UNIQUE_FIELD[type(survivor)])
    for name, value in values.items():
        setattr(survivor, name, value)
    try:
        survivor.full_clean()
    except ValidationError as error:
        raise CannotMergeError(error.messages) from error
    survivor.save()
    if isinstance(survivor, Person) and former and former != survivor.orcid:
        # Imports still match the person by the former ORCID iD.
        PersonIdentifier.objects.get_or_create(scheme="orcid", value=former, defaults={"person": survivor})


def _add_names(
    survivor: Mergeable, merged_rows: Sequence[Mergeable], former: Iterable[str], hide: Iterable[str]
) -> None:
    """Add the names of the merged rows as other names of the survivor."""
    others = [name for name in dict.fromkeys(former) if name != survivor.name]
    if isinstance(survivor, Institution):
        theirs = [alias for row in merged_rows if isinstance(row, Institution) for alias in row.aliases]
        aliases = [*survivor.aliases, *others, *theirs]
        survivor.aliases = [name for name in dict.fromkeys(aliases) if name != survivor.name]
        survivor.save(update_fields=["aliases"])
        return
    hidden = {names.normalize(name).casefold() for name in hide}
    known = {row.name.casefold(): row for row in survivor.names.all()}
    for name in [*others, *hide]:
        row = known.get(names.normalize(name).casefold())
        if row is None:
            row = PersonName(person=survivor, name=name)
        row.hidden = row.hidden or row.name.casefold() in hidden
        row.full_clean(exclude=["person"])
        row.save()
        known[row.name.casefold()] = row


def mark_distinct(rows: Sequence[Mergeable]) -> int:
    """Mark all pairs of these rows as distinct. Return the number of new pairs."""
    keys = sorted({row.pk for row in rows})
    model = DISTINCTIONS[type(rows[0])]
    with storage.deciding(type(rows[0]), keys):
        known = model.objects.filter(first__in=keys, second__in=keys).pairs()
        pairs = [pair for pair in combinations(keys, 2) if frozenset(pair) not in known]
        for first, second in pairs:
            model.objects.create(first_id=first, second_id=second)
    return len(pairs)
