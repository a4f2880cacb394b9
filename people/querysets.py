"""Querysets of people and institutions, which are public if a published row references them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from django.apps import apps
from django.db.backends.signals import connection_created
from django.db.models import Case, Count, Exists, F, Model, OuterRef, Prefetch, Q, QuerySet, Subquery, When
from django.db.models.functions import Substr, Upper
from django.db.models.sql.compiler import SQLCompiler
from django.dispatch import receiver

from content.publicity.rules import show_through
from content.querysets import ContentQuerySet, edition_public
from content.row_values import related_model

if TYPE_CHECKING:
    from content.models import Content
    from people.models import CommitteeRole, Institution, LikelyNamesake, Person, PersonName  # noqa: F401 (in strings)


# The heading of the A-Z page for names that begin with no letter.
NO_LETTER = "#"


class Appearance(NamedTuple):
    """A relation whose published rows make a person or institution public. Sorted by `place`."""

    place: int
    relation: str
    # Relations that its rows need for the name of their parent.
    select_related: tuple[str, ...] = ()


APPEARANCES: dict[type[Model], list[Appearance]] = {}


def register_appearance(model: type[Model], appearance: Appearance) -> None:
    """Register a relation whose published rows make people or institutions public."""
    APPEARANCES[model] = sorted([*APPEARANCES.get(model, []), appearance])
    show_through(model, appearance.relation)


class Casefold(Upper):
    """The text without the distinction of case.

    SQLite's own functions change only ASCII letters, and so do PostgreSQL's with the collation "C".
    """

    def as_postgresql(self, compiler: SQLCompiler, connection: Any, **extra_context: Any) -> Any:
        template = '%(function)s((%(expressions)s) COLLATE "und-x-icu")'
        return self.as_sql(compiler, connection, template=template, **extra_context)

    def as_sqlite(self, compiler: SQLCompiler, connection: Any, **extra_context: Any) -> Any:
        return self.as_sql(compiler, connection, function="CASEFOLD", **extra_context)


@receiver(connection_created)
def add_casefold(connection: Any, **_kwargs: object) -> None:
    """Add the SQL function of `Casefold` to each connection to SQLite."""
    if connection.vendor == "sqlite":
        connection.connection.create_function("CASEFOLD", 1, str.casefold, deterministic=True)


def is_hidden() -> Exists:
    """Return the condition that the name of a row is a hidden name of its person, ignoring case."""
    names = apps.get_model("people", "PersonName")._base_manager
    hidden_names = names.filter(person=OuterRef("person"), hidden=True).annotate(casefolded=Casefold("name"))
    return Exists(hidden_names.filter(casefolded=Casefold(OuterRef("name"))))


def with_shown_names[R: QuerySet[Model]](rows: R) -> R:
    """Fetch persons and annotate `shown_name`: the printed name, or the display name if that one is hidden.

    Case is ignored, because papers print names as their authors typed them.
    """
    shown_name = Case(When(is_hidden(), then=F("person__name")), default=F("name"))
    return rows.select_related("person").annotate(shown_name=shown_name)


def follow_merges[M: Model | None](row: M) -> M:
    """Return the row that this one was merged into, through any number of merges. Stop at cycles."""
    visited: set[int] = set()
    while row is not None and (merged_into := getattr(row, "merged_into", None)) and row.pk not in visited:
        visited.add(row.pk)
        row = merged_into
    return row


def appearance_relations(model: type[Model]) -> Iterator[tuple[type[Any], str]]:
    """Yield each model whose rows make people or institutions public, and its field that references them."""
    for appearance in APPEARANCES[model]:
        field: Any = model._meta.get_field(appearance.relation)
        yield field.related_model, field.field.name


def shown_by(model: type[Model], get_rows: Callable[[type[Any], str], QuerySet[Model]]) -> Q:
    """Match rows that others reference. `get_rows` returns those of each of the `appearance_relations`.

    The database looks up the rows that reference each one, instead of collecting those of all.
    """
    condition = Q(pk__in=())
    for row_model, field_name in appearance_relations(model):
        condition |= Q(Exists(get_rows(row_model, field_name).filter(**{field_name: OuterRef("pk")})))
    return condition


def appearing_in_editions(model: type[Model], editions: Iterable[int | str | None]) -> Q:
    """Match people or institutions that a row of one of these editions references, public or not."""
    if not (keys := [*editions]):
        return Q(pk__in=())
    return shown_by(
        model,
        lambda row_model, _field_name: row_model._base_manager.filter(
            **{f"{row_model.edition_lookup}__in": keys}
        ),
    )


class LetteredQuerySet[M: "Person | Institution"](ContentQuerySet[M]):
    """Rows that are listed from A to Z, and are public if a published row references them."""

    # The field in the address, and the folded field to sort by.
    KEY_FIELD = "uid"
    SORT_FIELD = "sort_key"

    def published(self, at: datetime | None = None) -> Self:
        condition = Q()
        for row_model, field_name in appearance_relations(self.model):
            condition |= Q(Exists(row_model.objects.published(at).filter(**{field_name: OuterRef("pk")})))
        return self.filter(condition, merged_into__isnull=True)

    def appearing_in(self, edition: int | str | None) -> Self:
        """Return the rows that a row of the edition with this key references, public or not."""
        return self.filter(appearing_in_editions(self.model, [edition]), merged_into__isnull=True)

    def survivor(self, key: str, at: datetime | None = None) -> M | None:
        """Return the published row that the one with this uid or slug was merged into, if any."""
        row = self.filter(**{self.KEY_FIELD: key}, merged_into__isnull=False).first()
        survivor = follow_merges(row)
        if row is not None and row.secret_addresses({row.pk: key}):
            return None
        return self.published(at).filter(pk=survivor.pk).first() if survivor is not None else None

    def by_letter(self) -> Self:
        """Sort the rows from A to Z, ignoring accents."""
        return self.order_by(self.SORT_FIELD, self.KEY_FIELD)

    def beginning_with(self, letter: str) -> Self:
        """Return the rows that begin with this letter, or with no letter for `NO_LETTER`."""
        rows = self.annotate(initial=Substr(self.SORT_FIELD, 1, 1))
        if letter == NO_LETTER:
            return rows.exclude(initial__in=ascii_lowercase)
        return rows.filter(initial=letter.lower())

    def initials(self) -> dict[str, int]:
        """Return the number of rows of each letter. Letters without rows have 0."""
        rows = self.order_by().annotate(initial=Substr(self.SORT_FIELD, 1, 1)).values_list("initial")
        counts = dict.fromkeys([*ascii_lowercase.upper(), NO_LETTER], 0)
        for letter, count in rows.annotate(number=Count("pk")):
            # Check for an empty string, because every string contains it.
            counts[letter.upper() if letter and letter in ascii_lowercase else NO_LETTER] += count
        return counts


class PersonQuerySet(LetteredQuerySet["Person"]):
    """Queryset of people, who are listed by family name."""

    def published_appearances(self, at: datetime | None = None) -> Iterator[QuerySet[Model]]:
        """Yield for each model the queryset of the rows that make people public, authorships first."""
        for row_model, _field_name in appearance_relations(self.model):
            published = row_model.objects.published(at)
            yield published.filter(person__isnull=False, person__merged_into__isnull=True)

    def with_editions(self, at: datetime | None = None) -> Self:
        """Prefetch the published appearances of each person, with their editions."""
        lookups = [row_model.edition_lookup for row_model, _field_name in appearance_relations(self.model)]
        pairs = zip(APPEARANCES[self.model], lookups, strict=True)
        return self.prefetch_related(
            *(self._prefetch_published(appearance.relation, at, lookup) for appearance, lookup in pairs)
        )

    def with_profile(self, at: datetime | None = None) -> Self:
        """Prefetch the published rows that the pages of published people show, except papers."""
        prefetches = [
            self._prefetch_published(appearance.relation, at, *appearance.select_related)
            for appearance in APPEARANCES[self.model]
            if appearance.relation != "authorships"
        ]
        names: Any = related_model(self.model, "names")._default_manager
        return self.prefetch_related(
            Prefetch("names", names.shown(), "shown_names"), "identifiers", *prefetches
        )

    def doubtful(self) -> Self:
        """Return people whose name looks wrong, or has the sort key of another person."""
        people = self.model._base_manager.filter(merged_into__isnull=True).order_by()
        shared_keys = people.values("sort_key").annotate(bearers=Count("pk")).filter(bearers__gt=1)
        condition = Q(suspicious=True) | Q(sort_key__in=shared_keys.values("sort_key"))
        return self.filter(condition, merged_into__isnull=True)

    def _prefetch_published(
        self, relation: str, at: datetime | None, *select_related: str
    ) -> Prefetch[str, QuerySet[Model], str]:
        rows = self.published_related(relation, at)
        return Prefetch(
            relation,
            rows.select_related(*select_related) if select_related else rows,
            to_attr=f"shown_{relation}",
        )


class PersonPartQuerySet[M: Content](ContentQuerySet[M]):
    """Rows that are public with their person, such as identifiers in other systems."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(person__in=self.published_related("person", at))


