"""An import that somebody started in the admin: its files, how far it is, what it would do row by row.

What an import has done is an `ImportRun`; the files themselves lie in `exchange.jobs.private_files`.
"""

from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from conference.models import Edition
from exchange.jobs import private_files

# What is older is of no use: the program has gone on.
RETENTION = timedelta(days=1)
# A worker says every few seconds that it is alive; one that takes a job does so at once.
SILENCE = timedelta(seconds=60)


class RecordKind(models.TextChoices):
    """The kinds of things that files hold."""

    CONFERENCE = "conference", _("Conference")
    EDITION = "edition", _("Edition")
    INSTITUTION = "institution", _("Institution")
    PERSON = "person", _("Person")
    PAGE = "page", _("Page")
    SPONSOR = "sponsor", _("Sponsor")
    ANNOUNCEMENT = "announcement", _("Announcement")
    TOPIC = "topic", _("Topic")
    ROOM = "room", _("Room")
    PAPER = "paper", _("Paper")
    AWARD = "award", _("Award")
    SESSION = "session", _("Session")
    PRESENTATION = "presentation", _("Presentation")


class ImportJobQuerySet(models.QuerySet["ImportJob"]):
    """Jobs by what is left of them."""

    def outlived(self, at: datetime | None = None) -> Self:
        """Return the jobs whose files have waited too long, and those that are over."""
        old = Q(changed_at__lt=(at or timezone.now()) - RETENTION)
        return self.filter(has_files=True).filter(old | Q(state__in=ImportJob.OVER))


class ImportJob(models.Model):
    """An import from upload to end. Without an edition the file brings a new one."""

    personal_fields: ClassVar[tuple[str, ...]] = ("notes", "problems", "files", "url")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("format", "state", "digest", "counts")
    edition_lookup: ClassVar[str] = "edition"

    class State(models.TextChoices):
        READING = "reading", _("Being read")
        READY = "ready", _("To be confirmed")
        REFUSED = "refused", _("Refused")
        WRITING = "writing", _("Being imported")
        DONE = "done", _("Imported")
        FAILED = "failed", _("Failed")
        DROPPED = "dropped", _("Dropped")

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
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.READING)
    created_at = models.DateTimeField(_("uploaded at"), default=timezone.now)
    changed_at = models.DateTimeField(_("changed at"), default=timezone.now)
    has_files = models.BooleanField(_("has files"), default=True)
    # Of the plan that was shown: what is written is exactly that.
    digest = models.CharField(_("digest"), max_length=64, blank=True)
    is_again = models.BooleanField(_("planned again"), default=False)
    counts = models.JSONField(_("counts"), default=dict, blank=True)
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
        verbose_name = _("upload")
        verbose_name_plural = _("uploads")

    def __str__(self) -> str:
        return ", ".join(self.files) or self.url or f"{self.created_at:%Y-%m-%d %H:%M} UTC"

    @property
    def is_working(self) -> bool:
        """Whether a worker has something to do for it."""
        return self.state in self.WORKING

    @cached_property
    def progress(self) -> private_files.Progress | None:
        """How far the worker is; nothing while none has begun."""
        return private_files.progress(self.pk) if self.is_working else None

    def is_waiting(self) -> bool:
        """Whether no worker has taken it yet."""
        return self.is_working and self.progress is None

    def is_lost(self, at: datetime | None = None) -> bool:
        """Whether its worker has died: it says every few seconds that it is alive."""
        seen = self.progress.seen_at if self.progress else None
        return self.is_working and seen is not None and (at or timezone.now()) - seen > SILENCE

    def is_neglected(self, at: datetime | None = None) -> bool:
        """Whether it waits so long that there can be no worker."""
        return self.is_waiting() and (at or timezone.now()) - self.changed_at > SILENCE

    def pass_to(self, state: str, *, before: str, **values: Any) -> bool:
        """Change the state unless another process did; return whether it changed."""
        values = {"changed_at": timezone.now(), **values, "state": state}
        if not type(self).objects.filter(pk=self.pk, state=before).update(**values):
            return False
        for name, value in values.items():
            setattr(self, name, value)
        self.__dict__.pop("progress", None)
        return True


class PlannedRowQuerySet(models.QuerySet["PlannedRow"]):
    """Rows of a plan by outcome. A row may have several: fields differ."""

    def what(self, word: str) -> Self:
        """Return the rows that are new, changed, kept, conflicting or skipped."""
        if word == "skipped":
            return self.filter(is_new=False, is_changed=False, is_kept=False, is_conflicting=False)
        return self.filter(**{f"is_{word}": True})

    def not_skipped(self) -> Self:
        return self.filter(Q(is_new=True) | Q(is_changed=True) | Q(is_kept=True) | Q(is_conflicting=True))


class PlannedRow(models.Model):
    """What an import would do with a row. `fields`: [name, fate, base, ours, theirs], as words."""

    personal_fields: ClassVar[tuple[str, ...]] = ("label", "where", "fields")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("kind",)

    job = models.ForeignKey(ImportJob, models.CASCADE, verbose_name=_("upload"), related_name="rows")
    kind = models.CharField(_("kind"), max_length=12, choices=RecordKind)
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
