"""Querysets of editions, conferences, pages, sponsors, announcements and menu items: `published()` rows."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.db.models import Q

from content.querysets import ContentQuerySet, edition_public, or_draft, or_upcoming

if TYPE_CHECKING:
    from content.models import Content


class EditionQuerySet(ContentQuerySet[Any]):
    def published(self, at: datetime | None = None) -> Self:
        return self.filter(edition_public("", at))

    def beside_pages(self) -> Self:
        """Join the published pages of each edition, as `page`. Editions without any have one row, too."""
        is_shown = or_draft(Q(pages__status="published"), "pages__")
        return self.annotate(page=models.FilteredRelation("pages", condition=is_shown))


class ConferenceQuerySet[M: "Content"](ContentQuerySet[M]):
    def published(self, at: datetime | None = None) -> Self:
        return self.filter(
            models.Exists(self.published_related("editions", at).filter(conference=models.OuterRef("pk")))
        )


class EditionPartQuerySet[M: "Content"](ContentQuerySet[M]):
    """Rows of an edition with a status, such as pages; rows without an edition belong to the whole site."""

    def published(self, at: datetime | None = None) -> Self:
        visible = edition_public("edition__", at)
        if self.model._meta.get_field("edition").null:
            visible |= Q(edition__isnull=True)
        return self.filter(visible, or_draft(Q(status="published")))


class AnnouncementQuerySet[M: "Content"](EditionPartQuerySet[M]):
    """Queryset of announcements."""

    def published(self, at: datetime | None = None) -> Self:
        return super().published(at).filter(or_upcoming("published_at", at))


class MenuItemQuerySet(ContentQuerySet[Any]):
    """Queryset of the items of an edition's menu."""

    def published(self, at: datetime | None = None) -> Self:
        page_public = Q(page__isnull=True) | or_draft(Q(page__status="published"), "page__")
        return self.filter(edition_public("edition__", at), page_public)