class PersonNameQuerySet(PersonPartQuerySet["PersonName"]):
    """Queryset of other spellings of names. Hidden names are never public."""

    def published(self, at: datetime | None = None) -> Self:
        return super().published(at).shown()

    def shown(self) -> Self:
        """Return the names that are public if their people are: not hidden, in any capitals."""
        return self.filter(~is_hidden(), hidden=False)


class InstitutionQuerySet(LetteredQuerySet["Institution"]):
    """Queryset of institutions, which are listed by name."""

    KEY_FIELD = "slug"
    SORT_FIELD = "folded"

    def with_counts(self, at: datetime | None = None) -> Self:
        """Annotate `paper_count`, the number of published papers of all years."""
        authorships = self.published_related("authorships", at).filter(institutions=OuterRef("pk")).order_by()
        counts = (
            authorships.values("institutions").annotate(number=Count("paper", distinct=True)).values("number")
        )
        return self.annotate(paper_count=Subquery(counts))


class CommitteeRoleQuerySet(ContentQuerySet["CommitteeRole"]):
    def published(self, at: datetime | None = None) -> Self:
        return self.filter(edition_public("edition__", at))


class DistinctionQuerySet[M: Content](ContentQuerySet[M]):
    """Pairs that chairs marked as distinct. They are never public."""

    def published(self, at: datetime | None = None) -> Self:
        return self.none()

    def pairs(self) -> set[frozenset[int]]:
        """Return the pairs as sets of two primary keys."""
        return {frozenset(pair) for pair in self.order_by().values_list("first_id", "second_id")}


