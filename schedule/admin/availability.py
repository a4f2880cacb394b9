"""Admin of the times at which people and rooms are not available."""

from typing import TYPE_CHECKING

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from editorial.model_admin import EditionRowAdmin
from editorial.sections import DeskSection
from schedule.models import Unavailability

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


class KindFilter(admin.SimpleListFilter):
    """Filters by people or rooms."""

    title = _("who or what")
    parameter_name = "of"

    def lookups(
        self, request: HttpRequest, model_admin: admin.ModelAdmin[Model]
    ) -> "list[tuple[str, StrPromise]]":
        return [("person", _("People")), ("room", _("Rooms"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        is_known = self.value() in ("person", "room")
        return queryset.filter(**{f"{self.value()}__isnull": False}) if is_known else queryset


@admin.register(Unavailability)
class UnavailabilityAdmin(EditionRowAdmin[Unavailability]):
    desk_section = DeskSection.SCHEDULE
    desk_order = 85
    list_display = ["of", "when", "note", "edition"]
    list_filter = ["edition", KindFilter]
    list_select_related = ["edition", "person", "room"]
    search_fields = ["person__folded", "room__name"]
    autocomplete_fields = ["edition", "person", "room"]
    fieldsets = [
        (None, {"fields": ["edition", ("person", "room"), ("start", "end"), "note"]}),
    ]

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Unavailability]) -> None:
        for row in queryset:
            row.delete()

    @admin.display(description=_("not available"))
    def of(self, row: Unavailability) -> str:
        return str(row.person or row.room)

    @admin.display(description=_("when"), ordering="start")
    def when(self, row: Unavailability) -> str:
        return row.when
