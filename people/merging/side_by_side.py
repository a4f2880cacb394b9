"""Comparison of people or institutions before a merge: their names, contributions and field values."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import cast

from django.contrib.admin.utils import label_for_field
from django.db.models import Count, Model, Prefetch, Q, QuerySet, prefetch_related_objects
from django.urls import reverse
from django.utils.text import capfirst

from conference.models import Edition
from content.models import Content
from people import names
from people.merging.merge import CHOSEN_FIELDS, default_choices, hidden_names, parent_of
from people.models import Institution, Mergeable, Person, PersonIdentifier, PersonName
from people.querysets import APPEARANCES, appearance_relations

# The maximum number of contributions shown for each row. Others are only counted.
MAX_CONTRIBUTIONS = 40


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """A row's value of a field. `is_preset` is true if a merge uses it by default."""

    key: int
    value: object
    is_preset: bool
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class ComparedField:
    """A field with the values of all compared rows, in order."""

    name: str
    label: str
    choices: list[FieldChoice]

    @property
    def differs(self) -> bool:
        """Whether the rows have different values."""
        return len({str(choice.value) for choice in self.choices}) > 1


@dataclass(frozen=True, slots=True)
class Contribution:
    """A row by which a person or institution appears, such as an authorship, and its parent row."""

    row: Content
    kind: str
    parent: Model
    edition: Edition
    printed_name: str
    affiliations: list[str]
    is_shared: bool

    @property
    def key(self) -> str:
        """The name of the row in a form."""
        return row_key(self.row)

    @property
    def address(self) -> str:
        """The address of the parent's form."""
        meta = self.parent._meta
        return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[self.parent.pk])


def row_key(row: Model) -> str:
    """Return the name of a row in a form."""
    return f"{row._meta.label_lower}:{row.pk}"


