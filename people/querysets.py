"""Who is public: people and institutions appear when something published shows them."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from string import ascii_lowercase
from typing import Any, NamedTuple, Self

from django.apps import apps
from django.db.models import Case, Count, Exists, F, Model, OuterRef, Prefetch, Q, QuerySet, Subquery, When
from django.db.models.functions import Substr, Upper

from content.querysets import ContentQuerySet, edition_public

# Where the A-Z page puts what begins with no letter.
NO_LETTER = "#"


class Appearance(NamedTuple):
    """A relation by whose published rows a person or institution is public; in order of `place`."""

    place: int
    relation: str
    # Relations that its rows need to name their parent.
    select_related: tuple[str, ...] = ()


APPEARANCES: dict[type[Model], list[Appearance]] = {}


def register_appearance(model: type[Model], appearance: Appearance) -> None:
    """Upper packages say by which of their rows people and institutions become public."""
    APPEARANCES[model] = sorted([*APPEARANCES.get(model, []), appearance])


def with_shown_names[R: QuerySet[Any]](rows: R) -> R:
    """Add persons, and as `shown_name` the name as printed, or the display name where that one is hidden.

    A hidden name is hidden in capitals too: papers print names as their authors typed them.
    """
    names = apps.get_model("people", "PersonName")._base_manager
    former = names.filter(person=OuterRef("person"), hidden=True).annotate(capitals=Upper("name"))
    hidden = Exists(former.filter(capitals=Upper(OuterRef("name"))))
    shown = Case(When(hidden, then=F("person__name")), default=F("name"))
    return rows.select_related("person").annotate(shown_name=shown)


def last_of_chain(row: Any) -> Any:
    """Return the row that this one was merged into, through however many merges, be they a circle."""
    seen: set[int] = set()
    while getattr(row, "merged_into", None) is not None and row.pk not in seen:
        seen.add(row.pk)
        row = row.merged_into
    return row


def survivor(rows: Any, row: Any, at: datetime | None) -> Any:
    """Return the published row that this one was merged into."""
    row = last_of_chain(row)
    return rows.published(at).filter(pk=row.pk).first() if row is not None else None


def appearances(model: type[Model]) -> Iterator[tuple[type[Any], str]]:
    """Walk what shows a person or an institution: the model, and what it calls the other side."""
    for appearance in APPEARANCES[model]:
        field: Any = model._meta.get_field(appearance.relation)
        yield field.related_model, field.field.name


def appearing(model: type[Model], editions: Iterable[int | str | None]) -> Q:
    """Those whom a row of one of these editions shows, public or not."""
    some, keys = Q(pk__in=()), [*editions]
    for rows, name in appearances(model) if keys else ():
        there = rows._base_manager.filter(**{f"{rows.edition_lookup}__in": keys, f"{name}__isnull": False})
        some |= Q(pk__in=there.order_by().values(name))
    return some


class LetteredQuerySet(ContentQuerySet[Any]):
    """Rows that are listed from A to Z, and public when something published shows them."""

    # The field with the folded words by which they are sorted.
    LETTERED = "sort_key"

    def published(self, at: datetime | None = None) -> Self:
        shown = Q()
        for rows, name in appearances(self.model):
            shown |= Q(Exists(rows.objects.published(at).filter(**{name: OuterRef("pk")})))
        return self.filter(shown, merged_into__isnull=True)

    def appearing_in(self, edition: int | str | None) -> Self:
        """Those whom something in the edition with this key shows, public or not."""
        return self.filter(appearing(self.model, [edition]), merged_into__isnull=True)

    def beginning_with(self, letter: str) -> Self:
        """Those that begin with the letter, or with none for `NO_LETTER`."""
        rows = self.annotate(initial=Substr(self.LETTERED, 1, 1))
        if letter == NO_LETTER:
            return rows.exclude(initial__in=ascii_lowercase)
        return rows.filter(initial=letter.lower())

    def initials(self) -> dict[str, int]:
        """Return how many rows each letter has, also those that have none."""
        found = self.order_by().annotate(initial=Substr(self.LETTERED, 1, 1)).values_list("initial")
        counts = dict.fromkeys([*ascii_lowercase.upper(), NO_LETTER], 0)
        for letter, count in found.annotate(number=Count("pk")):
            # An empty key is in every string, and no letter.
            counts[letter.upper() if letter and letter in ascii_lowercase else NO_LETTER] += count
        return counts


class PersonQuerySet(LetteredQuerySet):
    """People, by family name."""

    def published_appearances(self, at: datetime | None = None) -> Iterator[QuerySet[Any]]:
        """Yield the rows by which somebody is public, kind by kind."""
        for rows, _name in appearances(self.model):
            published = rows.objects.published(at)
            yield published.filter(person__isnull=False, person__merged_into__isnull=True)

    def with_editions(self, at: datetime | None = None) -> Self:
        """With the published appearances of each person, each with its edition."""
        return self.prefetch_related(
            *(
                self._shown(one.relation, at, self._related(one.relation).edition_lookup)
                for one in APPEARANCES[self.model]
            )
        )

    def with_vita(self, at: datetime | None = None) -> Self:
        """With everything that a person's page shows but papers, from published rows alone."""
        others = (one for one in APPEARANCES[self.model] if one.relation != "authorships")
        return self.prefetch_related(
            self._shown("names", at), *(self._shown(one.relation, at, *one.select_related) for one in others)
        )

    def doubtful(self) -> Self:
        """Those whose name looks wrong, or sorts as somebody else's does."""
        present = self.model._base_manager.filter(merged_into__isnull=True).order_by()
        shared = present.values("sort_key").annotate(bearers=Count("pk")).filter(bearers__gt=1)
        wrong = Q(suspicious=True) | Q(sort_key__in=shared.values("sort_key"))
        return self.filter(wrong, merged_into__isnull=True)

    def survivor(self, uid: str, at: datetime | None = None) -> Any:
        """Return the published person whom the bearer of this uid was merged into, if any."""
        return survivor(self, self.filter(uid=uid).first(), at)

    def _shown(self, relation: str, at: datetime | None, *needed: str) -> Prefetch[Any]:
        rows = self.published_related(relation, at)
        return Prefetch(
            relation, rows.select_related(*needed) if needed else rows, to_attr=f"shown_{relation}"
        )

    def _related(self, relation: str) -> type[Any]:
        related: type[Any] = self.model._meta.get_field(relation).related_model
        return related


