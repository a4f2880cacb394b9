"""Models of imports: uploads, plans, runs, last imported values, conflicts.

The program itself is stored by lower-level apps; `exchange.imports.load` imports it.
"""

from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from conference.models import Conference, Edition
from editorial.current_edition import format_moment
from exchange.imports.kinds import KINDS
from exchange.imports.publication import Publication
from exchange.jobs.progress import Progress, read_progress

RETENTION = timedelta(days=1)
# A worker sends a heartbeat every few seconds, the first when it takes a job.
HEARTBEAT_TIMEOUT = timedelta(seconds=60)


def record_kinds() -> list[tuple[str, str]]:
    """Return the kinds of records in files as choices: (name, label)."""
    return [(name, capfirst(str(kind.model._meta.verbose_name))) for name, kind in KINDS.items()]


class ImportJobQuerySet(models.QuerySet["ImportJob"]):
    """Query set of import jobs."""

    def expired(self, at: datetime | None = None) -> Self:
        """Return the jobs with files that have ended or not changed for longer than `RETENTION`."""
        is_old = Q(changed_at__lt=(at or timezone.now()) - RETENTION)
        return self.filter(has_files=True).filter(is_old | Q(state__in=ImportJob.OVER))


class ImportJob(models.Model):
    """An import from upload to end. Without an edition, the file creates a new one."""

    personal_fields: ClassVar[tuple[str, ...]] = ("notes", "problems", "files", "url", "columns", "question")
    impersonal_fields: ClassVar[tuple[str, ...]] = (
        "format",
        "state",
        "digest",
        "counts",
        "publication",
        "publications",
    )
    edition_lookup: ClassVar[str] = "edition"

    class State(models.TextChoices):
        MAPPING = "mapping", _("Columns to be mapped")
        READING = "reading", _("Being read")
        READY = "ready", _("To be confirmed")
        REFUSED = "refused", _("Refused")
        WRITING = "writing", _("Being imported")
        DONE = "done", _("Imported")
        FAILED = "failed", _("Failed")
        DROPPED = "dropped", _("Canceled")

    WORKING = frozenset((State.READING, State.WRITING))
    OVER = frozenset((State.DONE, State.DROPPED))

    edition = models.ForeignKey(
        Edition,
        models.CASCADE,
        verbose_name=_("edition"),
        null=True,
        blank=True,
        related_name="import_jobs",
        help_text=_("Empty for a new edition, which the file describes."),
    )
    format = models.CharField(_("format"), max_length=40, blank=True)
    files = models.JSONField(_("files"), default=list, blank=True)
    url = models.URLField(_("address"), max_length=500, blank=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        verbose_name=_("user"),
        null=True,
        blank=True,
        related_name="import_jobs",
    )
    # Another account may confirm the import: `user` is the last one that continued it.
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        verbose_name=_("uploaded by"),
        null=True,
        blank=True,
        related_name="+",
    )
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.READING)
    created_at = models.DateTimeField(_("uploaded at"), default=timezone.now)
    changed_at = models.DateTimeField(_("changed at"), default=timezone.now)
    has_files = models.BooleanField(_("has files"), default=True)
    # For a spreadsheet: its tables with samples and the fields of columns (`exchange.jobs.column_choice`).
    columns = models.JSONField(_("columns"), default=dict, blank=True)
    # The digest of the displayed plan, to ensure that exactly this plan is written.
    digest = models.CharField(_("digest"), max_length=64, blank=True)
    is_again = models.BooleanField(_("preview repeated"), default=False)
    counts = models.JSONField(_("counts"), default=dict, blank=True)
    # The chosen moment of publication, and the numbers of rows that become public (`imports.publication`).
    publication = models.CharField(_("publication"), max_length=12, choices=Publication, blank=True)
    publications = models.JSONField(_("becomes public"), default=dict, blank=True)
    # What must be confirmed before the plan is written.
    question = models.TextField(_("question"), blank=True)
    notes = models.JSONField(_("notes"), default=list, blank=True)
    problems = models.JSONField(_("problems"), default=list, blank=True)
    run = models.ForeignKey(
        "exchange.ImportRun",
        models.SET_NULL,
        verbose_name=_("import run"),
        null=True,
        blank=True,
        related_name="jobs",
    )

    objects = ImportJobQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = _("import")
        verbose_name_plural = _("imports")

    def __str__(self) -> str:
        return ", ".join(self.files) or self.url or format_moment(self.created_at, self.edition)

    @property
    def is_working(self) -> bool:
        """Return whether the job waits for a worker or is being processed."""
        return self.state in self.WORKING

    @cached_property
    def progress(self) -> Progress | None:
        """Progress of the worker; `None` before it begins."""
        return read_progress(self.pk) if self.is_working else None

    def is_lost(self, at: datetime | None = None) -> bool:
        """Return whether its worker has died: its heartbeat has stopped."""
        seen_at = self.progress.seen_at if self.progress else None
        return (
            self.is_working and seen_at is not None and (at or timezone.now()) - seen_at > HEARTBEAT_TIMEOUT
        )

    def is_unclaimed(self, at: datetime | None = None) -> bool:
        """Return whether no worker has taken it for so long that none can be running."""
        is_waiting = self.is_working and self.progress is None
        return is_waiting and (at or timezone.now()) - self.changed_at > HEARTBEAT_TIMEOUT

    def change_state(self, state: str, *, before: str, **values: object) -> bool:
        """Change the state unless another process did; return whether it changed."""
        values = {"changed_at": timezone.now(), **values, "state": state}
        if not type(self).objects.filter(pk=self.pk, state=before).update(**values):
            return False
        for name, value in values.items():
            setattr(self, name, value)
        self.__dict__.pop("progress", None)
        return True


