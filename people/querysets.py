"""Querysets of people and institutions: they are public if a published row shows them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from django.apps import apps
from django.db.models import Case, Count, Exists, F, Model, OuterRef, Prefetch, Q, QuerySet, Subquery, When
from django.db.models.functions import Substr, Upper

from content.querysets import ContentQuerySet, edition_public
from content.row_values import related_model

if TYPE_CHECKING:
    from content.models import Content
    from people.models import CommitteeRole, Institution, LikelyNamesake, Person, PersonName  # noqa: F401 (in strings)


# The heading of the A-Z page for names that begin with no letter.
NO_LETTER = "#"


class Appearance(NamedTuple):
    """A relation by whose published rows a person or institution is public; in order of `place`."""

    place: int
    relation: str
    # Relations that its rows need to name their parent.
    select_related: tuple[str, ...] = ()


APPEARANCES: dict[type[Model], list[Appearance]] = {}


def register_appearance(model: type[Model], appearance: Appearance) -> None:
    """Register a relation of an upper package by whose rows people or institutions are public."""
    APPEARANCES[model] = sorted([*APPEARANCES.get(model, []), appearance])


def with_shown_names[R: QuerySet[Model]](rows: R) -> R:
    """Add persons and `shown_name`: the name as printed, or the display name if that one is hidden.

    Case is ignored: papers print names as their authors typed them.
    """
    names = apps.get_model("people", "PersonName")._base_manager
    former = names.filter(person=OuterRef("person"), hidden=True).annotate(capitals=Upper("name"))
    hidden = Exists(former.filter(capitals=Upper(OuterRef("name"))))
    shown = Case(When(hidden, then=F("person__name")), default=F("name"))
    return rows.select_related("person").annotate(shown_name=shown)


def follow_merges[M: Model | None](row: M) -> M:
    """Return the row that this one was merged into, through any number of merges, even a cycle."""
    seen: set[int] = set()
    while row is not None and (merged_into := getattr(row, "merged_into", None)) and row.pk not in seen:
        seen.add(row.pk)
        row = merged_into
    return row


def appearance_relations(model: type[Model]) -> Iterator[tuple[type[Any], str]]:
    """Yield each model whose rows show people or institutions, and its field that references them."""
    for appearance in APPEARANCES[model]:
        field: Any = model._meta.get_field(appearance.relation)
        yield field.related_model, field.field.name


def shown_by(model: type[Model], rows_of: Callable[[type[Any], str], QuerySet[Model]]) -> Q:
    """Match those whom a row shows. `rows_of` returns the rows of each of the `appearance_relations`."""
    found = Q(pk__in=())
    for rows, name in appearance_relations(model):
        shown = rows_of(rows, name).filter(**{f"{name}__isnull": False})
        found |= Q(pk__in=shown.order_by().values(name))
    return found


def appearing_in_editions(model: type[Model], editions: Iterable[int | str | None]) -> Q:
    """Match those whom a row of one of these editions shows, public or not."""
    if not (keys := [*editions]):
        return Q(pk__in=())
    return shown_by(
        model, lambda rows, _name: rows._base_manager.filter(**{f"{rows.edition_lookup}__in": keys})
    )


class LetteredQuerySet[M: "Person | Institution"](ContentQuerySet[M]):
    """Rows that are listed from A to Z, and public when something published shows them."""

    # The field in the address, and the one with folded words to sort by.
    KEY_FIELD = "uid"
    SORT_FIELD = "sort_key"

    def published(self, at: datetime | None = None) -> Self:
        shown = Q()
        for rows, name in appearance_relations(self.model):
            shown |= Q(Exists(rows.objects.published(at).filter(**{name: OuterRef("pk")})))
        return self.filter(shown, merged_into__isnull=True)

    def appearing_in(self, edition: int | str | None) -> Self:
        """Those whom a row of the edition with this key shows, public or not."""
        return self.filter(appearing_in_editions(self.model, [edition]), merged_into__isnull=True)

    def survivor(self, key: str, at: datetime | None = None) -> M | None:
        """Return the published row that the one with this uid or slug was merged into, if any."""
        row = follow_merges(self.filter(**{self.KEY_FIELD: key}).first())
        return self.published(at).filter(pk=row.pk).first() if row is not None else None

    def by_letter(self) -> Self:
        """From A to Z, accents folded."""
        return self.order_by(self.SORT_FIELD, self.KEY_FIELD)

    def beginning_with(self, letter: str) -> Self:
        """Those that begin with the letter, or with none for `NO_LETTER`."""
        rows = self.annotate(initial=Substr(self.SORT_FIELD, 1, 1))
        if letter == NO_LETTER:
            return rows.exclude(initial__in=ascii_lowercase)
        return rows.filter(initial=letter.lower())

    def initials(self) -> dict[str, int]:
        """Return how many rows each letter has, also those that have none."""
        found = self.order_by().annotate(initial=Substr(self.SORT_FIELD, 1, 1)).values_list("initial")
        counts = dict.fromkeys([*ascii_lowercase.upper(), NO_LETTER], 0)
        for letter, count in found.annotate(number=Count("pk")):
            # The empty string is in every string.
            counts[letter.upper() if letter and letter in ascii_lowercase else NO_LETTER] += count
        return counts


class PersonQuerySet(LetteredQuerySet["Person"]):
    """People, by family name."""

    def published_appearances(self, at: datetime | None = None) -> Iterator[QuerySet[Model]]:
        """Yield the rows by which people are public, model by model."""
        for rows, _name in appearance_relations(self.model):
            published = rows.objects.published(at)
            yield published.filter(person__isnull=False, person__merged_into__isnull=True)

    def with_editions(self, at: datetime | None = None) -> Self:
        """With the published appearances of each person, each with its edition."""
        lookups = [rows.edition_lookup for rows, _name in appearance_relations(self.model)]
        shown = zip(APPEARANCES[self.model], lookups, strict=True)
        return self.prefetch_related(*(self._shown(one.relation, at, lookup) for one, lookup in shown))

    def with_profile(self, at: datetime | None = None) -> Self:
        """With everything that a person's page shows but papers, from published rows alone."""
        others = (one for one in APPEARANCES[self.model] if one.relation != "authorships")
        return self.prefetch_related(
            self._shown("names", at),
            self._shown("identifiers", at),
            *(self._shown(one.relation, at, *one.select_related) for one in others),
        )

    def doubtful(self) -> Self:
        """Those whose name looks wrong, or has the sort key of another person."""
        present = self.model._base_manager.filter(merged_into__isnull=True).order_by()
        shared = present.values("sort_key").annotate(bearers=Count("pk")).filter(bearers__gt=1)
        wrong = Q(suspicious=True) | Q(sort_key__in=shared.values("sort_key"))
        return self.filter(wrong, merged_into__isnull=True)

    def _shown(self, relation: str, at: datetime | None, *needed: str) -> Prefetch[str, QuerySet[Model], str]:
        rows = self.published_related(relation, at)
        return Prefetch(
            relation, rows.select_related(*needed) if needed else rows, to_attr=f"shown_{relation}"
        )


