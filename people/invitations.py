"""Models of invitations to a role in an edition. Their link works once and expires after some days.

Only a digest of the link's token is stored. `people.membership` mails and accepts invitations.
"""

from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.roles import Role
from conference.models import Conference, Edition
from people.secret_links import digest_of, link_to, new_token

LIFETIME = timedelta(days=7)


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self, at: datetime | None = None) -> Self:
        return self.filter(accepted_at__isnull=True, expires_at__gt=at or timezone.now())

    def waiting(self) -> Self:
        """Return pending invitations, including expired ones."""
        return self.filter(accepted_at__isnull=True)

    def by_token(self, token: str, at: datetime | None = None) -> Self:
        return self.open(at).filter(digest=digest_of(token))


class Invitation(models.Model):
    """An offer of a role in an edition, or in all editions of a series."""

    personal_fields: ClassVar[tuple[str, ...]] = ("role", "parts", "name", "email", "digest")
    edition_lookup: ClassVar[str] = "edition"

    edition = models.ForeignKey(
        Edition, models.CASCADE, verbose_name=_("edition"), null=True, blank=True, related_name="invitations"
    )
    conference = models.ForeignKey(
        Conference,
        models.CASCADE,
        verbose_name=_("series"),
        null=True,
        blank=True,
        related_name="invitations",
    )
    role = models.CharField(_("role"), max_length=20, choices=Role)
    parts = models.JSONField(_("topics and tracks"), default=list, blank=True)
    name = models.CharField(_("name"), max_length=150)
    email = models.EmailField(_("e-mail"))
    person = models.ForeignKey(
        "people.Person",
        models.CASCADE,
        verbose_name=_("person in the program"),
        null=True,
        blank=True,
        related_name="invitations",
        help_text=_("Session chairs can edit the sessions that this person leads."),
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, verbose_name=_("invited by"), null=True, related_name="+"
    )
    expires_at = models.DateTimeField(_("valid until"), editable=False)
    accepted_at = models.DateTimeField(_("accepted at"), null=True, editable=False)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(edition__isnull=True, conference__isnull=False)
                | models.Q(edition__isnull=False, conference__isnull=True),
                name="invitation_of_edition_or_series",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.get_role_display()})"

    @property
    def scope(self) -> Edition | Conference | None:
        """The edition or the series."""
        return self.edition or self.conference

    def renew(self, at: datetime | None = None) -> str:
        """Set a new token and expiry without saving. Return the token, of which only a digest is stored."""
        token = new_token()
        self.digest, self.expires_at = digest_of(token), (at or timezone.now()) + LIFETIME
        return token

    @staticmethod
    def address(token: str) -> str:
        """Return the link to send."""
        return link_to("people:invitation", token)


class PersonAccount(models.Model):
    """An account and the person who signs in with it."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, verbose_name=_("account"), related_name="person_account"
    )
    person = models.ForeignKey(
        "people.Person", models.CASCADE, verbose_name=_("person"), related_name="accounts"
    )

    class Meta:
        verbose_name = _("account of a person")
        verbose_name_plural = _("accounts of people")

    def __str__(self) -> str:
        return f"{self.user}: {self.person}"
