"""Several people who are one, several institutions that are one: merged into the one that stays.

What was merged keeps its row, with its address and its ORCID or ROR, so that links, calendars and files find
the way. The whole is one act in the history, and can be taken back (`content.revert`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from content import revision
from content.history import Origin
from content.recording import recording
from people import names
from people.merging.relations import Moved, move_all
from people.models import (
    Institution,
    InstitutionDistinction,
    Person,
    PersonDistinction,
    PersonIdentifier,
    PersonName,
)

if TYPE_CHECKING:
    from content.models import Content

# What a chair chooses among the values that there are; parts of the name go with it.
FIELDS: dict[type[Any], tuple[str, ...]] = {
    Person: ("name", "native_name", "affiliation", "orcid", "homepage", "photo", "biography", "email"),
    Institution: ("name", "country", "ror"),
}
WITH_NAME = ("given", "family")
# Of these, two rows cannot have the same.
UNIQUE = {Person: "orcid", Institution: "ror"}
DISTINCTIONS: dict[type[Any], type[Any]] = {Person: PersonDistinction, Institution: InstitutionDistinction}


class CannotMergeError(Exception):
    """Why these are not merged, in sentences."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge has done."""

    survivor: Any
    moved: Moved
    change_set: int


def hidden_names(people: Iterable[Any]) -> set[str]:
    """Return the names of these people that must appear nowhere, for comparison."""
    rows = PersonName.objects.filter(person__in=[one.pk for one in people], hidden=True)
    return {name.casefold() for name in rows.values_list("name", flat=True)}


def preset(
    survivor: Person | Institution, others: Iterable[Any], hidden: Iterable[str] = ()
) -> dict[str, int]:
    """Return whose value holds unless somebody chooses: the survivor's own, else the first that there is."""
    rows = [survivor, *others]
    found = {}
    for name in FIELDS[type(survivor)]:
        with_value = [row for row in rows if getattr(row, name)]
        if name == "name":
            with_value = [row for row in with_value if row.name.casefold() not in set(hidden)]
        found[name] = (with_value or rows)[0].pk
    return found


def merge(
    survivor: Any,
    others: Iterable[Any],
    chosen: Mapping[str, int] | None = None,
    *,
    hide: Iterable[str] = (),
    user: Any = None,
) -> Merged:
    """Merge the others into the survivor. `chosen`: field -> key of the row whose value holds.

    `hide`: names of theirs that must appear nowhere from now on. Raises `CannotMergeError`, nothing changed.
    """
    gone = [row for row in others if row.pk != survivor.pk]
    detail = gettext("%(others)s into %(survivor)s") % {
        "others": ", ".join(str(row) for row in gone),
        "survivor": survivor,
    }
    with recording(Origin.MERGE, user, detail) as log, revision.lock():
        log.refer_to(survivor)
        rows = _locked(type(survivor), [survivor, *gone])
        survivor, gone = rows[0], rows[1:]
        hidden = {*hidden_names(rows), *(names.normal(name).casefold() for name in hide)}
        choice = {**preset(survivor, gone, hidden), **(chosen or {})}
        by_key = {row.pk: row for row in rows}
        values = {name: getattr(by_key[key], name) for name, key in choice.items()}
        if values["name"].casefold() in hidden:
            raise CannotMergeError([gettext("“%(name)s” must appear nowhere. Choose another name.") % values])
        parts = {name: getattr(by_key[choice["name"]], name, "") for name in WITH_NAME}
        called = [row.name for row in rows]
        moved = Moved()
        for row in gone:
            found = move_all(row, survivor)
            moved.count += found.count
            moved.dropped += found.dropped
        _move_distinctions(survivor, gone)
        _lead_on(survivor, gone, values)
        _settle(survivor, {**values, **(parts if isinstance(survivor, Person) else {})})
        _call(survivor, gone, called, hide)
        log.write()
        return Merged(survivor, moved, log.change_set.pk if log.change_set else 0)


def _locked(model: Any, rows: list[Any]) -> list[Any]:
    """Return the rows as they are now, in the same order, held until the end of the act."""
    held = model._default_manager.select_for_update(no_key=True).order_by("pk")
    found = held.in_bulk([row.pk for row in rows])
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
    return [found[row.pk] for row in rows if row.pk in found]


def _move_distinctions(survivor: Person | Institution, gone: list[Any]) -> None:
    """Move distinctions to the survivor; drop those between merged rows."""
    model = DISTINCTIONS[type(survivor)]
    ours = {survivor.pk, *(row.pk for row in gone)}
    for name, other in (("first", "second"), ("second", "first")):
        for row in model._default_manager.filter(**{f"{name}__in": [row.pk for row in gone]}):
            far = getattr(row, f"{other}_id")
            pair = dict(zip(("first", "second"), sorted((survivor.pk, far)), strict=True))
            if far in ours or model._default_manager.filter(**pair).exists():
                row.delete()
            else:
                row.first_id, row.second_id = pair["first"], pair["second"]
                row.save()


def _lead_on(survivor: Person | Institution, gone: list[Any], values: dict[str, Any]) -> None:
    """Let the rows that were merged lead to the one that stays."""
    unique = UNIQUE[type(survivor)]
    for row in gone:
        row.merged_into = survivor
        if getattr(row, unique) == values[unique]:
            setattr(row, unique, "")
        row.save()


def _settle(survivor: "Content", values: dict[str, Any]) -> None:
    unique = UNIQUE[type(survivor)]
    former = getattr(survivor, unique)
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


def _call(survivor: Any, gone: list[Any], called: list[str], hide: Iterable[str]) -> None:
    """Keep the names of those who were merged as other names of the one that stays."""
    others = [name for name in dict.fromkeys(called) if name != survivor.name]
    if isinstance(survivor, Institution):
        aliases = [*survivor.aliases, *others, *(alias for row in gone for alias in row.aliases)]
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


# Apart


def distinguish(rows: Iterable[Any]) -> int:
    """Note that none of these is the same as another; return how many pairs that are news."""
    keys = sorted({row.pk for row in rows})
    model = DISTINCTIONS[type(next(iter(rows)))]
    known = model._default_manager.filter(first__in=keys, second__in=keys).pairs()
    pairs = [(a, b) for a in keys for b in keys if a < b and frozenset((a, b)) not in known]
    for first, second in pairs:
        model._default_manager.create(first_id=first, second_id=second)
    return len(pairs)