@dataclass(slots=True)
class ComparedRow:
    """One of the compared rows. `more` is the number of contributions that are not shown."""

    row: Mergeable
    names: list[PersonName] = field(default_factory=list)
    identifiers: list[PersonIdentifier] = field(default_factory=list)
    contributions: list[Contribution] = field(default_factory=list)
    more: int = 0

    @property
    def count(self) -> int:
        """The number of contributions, shown or not."""
        return len(self.contributions) + self.more

    def by_key(self) -> dict[str, Content]:
        """Return the contributions, names and identifiers by their names in a form."""
        return {contribution.key: contribution.row for contribution in self.contributions} | dict(self.parts)

    @property
    def parts(self) -> list[tuple[str, Content]]:
        """The other names and identifiers, each with its name in a form."""
        return [(row_key(row), row) for row in (*self.names, *self.identifiers)]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The comparison that a page shows. `keep` is the primary key of the default survivor."""

    columns: list[ComparedRow]
    lines: list[ComparedField]
    keep: int
    doubtful: list[str]

    @property
    def rows(self) -> list[Mergeable]:
        return [column.row for column in self.columns]

    @property
    def presets(self) -> dict[str, int]:
        """The primary key of the row whose value a merge uses by default, by field."""
        return {line.name: choice.key for line in self.lines for choice in line.choices if choice.is_preset}

    @property
    def fingerprint(self) -> str:
        """A digest of the comparison, to detect changes before a merge."""
        content = [
            [(line.name, [(c.key, str(c.value)) for c in line.choices]) for line in self.lines],
            [[(c.kind, c.row.pk) for c in column.contributions] + [column.more] for column in self.columns],
            [[(n.name, n.hidden) for n in column.names] for column in self.columns],
        ]
        return sha256(repr(content).encode()).hexdigest()


# A function that returns the rows of a model that the user may see.
type VisibleRows = Callable[[type[Model]], QuerySet[Model]]


def side_by_side(rows: Sequence[Mergeable], visible_rows: VisibleRows) -> SideBySide:
    """Compare people or institutions. The number of queries does not depend on the number of rows."""
    people = [row for row in rows if isinstance(row, Person)]
    institutions = [row for row in rows if isinstance(row, Institution)]
    columns = (
        compared_people(people, visible_rows)
        if people
        else _compared_institutions(institutions, visible_rows)
    )
    survivor = max(columns, key=lambda column: (column.count, -column.row.pk)).row
    hidden = hidden_names(people) if people else set()
    keys_by_field = default_choices([survivor, *(row for row in rows if row.pk != survivor.pk)], hidden)
    if people and names.is_suspicious(survivor.name):
        plausible_keys = (
            person.pk
            for person in people
            if not names.is_suspicious(person.name) and person.name.casefold() not in hidden
        )
        keys_by_field["name"] = next(plausible_keys, keys_by_field["name"])
    lines = [
        _compared_field(rows, name, keys_by_field[name], hidden) for name in CHOSEN_FIELDS[type(survivor)]
    ]
    filled_lines = [line for line in lines if any(choice.value for choice in line.choices)]
    doubtful = [row.name for row in rows if set(row.name.split()) & names.NOT_NAMES]
    return SideBySide(columns, filled_lines, survivor.pk, doubtful)


def _compared_field(rows: Sequence[Mergeable], name: str, chosen_key: int, hidden: set[str]) -> ComparedField:
    choices = [
        FieldChoice(
            row.pk,
            getattr(row, name) or "",
            row.pk == chosen_key,
            is_hidden=name == "name" and row.name.casefold() in hidden,
        )
        for row in rows
    ]
    return ComparedField(name, capfirst(str(label_for_field(name, type(rows[0])))), choices)


def compared_people(
    people: Sequence[Person], visible_rows: VisibleRows, limit: int | None = MAX_CONTRIBUTIONS
) -> list[ComparedRow]:
    """Return the names and contributions of people, at most `limit` contributions of each."""
    prefetches = [
        Prefetch(
            appearance.relation,
            visible_rows(model).select_related(*appearance.select_related).order_by("pk"),
            to_attr=f"all_{appearance.relation}",
        )
        for appearance, (model, _name) in zip(APPEARANCES[Person], appearance_relations(Person), strict=True)
    ]
    prefetch_related_objects(people, "names", "identifiers", *prefetches)
    rows_by_person = [
        [
            (appearance.relation, row)
            for appearance in APPEARANCES[Person]
            for row in vars(person)[f"all_{appearance.relation}"]
        ]
        for person in people
    ]
    people_counts = Counter(
        key
        for related_rows in rows_by_person
        for key in {(relation, parent_of(row)) for relation, row in related_rows}
    )
    columns = []
    for person, related_rows in zip(people, rows_by_person, strict=True):
        contributions = [
            _contribution(
                row, is_shared=relation != "committee_roles" and people_counts[relation, parent_of(row)] > 1
            )
            for relation, row in related_rows
        ]
        contributions.sort(key=lambda row: (not row.is_shared, -row.edition.start_date.toordinal()))
        hidden_count = max(0, len(contributions) - limit) if limit is not None else 0
        column = ComparedRow(person, [*person.names.all()], [*person.identifiers.all()])
        column.contributions, column.more = contributions[:limit], hidden_count
        columns.append(column)
    return columns


def _contribution(row: Content, *, is_shared: bool) -> Contribution:
    parent = cast(Content, parent_of(row))
    affiliations = getattr(row, "affiliations", None) or [getattr(row, "affiliation", "")]
    get_role_label = getattr(row, "get_role_display", None)
    kind = str(get_role_label() if get_role_label else getattr(row, "role", "") or row._meta.verbose_name)
    edition = cast(Edition, getattr(parent, "edition", parent))
    printed_name = getattr(row, "name", "")
    return Contribution(
        row, capfirst(kind), parent, edition, printed_name, [*filter(None, affiliations)], is_shared
    )


def _compared_institutions(
    institutions: Sequence[Institution], visible_rows: VisibleRows
) -> list[ComparedRow]:
    ((model, _name),) = appearance_relations(Institution)
    authorships = visible_rows(model)
    counts = dict(
        Institution.objects.filter(pk__in=[institution.pk for institution in institutions])
        .annotate(number=Count("authorships", filter=Q(authorships__in=authorships.values("pk"))))
        .values_list("pk", "number")
    )
    shown_authorships = authorships.select_related("paper__edition").order_by("-pk")[:MAX_CONTRIBUTIONS]
    prefetch_related_objects(
        institutions, Prefetch("authorships", shown_authorships, to_attr="all_authorships")
    )
    columns = []
    for institution in institutions:
        contributions = [
            _contribution(authorship, is_shared=False) for authorship in vars(institution)["all_authorships"]
        ]
        hidden_count = max(0, counts[institution.pk] - len(contributions))
        columns.append(ComparedRow(institution, contributions=contributions, more=hidden_count))
    return columns
