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
        access, suggestions = access_for(request), super().get_queryset(request)
        if not access.may_everywhere("change", Person):
            # Users who may not see all papers of a person can't split them.
            authorships = related_model(Person, "authorships")._base_manager.order_by()
            hidden_authorships = authorships.exclude(pk__in=access.rows(authorships, "view").values("pk"))
            suggestions = suggestions.exclude(person__in=hidden_authorships.values("person"))
        return suggestions.annotate(paper_rows=with_count(Person, "authorships", "person"))

    def decision_address(self, suggestion: LikelyNamesake) -> str:
        """Return the address of the form to split, with the papers of the presumed other person selected."""
        authorships = related_model(Person, "authorships")._base_manager
        rows = authorships.filter(person=suggestion.person, paper__in=suggestion.papers).order_by("pk")
        split_url = reverse("admin:people_person_split", args=[suggestion.person_id])
        return f"{split_url}?{urlencode([('row', row_key(row)) for row in rows])}"

    @admin.display(description=_("likelihood of two"), ordering="score")
    def likelihood(self, namesake: LikelyNamesake) -> str:
        return f"{namesake.score} %"

    @admin.display(description=_("papers"))
    def apart(self, namesake: LikelyNamesake) -> SafeString:
        count, other_count = int(vars(namesake)["paper_rows"]), len(namesake.papers)
        text = ngettext(
            "%(papers)s; %(other)d shares no co-author and no institution with the others",
            "%(papers)s; %(other)d share no co-author and no institution with the others",
            other_count,
        )
        return format_html("{}", text % {"papers": paper_count(count), "other": other_count})

    @admin.action(permissions=["change"], description=_("Each of these is one person"))
    def are_one(self, request: HttpRequest, queryset: QuerySet[LikelyNamesake]) -> None:
        namesakes = self.decidable_rows(request, queryset)
        for namesake in namesakes:
            namesake.is_one = True
        LikelyNamesake.objects.bulk_update(namesakes, ["is_one"])
        names = ", ".join(str(namesake.person) for namesake in namesakes)
        message = gettext("Noted as one person: %(names)s.") % {"names": names}
        self.message_user(request, message, messages.SUCCESS)
