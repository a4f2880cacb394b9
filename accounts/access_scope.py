"""Whose account reaches which rows: by Django's own permissions everywhere, by a role in its edition alone.

What a role may do at all: `roles`. Upper floors register here how rows that belong to no edition
are reached (`SCOPES`), and which rows are a session chair's own (`OWN`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, cast

from django.contrib.auth.backends import ModelBackend
from django.db.models import Model, Q, QuerySet

from accounts.models import Membership
from accounts.roles import FIELDS, Role, granted, permissions
from content.actor import actor
from content.editions import get_edition_model

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.db.models import ForeignKey

    from conference.models import Edition
    from content.actor import User as AnyUser

NOTHING = Q(pk__in=())

# For models without an edition: the rows that an account may see, or change, by its roles.
SCOPES: dict[type[Model], Callable[[Access, str], Q]] = {}
# The account's own rows, for roles that see nothing else.
OWN: dict[type[Model], Callable[[User], Q]] = {}


def lookup_of(model: type[Model]) -> str:
    """Return where the edition of a model's rows is found; empty for rows of the whole site."""
    return "pk" if model is get_edition_model() else getattr(model, "edition_lookup", "")


class Access:
    """What one account may do. Its memberships are read once, when they are first needed."""

    def __init__(self, user: AnyUser) -> None:
        # Nobody's access ends at `is_active`: beyond it there is an account.
        self.user = cast("User", user)
        self._owners: dict[tuple[type[Model], int], int | None] = {}
        self._own: dict[type[Model], set[int]] = {}
        self._asked: dict[tuple[type[Model], int, str], bool] = {}

    @cached_property
    def is_active(self) -> bool:
        return bool(getattr(self.user, "is_active", False) and not self.user.is_anonymous)

    @cached_property
    def roles(self) -> dict[int, str]:
        """The role in each edition in which there is one. One query."""
        if not self.is_active or self.user.is_superuser:
            return {}
        return dict(Membership.objects.filter(user=self.user.pk).values_list("edition", "role").order_by())

    @cached_property
    def permissions(self) -> set[str]:
        """What the roles grant somewhere, by Django's names."""
        return {name for role in {*self.roles.values()} for name in permissions(role)}

    @cached_property
    def plain(self) -> set[str]:
        """What Django's permissions allow, by its names."""
        return set(ModelBackend().get_all_permissions(self.user))

    # Everywhere

    def everywhere(self, action: str, model: type[Model]) -> bool:
        """Return whether Django's permissions alone allow this, whatever the edition."""
        if not self.is_active:
            return False
        if self.user.is_superuser:
            return True
        names = ("view", "change") if action == "view" else (action,)
        meta = model._meta
        return any(f"{meta.app_label}.{name}_{meta.model_name}" in self.plain for name in names)

    # By role

    def editions(self, action: str, model: type[Model]) -> set[int]:
        """Return the editions in all of which' rows a role allows this."""
        label = model._meta.label_lower
        return {
            edition
            for edition, role in self.roles.items()
            if role != Role.SESSION_CHAIR and action in granted(role, label)
        }

    def chaired(self, action: str, model: type[Model]) -> set[int]:
        """Return the editions in whose own rows alone a role allows this."""
        label = model._meta.label_lower
        return {
            edition
            for edition, role in self.roles.items()
            if role == Role.SESSION_CHAIR and action in granted(role, label)
        }

    def may(self, action: str, model: type[Model], row: Model | None = None) -> bool:
        """Return whether they may "view", "add", "change" or "delete" this row; without one, some row."""
        if self.everywhere(action, model):
            return True
        if row is None:
            return bool(self.editions(action, model) or self.chaired(action, model))
        return self.reaches(row, action)

    def may_whole(self, action: str, model: type[Model], row: Model | None = None) -> bool:
        """Return whether the account may do this with all fields of a row."""
        return self.may(action, model, row) and (action != "change" or self.fields(model, row) is None)

    def may_all(self, action: str, model: type[Model], edition: Edition | None) -> bool:
        """Return whether the account may do this with all rows of an edition, not only its own."""
        return self.everywhere(action, model) or (
            edition is not None and edition.pk in self.editions(action, model)
        )

    def may_part(self, action: str, part: type[Model], owner: Model | None) -> bool:
        """Return whether the account may do this with inlines of their owner's form."""
        if self.everywhere(action, part):
            return True
        if owner is None or owner.pk is None:
            return self.may(action, part)
        if not lookup_of(type(owner)):
            needed = "view" if action == "view" else "change"
            return self.may(action, part) and self.may(needed, type(owner), owner)
        role = self.roles.get(self.edition_key(owner) or 0)
        if action not in granted(role, part._meta.label_lower):
            return False
        return role != Role.SESSION_CHAIR or self.reaches(owner, "view")

    def fields(self, model: type[Model], row: Model | None) -> frozenset[str] | None:
        """Return the only fields of a row that they may change; `None` where they may change all."""
        if row is None or self.everywhere("change", model):
            return None
        role = self.roles.get(self.edition_key(row) or 0)
        return FIELDS.get(role or "", {}).get(model._meta.label_lower)

    # Rows

    def rows[R: QuerySet[Model]](self, rows: R, action: str = "view") -> R:
        """Return those of the rows with which they may do this."""
        if self.everywhere(action, rows.model):
            return rows
        return rows.filter(self.scope(rows.model, action))

    def scope(self, model: type[Model], action: str = "view", *, whole: bool = False) -> Q:
        """Return what the rows have in common that roles reach; `whole`: with all their fields."""
        if model in SCOPES:
            return SCOPES[model](self, action)
        lookup = lookup_of(model)
        if not lookup:
            return NOTHING
        found = Q(**{f"{lookup}__in": self.editions(action, model)})
        chaired = set() if whole else self.chaired(action, model)
        if chaired:
            own = OWN[model](self.user) if model in OWN else Q()
            found |= Q(**{f"{lookup}__in": chaired}) & own
        if self.reaches_site(action, model):
            found |= Q(**{f"{lookup}__isnull": True})
        return found

    def own(self, model: type[Model]) -> set[int]:
        """Return the keys of the rows in which they have a part themselves. One query."""
        if model not in self._own:
            rows = model._base_manager.filter(OWN[model](self.user)).order_by()
            self._own[model] = set(rows.values_list("pk", flat=True))
        return self._own[model]

    def reaches(self, row: Model, action: str) -> bool:
        """Return whether a role reaches this row. No query for rows of an edition."""
        model = type(row)
        if model in SCOPES:
            return self._in_scope(row, action)
        key = self.edition_key(row)
        if key is None:
            return bool(lookup_of(model)) and self.reaches_site(action, model)
        role = self.roles.get(key)
        if action not in granted(role, model._meta.label_lower):
            return False
        return role != Role.SESSION_CHAIR or model not in OWN or row.pk in self.own(model)

    def _in_scope(self, row: Model, action: str) -> bool:
        model = type(row)
        if row.pk is None or row._state.adding:
            return action == "add" and bool(self.editions("add", model))
        key = (model, row.pk, action)
        if key not in self._asked:
            rows = model._base_manager.filter(pk=row.pk)
            self._asked[key] = rows.filter(self.scope(model, action)).exists()
        return self._asked[key]

    def ask_all(self, action: str, model: type[Model], keys: Iterable[int]) -> None:
        """Prefetch what `may` needs for rows that belong to no edition."""
        if model in SCOPES and not self.everywhere(action, model):
            rows = model._base_manager.filter(pk__in=keys).filter(self.scope(model, action))
            reached = set(rows.values_list("pk", flat=True))
            self._asked |= {(model, key, action): key in reached for key in keys}

    def edition_key(self, row: Model) -> int | None:
        """Return the key of a row's edition. One query for each owner that the row does not bring along."""
        lookup = lookup_of(type(row))
        if lookup in ("", "pk"):
            return row.pk if lookup else None
        first, _, rest = lookup.partition("__")
        field = cast("ForeignKey[Model, Model]", row._meta.get_field(first))
        value: int | None = getattr(row, field.attname)
        if not rest or value is None:
            return value
        if field.is_cached(row):
            return self.edition_key(getattr(row, first))
        target = field.related_model
        if (target, value) not in self._owners:
            found = target._base_manager.filter(pk=value).values_list(rest, flat=True).first()
            self._owners[target, value] = found
        return self._owners[target, value]

    # The whole site

    def owns_all(self, editions: QuerySet[Edition]) -> bool:
        """Return whether the account owns all of these editions, and at least one."""
        owned = {edition for edition, role in self.roles.items() if role == Role.OWNER}
        return bool(owned) and not editions.exclude(pk__in=owned).exists()

    @cached_property
    def owns_site(self) -> bool:
        return self.owns_all(get_edition_model().objects.all())

    def reaches_site(self, action: str, model: type[Model]) -> bool:
        """Return whether a role reaches rows without an edition: all may view, owners may change."""
        if (
            model is get_edition_model()
            or not model._meta.get_field(lookup_of(model).partition("__")[0]).null
        ):
            return False
        if action == "view":
            return bool(self.editions("view", model))
        return bool(self.editions(action, model)) and self.owns_site


