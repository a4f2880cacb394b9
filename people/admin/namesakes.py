"""The list of people who may be two of one name: each line leads to Split, or is noted to be one person."""

from typing import ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from content.row_values import related_model
from editorial.access import access_for
from editorial.lists import with_count
from people.admin.duplicates import paper_count
from people.admin.people import AppearingFilter, PersonAdmin
from people.duplicates import storage
from people.merging.side_by_side import row_key
from people.models import LikelyNamesake, Person


@admin.register(LikelyNamesake)
class LikelyNamesakeAdmin(admin.ModelAdmin[LikelyNamesake]):
    """People whose papers fall apart, by co-authors and institutions. Rights are those on people."""

    desk_order: ClassVar[int] = 16
    list_display = ["person", "likelihood", "apart"]
    list_select_related = ["person"]
    list_filter = [AppearingFilter]
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["person__folded"]
    search_help_text = _("A part of the name.")
    actions = ["are_one"]

    @property
    def people_admin(self) -> PersonAdmin:
        found: PersonAdmin = self.admin_site.get_model_admin(Person)  # type: ignore[assignment]  # registered so
        return found

    def has_view_permission(self, request: HttpRequest, obj: LikelyNamesake | None = None) -> bool:
        return self.has_change_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: LikelyNamesake | None = None) -> bool:
        return self.people_admin.has_change_permission(request, obj.person if obj else None)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: LikelyNamesake | None = None) -> bool:
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.people_admin.has_module_permission(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[LikelyNamesake]:
        access, found = access_for(request), LikelyNamesake.objects.undecided()
        if not access.everywhere("change", Person):
            keys = access.rows(Person._base_manager.order_by(), "change").values("pk")
            # Who may not see all papers of a person cannot part them, and must not learn of the others.
            wrote = related_model(Person, "authorships")._base_manager.order_by()
            unseen = wrote.exclude(pk__in=access.rows(wrote, "view").values("pk"))
            found = found.filter(person__in=keys).exclude(person__in=unseen.values("person"))
        return found.annotate(paper_rows=with_count(Person, "authorships", "person"))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        if request.method == "GET" and self.has_view_permission(request):
            storage.search_if_quick(Person)
        return super().changelist_view(request, extra_context)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        """Lead to Split, with what looks like somebody else's ticked."""
        mixed = self.get_object(request, object_id)
        if mixed is None or not self.has_view_permission(request, mixed):
            raise PermissionDenied
        wrote = related_model(Person, "authorships")._base_manager
        rows = wrote.filter(person=mixed.person, paper__in=mixed.papers).order_by("pk")
        address = reverse("admin:people_person_split", args=[mixed.person_id])
        return redirect(f"{address}?{urlencode([('row', row_key(row)) for row in rows])}")

    @admin.display(description=_("likelihood of two"), ordering="score")
    def likelihood(self, mixed: LikelyNamesake) -> str:
        return f"{mixed.score} %"

    @admin.display(description=_("papers"))
    def apart(self, mixed: LikelyNamesake) -> SafeString:
        count, other = int(vars(mixed)["paper_rows"]), len(mixed.papers)
        words = ngettext(
            "%(papers)s; %(other)d shares no co-author and no institution with the others",
            "%(papers)s; %(other)d share no co-author and no institution with the others",
            other,
        )
        return format_html("{}", words % {"papers": paper_count(count), "other": other})

    @admin.action(permissions=["change"], description=_("Each of these is one person"))
    def are_one(self, request: HttpRequest, queryset: QuerySet[LikelyNamesake]) -> None:
        rows = [one for one in queryset.select_related("person") if self.has_change_permission(request, one)]
        for row in rows:
            row.is_one = True
        LikelyNamesake.objects.bulk_update(rows, ["is_one"])
        names = ", ".join(str(row.person) for row in rows)
        words = gettext("Noted as one person: %(names)s.") % {"names": names}
        self.message_user(request, words, messages.SUCCESS)
