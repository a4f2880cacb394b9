"""Who is public: people and institutions appear when something published shows them."""

from datetime import datetime
from typing import Any, Self

from django.db.models import Exists, Model, OuterRef, Q

from conference.querysets import ContentQuerySet, edition_public


def shown_by(model: type[Model], relation: str, at: datetime | None, through: str) -> Exists:
    """Some published row on the far side of a reverse `relation` shows the row. Upper floors stay unnamed."""
    related: Any = model._meta.get_field(relation).related_model
    return Exists(related.objects.published(at).filter(**{through: OuterRef("pk")}))


class PersonQuerySet(ContentQuerySet[Any]):
    """People, by family name."""

    # Relations through which a person can become public.
    APPEARANCES = ("authorships", "session_roles", "talks", "committee_roles", "grants")

    def published(self, at: datetime | None = None) -> Self:
        shown = Q()
        for relation in self.APPEARANCES:
            shown |= Q(shown_by(self.model, relation, at, "person"))
        return self.filter(shown, merged_into__isnull=True)


class PersonIdentifierQuerySet(ContentQuerySet[Any]):
    """What other systems call people."""

    def published(self, at: datetime | None = None) -> Self:
        person: Any = self.model._meta.get_field("person").related_model
        return self.filter(person__in=person.objects.published(at))


class PersonNameQuerySet(PersonIdentifierQuerySet):
    """Other spellings of names."""

    def published(self, at: datetime | None = None) -> Self:
        return super().published(at).filter(hidden=False)


class InstitutionQuerySet(ContentQuerySet[Any]):
    """Institutions, by name."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(shown_by(self.model, "authorships", at, "institutions"))


class CommitteeRoleQuerySet(ContentQuerySet[Any]):
    """The committee of an edition, in order."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(edition_public("edition__", at))
