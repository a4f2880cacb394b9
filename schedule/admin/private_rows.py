"""Base class of rows that only chairs see; they have no history and no exports."""

from typing import Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse

from editorial.access import ScopedAdmin
from editorial.current_edition import edition_of, get_working_edition, requested_edition, working_on
from editorial.forms import ContentForm
from editorial.lists import search_rows
from editorial.model_admin import Fields, render_response
from editorial.sections import DeskSection


class PrivateAdmin[M: Model = Any](Fields[M], ScopedAdmin[M]):
    """A form that works in the row's edition, in its zone."""

    form = ContentForm
    show_full_result_count = False
    list_per_page = 50
    # Position in its section on the admin's first page.
    desk_order = 50
    desk_section = DeskSection.SCHEDULE

    class Media:
        js = ["js/admin-choices.js"]

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        row = self.get_object(request, object_id) if object_id else None
        with working_on(edition_of(row) if row else requested_edition(request)):
            return render_response(super().changeform_view(request, object_id, form_url, extra_context))

    def get_readonly_fields(self, request: HttpRequest, obj: M | None = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), *(["edition"] if obj else [])]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        initial: dict[str, Any] = super().get_changeform_initial_data(request)
        if edition := get_working_edition():
            initial.setdefault("edition", edition.pk)
        return initial

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[M], search_term: str
    ) -> tuple[QuerySet[M], bool]:
        return search_rows(queryset, self.get_search_fields(request), search_term), False
