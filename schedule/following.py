"""How visitors follow the timetable: agendas under a secret token, numbered releases with their changes."""

import hashlib
import secrets
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from conference import text
from conference.bases import Content
from conference.models import Edition
from schedule.querysets import AgendaQuerySet, ReleaseQuerySet


class Release(Content):
    """A numbered, dated announcement of the program, with what changed since the one before."""

    derived_fields: ClassVar[tuple[str, ...]] = ("text_html",)

    edition = models.ForeignKey(Edition, models.CASCADE, related_name="releases")
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=200, blank=True)
    text = models.TextField(blank=True, help_text="Markdown.")
    text_html = models.TextField(blank=True, editable=False)
    changes = models.JSONField(default=list, blank=True, editable=False)
    snapshot = models.JSONField(null=True, blank=True, editable=False)
    published_at = models.DateTimeField("shown from", default=timezone.now)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        ordering = ["edition", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["edition", "number"], name="release_number_unique_in_edition")
        ]

    def __str__(self) -> str:
        return self.title or f"Release {self.number}"

    def get_absolute_url(self) -> str:
        return reverse("website:edition", args=[self.edition.slug])

    def derive(self) -> None:
        self.text_html = text.block(self.text)


class Agenda(models.Model):
    """A visitor's starred things, without an account. Only a digest of the secret is stored."""

    edition = models.ForeignKey(Edition, models.CASCADE, related_name="agendas")
    token_digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    changed_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = AgendaQuerySet.as_manager()

    class Meta:
        ordering = ["created_at", "pk"]

    def __str__(self) -> str:
        return f"Agenda {self.pk}"

    @staticmethod
    def new_token() -> str:
        """Return a fresh secret, to be put into a link and never stored."""
        return secrets.token_urlsafe(24)

    @staticmethod
    def digest(token: str) -> str:
        """Return what is stored of a secret."""
        return hashlib.sha256(token.encode()).hexdigest()


class AgendaStar(models.Model):
    """One starred session or presentation."""

    agenda = models.ForeignKey(Agenda, models.CASCADE, related_name="stars")
    session = models.ForeignKey(
        "schedule.Session", models.CASCADE, null=True, blank=True, related_name="stars"
    )
    presentation = models.ForeignKey(
        "schedule.Presentation", models.CASCADE, null=True, blank=True, related_name="stars"
    )
    starred_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = AgendaQuerySet.as_manager()

    class Meta:
        ordering = ["starred_at", "pk"]
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
