"""Accounts of the site's staff: their roles in editions, and the sessions in which they are signed in."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.roles import Role
from accounts.sessions import AccountSession

__all__ = ["AccountSession", "Membership"]


class Membership(models.Model):
    """A role of an account in an edition."""

    personal_fields: ClassVar[tuple[str, ...]] = ("role",)
    edition_lookup: ClassVar[str] = "edition"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, verbose_name=_("account"), related_name="memberships"
    )
    edition = models.ForeignKey(
        settings.EDITION_MODEL, models.CASCADE, verbose_name=_("edition"), related_name="memberships"
    )
    role = models.CharField(_("role"), max_length=13, choices=Role)
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
        ordering = ["edition", "pk"]
        verbose_name = _("member")
        verbose_name_plural = _("members")
        constraints = [
            models.UniqueConstraint(
                fields=["user", "edition"],
                name="membership_once_per_edition",
                violation_error_message=_("This account has a role in the edition already."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.get_role_display()})"
