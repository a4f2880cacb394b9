"""The rows that an account may access: Django permissions apply to all editions, roles to their edition.

`roles` defines the actions of a role. Upper packages register conditions for rows that belong to no edition
(`SCOPES`), and for a session chair's or a track chair's own rows (`OWN_ROWS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, cast

from django.contrib.auth.backends import ModelBackend
from django.db.models import Model, Q, QuerySet

from accounts.models import Membership
from accounts.roles import CHANGEABLE_FIELDS, Role, allows, permission_names
from content.actor import current_actor
from content.editions import get_edition_model

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.db.models import ForeignKey

    from conference.models import Edition
    from content.actor import User as AnyUser

NO_ROWS = Q(pk__in=())

# Conditions for the rows of models without an edition that an account may access through its roles.
SCOPES: dict[type[Model], Callable[[Access, str], Q]] = {}
# Conditions for the rows to which these roles are limited.
OWN_ROWS: dict[str, dict[type[Model], Callable[[Access], Q]]] = {Role.SESSION_CHAIR: {}, Role.TRACK_CHAIR: {}}
NO_ROLES: frozenset[str] = frozenset()
# The Django permissions of which any allows an action. By default, it is the one of the same name.
GRANTING_ACTIONS = {"view": ("view", "change"), "private": ("change",), "preview": ("view", "change")}


def lookup_of(model: type[Model]) -> str:
    """Return the lookup from a model to its edition; empty for models of the whole site."""
    return "pk" if model is get_edition_model() else getattr(model, "edition_lookup", "")


class Access:
    """The permissions of an account. Its memberships are read once, when they are first needed."""

    def __init__(self, user: AnyUser) -> None:
        # An anonymous user is never `is_active`, so that later code can assume an account.
        self.user = cast("User", user)
        self._edition_keys: dict[tuple[type[Model], int], int | None] = {}
        self._own_keys: dict[tuple[str, type[Model]], set[int]] = {}
        self._scopes: dict[tuple[type[Model], str], Q] = {}
        self._scope_results: dict[tuple[type[Model], int, str], bool] = {}

    @cached_property
    def is_active(self) -> bool:
        return bool(getattr(self.user, "is_active", False) and not self.user.is_anonymous)

    @cached_property
    def memberships(self) -> list[tuple[str, int | None, int | None, list[str]]]:
        """Role, edition or series, and the parts to which the role is limited. One query."""
        if not self.is_active or self.user.is_superuser:
            return []
        rows = Membership.objects.filter(user=self.user.pk).order_by("pk")
        return [*rows.values_list("role", "edition", "conference", "parts")]

    @cached_property
    def roles(self) -> dict[int, frozenset[str]]:
        """The roles by edition. One query, and another for roles in a series."""
        roles: dict[int, frozenset[str]] = {}
        roles_by_series: dict[int, frozenset[str]] = {}
        for role, edition, series, _parts in self.memberships:
            if edition is not None:
                roles[edition] = roles.get(edition, NO_ROLES) | {role}
            elif series is not None:
                roles_by_series[series] = roles_by_series.get(series, NO_ROLES) | {role}
        if roles_by_series:
            editions = get_edition_model()._base_manager.filter(conference__in=roles_by_series).order_by()
            for edition, series in editions.values_list("pk", "conference"):
                roles[edition] = roles.get(edition, NO_ROLES) | roles_by_series[series]
        return roles

    @cached_property
    def role_permissions(self) -> set[str]:
        """Names of the Django permissions that the roles grant in some edition."""
        roles = NO_ROLES.union(*self.roles.values())
        return {name for role in roles for name in permission_names(role)}

    @cached_property
    def django_permissions(self) -> set[str]:
        """Names of the permissions that Django itself grants, in all editions."""
        return set(ModelBackend().get_all_permissions(self.user))

    # In all editions

    def may_everywhere(self, action: str, model: type[Model]) -> bool:
        """Return whether Django's permissions alone allow this in all editions."""
        if not self.is_active:
            return False
        if self.user.is_superuser:
            return True
        names = GRANTING_ACTIONS.get(action, (action,))
        meta = model._meta
        return any(f"{meta.app_label}.{name}_{meta.model_name}" in self.django_permissions for name in names)

    # By role

    def editions(self, action: str, model: type[Model]) -> set[int]:
        """Return the editions in which a role allows this with all rows."""
        label = model._meta.label_lower
        return {
            edition
            for edition, roles in self.roles.items()
            if any(allows(role, action, label) and model not in OWN_ROWS.get(role, ()) for role in roles)
        }

    def limited_editions(
        self, action: str, model: type[Model], *, all_fields: bool = False
    ) -> dict[str, set[int]]:
        """Return, by role, the editions in which the role allows this with its own rows only.

        `all_fields`: only roles that may do it with all fields of a row.
        """
        label = model._meta.label_lower
        editions_by_role = {
            role: {edition for edition, roles in self.roles.items() if role in roles}
            for role, limited_models in OWN_ROWS.items()
            if model in limited_models
            and allows(role, action, label)
            and not (all_fields and label in CHANGEABLE_FIELDS[role])
        }
        return {role: editions for role, editions in editions_by_role.items() if editions}

    def editions_with_any(self, action: str, model: type[Model], *, all_fields: bool = False) -> set[int]:
        """Return the editions in which a role allows this with at least some rows."""
        limited_editions = self.limited_editions(action, model, all_fields=all_fields)
        return self.editions(action, model).union(*limited_editions.values())

    def may(self, action: str, model: type[Model], row: Model | None = None) -> bool:
        """Return whether the account may do this with a row, or without one with any row."""
        if self.may_everywhere(action, model):
            return True
        if row is None:
            return bool(self.editions_with_any(action, model))
        return self.reaches(row, action)

    def may_all_fields(self, action: str, model: type[Model], row: Model | None = None) -> bool:
        """Return whether the account may do this with all fields of a row."""
        return self.may(action, model, row) and (action != "change" or self.fields(model, row) is None)

    def may_all_rows(self, action: str, model: type[Model], edition: Edition | None) -> bool:
        """Return whether the account may do this with all rows of an edition, not only its own."""
        return self.may_everywhere(action, model) or (
            edition is not None and edition.pk in self.editions(action, model)
        )

    def may_inline(self, action: str, part: type[Model], owner: Model | None) -> bool:
        """Return whether the account may do this with inlines of their owner's form."""
        if self.may_everywhere(action, part):
            return True
        if owner is None or owner.pk is None:
            return self.may(action, part)
        if not lookup_of(type(owner)):
            owner_action = "view" if action == "view" else "change"
            return self.may(action, part) and self.may(owner_action, type(owner), owner)
        return any(self._allowing_roles(action, part, owner))

    def fields(self, model: type[Model], row: Model | None) -> frozenset[str] | None:
        """Return the fields of a row that the account may change; `None` if it may change all."""
        if row is None or self.may_everywhere("change", model):
            return None
        label, names = model._meta.label_lower, frozenset[str]()
        roles = [*self._allowing_roles("change", model, row)]
        for role in roles:
            changeable_fields = CHANGEABLE_FIELDS[role].get(label)
            if changeable_fields is None:
                return None
            names |= changeable_fields
        return names if roles else None

    def _allowing_roles(self, action: str, model: type[Model], row: Model) -> Iterator[str]:
        """Yield the roles in a row's edition that include the row and allow this with rows of the model."""
        for role in self.roles.get(self.edition_key(row) or 0, NO_ROLES):
            if allows(role, action, model._meta.label_lower) and self.is_own(role, row):
                yield role

    # Rows

    def rows[R: QuerySet[Model]](self, rows: R, action: str = "view") -> R:
        """Return the rows with which the account may do this."""
        if self.may_everywhere(action, rows.model):
            return rows
        return rows.filter(self.scope(rows.model, action))

    def scope(self, model: type[Model], action: str = "view", *, all_fields: bool = False) -> Q:
        """Return the condition for rows that roles may access; `all_fields`: only roles for all fields."""
        if model in SCOPES:
            # These conditions have many subqueries: building one may take 20 ms.
            if (model, action) not in self._scopes:
                self._scopes[model, action] = SCOPES[model](self, action)
            return self._scopes[model, action]
        lookup = lookup_of(model)
        if not lookup:
            return NO_ROWS
        condition = Q(**{f"{lookup}__in": self.editions(action, model)})
        for role, editions in self.limited_editions(action, model, all_fields=all_fields).items():
            condition |= Q(**{f"{lookup}__in": editions}) & OWN_ROWS[role][model](self)
        if self.reaches_site(action, model):
            condition |= Q(**{f"{lookup}__isnull": True})
        return condition

    def own_keys(self, role: str, model: type[Model]) -> set[int]:
        """Return the keys of the rows to which a role is limited. One query."""
        if (role, model) not in self._own_keys:
            rows = model._base_manager.filter(OWN_ROWS[role][model](self)).order_by()
            self._own_keys[role, model] = set(rows.values_list("pk", flat=True))
        return self._own_keys[role, model]

    def is_own(self, role: str, row: Model) -> bool:
        """Return whether a row is among those to which a role is limited. A new row follows its owner."""
        model, limited_models = type(row), OWN_ROWS.get(role, {})
        if model not in limited_models:
            return True
        first, _, remaining_path = lookup_of(model).partition("__")
        field = model._meta.get_field(first) if remaining_path else None
        if field is not None and field.related_model in limited_models:
            owner = cast("ForeignKey[Model, Model]", field)
            key = getattr(row, owner.attname)
            if key is None or key not in self.own_keys(role, owner.related_model):
                return False
            if row._state.adding:
                return True
        return row.pk in self.own_keys(role, model)

    def reaches(self, row: Model, action: str) -> bool:
        """Return whether a role may do this with the row. No query for rows of an edition."""
        model = type(row)
        if model in SCOPES:
            return self._in_scope(row, action)
        if self.edition_key(row) is None:
            return bool(lookup_of(model)) and self.reaches_site(action, model)
        return any(self._allowing_roles(action, model, row))

    def _in_scope(self, row: Model, action: str) -> bool:
        model = type(row)
        if row.pk is None or row._state.adding:
            return action == "add" and bool(self.editions("add", model))
        key = (model, row.pk, action)
        if key not in self._scope_results:
            rows = model._base_manager.filter(pk=row.pk)
            self._scope_results[key] = rows.filter(self.scope(model, action)).exists()
        return self._scope_results[key]

    def prefetch_scope(self, action: str, model: type[Model], keys: Iterable[int]) -> None:
        """Cache the result of `may` for rows that belong to no edition. One query."""
        if model in SCOPES and not self.may_everywhere(action, model):
            rows = model._base_manager.filter(pk__in=keys).filter(self.scope(model, action))
            allowed_keys = set(rows.values_list("pk", flat=True))
            self._scope_results |= {(model, key, action): key in allowed_keys for key in keys}

    def edition_key(self, row: Model) -> int | None:
        """Return the key of a row's edition. One query for each owner that is not loaded."""
        lookup = lookup_of(type(row))
        if lookup in ("", "pk"):
            return row.pk if lookup else None
        first, _, remaining_path = lookup.partition("__")
        field = cast("ForeignKey[Model, Model]", row._meta.get_field(first))
        value: int | None = getattr(row, field.attname)
        if not remaining_path:
            return value
        # A row that is saved together with its owner has an instance of it without a key.
        if field.is_cached(row) and getattr(row, first) is not None:
            return self.edition_key(getattr(row, first))
        if value is None:
            return None
        target = field.related_model
        if (target, value) not in self._edition_keys:
            key = target._base_manager.filter(pk=value).values_list(remaining_path, flat=True).first()
            self._edition_keys[target, value] = key
        return self._edition_keys[target, value]

    # The whole site

    def owns_all(self, editions: QuerySet[Edition]) -> bool:
        """Return whether the account owns all of these editions, and at least one."""
        owned_keys = {edition for edition, roles in self.roles.items() if Role.OWNER in roles}
        return bool(owned_keys) and not editions.exclude(pk__in=owned_keys).exists()

    @cached_property
    def owns_site(self) -> bool:
        return self.owns_all(get_edition_model().objects.all())

    def reaches_site(self, action: str, model: type[Model]) -> bool:
        """Return whether a role may access rows without an edition: all may view, owners may change."""
        if (
            model is get_edition_model()
            or not model._meta.get_field(lookup_of(model).partition("__")[0]).null
        ):
            return False
        if action == "view":
            return bool(self.editions("view", model))
        return bool(self.editions(action, model)) and self.owns_site


