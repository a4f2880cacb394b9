"""Which editions, conferences, pages, sponsors, announcements and menu items are public."""

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
        """A row for each of their published pages, as `page`, and for an edition without any."""
        is_shown = or_draft(Q(pages__status="published"), "pages__")
        return self.annotate(page=models.FilteredRelation("pages", condition=is_shown))


class ConferenceQuerySet[M: "Content"](ContentQuerySet[M]):
    def published(self, at: datetime | None = None) -> Self:
        return self.filter(
            models.Exists(self.published_related("editions", at).filter(conference=models.OuterRef("pk")))
        )


class EditionPartQuerySet[M: "Content"](ContentQuerySet[M]):
    """Parts of an edition's site with a status of their own: pages, sponsors; an edition may be optional."""

    def published(self, at: datetime | None = None) -> Self:
        visible = edition_public("edition__", at)
        if self.model._meta.get_field("edition").null:
            visible |= Q(edition__isnull=True)
        return self.filter(visible, or_draft(Q(status="published")))


class AnnouncementQuerySet[M: "Content"](EditionPartQuerySet[M]):
    """News, pinned first, then newest first."""

    def published(self, at: datetime | None = None) -> Self:
        return super().published(at).filter(or_upcoming("published_at", at))


class MenuItemQuerySet(ContentQuerySet[Any]):
    """The lines of an edition's menu, in order."""

    def published(self, at: datetime | None = None) -> Self:
        page_public = Q(page__isnull=True) | or_draft(Q(page__status="published"), "page__")
        return self.filter(edition_public("edition__", at), page_public)
