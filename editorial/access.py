"""Base classes that limit the admin to the rows in an account's scope: lists, forms, choices, actions.

Pages of the admin must only use `get_queryset(request)` and `has_…_permission(request, row)` of a model's
admin, which are both based on `access`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.filters import FieldListFilter, RelatedFieldListFilter
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME as CHECKBOX
from django.contrib.admin.options import Action, ActionLocation
from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import ngettext

from accounts.access_scope import SCOPES, Access, access_of, lookup_of
from accounts.roles import ALL
from content.editions import get_edition_model
from content.request_keys import parse_key

if TYPE_CHECKING:
    from django.db.models import ForeignKey
    from django.db.models.fields.related import RelatedField
    from django.forms import ModelChoiceField, ModelForm
    from django.http.response import HttpResponseBase
    from django_stubs_ext import StrPromise

    from editorial.forms import PartFormSet


# Path below the model's, suffix of the URL name, view(model_admin, request, **kwargs).
type AdminPage = tuple[str, str, Callable[..., HttpResponseBase]]


def access_for(request: HttpRequest) -> Access:
    """Return the access of the user of a request."""
    return access_of(getattr(request, "user", None))


class ScopedChoices[M: Model = Model](admin.options.BaseModelAdmin[M]):
    """Forms whose choices are the rows that the user may access."""

    # Foreign keys that may point to another edition, such as to an old paper that receives an award.
    any_edition: ClassVar[frozenset[str]] = frozenset()

    def get_field_queryset(
        self, db: str | None, db_field: RelatedField[object, object], request: HttpRequest
    ) -> QuerySet[Model] | None:
        target = db_field.remote_field.model
        if not self.admin_site.is_registered(target):
            return super().get_field_queryset(db, db_field, request)
        access, target_admin = access_for(request), self.admin_site.get_model_admin(target)
        rows: QuerySet[Model] = target_admin.get_queryset(request)
        if access.may_everywhere("add", self.model):
            return rows
        if db_field.name == lookup_of(self.model).partition("__")[0]:
            return rows.filter(**{f"{lookup_of(target)}__in": access.editions_with_any("add", self.model)})
        if not lookup_of(self.model) and db_field.name in getattr(self.model, "part_of", ()):
            return access.rows(rows, "change")
        if db_field.name in self.any_edition:
            manager: Any = target._default_manager
            visible = Q(pk__in=rows.values("pk")) | Q(pk__in=manager.published().order_by().values("pk"))
            rows = manager.filter(visible).select_related(*getattr(target_admin, "choice_related", ()))
        return rows

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Make the fields read-only that the user may not change in the row or its inlines."""
        changeable = access_for(request).fields(self.model, obj) if obj is not None and obj.pk else None
        readonly = [*super().get_readonly_fields(request, obj)]
        if changeable is None:
            return readonly
        displayed = flatten_fieldsets(self.get_fieldsets(request, obj))
        return [*readonly, *(name for name in displayed if name not in changeable and name not in readonly)]

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[object, object], request: HttpRequest, **kwargs: object
    ) -> ModelChoiceField[Model] | None:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        access = access_for(request)
        is_owner = db_field.name == lookup_of(self.model)
        is_edition = is_owner and db_field.remote_field.model is get_edition_model()
        if field and is_edition and db_field.null and not access.may_everywhere("add", self.model):
            # A row without an edition belongs to the whole site, which requires permission.
            field.required = not access.reaches_site("add", self.model)
        return field


