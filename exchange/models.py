"""What imports leave behind: runs, the values rows came in with, what contradicts hand edits.

The program itself is in the apps below; it comes in by `exchange.imports.load`; uploads: `exchange.jobs`.
"""

from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from exchange.jobs.models import ImportJob, PlannedRow, RecordKind

__all__ = [
    "Conflict",
    "Decision",
    "ImportJob",
    "ImportRun",
    "PlannedRow",
    "Provenance",
    "RecordKind",
]


class ImportRun(models.Model):
    """One import that changed something: what came in, when, by whom."""

    personal_fields: ClassVar[tuple[str, ...]] = ("notes", "files")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("format", "counts", "created")
    edition_lookup: ClassVar[str] = "edition"

    edition = models.ForeignKey(
        Edition, models.CASCADE, verbose_name=_("edition"), related_name="import_runs"
    )
    format = models.CharField(_("format"), max_length=40, blank=True)
    files = models.JSONField(_("files"), default=list, blank=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        verbose_name=_("user"),
        null=True,
        blank=True,
        related_name="import_runs",
    )
    started_at = models.DateTimeField(_("started at"), default=timezone.now)
    finished_at = models.DateTimeField(_("finished at"), default=timezone.now)
    counts = models.JSONField(
        _("counts"), default=dict, blank=True, help_text=_("Per kind: new, changed, kept and so on.")
    )
    notes = models.JSONField(_("notes"), default=list, blank=True)
    created = models.JSONField(
        _("created"),
        default=dict,
        blank=True,
        help_text=_("Per kind: the keys of the rows that came into being."),
    )
    undone_at = models.DateTimeField(_("reverted at"), null=True, blank=True, editable=False)

    class Meta:
        ordering = ["-started_at", "-pk"]
        verbose_name = _("import run")
        verbose_name_plural = _("import runs")

    def __str__(self) -> str:
        return f"{self.edition}, {self.started_at:%Y-%m-%d %H:%M} UTC"


class Provenance(models.Model):
    """The values, field by field, with which a row was last imported: the common ground of later merges.

    What an import changed of them is in its change set of the history, so that it can be taken back.
    """

    personal_fields: ClassVar[tuple[str, ...]] = ("values",)
    impersonal_fields: ClassVar[tuple[str, ...]] = ("kind",)
    edition_lookup: ClassVar[str] = "edition"
    part_of: ClassVar[tuple[str, ...]] = ()

    kind = models.CharField(_("kind"), max_length=12, choices=RecordKind)
    object_id = models.BigIntegerField(_("object id"))
    edition = models.ForeignKey(
        Edition,
        models.CASCADE,
        verbose_name=_("edition"),
        null=True,
        blank=True,
        related_name="provenance",
        help_text=_("Empty for what belongs to all years."),
    )
    values = models.JSONField(_("values"), default=dict, blank=True)
    run = models.ForeignKey(
        ImportRun, models.SET_NULL, verbose_name=_("run"), null=True, related_name="provenance"
    )

    class Meta:
        ordering = ["kind", "object_id"]
        verbose_name_plural = _("imported rows")
        verbose_name = _("imported row")
        constraints = [
            models.UniqueConstraint(fields=["kind", "object_id"], name="provenance_unique_per_row")
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.object_id}"


class Decision(models.TextChoices):
    """What a chair decided about a field that was changed on both sides."""

    OURS = "ours", _("Kept as it is here")
    THEIRS = "theirs", _("Taken from the file")
    EDITED = "edited", _("Edited")


class ConflictQuerySet(models.QuerySet["Conflict"]):
    """Conflicts by what became of them."""

    def undecided(self) -> Self:
        return self.filter(resolved_at__isnull=True)

    def decided(self) -> Self:
        return self.filter(resolved_at__isnull=False)


class Conflict(models.Model):
    """A field changed both here and in the file since the last import. Ours is used until a chair decides."""

    personal_fields: ClassVar[tuple[str, ...]] = ("label", "base", "ours", "theirs")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("field",)
    edition_lookup: ClassVar[str] = "run__edition"

    provenance = models.ForeignKey(
        Provenance, models.CASCADE, verbose_name=_("provenance"), related_name="conflicts"
    )
    field = models.CharField(_("field"), max_length=40)
    label = models.CharField(_("label"), max_length=200, help_text=_("What the row is called."))
    base = models.JSONField(_("base"), null=True, help_text=_("As last imported."))
    ours = models.JSONField(_("ours"), null=True, help_text=_("As it stands here."))
    theirs = models.JSONField(_("theirs"), null=True, help_text=_("As the file says it."))
    run = models.ForeignKey(ImportRun, models.CASCADE, verbose_name=_("run"), related_name="conflicts")
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    resolved_at = models.DateTimeField(_("resolved at"), null=True, blank=True)
    decision = models.CharField(_("decision"), max_length=6, choices=Decision, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        verbose_name=_("decided by"),
        null=True,
        blank=True,
        related_name="decided_conflicts",
    )

    objects = ConflictQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = _("conflict")
        verbose_name_plural = _("conflicts")
        constraints = [
            models.UniqueConstraint(
                fields=["provenance", "field"],
                condition=Q(resolved_at__isnull=True),
                name="conflict_open_once_per_field",
            )
        ]

    def __str__(self) -> str:
        return f"{self.label}, {self.field}"
