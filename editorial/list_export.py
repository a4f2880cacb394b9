"""Lists of the admin as files: what a list shows, by its search and filters, or what is selected in it.

Which files there are, and how they are written, is filled in by the floor that knows formats.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.options import (
    IS_POPUP_VAR,
    Action,
    ActionLocation,
    IncorrectLookupParameters,
)
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


@dataclass(frozen=True, slots=True)
class ListFile:
    """One kind of file that lists are written as. `write` takes rows in their order, and answers."""

    name: str
    label: "StrPromise | str"
    models: frozenset[type[Model]]
    write: Callable[[QuerySet[Any]], HttpResponseBase]


# In the order in which they are offered.
FILES: list[ListFile] = []


def files_of(model: type[Model]) -> Iterable[ListFile]:
    """Return what the list of this model can be written as."""
    return [one for one in FILES if model in one.models]


class ExportAdmin[M: Model = Model](admin.ModelAdmin[M]):
    """A list that can be taken along."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.export_view)
        name = f"{self.opts.app_label}_{self.opts.model_name}_export"
        return [path("export/<str:form>/", view, name=name), *super().get_urls()]

    def export_view(self, request: HttpRequest, form: str) -> HttpResponseBase:
        """Send the list that the address's search and filters leave, all pages of it."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        found = next((one for one in files_of(self.model) if one.name == form), None)
        if found is None:
            raise Http404("There is no such file.")
        try:
            rows = self.get_changelist_instance(request).queryset
        except IncorrectLookupParameters:
            return redirect(f"{self.list_address()}?e=1")
        return found.write(rows)

    def list_address(self) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")

    def export_links(self, request: HttpRequest) -> list[tuple[object, str]]:
        """Return what the list can be taken along as, each with its address."""
        asked = request.GET.copy()
        asked.pop("p", None)
        query = f"?{asked.urlencode()}" if asked else ""
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_export"
        return [(one.label, reverse(name, args=[one.name]) + query) for one in files_of(self.model)]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        links = {"export_links": self.export_links(request)}
        return super().changelist_view(request, {**links, **(extra_context or {})})

    def get_actions(
        self, request: HttpRequest, action_location: ActionLocation = ActionLocation.CHANGE_LIST
    ) -> dict[str, Action | None]:
        found = super().get_actions(request, action_location)
        is_list = action_location == ActionLocation.CHANGE_LIST and IS_POPUP_VAR not in request.GET
        if is_list and self.has_view_or_change_permission(request):
            found |= {f"export_{one.name}": action_for(one) for one in files_of(self.model)}
        return found


def action_for(file: ListFile) -> Action:
    """Return the action that sends what is selected."""
    words = _("Export selected %%(verbose_name_plural)s as %(format)s") % {"format": file.label}
    return Action(partial(exported, file), f"export_{file.name}", words, words, [ActionLocation.CHANGE_LIST])


def exported(
    file: ListFile, model_admin: admin.ModelAdmin[Model], request: HttpRequest, queryset: QuerySet[Model]
) -> HttpResponseBase:
    """Send what is selected."""
    return file.write(queryset)