def access_of(user: object) -> Access:
    """Return the access of an account, cached on the user object and thus for one request."""
    access: Access | None = getattr(user, "_access", None)
    if access is None:
        access = Access(cast("AnyUser", user))
        if user is not None:
            user._access = access  # type: ignore[attr-defined]
    return access


def current_access() -> Access | None:
    """Return the access of the current actor; `None` without an account."""
    user = current_actor().user
    return access_of(user) if user is not None else None


class RoleBackend(ModelBackend):
    """Django's permissions and those that roles grant; for a row, those in its edition."""

    def get_all_permissions(self, user_obj: User | AnonymousUser, obj: Model | None = None) -> set[str]:
        if obj is not None:
            # Permissions for single rows are checked by `has_perm`.
            return set()
        permissions: set[str] = super().get_all_permissions(user_obj)
        return permissions | access_of(user_obj).role_permissions if user_obj.is_active else permissions

    def has_perm(self, user_obj: User | AnonymousUser, perm: str, obj: Model | None = None) -> bool:
        if obj is None or not user_obj.is_active:
            return bool(super().has_perm(user_obj, perm, obj))
        app, _, codename = perm.partition(".")
        action, _, name = codename.partition("_")
        is_of_row = (app, name) == (obj._meta.app_label, obj._meta.model_name)
        return is_of_row and access_of(user_obj).may(action, type(obj), obj)
