"""Mailing and accepting invitations to roles, and ending roles."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from django.contrib.admin.models import ADDITION, LogEntry
from django.db import transaction
from django.db.models import Model, Q
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from accounts.access_scope import access_of
from accounts.models import Membership
from accounts.roles import INVITABLE_ROLES, SINGLE_EDITION_ROLES, Role, includes
from conference.environment import is_email
from conference.models import Conference, Edition
from people.models import Invitation, PersonAccount
from people.secret_links import MAIL_ERRORS, join_lines, send_mail

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from content.actor import User as AnyUser


class NoLongerOpenError(Exception):
    """The invitation was accepted, revoked or has expired."""


def grantable_roles(user: "AnyUser", place: Model | None) -> list[str]:
    """Return the roles that a user may grant and revoke in an edition or a series.

    In a series, only owners of all its editions may do so.
    """
    access = access_of(user)
    possible: list[str] = [
        role for role in Role if isinstance(place, Edition) or role not in SINGLE_EDITION_ROLES
    ]
    if access.may_everywhere("add", Membership):
        return possible
    own_roles: frozenset[str] = frozenset()
    if isinstance(place, Edition):
        own_roles = access.roles.get(place.pk, own_roles)
    elif isinstance(place, Conference) and access.owns_all(place.editions.all()):
        own_roles = frozenset({Role.OWNER})
    grantable = frozenset[str]().union(*(INVITABLE_ROLES.get(role, frozenset()) for role in own_roles))
    return [role for role in possible if role in grantable]


def is_last_owner(membership: Membership) -> bool:
    """Return whether an edition would have no owner without this one."""
    if membership.role != Role.OWNER:
        return False
    editions = Edition.objects.filter(Q(pk=membership.edition_id) | Q(conference=membership.conference_id))
    owners = Membership.objects.filter(role=Role.OWNER, user__is_active=True).exclude(pk=membership.pk)
    owned_editions = owners.filter(edition__isnull=False).values("edition")
    owned_series = owners.filter(conference__isnull=False).values("conference")
    return editions.exclude(pk__in=owned_editions).exclude(conference__in=owned_series).exists()


@transaction.atomic
def accept_invitation(token: str, user: "User", at: datetime | None = None) -> Membership:
    """Grant the offered role to the account. Raise `NoLongerOpenError` if the link is no longer valid."""
    at = at or timezone.now()
    invitation = Invitation.objects.select_for_update(of=("self",)).by_token(token, at).first()
    if invitation is None:
        raise NoLongerOpenError
    invitation.accepted_at = at
    invitation.save(update_fields=["accepted_at"])
    membership = grant_role(invitation, user)
    if invitation.person_id:
        PersonAccount.objects.update_or_create(user=user, defaults={"person_id": invitation.person_id})
    if not user.is_staff:
        user.is_staff = True
        user.save(update_fields=["is_staff"])
    LogEntry.objects.log_actions(user.pk, [membership], ADDITION, "Invitation accepted.", single_object=True)
    return membership


def grant_role(invitation: Invitation, user: "User") -> Membership:
    """Grant the offered role unless the account has one that includes it. Delete roles that it includes."""
    scope = {"edition": invitation.edition, "conference": invitation.conference}
    existing = [*Membership.objects.filter(user=user, **scope)]
    if stronger := next((row for row in existing if includes(row.role, invitation.role)), None):
        return stronger
    defaults = {"parts": invitation.parts, "granted_by": invitation.created_by}
    membership, is_new = Membership.objects.get_or_create(
        user=user, role=invitation.role, **scope, defaults=defaults
    )
    if not is_new and membership.parts != invitation.parts:
        membership.parts = [*dict.fromkeys([*membership.parts, *invitation.parts])]
        membership.save(update_fields=["parts"])
    redundant_keys = [
        row.pk for row in existing if row.pk != membership.pk and includes(invitation.role, row.role)
    ]
    Membership.objects.filter(pk__in=redundant_keys).delete()
    return membership


@transaction.atomic
def end_membership(membership: Membership) -> None:
    """Delete a membership. An account without other roles or permissions loses access to the admin."""
    user = membership.user
    membership.delete()
    has_more = user.memberships.exists() or user.user_permissions.exists() or user.groups.exists()
    if not (has_more or user.is_superuser):
        user.is_staff = False
        user.save(update_fields=["is_staff"])


class CannotSendError(Exception):
    """The e-mail was not sent; the previous link still works."""


def mail_invitation(invitation: Invitation, sender: "User") -> None:
    """Mail a new link, and invalidate the previous one. Raise `CannotSendError` if this fails."""
    if not is_email(invitation.email):
        raise CannotSendError
    try:
        with transaction.atomic():
            waiting = Invitation.objects.select_for_update(of=("self",)).waiting()
            locked_invitation = waiting.get(pk=invitation.pk)
            link = Invitation.address(locked_invitation.renew())
            locked_invitation.save(update_fields=["digest", "expires_at"])
            send_mail(locked_invitation.email, *invitation_message(locked_invitation, link, sender), sender)
    except (*MAIL_ERRORS, Invitation.DoesNotExist) as error:
        raise CannotSendError from error


def invitation_message(invitation: Invitation, link: str, sender: "User") -> tuple[str, str]:
    """Return the subject and text. Senders can influence only their own name and the edition's.

    The time of expiry is in the edition's time zone, or in UTC for a series.
    """
    expires_at = invitation.expires_at.astimezone(invitation.edition.zone if invitation.edition else UTC)
    values = {
        "edition": join_lines(invitation.scope),
        "role": invitation.get_role_display(),
        "sender": join_lines(sender.get_full_name() or sender.get_username()),
        "until": date_format(expires_at, "j F Y, H:i T"),
        "link": link,
    }
    paragraphs = [
        _("%(sender)s invites you to %(edition)s as %(role)s.") % values,
        _("Open this link to create an account or to sign in with your existing one:"),
        link,
        _("The link works once and expires on %(until)s. Ignore it if you didn’t expect it.") % values,
    ]
    return _("Invitation to %(edition)s") % values, "\n\n".join(paragraphs) + "\n"