class ScopedAdmin[M: Model = Any](ScopedChoices[M], admin.ModelAdmin[M]):
    """A model's admin that shows only the rows that the user may access."""

    # Additional pages.
    pages: ClassVar[Sequence[AdminPage]] = ()

    def get_urls(self) -> list[URLPattern]:
        wrap, name = self.admin_site.admin_view, f"{self.opts.app_label}_{self.opts.model_name}"
        urls = [
            path(address, wrap(partial(view, self)), name=f"{name}_{suffix}")
            for address, suffix, view in self.pages
        ]
        return [*urls, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[M]:
        return access_for(request).rows(super().get_queryset(request))

    def has_view_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return access_for(request).may("view", self.model, obj)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether rows may be added: in any edition, or in `obj`, an edition or a new row."""
        access = access_for(request)
        if isinstance(obj, get_edition_model()) and self.model is not get_edition_model():
            return access.may_inline("add", self.model, obj)
        return access.may("add", self.model, obj)

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return access_for(request).may("change", self.model, obj)

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return access_for(request).may("delete", self.model, obj)

    def page_context(self, request: HttpRequest, title: str, **extra: object) -> dict[str, object]:
        """Return the template context of an additional page of this admin."""
        return {**self.admin_site.each_context(request), "title": title, "opts": self.opts, **extra}

    def page_address(self, page: str, *args: object) -> str:
        """Return the address of a page of this admin, such as "changelist" or "change"."""
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}", args=args)

    def may_change_all_fields(self, request: HttpRequest, row: M) -> bool:
        """Return whether the user may change all fields of a row; session chairs may change some."""
        may_change = self.has_change_permission(request, row)
        return may_change and access_for(request).may_all_fields("change", self.model, row)

    # The final check, because a forged request may send values that the form did not offer.

    def save_model(self, request: HttpRequest, obj: M, form: ModelForm[M], change: bool) -> None:
        if not access_for(request).may("change" if change else "add", self.model, obj):
            raise PermissionDenied
        super().save_model(request, obj, form, change)

    def save_formset(
        self, request: HttpRequest, form: ModelForm[M], formset: PartFormSet, change: bool
    ) -> None:
        access, part = access_for(request), formset.model
        for row_form in [*formset.extra_forms, *formset.initial_forms]:
            if row_form.has_changed() and not access.may_everywhere("change", part):
                action = "change" if row_form in formset.initial_forms else "add"
                row = row_form.instance
                allowed = access.may_inline(action, part, form.instance)
                if not allowed or (lookup_of(part) and not access.reaches(row, action)):
                    raise PermissionDenied
        super().save_formset(request, form, formset, change)

    # Actions

    def get_actions(
        self, request: HttpRequest, action_location: ActionLocation = ActionLocation.CHANGE_LIST
    ) -> dict[str, Action | None]:
        """Offer the actions that the user may apply to all fields of some rows."""
        actions = super().get_actions(request, action_location)
        access, model = access_for(request), self.model
        allowed = {
            permission
            for permission in ALL
            if access.may_everywhere(permission, model)
            or access.editions_with_any(permission, model, all_fields=True)
        }
        return {
            name: scope_action(action)
            for name, action in actions.items()
            if action and allowed.issuperset(required_permissions(action))
        }

    def response_action(
        self,
        request: HttpRequest,
        queryset: QuerySet[Any],
        action_location: ActionLocation = ActionLocation.CHANGE_LIST,
    ) -> HttpResponse | None:
        """Run the submitted action, ignoring keys that are not numbers."""
        data = request.POST.copy()
        data.setlist(CHECKBOX, [key for key in data.getlist(CHECKBOX) if parse_key(key)])
        vars(request)["_post"] = data
        return super().response_action(request, queryset, action_location)

    def run_action(
        self, request: HttpRequest, action: Action, chosen: QuerySet[M]
    ) -> HttpResponseBase | None:
        """Run an action on the rows for which the user has permission, and warn of the others."""
        access = access_for(request)
        permissions = [
            permission
            for permission in required_permissions(action)
            if not access.may_everywhere(permission, self.model)
        ]
        rows = chosen
        for permission in permissions:
            allowed = self.model._base_manager.filter(access.scope(self.model, permission, all_fields=True))
            rows = rows.filter(pk__in=allowed.values("pk"))
        count = chosen.exclude(pk__in=rows.values("pk")).count() if permissions else 0
        if count:
            message = ngettext(
                "%(count)d row was left out because you can view but not change it.",
                "%(count)d rows were left out because you can view but not change them.",
                count,
            )
            self.message_user(request, message % {"count": count}, messages.WARNING)
        return action.func(self, request, rows)

    def _get_list_editable_queryset(self, request: HttpRequest, prefix: str) -> QuerySet[M]:
        rows = super()._get_list_editable_queryset(request, prefix)
        return access_for(request).rows(rows, "change")


def scope_action(action: Action) -> Action:
    """Return a copy of the action that runs through `run_action()`."""

    def run(
        model_admin: admin.ModelAdmin[Any], request: HttpRequest, rows: QuerySet[Model]
    ) -> HttpResponseBase | None:
        return model_admin.run_action(request, action, rows) if isinstance(model_admin, ScopedAdmin) else None

    return replace(action, func=run)


def required_permissions(action: Action) -> list[str]:
    """Return the permissions that an action requires, among those that roles grant by row."""
    return [permission for permission in getattr(action.func, "allowed_permissions", ()) if permission in ALL]


class ScopedInline[M: Model = Model, Owner: Model = Model](
    ScopedChoices[M], admin.options.InlineModelAdmin[M, Owner]
):
    """Inlines whose permissions follow those for their owner."""

    # Whether an account that sees the inline on an owner's form may see all rows of this owner.
    is_scoped_by_owner: ClassVar[bool] = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[M]:
        rows = super().get_queryset(request)
        is_scoped = not self.is_scoped_by_owner and (lookup_of(self.model) or self.model in SCOPES)
        return access_for(request).rows(rows) if is_scoped else rows

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return access_for(request).may_inline("view", self.model, obj)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return access_for(request).may_inline("add", self.model, obj)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return access_for(request).may_inline("change", self.model, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return access_for(request).may_inline("delete", self.model, obj)


class ScopedFilter(RelatedFieldListFilter):
    """A filter by a relation that lists only rows that the user may access."""

    def field_choices(
        self, field: RelatedField[object, object], request: HttpRequest, model_admin: admin.ModelAdmin[Model]
    ) -> list[tuple[str, StrPromise | str]]:
        site, target = model_admin.admin_site, field.remote_field.model
        if not site.is_registered(target) or access_for(request).may_everywhere("view", target):
            return super().field_choices(field, request, model_admin)
        order = self.field_admin_ordering(field, request, model_admin)
        rows = site.get_model_admin(target).get_queryset(request).order_by(*order)
        return [(row.pk, str(row)) for row in rows]


FieldListFilter.register(lambda field: bool(field.remote_field), ScopedFilter, take_priority=True)
