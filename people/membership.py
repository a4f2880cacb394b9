"""Coming and going: an invitation accepted, a role changed or ended. An edition keeps an owner."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib.admin.models import ADDITION, LogEntry
from django.db import transaction
from django.utils import timezone

from accounts.access_scope import access_of
from accounts.models import Membership
from accounts.roles import INVITES, Role
from conference.models import Edition
from people.models import Invitation, PersonAccount

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class NoLongerOpenError(Exception):
    """The invitation was accepted, revoked or has expired."""


def may_give(user: Any, edition: Edition | None) -> list[str]:
    """Return the roles that somebody may give in an edition, and take from those who have them."""
    access = access_of(user)
    if access.everywhere("add", Membership):
        return list(Role)
    given = INVITES.get(access.roles.get(edition.pk, "") if edition else "", frozenset())
    return [role for role in Role if role in given]


def is_last_owner(membership: Membership) -> bool:
    """Tell whether the edition would have no owner without this one."""
    others = Membership.objects.filter(edition=membership.edition_id, role=Role.OWNER, user__is_active=True)
    return membership.role == Role.OWNER and not others.exclude(pk=membership.pk).exists()


def stronger(one: str, other: str) -> str:
    """Return the role that may do more."""
    order = [*Role]
    return min(one, other, key=lambda role: order.index(Role(role)))


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
        membership.role = stronger(membership.role, invitation.role)
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
    """End a role. Whoever has nothing else to do here is signed out of the admin."""
    user = membership.user
    membership.delete()
    has_more = user.memberships.exists() or user.user_permissions.exists() or user.groups.exists()
    if not (has_more or user.is_superuser):
        user.is_staff = False
        user.save(update_fields=["is_staff"])
