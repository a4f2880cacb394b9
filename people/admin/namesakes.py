"""The admin of people who may be two. Chairs can split them, or mark them as one person."""

from collections import Counter, defaultdict
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from content.row_values import related_model
from editorial.access import access_for
from editorial.lists import ContentList, with_count
from editorial.sections import DeskSection
from people.admin.duplicates import SuggestionAdmin, paper_count
from people.admin.people import AppearingFilter
from people.merging.side_by_side import row_key
from people.models import LikelyNamesake, Person

# The most names of co-authors and affiliations that a list shows of each side.
MAX_NAMES = 5


class NamesakeList(ContentList):
    """The change list of likely namesakes. It sets what each side of a page's rows consists of."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        namesakes = list(self.result_list)
        describe_sides(namesakes)
        self.result_list = namesakes


def describe_sides(namesakes: list[LikelyNamesake]) -> None:
    """Set `sides`, a line for the presumed other person's papers and one for the rest. Three queries."""
    authorships: Any = related_model(Person, "authorships")._base_manager.order_by("paper", "position")
    own = authorships.filter(person__in=[namesake.person_id for namesake in namesakes])
    places: dict[int, list[str]] = defaultdict(list)
    links = own.filter(institutions__isnull=False).values_list("pk", "institutions__name")
    for key, name in links:
        places[key].append(name)
    papers: dict[int, list[tuple[int, list[str]]]] = defaultdict(list)
    for key, person, paper, affiliations in own.values_list("pk", "person_id", "paper_id", "affiliations"):
        papers[person].append((paper, affiliations or places[key]))
    teams: dict[int, list[tuple[int, str]]] = defaultdict(list)
    keys = {paper for rows in papers.values() for paper, _places in rows}
    team_rows = authorships.filter(paper__in=keys).values_list("paper_id", "person_id", "person__name")
    for paper, person, name in team_rows:
        teams[paper].append((person, name))
    for namesake in namesakes:
        sides: tuple[list[Any], list[Any]] = ([], [])
        for row in papers[namesake.person_id]:
            sides[row[0] in namesake.papers].append(row)
        vars(namesake)["sides"] = [
            describe_side(
                [place for _paper, names in side for place in names],
                [
                    name
                    for paper, _places in side
                    for person, name in teams[paper]
                    if person != namesake.person_id
                ],
            )
            for side in sides
        ]


def describe_side(places: list[str], co_authors: list[str]) -> str:
    """Return text such as "ETH; with Ann A, Bo B and 3 more", the most frequent first."""
    texts = [name_most(places)]
    if co_authors:
        texts.append(gettext("with %(names)s") % {"names": name_most(co_authors)})
    return "; ".join(filter(None, texts)) or gettext("no co-authors and no affiliation")


def name_most(names: list[str]) -> str:
    """Return the most frequent names, and how many are left out."""
    counted = [name for name, _count in Counter(names).most_common()]
    text = ", ".join(counted[:MAX_NAMES])
    more = len(counted) - MAX_NAMES
    return gettext("%(names)s and %(count)d more") % {"names": text, "count": more} if more > 0 else text


@admin.register(LikelyNamesake)
class LikelyNamesakeAdmin(SuggestionAdmin[LikelyNamesake]):
    """The admin of people whose papers have no common co-authors or institutions."""

    desk_section: ClassVar[str] = DeskSection.PEOPLE
    rows_model = Person
    desk_order: ClassVar[int] = 16
    list_display = ["person", "likelihood", "apart", "identifiers"]
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
        return suggestions

    def for_list(self, rows: QuerySet[LikelyNamesake]) -> QuerySet[LikelyNamesake]:
        return rows.annotate(
            paper_rows=with_count(Person, "authorships", "person"),
            identifier_rows=with_count(Person, "identifiers", "person"),
        )

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[NamesakeList]:
        return NamesakeList

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
        sentence = text % {"papers": paper_count(count), "other": other_count}
        rest, other = vars(namesake).get("sides", ["", ""])
        lines = [(gettext("These"), other), (gettext("The others"), rest)]
        return format_html("{}{}", sentence, format_html_join("", "<br>{}: {}", lines if rest else []))

    @admin.display(description=_("identifiers"))
    def identifiers(self, namesake: LikelyNamesake) -> str:
        count = int(vars(namesake)["identifier_rows"]) + bool(namesake.person.orcid)
        return str(count or "-")

    @admin.action(permissions=["change"], description=_("Each of these is one person"))
    def are_one(self, request: HttpRequest, queryset: QuerySet[LikelyNamesake]) -> None:
        namesakes = self.decidable_rows(request, queryset)
        for namesake in namesakes:
            namesake.is_one = True
        LikelyNamesake.objects.bulk_update(namesakes, ["is_one"])
        names = ", ".join(str(namesake.person) for namesake in namesakes)
        message = gettext("Noted as one person: %(names)s.") % {"names": names}
        self.message_user(request, message, messages.SUCCESS)