def access_of(user: object) -> Access:
    """Return what an account may do; read once for each request, as each has a user object of its own."""
    found: Access | None = getattr(user, "_access", None)
    if found is None:
        found = Access(cast("AnyUser", user))
        if user is not None:
            user._access = found  # type: ignore[attr-defined]
    return found


def current_access() -> Access | None:
    """Return the access of the current actor; `None` without an account."""
    user = actor().user
    return access_of(user) if user is not None else None


class RoleBackend(ModelBackend):
    """Django's permissions, and those that roles grant; for a row, in its edition only."""

    def get_all_permissions(self, user_obj: User | AnonymousUser, obj: Model | None = None) -> set[str]:
        if obj is not None:
            # Django knows permissions without rows only: `has_perm` judges.
            return set()
        plain: set[str] = super().get_all_permissions(user_obj)
        return plain | access_of(user_obj).permissions if user_obj.is_active else plain

    def has_perm(self, user_obj: User | AnonymousUser, perm: str, obj: Model | None = None) -> bool:
        if obj is None or not user_obj.is_active:
            return bool(super().has_perm(user_obj, perm, obj))
        app, _, codename = perm.partition(".")
        action, _, name = codename.partition("_")
        is_of_row = (app, name) == (obj._meta.app_label, obj._meta.model_name)
        return is_of_row and access_of(user_obj).may(action, type(obj), obj)