class UploadPart(models.Model):
    """A part of an uploaded file, stored until the import has ended. Parts are ordered by primary key."""

    personal_fields: ClassVar[tuple[str, ...]] = ("content",)
    impersonal_fields: ClassVar[tuple[str, ...]] = ()

    job = models.ForeignKey(ImportJob, models.CASCADE, verbose_name=_("upload"), related_name="upload_parts")
    file = models.PositiveSmallIntegerField(_("number of the file"))
    content = models.BinaryField(_("content"))

    class Meta:
        verbose_name = _("part of an upload")
        verbose_name_plural = _("parts of uploads")

    def __str__(self) -> str:
        return f"{self.job}, {self.file}"


class ColumnMapping(models.Model):
    """Stored fields of the columns of a table, for the next file with the same headings.

    `layout` is a digest of the headings, folded and sorted. `fields` maps folded headings to fields; an empty
    text marks a column that was left out.
    """

    personal_fields: ClassVar[tuple[str, ...]] = ()
    edition_lookup: ClassVar[str] = ""

    conference = models.ForeignKey(
        Conference, models.CASCADE, verbose_name=_("conference"), related_name="column_mappings"
    )
    layout = models.CharField(_("layout"), max_length=64)
    name = models.CharField(_("last used for"), max_length=300)
    fields = models.JSONField(_("columns"), default=dict)
    used_at = models.DateTimeField(_("last used"), default=timezone.now)

    class Meta:
        ordering = ["-used_at", "-pk"]
        verbose_name = _("remembered columns")
        verbose_name_plural = _("remembered columns")
        constraints = [
            models.UniqueConstraint(fields=["conference", "layout"], name="column_mapping_once_per_layout")
        ]

    def __str__(self) -> str:
        return self.name


class PlannedRowQuerySet(models.QuerySet["PlannedRow"]):
    """Query set of planned rows. A row may have several outcomes, since fields may differ in theirs."""

    def with_outcome(self, outcome: str) -> Self:
        """Return the rows that are new, changed, kept, conflicting or skipped."""
        if outcome == "skipped":
            return self.filter(is_new=False, is_changed=False, is_kept=False, is_conflicting=False)
        return self.filter(**{f"is_{outcome}": True})

    def not_skipped(self) -> Self:
        return self.filter(Q(is_new=True) | Q(is_changed=True) | Q(is_kept=True) | Q(is_conflicting=True))


class PlannedRow(models.Model):
    """Planned changes of a row. `fields`: [name, fate, base, ours, theirs], as displayed text."""

    personal_fields: ClassVar[tuple[str, ...]] = ("label", "where", "fields")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("kind",)

    job = models.ForeignKey(ImportJob, models.CASCADE, verbose_name=_("upload"), related_name="rows")
    kind = models.CharField(_("kind"), max_length=12, choices=record_kinds)
    object_id = models.BigIntegerField(_("object id"), null=True)
    label = models.CharField(_("label"), max_length=300)
    where = models.CharField(_("place in the file"), max_length=300, blank=True)
    is_new = models.BooleanField(pgettext_lazy("imported row", "new"), default=False)
    is_changed = models.BooleanField(pgettext_lazy("imported row", "changed"), default=False)
    is_kept = models.BooleanField(pgettext_lazy("imported row", "kept"), default=False)
    is_conflicting = models.BooleanField(pgettext_lazy("imported row", "conflicting"), default=False)
    fields = models.JSONField(_("fields"), default=list, blank=True)

    objects = PlannedRowQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name = _("planned row")
        verbose_name_plural = _("planned rows")
        # A page of the preview: rows of one kind, in the order of the file.
        indexes = [models.Index(fields=["job", "kind", "id"], name="planned_row_by_job")]

    def __str__(self) -> str:
        return self.label


class ImportRun(models.Model):
    """One import that changed something, with its files, time and user."""

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
        return f"{self.edition}, {format_moment(self.started_at, self.edition)}"


def with_run[R: models.QuerySet[models.Model]](rows: R) -> R:
    """Fetch the run of each row without its keys and notes, which each of them would read again."""
    return rows.select_related("run__edition").defer("run__created", "run__notes")


class Provenance(models.Model):
    """The last imported values of a row by field: the base of later three-way merges.

    The change set of an import includes its changes of these values, so that it can be reverted.
    """

    personal_fields: ClassVar[tuple[str, ...]] = ("values",)
    impersonal_fields: ClassVar[tuple[str, ...]] = ("kind",)
    edition_lookup: ClassVar[str] = "edition"
    part_of: ClassVar[tuple[str, ...]] = ()

    kind = models.CharField(_("kind"), max_length=12, choices=record_kinds)
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
    """Decision of a chair on a field that was changed on both sides."""

    OURS = "ours", _("Kept as it is here")
    THEIRS = "theirs", _("Taken from the file")
    EDITED = "edited", _("Edited")


class ConflictQuerySet(models.QuerySet["Conflict"]):
    """Query set of conflicts."""

    def undecided(self) -> Self:
        return self.filter(resolved_at__isnull=True)


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
    ours = models.JSONField(_("ours"), null=True, help_text=_("The current value."))
    theirs = models.JSONField(_("theirs"), null=True, help_text=_("The file’s value."))
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
