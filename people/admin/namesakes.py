"""The admin of people who may be two. Chairs can split them, or mark them as one person."""

from typing import ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from content.row_values import related_model
from editorial.access import access_for
from editorial.lists import with_count
from editorial.sections import DeskSection
from people.admin.duplicates import SuggestionAdmin, paper_count
from people.admin.people import AppearingFilter
from people.merging.side_by_side import row_key
from people.models import LikelyNamesake, Person


@admin.register(LikelyNamesake)
class LikelyNamesakeAdmin(SuggestionAdmin[LikelyNamesake]):
    """The admin of people whose papers have no common co-authors or institutions."""

    desk_section: ClassVar[str] = DeskSection.PEOPLE
    rows_model = Person
    desk_order: ClassVar[int] = 16
    list_display = ["person", "likelihood", "apart"]
    list_select_related = ["person"]
    list_filter = [AppearingFilter]
    search_fields = ["person__folded"]
    search_help_text = _("A part of the name.")
    actions = ["are_one"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[LikelyNamesake]:
        access, found = access_for(request), super().get_queryset(request)
        if not access.may_everywhere("change", Person):
            # Users who may not see all papers of a person can't split them.
            wrote = related_model(Person, "authorships")._base_manager.order_by()
            unseen = wrote.exclude(pk__in=access.rows(wrote, "view").values("pk"))
            found = found.exclude(person__in=unseen.values("person"))
        return found.annotate(paper_rows=with_count(Person, "authorships", "person"))

    def decision_address(self, suggestion: LikelyNamesake) -> str:
        """Return the address of the form to split, with the papers of the presumed other person selected."""
        wrote = related_model(Person, "authorships")._base_manager
        rows = wrote.filter(person=suggestion.person, paper__in=suggestion.papers).order_by("pk")
        address = reverse("admin:people_person_split", args=[suggestion.person_id])
        return f"{address}?{urlencode([('row', row_key(row)) for row in rows])}"

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
        rows = self.decidable_rows(request, queryset)
        for row in rows:
            row.is_one = True
        LikelyNamesake.objects.bulk_update(rows, ["is_one"])
        names = ", ".join(str(row.person) for row in rows)
        words = gettext("Noted as one person: %(names)s.") % {"names": names}
        self.message_user(request, words, messages.SUCCESS)
