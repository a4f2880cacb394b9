"""What imports leave behind: runs, the values rows came in with, what changed, what contradicts hand edits.

The program itself is in the apps below; how it comes in is `exchange.load`.
"""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from conference.models import Edition


class Kind(models.TextChoices):
    """The kinds of things that files hold."""

    CONFERENCE = "conference", "Conference"
    EDITION = "edition", "Edition"
    INSTITUTION = "institution", "Institution"
    PERSON = "person", "Person"
    PAGE = "page", "Page"
    SPONSOR = "sponsor", "Sponsor"
    ANNOUNCEMENT = "announcement", "Announcement"
    TOPIC = "topic", "Topic"
    ROOM = "room", "Room"
    PAPER = "paper", "Paper"
    AWARD = "award", "Award"
    SESSION = "session", "Session"
    PRESENTATION = "presentation", "Presentation"


class ImportRun(models.Model):
    """One import that changed something: what came in, when, by whom."""

    edition = models.ForeignKey(Edition, models.CASCADE, related_name="import_runs")
    format = models.CharField(max_length=40, blank=True)
    files = models.JSONField(default=list, blank=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="import_runs"
    )
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(default=timezone.now)
    counts = models.JSONField(default=dict, blank=True, help_text="Per kind: new, changed, kept and so on.")
    notes = models.JSONField(default=list, blank=True)
    created = models.JSONField(
        default=dict, blank=True, help_text="Per kind: the keys of the rows that came into being."
    )

    class Meta:
        ordering = ["-started_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.edition}, {self.started_at:%Y-%m-%d %H:%M} UTC"


class ImportedRow(models.Model):
    """Base of what points at an imported row by its kind and primary key."""

    kind = models.CharField(max_length=12, choices=Kind)
    object_id = models.BigIntegerField()

    class Meta:
        abstract = True


class Provenance(ImportedRow):
    """The values, field by field, with which a row was last imported: the common ground of later merges."""

    edition = models.ForeignKey(
        Edition,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="provenance",
        help_text="Empty for what belongs to all years.",
    )
    values = models.JSONField(default=dict, blank=True)
    run = models.ForeignKey(ImportRun, models.SET_NULL, null=True, related_name="provenance")

    class Meta:
        ordering = ["kind", "object_id"]
        verbose_name = "imported row"
        constraints = [
            models.UniqueConstraint(fields=["kind", "object_id"], name="provenance_unique_per_row")
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.object_id}"


class Change(ImportedRow):
    """One field that a run changed, with what is needed to take it back."""

    run = models.ForeignKey(ImportRun, models.CASCADE, related_name="changes")
    field = models.CharField(max_length=40)
    old = models.JSONField(null=True)
    new = models.JSONField(null=True)
    base = models.JSONField(
        null=True, help_text="The value remembered before this run; empty if there was none."
    )

    class Meta:
        ordering = ["pk"]
        # Taking a run back: its changes of one kind.
        indexes = [models.Index(fields=["run", "kind"], name="change_by_run")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.object_id}, {self.field}"


class Conflict(models.Model):
    """A field changed both here and in the file since the last import. Ours stands until a chair decides."""

    provenance = models.ForeignKey(Provenance, models.CASCADE, related_name="conflicts")
    field = models.CharField(max_length=40)
    label = models.CharField(max_length=200, help_text="What the row is called.")
    base = models.JSONField(null=True, help_text="As last imported.")
    ours = models.JSONField(null=True, help_text="As it stands here.")
    theirs = models.JSONField(null=True, help_text="As the file says it.")
    run = models.ForeignKey(ImportRun, models.CASCADE, related_name="conflicts")
    created_at = models.DateTimeField(default=timezone.now)
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["provenance", "field"],
                condition=Q(resolved_at__isnull=True),
                name="conflict_open_once_per_field",
            )
        ]

    def __str__(self) -> str:
        return f"{self.label}, {self.field}"

    def resolve(self, at: datetime | None = None) -> None:
        """Mark the conflict as decided."""
        self.resolved_at = at or timezone.now()
        self.save(update_fields=["resolved_at"])
