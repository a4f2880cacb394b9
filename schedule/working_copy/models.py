"""The models of working copies: one for each edition that uses it, and its change sets. Never public."""

from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content.history import Origin
from schedule.querysets import NeverPublicQuerySet


class WorkingCopyQuerySet(NeverPublicQuerySet["WorkingCopy"]):
    def open(self) -> Self:
        return self.filter(is_open=True).select_related("edition").order_by("pk")


class WorkingCopy(models.Model):
    """The working copy of an edition. A closed one is not deleted, because it records who released what."""

    personal_fields: ClassVar[tuple[str, ...]] = ("opened_by", "released_by", "planned_by")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("plan", "refusal")

    edition = models.OneToOneField(
        Edition, models.CASCADE, verbose_name=_("edition"), related_name="working_copy"
    )
    is_open = models.BooleanField(_("open"), default=True)
    # Advanced by each change: equal versions mean equal working states.
    version = models.PositiveBigIntegerField(_("version"), default=0)
    # The number of rows that differ from the public ones.
    row_count = models.PositiveIntegerField(_("rows"), default=0)
    opened_at = models.DateTimeField(_("opened at"), default=timezone.now)
    opened_by = models.CharField(_("opened by"), max_length=150, blank=True)
    released_at = models.DateTimeField(_("released at"), null=True, blank=True)
    released_by = models.CharField(_("released by"), max_length=150, blank=True)
    # A planned release: its moment, its planner, its announcement, and why it was refused.
    release_at = models.DateTimeField(_("release at"), null=True, blank=True, db_index=True)
    planned_by = models.CharField(_("planned by"), max_length=150, blank=True)
    planner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        verbose_name=_("planner"),
        null=True,
        blank=True,
        related_name="planned_releases",
    )
    plan = models.JSONField(_("plan"), default=dict, blank=True)
    refusal = models.TextField(_("refusal"), blank=True)

    objects = WorkingCopyQuerySet.as_manager()

    class Meta:
        verbose_name = _("working copy")
        verbose_name_plural = _("working copies")

    def __str__(self) -> str:
        return str(_("Working copy of %(edition)s") % {"edition": self.edition})

    @property
    def mark(self) -> str:
        return f"{self.pk}.{self.version}"


class PendingChanges(models.Model):
    """One change set of a working copy. `act` is the key of its change set, which was rolled back.

    `rows`: dictionaries with `kind`, `model`, `key`, `label`, `values` as {field: [before, after]} and
    `follows`, the computed columns. Released ones are not deleted, because they record who changed what.
    """

    personal_fields: ClassVar[tuple[str, ...]] = ("user_name", "detail", "rows", "released")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("origin", "reference")

    working_copy = models.ForeignKey(
        WorkingCopy, models.CASCADE, verbose_name=_("working copy"), related_name="sets"
    )
    act = models.BigIntegerField(_("act"), db_index=True)
    at = models.DateTimeField(_("at"), default=timezone.now)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        verbose_name=_("user"),
        null=True,
        blank=True,
        related_name="pending_changes",
    )
    user_name = models.CharField(_("user name"), max_length=150, blank=True)
    origin = models.CharField(_("origin"), max_length=8, choices=Origin, default=Origin.CODE)
    detail = models.CharField(_("detail"), max_length=200, blank=True)
    reference = models.CharField(_("reference"), max_length=80, blank=True, db_index=True)
    rows = models.JSONField(_("rows"), default=list)
    # Its rows that have been released.
    released = models.JSONField(_("released"), default=list, blank=True)

    objects = NeverPublicQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name = _("pending changes")
        verbose_name_plural = _("pending changes")

    def __str__(self) -> str:
        return f"{self.get_origin_display()}, {self.at:%Y-%m-%d %H:%M} UTC"
