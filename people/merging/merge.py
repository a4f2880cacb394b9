"""Several people who are one, several institutions that are one: merged into the one that stays.

What was merged keeps its row, with its address and its ORCID or ROR, so that links, calendars and files find
the way. The whole is one change set in the history, and can be taken back (`content.revert`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, cast

from django.core.exceptions import ValidationError
from django.db.models import Model
from django.utils.translation import gettext

from content import revision
from content.history import Origin
from content.recording import recording
from people import names
from people.duplicates import storage
from people.merging.relations import Moved, move_all
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

# Fields whose value a chair chooses; parts of the name follow the name.
FIELDS: dict[type[Model], tuple[str, ...]] = {
    Person: ("name", "native_name", "affiliation", "orcid", "homepage", "photo", "biography", "email"),
    Institution: ("name", "country", "ror"),
}
WITH_NAME = ("given", "family")
# Of these, two rows cannot have the same.
UNIQUE: dict[type[Model], str] = {Person: "orcid", Institution: "ror"}
DISTINCTIONS: dict[type[Model], type[PersonDistinction | InstitutionDistinction]] = {
    Person: PersonDistinction,
    Institution: InstitutionDistinction,
}


class CannotMergeError(Exception):
    """Why these are not merged, in sentences."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class Merged[R: Mergeable]:
    """What a merge has done."""

    survivor: R
    moved: Moved
    change_set: int


def hidden_names(people: Iterable[Mergeable]) -> set[str]:
    """Return the names of these people that must appear nowhere, for comparison."""
    rows = PersonName.objects.filter(person__in=[one.pk for one in people], hidden=True)
    return {name.casefold() for name in rows.values_list("name", flat=True)}


def preset(rows: Sequence[Mergeable], hidden: Iterable[str] = ()) -> dict[str, int]:
    """Return whose value holds unless somebody chooses: the first row's own, else the first that there is."""
    found = {}
    for name in FIELDS[type(rows[0])]:
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
    """Merge the others into the survivor. `chosen`: field -> key of the row whose value holds.

    `hide`: names of theirs that must appear nowhere from now on. Raises `CannotMergeError`, nothing changed.
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
        log.refer_to(survivor)
        rows = _locked(type(survivor), [survivor, *merged_rows])
        survivor, merged_rows = rows[0], rows[1:]
        hidden = {*hidden_names(rows), *(names.normal(name).casefold() for name in hide)}
        choice = {**preset(rows, hidden), **(chosen or {})}
        by_key = {row.pk: row for row in rows}
        values = {name: getattr(by_key[key], name) for name, key in choice.items()}
        if values["name"].casefold() in hidden:
            raise CannotMergeError([gettext("“%(name)s” must appear nowhere. Choose another name.") % values])
        if isinstance(survivor, Person):
            values |= {name: getattr(by_key[choice["name"]], name) for name in WITH_NAME}
        former_names = [row.name for row in rows]
        moved = Moved()
        for row in merged_rows:
            move_all(row, survivor, moved)
        _move_distinctions(survivor, merged_rows)
        _point_to(survivor, merged_rows, values)
        _write_values(survivor, values)
        _add_names(survivor, merged_rows, former_names, hide)
        log.write()
        return Merged(survivor, moved, log.change_set.pk if log.change_set else 0)


def _locked[R: Mergeable](model: type[R], rows: Sequence[R]) -> list[R]:
    """Return the rows as they are now, in the same order, locked until the end of the transaction."""
    locked = model._default_manager.select_for_update(no_key=True).order_by("pk")
    found = locked.in_bulk([row.pk for row in rows])
    reasons = []
    if len(found) < 2:
        reasons.append(gettext("Choose two or more that are here."))
    reasons += [
        gettext("%(name)s was merged into another already.") % {"name": row}
        for row in found.values()
        if row.merged_into_id
    ]
    if reasons or rows[0].pk not in found:
        raise CannotMergeError(reasons or [gettext("The one to be kept is not here any more.")])
    return [cast(R, found[row.pk]) for row in rows if row.pk in found]


def _move_distinctions(survivor: Mergeable, merged_rows: Sequence[Mergeable]) -> None:
    """Move distinctions to the survivor; drop those between merged rows."""
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
    """Let the rows that were merged lead to the one that stays."""
    unique = UNIQUE[type(survivor)]
    for row in merged_rows:
        row.merged_into = survivor
        if getattr(row, unique) == values[unique]:
            setattr(row, unique, "")
        row.save()


def _write_values(survivor: Mergeable, values: Mapping[str, object]) -> None:
    former = getattr(survivor, UNIQUE[type(survivor)])
    for name, value in values.items():
        setattr(survivor, name, value)
    try:
        survivor.full_clean()
    except ValidationError as error:
        raise CannotMergeError(error.messages) from error
    survivor.save()
    if isinstance(survivor, Person) and former and former != survivor.orcid:
        # Files that know the person by it find the way.
        PersonIdentifier.objects.get_or_create(scheme="orcid", value=former, defaults={"person": survivor})


def _add_names(
    survivor: Mergeable, merged_rows: Sequence[Mergeable], former: Iterable[str], hide: Iterable[str]
) -> None:
    """Keep the names of those who were merged as other names of the one that stays."""
    others = [name for name in dict.fromkeys(former) if name != survivor.name]
    if isinstance(survivor, Institution):
        theirs = [alias for row in merged_rows if isinstance(row, Institution) for alias in row.aliases]
        aliases = [*survivor.aliases, *others, *theirs]
        survivor.aliases = [name for name in dict.fromkeys(aliases) if name != survivor.name]
        survivor.save(update_fields=["aliases"])
        return
    hidden = {names.normal(name).casefold() for name in hide}
    known = {row.name.casefold(): row for row in survivor.names.all()}
    for name in [*others, *hide]:
        row = known.get(names.normal(name).casefold())
        if row is None:
            row = PersonName(person=survivor, name=name)
        row.hidden = row.hidden or row.name.casefold() in hidden
        row.full_clean(exclude=["person"])
        row.save()
        known[row.name.casefold()] = row


def distinguish(rows: Sequence[Mergeable]) -> int:
    """Store that none of these is the same as another; return how many pairs are new."""
    keys = sorted({row.pk for row in rows})
    model = DISTINCTIONS[type(rows[0])]
    with storage.deciding(type(rows[0]), keys):
        known = model.objects.filter(first__in=keys, second__in=keys).pairs()
        pairs = [pair for pair in combinations(keys, 2) if frozenset(pair) not in known]
        for first, second in pairs:
            model.objects.create(first_id=first, second_id=second)
    return len(pairs)
