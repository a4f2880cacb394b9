"""Callers of the API and their permissions. Only this module decides who may read drafts and change rows.

Published rows are visible to all. Staff have their Django permissions everywhere, and the permissions of
their roles in editions (`accounts.access_scope`). A token limits them to its scope.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from django.db.models import Model, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts.access_scope import access_of, lookup_of
from api.models import Token
from content.models import Content
from people.models import Institution, Person, PersonName

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Restrictions that apply to staff, too: no merged people and institutions, and no hidden names.
PRIVATE_ROWS: dict[type[Model], Q] = {
    Institution: Q(merged_into__isnull=True),
    Person: Q(merged_into__isnull=True),
}


class BearerTokenAuthentication(TokenAuthentication):  # type: ignore[misc]  # the package has no types
    """Accepts unexpired tokens of staff. Unlike the base class, it does not delete expired ones.

    Any other `Authorization` is refused: a client that sends one does not expect the answer for the public.
    """

    def authenticate(self, request: Request) -> "tuple[User, Token] | None":
        user_and_token: tuple[User, Token] | None = super().authenticate(request)
        if user_and_token is None and "HTTP_AUTHORIZATION" in request.META:
            raise AuthenticationFailed(_("Send the token as “Authorization: Bearer <token>”."))
        return user_and_token

    def authenticate_credentials(self, token: bytes) -> "tuple[User, Token]":
        if not token.isascii():
            raise AuthenticationFailed(_("Invalid token."))
        user_and_token: tuple[User, Token] = super().authenticate_credentials(token)
        return user_and_token

    def validate_user(self, auth_token: Token) -> "tuple[User, Token]":
        if not auth_token.user.is_staff:
            raise AuthenticationFailed(_("The owner of this token is no longer a staff member."))
        user_and_token: tuple[User, Token] = super().validate_user(auth_token)
        return user_and_token

    def _cleanup_token(self, auth_token: Token) -> bool:
        return auth_token.expiry <= timezone.now()


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request. `user` is a member of staff, or `None` for the public."""

    user: "User | None" = None
    token: Token | None = None

    @property
    def edition(self) -> int | None:
        """Return the key of the edition that the token is limited to; `None` if there is no limit."""
        return self.token.edition_id if self.token else None

    @property
    def writes(self) -> bool:
        """Return whether the token allows writing, or there is none."""
        return self.token is None or self.token.writes

    def may(self, action: str, model: type[Model]) -> bool:
        """Return whether the caller may "view", "add", "change" or "delete" any rows of this model."""
        if self.user is None or (action != "view" and not self.writes):
            return False
        return access_of(self.user).may(action, model)

    def may_inline(self, action: str, part: type[Model], owner: Model) -> bool:
        """Return whether the caller may do this with parts, which are written with their owner."""
        return self.may(action, part) and access_of(self.user).may_inline(action, part, owner)

    def may_row(self, row: Content, action: str) -> bool:
        """Return whether the roles of the caller and the token allow this action on a row."""
        may_by_role = access_of(self.user).may(action, type(row), row)
        return self.may(action, type(row)) and may_by_role and self.reaches(row, action)

    def may_rows(self, rows: QuerySet[Model], action: str) -> bool:
        """Return whether `may_row()` is true of all these rows, without fetching them."""
        model, access = rows.model, access_of(self.user)
        if not self.may(action, model):
            return not rows.exists()
        allowed = access.rows(model._base_manager.order_by(), action)
        if self.edition is not None:
            lookup = lookup_of(model)
            allowed = allowed.filter(**{lookup: self.edition}) if lookup else allowed.none()
        elif access.may_everywhere(action, model):
            return True
        return not rows.exclude(pk__in=allowed.values("pk")).exists()

    def may_read_in_full(self, row: Model) -> bool:
        """Return whether the caller may read all writable fields, with former names and e-mail addresses."""
        model = type(row)
        action = "private" if model is Person else "view"
        return self.may("view", model) and access_of(self.user).may(action, model, row)

    def fields(self, row: Model) -> frozenset[str] | None:
        """Return the columns that the caller may write; `None` for all."""
        return access_of(self.user).fields(type(row), row)

    def reaches(self, row: Content, action: str) -> bool:
        """Return whether the token covers a row. One of a single edition can only add rows of the site."""
        if self.edition is None:
            return True
        if not row.edition_lookup:
            return action == "add"
        return row.get_edition_key() == self.edition


ANONYMOUS = Caller()


def get_caller(request: Request) -> Caller:
    user = request.user
    if not (user.is_authenticated and user.is_active and user.is_staff):
        return ANONYMOUS
    return Caller(user, request.auth if isinstance(request.auth, Token) else None)


def visible_rows[R: QuerySet[Any]](caller: Caller, rows: R, at: datetime) -> R:
    """Filter the rows by those that the caller may see at a moment."""
    model = rows.model
    published: R = rows.published(at)  # type: ignore[attr-defined]  # what every model of the program has
    if not caller.may("view", model):
        return published
    access, lookup = access_of(caller.user), lookup_of(model)
    limits = [] if access.may_everywhere("view", model) else [access.scope(model)]
    if caller.edition is not None and lookup:
        limits.append(Q(**{lookup: caller.edition}))
    if limits:
        rows = rows.filter(reduce(and_, limits) | Q(pk__in=published.order_by().values("pk")))
    if model is PersonName:
        return rows.shown()  # type: ignore[attr-defined,no-any-return]
    return rows.filter(PRIVATE_ROWS[model]) if model in PRIVATE_ROWS else rows