class PersonIdentifierQuerySet(ContentQuerySet[Any]):
    """What other systems call people."""

    def published(self, at: datetime | None = None) -> Self:
        person: Any = self.model._meta.get_field("person").related_model
        return self.filter(person__in=person.objects.published(at))


class PersonNameQuerySet(PersonIdentifierQuerySet):
    """Other spellings of names."""

    def published(self, at: datetime | None = None) -> Self:
        return super().published(at).filter(hidden=False)


class InstitutionQuerySet(LetteredQuerySet):
    """Institutions, by name."""

    LETTERED = "folded"

    def survivor(self, slug: str, at: datetime | None = None) -> Any:
        """Return the published institution that the bearer of this slug was merged into, if any."""
        return survivor(self, self.filter(slug=slug).first(), at)

    def in_order(self) -> Self:
        """By name, accents folded."""
        return self.order_by("folded", "slug")

    def with_counts(self, at: datetime | None = None) -> Self:
        """With the number of their published papers of all years, as `paper_count`."""
        wrote = self.published_related("authorships", at).filter(institutions=OuterRef("pk")).order_by()
        papers = wrote.values("institutions").annotate(number=Count("paper", distinct=True)).values("number")
        return self.annotate(paper_count=Subquery(papers))


class CommitteeRoleQuerySet(ContentQuerySet[Any]):
    """The committee of an edition, in order."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(edition_public("edition__", at))

    def with_person(self) -> Self:
        return self.select_related("person")


class DistinctionQuerySet(ContentQuerySet[Any]):
    """What chairs said of two rows. Nothing of it is ever public."""

    def published(self, at: datetime | None = None) -> Self:
        return self.none()

    def pairs(self) -> set[frozenset[int]]:
        """Return the keys of those who are two."""
        return {frozenset(pair) for pair in self.order_by().values_list("first_id", "second_id")}


class PairQuerySet(QuerySet[Any]):
    """Pairs that a chair has not decided."""

    def undecided(self) -> Self:
        """Return pairs of which neither row has been merged."""
        return self.filter(first__merged_into__isnull=True, second__merged_into__isnull=True)

    def appearing_in(self, edition: Any) -> Self:
        """Those of whom one does something in the edition with this key."""
        there = self.model._meta.get_field("first").related_model._default_manager.appearing_in(edition)
        keys = there.order_by().values("pk")
        return self.filter(Q(first__in=keys) | Q(second__in=keys))

    def touching(self, key: int) -> Self:
        """Those of whom one is the row with this key, the likeliest first."""
        return self.filter(Q(first=key) | Q(second=key)).order_by("-score", "pk")
