"""Tokens with which programs send requests on behalf of staff; only a digest of a token is stored."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from knox.models import AbstractAuthToken, AuthTokenManager
from knox.settings import CONSTANTS

from conference.models import Edition


class Token(AbstractAuthToken):  # type: ignore[misc]  # the package has no types
    """A token of a member of staff, for reading drafts or for writing, in one edition or all."""

    personal_fields: ClassVar[tuple[str, ...]] = ("name", "digest", "token_key")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("scope",)

    class Scope(models.TextChoices):
        READ = "read", _("Read drafts")
        WRITE = "write", _("Read drafts and write")

    digest = models.CharField(
        _("digest"), max_length=CONSTANTS.DIGEST_LENGTH, primary_key=True, editable=False
    )
    token_key = models.CharField(
        _("beginning"),
        max_length=CONSTANTS.MAXIMUM_TOKEN_PREFIX_LENGTH + CONSTANTS.TOKEN_KEY_LENGTH,
        db_index=True,
        editable=False,
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        verbose_name=_("owner"),
        related_name="auth_token_set",
        editable=False,
    )
    name = models.CharField(
        _("name"), max_length=60, help_text=_("What uses it, such as “Phone app”; the history shows it.")
    )
    scope = models.CharField(_("scope"), max_length=5, choices=Scope, default=Scope.READ)
    edition = models.ForeignKey(
        Edition,
        models.CASCADE,
        verbose_name=_("edition"),
        null=True,
        blank=True,
        related_name="+",
        help_text=_("Leave empty for all editions. A token never has more permissions than you."),
    )
    created = models.DateTimeField(_("created"), auto_now_add=True)
    expiry = models.DateTimeField(_("expires"), editable=False)

    objects: ClassVar[AuthTokenManager] = AuthTokenManager()

    class Meta:
        ordering = ["-created"]
        verbose_name = _("token")
        verbose_name_plural = _("tokens")
        constraints = [
            models.UniqueConstraint(
                fields=["user", "name"],
                name="token_name_unique",
                violation_error_message=_("You already have a token with this name."),
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def writes(self) -> bool:
        return self.scope == self.Scope.WRITE
