"""Tombstones: what was public and is no longer."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from content.array_lookup import AnyOf
from content.editions import get_edition_model

if TYPE_CHECKING:
    from content.models import Content

# The parts of an edition that a gate closes, by the gate.
PARTS = {"public_from": "site", "papers_public_from": "papers", "schedule_public_from": "schedule"}


class Address(NamedTuple):
    """Where a row is: the label of its model, the slug of its edition or nothing, its uid or slug."""

    model: str
    edition: str
    uid: str


class TombstoneQuerySet(models.QuerySet["Tombstone"]):
    def at_addresses(self, addresses: Collection[Address]) -> Self:
        """Return the tombstones of rows, and perhaps others with their uids."""
        return self.filter(
            AnyOf("uid", {address.uid for address in addresses}),
            model__in={address.model for address in addresses},
            part="",
        )

    def published(self, model: "type[Content]", at: datetime) -> Self:
        """Return the tombstones of a model that everybody may see, and those of closed parts of editions.

        Left out are rows of editions that are closed now.
        """
        rows = Q(model=model._meta.label_lower, part="")
        gates = model.public_when.gates if model.public_when else ()
        if not model.edition_lookup:
            return self.filter(rows)
        is_open = Q(**{f"{gate}__lte": at for gate in gates})
        closed = get_edition_model()._base_manager.exclude(is_open).values("pk")
        rows &= Q(edition_key__isnull=True) | ~Q(edition_key__in=closed)
        return self.filter(rows | Q(part__in=[PARTS[gate] for gate in gates]))

    def bury(self, tombstones: Iterable["Tombstone"]) -> None:
        """Store tombstones; each replaces an earlier one of its address. One query for 500."""
        fields = ["edition_key", "gone_at", "reason", "moved_to", "title"]
        self.bulk_create(
            [*tombstones],
            batch_size=500,
            update_conflicts=True,
            unique_fields=["model", "edition", "uid", "part"],
            update_fields=fields,
        )


class Tombstone(models.Model):
    """A row that was public and is no longer, or a part of an edition that was closed.

    It is written in the transaction in which the row ceases to be public, and removed when it is public
    again; that of a closed part stays. It has a title only if the row was deleted or withdrawn.
    """

    class Reason(models.TextChoices):
        DELETED = "deleted"
        WITHDRAWN = "withdrawn"
        # A draft again, hidden or postponed, or nothing public shows it any more.
        HIDDEN = "hidden"
        # Its uid or slug changed.
        MOVED = "moved"
        MERGED = "merged"
        # A part of an edition.
        CLOSED = "closed"

    personal_fields: ClassVar[tuple[str, ...]] = ("uid", "moved_to", "title")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("model", "edition", "part", "reason")

    model = models.CharField(_("model"), max_length=60)
    # Its slug: empty for rows of the whole site.
    edition = models.CharField(_("edition"), max_length=64, blank=True)
    edition_key = models.BigIntegerField(_("edition key"), null=True, blank=True)
    uid = models.CharField(_("identifier"), max_length=200)
    part = models.CharField(pgettext_lazy("of an edition", "part"), max_length=8, blank=True)
    gone_at = models.DateTimeField(_("gone at"), default=timezone.now, db_index=True)
    reason = models.CharField(_("reason"), max_length=9, choices=Reason)
    moved_to = models.CharField(_("moved to"), max_length=200, blank=True)
    title = models.TextField(_("title"), blank=True)

    objects = TombstoneQuerySet.as_manager()

    class Meta:
        ordering = ["gone_at", "pk"]
        verbose_name = _("tombstone")
        verbose_name_plural = _("tombstones")
        constraints = [
            models.UniqueConstraint(fields=["model", "edition", "uid", "part"], name="tombstone_unique"),
            models.CheckConstraint(
                condition=Q(title="") | Q(reason__in=("deleted", "withdrawn")), name="tombstone_title"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.uid}"

    @property
    def is_told(self) -> bool:
        """Whether the address says that the row is gone: it was deleted or withdrawn."""
        return self.reason in (self.Reason.DELETED, self.Reason.WITHDRAWN)

    @property
    def address(self) -> Address:
        return Address(self.model, self.edition, self.uid)


def find_tombstone(model: "type[Content]", edition: str, uid: str, at: datetime) -> Tombstone | None:
    """Return the tombstone of the row that had this address, if everybody may see it."""
    return Tombstone.objects.published(model, at).filter(edition=edition, uid=uid, part="").first()


def closed_part(edition: int, slug: str, gate: str, at: datetime) -> Tombstone:
    """Return a tombstone of the part of an edition that this gate closed."""
    return Tombstone(
        model=get_edition_model()._meta.label_lower,
        edition=slug,
        edition_key=edition,
        uid=slug,
        part=PARTS[gate],
        gone_at=at,
        reason=Tombstone.Reason.CLOSED,
    )
