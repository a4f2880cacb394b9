"""Models for the accounts of the site's staff: their roles in editions, and their sessions."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.roles import Role
from accounts.sessions import AccountSession

__all__ = ["AccountSession", "Membership"]


class Membership(models.Model):
    """A role of an account in an edition, or in all editions of a series."""

    personal_fields: ClassVar[tuple[str, ...]] = ("role", "parts")
    edition_lookup: ClassVar[str] = "edition"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, verbose_name=_("account"), related_name="memberships"
    )
    edition = models.ForeignKey(
        settings.EDITION_MODEL,
        models.CASCADE,
        verbose_name=_("edition"),
        null=True,
        blank=True,
        related_name="memberships",
    )
    conference = models.ForeignKey(
        settings.SERIES_MODEL,
        models.CASCADE,
        verbose_name=_("series"),
        null=True,
        blank=True,
        related_name="memberships",
    )
    role = models.CharField(_("role"), max_length=20, choices=Role)
    # The parts of the edition to which the role is limited: values in `roles.ROLE_PARTS`.
    parts = models.JSONField(_("topics and tracks"), default=list, blank=True)
    since = models.DateTimeField(_("since"), auto_now_add=True)
    granted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        verbose_name=_("granted by"),
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )

    class Meta:
        ordering = ["conference", "edition", "pk"]
        verbose_name = _("member")
        verbose_name_plural = _("members")
        constraints = [
            models.UniqueConstraint(
                fields=["user", "edition", "role"],
                name="membership_once_per_edition",
                violation_error_message=_("This account already has this role in the edition."),
            ),
            models.UniqueConstraint(
                fields=["user", "conference", "role"],
                name="membership_once_per_series",
                violation_error_message=_("This account already has this role in the series."),
            ),
            models.CheckConstraint(
                condition=models.Q(edition__isnull=True, conference__isnull=False)
                | models.Q(edition__isnull=False, conference__isnull=True),
                name="membership_of_edition_or_series",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.get_role_display()})"

    @property
    def scope(self) -> models.Model | None:
        """The edition or the series."""
        return self.edition or self.conference
