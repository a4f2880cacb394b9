"""People, or institutions, side by side: what each is called, what each did, whose value of a field holds."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Prefetch, Q, prefetch_related_objects
from django.urls import reverse
from django.utils.text import capfirst

from people import names
from people.merging.merge import FIELDS, hidden_names, preset
from people.models import Institution, Person
from people.querysets import APPEARANCES

if TYPE_CHECKING:
    from content.models import Content

# Of what somebody did, so much is shown; the rest is counted.
MAX_CONTRIBUTIONS = 40


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """A value of a field, and whether it holds unless somebody chooses."""

    key: int
    value: Any
    is_preset: bool
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class ComparedField:
    """A field with the values of all, in order."""

    name: str
    label: str
    choices: list[FieldChoice]

    @property
    def differs(self) -> bool:
        """Whether there is anything to choose."""
        return len({str(choice.value) for choice in self.choices}) > 1


@dataclass(frozen=True, slots=True)
class Contribution:
    """What somebody did: as what, in what, of which edition, under which name and affiliation."""

    row: Any
    kind: str
    thing: Any
    edition: Any
    printed: str
    places: list[str]
    is_shared: bool

    @property
    def key(self) -> str:
        """How a form names the row."""
        return row_key(self.row)

    @property
    def address(self) -> str:
        """The form of what it was done in."""
        meta = self.thing._meta
        return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[self.thing.pk])


def row_key(row: "Content") -> str:
    """Return how a form names a row."""
    return f"{row._meta.label_lower}:{row.pk}"


@dataclass(slots=True)
class ComparedRow:
    """One of those who are compared."""

    row: Any
    names: list[Any] = field(default_factory=list)
    identifiers: list[Any] = field(default_factory=list)
    deeds: list[Contribution] = field(default_factory=list)
    more: int = 0

    @property
    def count(self) -> int:
        """How much they did, shown or not."""
        return len(self.deeds) + self.more

    def by_key(self) -> dict[str, Any]:
        """Return the rows of what they did and are called, by how a form names them."""
        rows = [*(deed.row for deed in self.deeds), *self.names, *self.identifiers]
        return {row_key(row): row for row in rows}

    @property
    def parts(self) -> list[tuple[str, Any]]:
        """The other names and identifiers, each with how a form names it."""
        return [(row_key(row), row) for row in (*self.names, *self.identifiers)]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """What a page shows of them; `keep` is the one that stays unless somebody chooses."""

    columns: list[ComparedRow]
    lines: list[ComparedField]
    keep: int
    doubtful: list[str]

    @property
    def seen(self) -> str:
        """What changes when anything does that is shown here."""
        told = [
            [(line.name, [(c.key, str(c.value)) for c in line.choices]) for line in self.lines],
            [[(d.kind, d.row.pk) for d in column.deeds] + [column.more] for column in self.columns],
            [[(n.name, n.hidden) for n in column.names] for column in self.columns],
        ]
        return sha256(repr(told).encode()).hexdigest()


# The rows of a model that somebody may see.
type Seen = Callable[[Any], Any]


def everything(model: "type[Content]") -> Any:
    """Return all rows of a model."""
    return model._default_manager.all()


def side_by_side(rows: Iterable[Any], seen: Seen = everything) -> SideBySide:
    """Return the rows as they are compared. The same number of queries, however many they are."""
    people = list(rows)
    columns = columns_of(people, seen) if isinstance(people[0], Person) else _institutions(people, seen)
    keep = max(columns, key=lambda column: (column.count, -column.row.pk)).row
    others = [row for row in people if row.pk != keep.pk]
    hidden = hidden_names(people) if isinstance(keep, Person) else set()
    chosen = preset(keep, others, hidden)
    if isinstance(keep, Person) and names.is_suspicious(keep.name):
        sound = [one for one in people if not names.is_suspicious(one.name)]
        chosen["name"] = next((one.pk for one in sound if one.name.casefold() not in hidden), chosen["name"])
    lines = [_line(people, name, chosen[name], hidden) for name in FIELDS[type(keep)]]
    doubtful = [one.name for one in people if set(one.name.split()) & names.NOT_NAMES]
    return SideBySide(columns, [line for line in lines if line], keep.pk, doubtful)


def _line(rows: list[Any], name: str, chosen: int, hidden: set[str]) -> Any:
    choices = [
        FieldChoice(
            row.pk,
            getattr(row, name) or "",
            row.pk == chosen,
            is_hidden=name == "name" and str(row.name).casefold() in hidden,
        )
        for row in rows
    ]
    label = capfirst(str(rows[0]._meta.get_field(name).verbose_name))
    return ComparedField(name, label, choices) if any(choice.value for choice in choices) else None


def columns_of(
    people: list[Person], seen: Seen = everything, most: int | None = MAX_CONTRIBUTIONS
) -> list[ComparedRow]:
    """Return what people are called and did; at most so much of each."""
    relations = [
        Prefetch(name, seen(_model(name)).select_related(*along).order_by("pk"), to_attr=f"all_{name}")
        for _place, name, along in APPEARANCES[Person]
    ]
    prefetch_related_objects(people, "names", "identifiers", *relations)
    owners = Counter(
        (name, owner)
        for person in people
        for _place, name, _along in APPEARANCES[Person]
        for owner in {_thing(row).pk for row in vars(person)[f"all_{name}"]}
    )
    columns = []
    for person in people:
        column = ComparedRow(person, [*person.names.all()], [*person.identifiers.all()])
        for _place, name, _along in APPEARANCES[Person]:
            for row in vars(person)[f"all_{name}"]:
                shared = name != "committee_roles" and owners[name, _thing(row).pk] > 1
                column.deeds.append(_deed(row, is_shared=shared))
        column.deeds.sort(key=lambda deed: (not deed.is_shared, -deed.edition.start_date.toordinal()))
        if most is not None:
            column.more = max(0, len(column.deeds) - most)
            column.deeds = column.deeds[:most]
        columns.append(column)
    return columns


def _model(name: str) -> Any:
    return Person._meta.get_field(name).related_model


def _thing(row: Any) -> Any:
    return getattr(row, row.siblings_of)


def _deed(row: "Content", *, is_shared: bool) -> Contribution:
    thing = _thing(row)
    places = getattr(row, "affiliations", None) or [getattr(row, "affiliation", "")]
    role = getattr(row, "get_role_display", None)
    kind = str(role() if role else getattr(row, "role", "") or row._meta.verbose_name)
    edition = getattr(thing, "edition", thing)
    printed = getattr(row, "name", "")
    return Contribution(row, capfirst(kind), thing, edition, printed, [*filter(None, places)], is_shared)


def _institutions(rows: list[Institution], seen: Seen) -> list[ComparedRow]:
    authorships = seen(Institution._meta.get_field("authorships").related_model)
    counts = dict(
        Institution.objects.filter(pk__in=[row.pk for row in rows])
        .annotate(number=Count("authorships", filter=Q(authorships__in=authorships.values("pk"))))
        .values_list("pk", "number")
    )
    shown = authorships.select_related("paper__edition").order_by("-pk")
    columns = []
    prefetch_related_objects(
        rows, Prefetch("authorships", shown[:MAX_CONTRIBUTIONS], to_attr="all_authorships")
    )
    for row in rows:
        deeds = [_deed(one, is_shared=False) for one in vars(row)["all_authorships"]]
        columns.append(ComparedRow(row, deeds=deeds, more=max(0, counts[row.pk] - len(deeds))))
    return columns
