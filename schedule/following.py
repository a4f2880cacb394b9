"""Models for followers of the timetable: agendas under a secret token, and releases with their changes."""

import hashlib
from base64 import urlsafe_b64encode
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

import markup as text
from conference.models import Edition
from content.changed.dated import CLOCK, Dated, in_edition
from content.models import Content
from content.publicity.rules import SCHEDULE, PublicWhen
from schedule.agenda.stars import Seen, Star
from schedule.querysets import NeverPublicQuerySet, ReleaseQuerySet

MINUTE = timedelta(minutes=1)
MAX_WRITES_PER_MINUTE = 120


class Release(Dated, Content):
    identity: ClassVar[str] = "number"
    personal_fields: ClassVar[tuple[str, ...]] = ()
    derived_fields: ClassVar[tuple[str, ...]] = ("text_html",)
    derived_from: ClassVar[tuple[str, ...]] = ("text",)
    public_when = PublicWhen(SCHEDULE, since="published_at")
    opens = ("published_at", *in_edition("edition", *SCHEDULE, also=[CLOCK]))

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="releases")
    number = models.PositiveIntegerField(_("number"))
    title = models.CharField(_("title"), max_length=200, blank=True)
    text = models.TextField(_("text"), blank=True, help_text=_("Markdown."))
    text_html = models.TextField(blank=True, editable=False)
    changes = models.JSONField(_("changes"), default=list, blank=True, editable=False)
    snapshot = models.JSONField(null=True, blank=True, editable=False)
    published_at = models.DateTimeField(_("shown from"), default=timezone.now)

    objects = ReleaseQuerySet.as_manager()
    # Set by `release_view()`.
    shown_lines: list[object]

    class Meta:
        ordering = ["edition", "-number"]
        verbose_name = _("release")
        verbose_name_plural = _("releases")
        constraints = [
            models.UniqueConstraint(fields=["edition", "number"], name="release_number_unique_in_edition")
        ]

    def __str__(self) -> str:
        return self.title or gettext("Release %(number)d") % {"number": self.number}

    def get_absolute_url(self) -> str:
        return f"{reverse('schedule:changes', args=[self.edition.slug])}#release-{self.number}"

    def derive(self) -> None:
        self.text_html = text.block(self.text)


class Agenda(models.Model):
    """A visitor's stars, without an account. Only a digest of the secret is stored.

    The secret allows changes of the agenda. A second, read-only secret is derived from it.
    """

    personal_fields: ClassVar[tuple[str, ...]] = ("token_digest",)

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="agendas")
    token_digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)
    changed_at = models.DateTimeField(default=timezone.now, editable=False)
    # When it was last opened, to within half a day. The index serves the removal of unused agendas.
    used_at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)
    # The number of writes since `writes_since`.
    writes = models.PositiveIntegerField(default=0, editable=False)
    writes_since = models.DateTimeField(default=timezone.now, editable=False)

    objects = NeverPublicQuerySet.as_manager()

    class Meta:
        ordering = ["created_at", "pk"]
        verbose_name = _("agenda")
        verbose_name_plural = _("agendas")

    def __str__(self) -> str:
        return gettext("Agenda %(number)s") % {"number": self.pk}

    @staticmethod
    def reading_token(token: str) -> str:
        """Return the read-only secret, which does not reveal the token."""
        return urlsafe_b64encode(hashlib.sha256(f"read {token}".encode()).digest()[:24]).decode()

    @staticmethod
    def digest(token: str) -> str:
        """Return the stored digest of a read-only secret. Both secrets find the agenda by it."""
        return hashlib.sha256(token.encode()).hexdigest()

    def count_write(self, at: datetime) -> bool:
        """Count a write; return whether the limit per minute allows it. The caller must save the row."""
        if not timedelta() <= at - self.writes_since < MINUTE:
            self.writes, self.writes_since = 0, at
        self.writes += 1
        return self.writes <= MAX_WRITES_PER_MINUTE


class AgendaStar(models.Model):
    """A star of a session or presentation; `removed_at` is set once the star is removed."""

    agenda = models.ForeignKey(Agenda, models.CASCADE, verbose_name=_("agenda"), related_name="stars")
    session = models.ForeignKey(
        "schedule.Session",
        models.CASCADE,
        verbose_name=_("session"),
        null=True,
        blank=True,
        related_name="stars",
    )
    presentation = models.ForeignKey(
        "schedule.Presentation",
        models.CASCADE,
        verbose_name=_("presentation"),
        null=True,
        blank=True,
        related_name="stars",
    )
    starred_at = models.DateTimeField(default=timezone.now, editable=False)
    removed_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Its time and room when it was starred.
    seen_start = models.DateTimeField(null=True, blank=True, editable=False)
    seen_room = models.ForeignKey(
        "schedule.Room", models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )

    objects = NeverPublicQuerySet.as_manager()

    class Meta:
        ordering = ["starred_at", "pk"]
        verbose_name = _("agenda star")
        verbose_name_plural = _("agenda stars")
        constraints = [
            models.CheckConstraint(
                condition=Q(session__isnull=True, presentation__isnull=False)
                | Q(session__isnull=False, presentation__isnull=True),
                name="agenda_star_has_one_target",
            ),
            models.UniqueConstraint(fields=["agenda", "session"], name="agenda_star_session_unique"),
            models.UniqueConstraint(
                fields=["agenda", "presentation"], name="agenda_star_presentation_unique"
            ),
        ]

    def __str__(self) -> str:
        return str(self.session or self.presentation)

    @property
    def star(self) -> Star:
        entry: Any = self.session or self.presentation
        seen = Seen(self.seen_start, self.seen_room_id)
        at = self.removed_at or self.starred_at
        return Star("s" if self.session else "p", entry.uid, seen, at, self.removed_at is not None)

    def apply(self, star: Star) -> None:
        """Set the fields from a later state of the same star."""
        if star.removed:
            self.removed_at = star.at
        else:
            self.starred_at, self.removed_at = star.at or timezone.now(), None
            if star.seen:
                self.seen_start, self.seen_room_id = star.seen.start, star.seen.room
