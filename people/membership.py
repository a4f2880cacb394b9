"""Coming and going: an invitation mailed and accepted, a role changed or ended. An edition keeps an owner."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.admin.models import ADDITION, LogEntry
from django.core.mail import EmailMessage
from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from accounts.access_scope import access_of
from accounts.models import Membership
from accounts.roles import INVITES, Role
from conference.environment import is_email
from conference.models import Edition
from people.models import Invitation, PersonAccount

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from content.actor import User as AnyUser


class NoLongerOpenError(Exception):
    """The invitation was accepted, revoked or has expired."""


def may_give(user: "AnyUser", edition: Edition | None) -> list[str]:
    """Return the roles that somebody may give in an edition, and take from those who have them."""
    access = access_of(user)
    if access.everywhere("add", Membership):
        return list(Role)
    given = INVITES.get(access.roles.get(edition.pk, "") if edition else "", frozenset())
    return [role for role in Role if role in given]


def is_last_owner(membership: Membership) -> bool:
    """Return whether the edition would have no owner without this one."""
    others = Membership.objects.filter(edition=membership.edition_id, role=Role.OWNER, user__is_active=True)
    return membership.role == Role.OWNER and not others.exclude(pk=membership.pk).exists()


@transaction.atomic
def accept(token: str, user: "User", at: datetime | None = None) -> Membership:
    """Give the account the role that was offered, once. Who may do more already keeps that role."""
    at = at or timezone.now()
    invitation = Invitation.objects.select_for_update(of=("self",)).by_token(token, at).first()
    if invitation is None:
        raise NoLongerOpenError
    invitation.accepted_at = at
    invitation.save(update_fields=["accepted_at"])
    fresh = {"role": invitation.role, "granted_by": invitation.created_by}
    membership, is_new = Membership.objects.get_or_create(
        user=user, edition=invitation.edition, defaults=fresh
    )
    if not is_new:
        # Of the two roles, the stronger: it comes first in `Role`.
        membership.role = min(membership.role, invitation.role, key=[*Role.values].index)
        membership.save(update_fields=["role"])
    if invitation.person_id:
        PersonAccount.objects.update_or_create(user=user, defaults={"person_id": invitation.person_id})
    if not user.is_staff:
        user.is_staff = True
        user.save(update_fields=["is_staff"])
    LogEntry.objects.log_actions(user.pk, [membership], ADDITION, "Invitation accepted.", single_object=True)
    return membership


@transaction.atomic
def end(membership: Membership) -> None:
    """End a role. An account without other roles or permissions loses access to the admin."""
    user = membership.user
    membership.delete()
    has_more = user.memberships.exists() or user.user_permissions.exists() or user.groups.exists()
    if not (has_more or user.is_superuser):
        user.is_staff = False
        user.save(update_fields=["is_staff"])


class CannotSendError(Exception):
    """The e-mail did not leave; the link that was good before still is."""


def can_send() -> bool:
    """Return whether e-mail can be sent at all."""
    return bool(settings.MAILERS)


def mail_invitation(invitation: Invitation, sender: "User") -> None:
    """Mail a new link to whom it is for; from then on the one before leads nowhere."""
    if not is_email(invitation.email):
        raise CannotSendError
    try:
        with transaction.atomic():
            held = Invitation.objects.select_for_update(of=("self",)).waiting().get(pk=invitation.pk)
            link = Invitation.address(held.renew())
            held.save(update_fields=["digest", "expires_at"])
            message(held, link, sender).send()
    except (OSError, ValueError, Invitation.DoesNotExist) as error:
        # SMTP errors are of the first kind; the second is raised for headers with a line break.
        raise CannotSendError from error


def message(invitation: Invitation, link: str, sender: "User") -> EmailMessage:
    """Return the letter. What somebody chose freely in it are the names of who asks and of the edition."""
    said = {
        "edition": on_one_line(invitation.edition),
        "role": invitation.get_role_display(),
        "sender": on_one_line(sender.get_full_name() or sender.get_username()),
        "until": date_format(invitation.expires_at, "j F Y, H:i T"),
        "link": link,
    }
    paragraphs = [
        _("%(sender)s invites you to %(edition)s as %(role)s.") % said,
        _("Open this link, and make an account or sign in with the one you have:"),
        link,
        _("It works once, until %(until)s. Who did not expect it may forget it.") % said,
    ]
    return EmailMessage(
        _("Invitation to %(edition)s") % said,
        "\n\n".join(paragraphs) + "\n",
        to=[invitation.email],
        reply_to=[sender.email] if is_email(sender.email) else [],
    )


def on_one_line(words: object) -> str:
    """Return words without the line breaks that would begin another header."""
    return " ".join(str(words).split())
