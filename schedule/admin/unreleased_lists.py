"""Lists of rows whose changes may wait for a release: both values, and a filter.

Lists are sorted and filtered by the public values.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.utils import display_for_field, label_for_field, lookup_field
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import conditional_escape, format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from content.request_keys import parse_key
from content.unreleased.diversion import PUBLIC_STATUSES
from content.unreleased.plan import planned
from editorial.current_edition import LIST_FILTER, edition_of
from editorial.lists import Choice
from editorial.model_admin import ContentAdmin
from schedule.models import UnreleasedChange
from schedule.unreleased.models import PART_OWNERS, OnRelease, target_name
from schedule.unreleased.visible import visible_plans

# The attribute of a listed row with the same row as it will be after the next release.
PLANNED_ROW = "planned_row"


class UnreleasedFilter(admin.SimpleListFilter):
    """Filters by whether the row or one of its people has an unreleased change that the user may see."""

    title = _("unreleased changes")
    parameter_name = "unreleased"

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        edition = parse_key(request.GET.get(LIST_FILTER))
        keys = [plan.edition_id for plan in visible_plans(request)]
        self.editions = [key for key in keys if edition in (0, None, key)]
        super().__init__(request, *args)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[Choice]:
        return [("yes", gettext("Yes")), ("no", gettext("No"))] if self.editions else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        if not self.editions or self.value() not in ("yes", "no"):
            return queryset
        name = target_name(queryset.model)
        changes = UnreleasedChange.objects.filter(edition__in=self.editions).order_by()
        paths = [name, *(f"{part}__{owner}" for part, owner in PART_OWNERS.items() if owner == name)]
        condition = Q()
        for path in paths:
            condition |= Q(pk__in=changes.filter(**{f"{path}__isnull": False}).values(path))
        return queryset.filter(condition if self.value() == "yes" else ~condition)


class UnreleasedListAdmin[M: Model = Any](ContentAdmin[M]):
    """A list that shows the values that wait for the release beside the public ones."""

    # The columns whose values may wait.
    waiting_columns: ClassVar[frozenset[str]] = frozenset()

    def get_list_filter(self, request: HttpRequest) -> Any:
        return [*super().get_list_filter(request), UnreleasedFilter]

    def get_list_display(self, request: HttpRequest) -> list[str | Callable[[M], str | bool]]:
        names: list[Any] = super().get_list_display(request)
        if not visible_plans(request):
            return names
        first = names[0]
        return [
            both_values(self, name, name == first) if name == first or name in self.waiting_columns else name
            for name in names
        ]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        context = response.context_data if isinstance(response, TemplateResponse) else None
        if context and "cl" in context:
            self.attach_planned_rows(request, context["cl"].result_list)
            context["schedule_state"] = "both"
        return response

    def attach_planned_rows(self, request: HttpRequest, rows: Iterable[Any]) -> None:
        """Fetch the rows of the page again as planned. Nothing is queried where no change waits."""
        plans: list[Any] = [plan for plan in visible_plans(request) if vars(plan)["change_count"]]
        for plan in plans:
            edition = plan.edition
            by_key = {row.pk: row for row in rows if getattr(edition_of(row), "pk", None) == edition.pk}
            if not by_key:
                continue
            with planned(edition):
                found: Any = self.model._default_manager.filter(pk__in=by_key)
                related: Any = self.list_select_related
                planned_rows: Any = self.for_list(found.select_related(*related))
                self.count_planned(planned_rows)
                for row in planned_rows:
                    public = by_key[row.pk]
                    # What is removed has no further values.
                    vars(public)[PLANNED_ROW] = public if row.on_release == OnRelease.REMOVED else row

    def count_planned(self, rows: Iterable[M]) -> None:
        """Set the counts that rows of the planned state show: those of their query are public."""


@cache
def both_values(model_admin: Any, name: str, is_first: bool) -> Callable[[Any], str]:
    """Return a column with the value and, where another one waits, that one; the first marks the row."""

    def column(row: Any) -> str:
        planned_row = vars(row).get(PLANNED_ROW)
        text = shown_value(model_admin, name, row)
        if planned_row is None:
            return text
        waiting = shown_value(model_admin, name, planned_row)
        if name in model_admin.waiting_columns and waiting != text:
            value = format_html(gettext("to {value}"), value=waiting)
            text = format_html('{} <em class="unreleased-value">{}</em>', text, value)
        if is_first and (mark := mark_of(row)):
            text = format_html('{} <em class="unreleased-value">({})</em>', text, mark)
        return text

    column.__name__ = name
    method = getattr(model_admin, name, None)
    order = getattr(method, "admin_order_field", None) if callable(method) else name
    column.short_description = label_for_field(name, model_admin.model, model_admin)  # type: ignore[attr-defined]
    column.admin_order_field = order  # type: ignore[attr-defined]
    return column


def shown_value(model_admin: Any, name: str, row: Any) -> str:
    """Return the text of a column of the list as Django shows it."""
    empty = model_admin.get_empty_value_display()
    field, _attribute, value = lookup_field(name, row, model_admin)
    text = value if field is None else display_for_field(value, field, empty)
    return conditional_escape(empty if text in (None, "") else text)


def mark_of(row: Any) -> str:
    """Return the words that say that a row is added or removed with the release; else an empty text."""
    if row.on_release == OnRelease.REMOVED:
        return gettext("removed with the release")
    is_published = row.on_release in PUBLIC_STATUSES and row.status not in PUBLIC_STATUSES
    if row.on_release == OnRelease.ADDED or is_published:
        return gettext("new with the release")
    return ""