class SuggestionQuerySet[M: Model](QuerySet[M]):
    """Results of a search for duplicates. The foreign keys in the model's `subjects` reference the rows."""

    def undecided(self) -> Self:
        """Return the suggestions without a merged subject."""
        return self.filter(**{f"{name}__merged_into__isnull": True for name in self._subjects})

    def appearing_in(self, edition: int | str | None) -> Self:
        """Return the suggestions with a subject that appears in the edition with this key."""
        model = related_model(self.model, self._subjects[0])
        keys = model._base_manager.filter(appearing_in_editions(model, [edition])).order_by().values("pk")
        return self.filter(self._has_subject_in(keys))

    def about_row(self, key: int) -> Self:
        """Return the suggestions about the row with this key, most likely first."""
        return self.filter(self._has_subject_in([key])).order_by("-score", "pk")

    @property
    def _subjects(self) -> tuple[str, ...]:
        model: Any = self.model
        subjects: tuple[str, ...] = model.subjects
        return subjects

    def _has_subject_in(self, keys: Iterable[int] | QuerySet[Any, Any]) -> Q:
        return Q.create([(f"{name}__in", keys) for name in self._subjects], connector=Q.OR)


class LikelyNamesakeQuerySet(SuggestionQuerySet["LikelyNamesake"]):
    """Queryset of people who may be two people with the same name."""

    def undecided(self) -> Self:
        """Return the people who are not merged, and whom no chair confirmed as one person."""
        return super().undecided().filter(is_one=False)


def resolve_links[K](links: Mapping[K, K]) -> dict[K, K]:
    """Return the last key of each chain of links, by its first key. A cycle ends at one of its keys."""
    last_keys = {}
    for key, target in links.items():
        visited = {key}
        while target in links and target not in visited:
            visited.add(target)
            target = links[target]
        last_keys[key] = target
    return last_keys