class PersonPartQuerySet[M: Content](ContentQuerySet[M]):
    """What is public with its person, such as identifiers in other systems."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(person__in=self.published_related("person", at))


class PersonNameQuerySet(PersonPartQuerySet["PersonName"]):
    """Other spellings of names."""

    def published(self, at: datetime | None = None) -> Self:
        return super().published(at).filter(hidden=False)


class InstitutionQuerySet(LetteredQuerySet["Institution"]):
    """Institutions, by name."""

    KEY_FIELD = "slug"
    SORT_FIELD = "folded"

    def with_counts(self, at: datetime | None = None) -> Self:
        """With the number of their published papers of all years, as `paper_count`."""
        wrote = self.published_related("authorships", at).filter(institutions=OuterRef("pk")).order_by()
        papers = wrote.values("institutions").annotate(number=Count("paper", distinct=True)).values("number")
        return self.annotate(paper_count=Subquery(papers))


class CommitteeRoleQuerySet(ContentQuerySet["CommitteeRole"]):
    def published(self, at: datetime | None = None) -> Self:
        return self.filter(edition_public("edition__", at))


class DistinctionQuerySet[M: Content](ContentQuerySet[M]):
    """Pairs that are not the same, as decided by chairs; never public."""

    def published(self, at: datetime | None = None) -> Self:
        return self.none()

    def pairs(self) -> set[frozenset[int]]:
        """Return the keys of each pair."""
        return {frozenset(pair) for pair in self.order_by().values_list("first_id", "second_id")}


class SuggestionQuerySet[M: Model](QuerySet[M]):
    """What a search found about rows that the model's `subjects` name."""

    def undecided(self) -> Self:
        """Those without a merged subject."""
        return self.filter(**{f"{name}__merged_into__isnull": True for name in self._subjects})

    def appearing_in(self, edition: int | str | None) -> Self:
        """Those with a subject that appears in the edition with this key."""
        model = related_model(self.model, self._subjects[0])
        keys = model._base_manager.filter(appearing_in_editions(model, [edition])).order_by().values("pk")
        return self.filter(self._about(keys))

    def about_row(self, key: int) -> Self:
        """Those about the row with this key, the likeliest first."""
        return self.filter(self._about([key])).order_by("-score", "pk")

    @property
    def _subjects(self) -> tuple[str, ...]:
        model: Any = self.model
        subjects: tuple[str, ...] = model.subjects
        return subjects

    def _about(self, keys: Iterable[int] | QuerySet[Any, Any]) -> Q:
        return Q.create([(f"{name}__in", keys) for name in self._subjects], connector=Q.OR)


class LikelyNamesakeQuerySet(SuggestionQuerySet["LikelyNamesake"]):
    """People who may be two."""

    def undecided(self) -> Self:
        """Those that no chair confirmed as one person, and that are not merged."""
        return super().undecided().filter(is_one=False)


def resolve_links[K](links: Mapping[K, K]) -> dict[K, K]:
    """Return for each key the one at the end of its links. A cycle ends within itself."""
    found = {}
    for key, there in links.items():
        seen = {key}
        while there in links and there not in seen:
            seen.add(there)
            there = links[there]
        found[key] = there
    return found
