"""The admin of papers, topics and awards, and their lines on the dashboard.

`schedule.admin.sessions` adds the appearances to the form of a paper.
"""

from operator import methodcaller

from django.contrib import admin
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, ngettext_lazy

from conference.publishing import PAPERS, PUBLISHED_ROWS, PublishedRows
from editorial.actions import back_to_draft, publish, unpublish, withdraw
from editorial.desk import ADD_LINKS, CHECKS, ROW_COUNTS, AddLink, Check, CheckFilter, RowCount
from editorial.desk_search import SEARCHED, SearchedRows
from editorial.first_steps import FIRST_STEPS, FirstStep, add_page_address, has_rows
from editorial.lists import TrackFilter, count_column, related_part, with_count
from editorial.model_admin import ContentAdmin, OrderedAdmin, OrderedInline
from editorial.sections import DeskSection
from papers.admin.actions import ACTIONS, grant_to_people
from papers.admin.filters import CountryFilter, DecisionFilter
from papers.models import Authorship, Award, AwardGrant, Material, Paper, Topic
from people.admin.people import PersonAdmin
from people.models import Person

SHOWN_AUTHORS = 3

ROW_COUNTS += [
    RowCount(Paper, ngettext_lazy("paper", "papers", "count"), position=10),
    RowCount(
        Paper,
        ngettext_lazy("paper in draft", "papers in draft", "count"),
        lambda rows: rows.filter(status="draft"),
        (("status__exact", "draft"),),
        position=11,
    ),
]

PAPER_CHECKS = {
    "without_authors": (
        ngettext_lazy("paper without authors", "papers without authors", "count"),
        _("Without authors"),
    ),
    "without_abstract": (
        ngettext_lazy("paper without abstract", "papers without abstract", "count"),
        _("Without abstract"),
    ),
    "without_pdf": (ngettext_lazy("paper without PDF", "papers without PDF", "count"), _("Without PDF")),
    "without_session": (
        ngettext_lazy("paper in no session", "papers in no session", "count"),
        _("In no session"),
    ),
    "same_title": (
        ngettext_lazy("paper with another one's title", "papers with another one's title", "count"),
        _("Same title as another paper"),
    ),
    "worth_a_look": (
        ngettext_lazy("title or abstract to check", "titles and abstracts to check", "count"),
        _("Title or abstract to check"),
    ),
}
CHECKS += [
    Check(Paper, label, methodcaller(name), name=name, title=title, position=position)
    for position, (name, (label, title)) in enumerate(PAPER_CHECKS.items(), start=10)
]

PUBLISHED_ROWS += [
    PublishedRows(Paper, PAPERS, ngettext_lazy("paper", "papers", "count"), position=10),
    PublishedRows(Award, PAPERS, ngettext_lazy("award", "awards", "count"), position=11),
]

FIRST_STEPS += [
    FirstStep(
        _("Papers"),
        _("with their authors in order, and the session in which each is shown."),
        add_page_address("admin:papers_paper_add", Paper),
        has_rows("paper", "presentation"),
        position=30,
    ),
    FirstStep(
        _("Awards"),
        _("with their winners."),
        add_page_address("admin:papers_award_add", Award),
        has_rows("award"),
        is_optional=True,
        position=40,
    ),
]

SEARCHED.append(SearchedRows(Paper, "paper", _("Papers"), related=("edition",), position=10))

ADD_LINKS += [
    AddLink(Paper, _("Add a paper"), "admin:papers_paper_add", position=10),
    AddLink(Award, _("Add an award"), "admin:papers_award_add", position=40),
]


class AuthorInline(OrderedInline[Authorship, Paper]):
    model = Authorship
    verbose_name = _("author")
    verbose_name_plural = _("authors, in order")
    fields = ["position", "person", "name", "affiliations", "corresponding", "presenting"]
    autocomplete_fields = ["person"]
    short_texts = frozenset({"affiliations"})
    first_rows = 1
    comes_early = True
    is_compact = True


class MaterialInline(OrderedInline[Material, Paper]):
    model = Material
    fields = ["position", "kind", "label", "url", "file", "license", "visible"]
    show_change_link = False
    classes = ["collapse"]


@admin.register(Paper)
class PaperAdmin(ContentAdmin[Paper]):
    desk_section = DeskSection.PAPERS
    desk_order = 10
    list_display = ["shown_title", "authors", "status", "appearances", "topic", "track", "edition"]
    list_filter = [
        "edition",
        CheckFilter,
        "status",
        related_part("topic", _("topic")),
        TrackFilter,
        DecisionFilter,
        CountryFilter,
    ]
    list_select_related = ["edition", "topic"]
    search_fields = [
        "sort_title",
        "authorships__person__folded",
        "authorships__person__names__folded",
        "uid",
        "doi",
    ]
    search_help_text = _("Words of the title, authors with or without accents, identifier or DOI.")
    autocomplete_fields = ["edition", "topic"]
    inlines = [AuthorInline, MaterialInline]
    actions = [publish, withdraw, back_to_draft, *ACTIONS]
    choice_related = ("edition",)
    fieldsets = [
        (None, {"fields": ["title", ("edition", "status", "topic", "track")]}),
        (_("Text"), {"fields": [("abstract", "lay_summary")]}),
        (_("Where it belongs"), {"fields": [("keywords", "decision")], "classes": ["collapse"]}),
        (
            _("Publication"),
            {"fields": ["teaser", ("doi", "pages"), ("license", "uid")], "classes": ["collapse"]},
        ),
    ]

    def for_list(self, rows: QuerySet[Paper]) -> QuerySet[Paper]:
        authors = Authorship.objects.only("paper_id", "name", "position").order_by("position")
        return rows.prefetch_related(Prefetch("authorships", authors), "presentations")

    def choice_label(self, row: Paper) -> str:
        return f"{row} ({row.edition.slug})"

    @admin.display(description=_("title"), ordering="sort_title")
    def shown_title(self, paper: Paper) -> SafeString:
        return mark_safe(str(paper.title_html))

    @admin.display(description=_("authors"))
    def authors(self, paper: Paper) -> str:
        names = [row.name for row in paper.authorships.all()]
        remaining = len(names) - SHOWN_AUTHORS
        shown_names = ", ".join(names[:SHOWN_AUTHORS])
        if remaining <= 0:
            return shown_names
        return ngettext("%(names)s and %(count)d more", "%(names)s and %(count)d more", remaining) % {
            "names": shown_names,
            "count": remaining,
        }

    @admin.display(description=_("appearances"))
    def appearances(self, paper: Paper) -> str:
        return ", ".join(sorted({row.get_kind_display() for row in paper.presentations.all()}))


@admin.register(Authorship)
class AuthorshipAdmin(ContentAdmin[Authorship]):
    """The admin of authorships. Their order is changed in the form of the paper."""

    desk_order = 40
    list_display = ["name", "person", "paper", "position", "corresponding", "presenting"]
    list_filter = ["paper__edition", "corresponding", "presenting"]
    list_select_related = ["paper", "person"]
    search_fields = ["person__folded", "person__names__folded", "paper__sort_title"]
    autocomplete_fields = ["paper", "person", "institutions"]
    readonly_fields = ["position"]
    fieldsets = [
        (None, {"fields": ["paper", "person", "position"]}),
        (_("As printed"), {"fields": ["name", "affiliations", "institutions"]}),
        (_("Part in the work"), {"fields": ["corresponding", "presenting"]}),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Authorship | None = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), *(["paper"] if obj else [])]


@admin.register(Material)
class MaterialAdmin(OrderedAdmin[Material]):
    desk_section = DeskSection.PAPERS
    desk_order = 50
    list_display = ["__str__", "kind", "paper", "url", "visible"]
    list_filter = ["paper__edition", "kind", "visible"]
    list_select_related = ["paper"]
    search_fields = ["label", "url", "paper__sort_title"]
    autocomplete_fields = ["paper"]
    fieldsets = [
        (None, {"fields": ["paper", "kind", "label"]}),
        (_("Where it is"), {"fields": ["url", "file"], "description": _("An address or a file.")}),
        (_("Display"), {"fields": ["license", "visible", "position"]}),
    ]


@admin.register(Topic)
class TopicAdmin(OrderedAdmin[Topic]):
    desk_section = DeskSection.PAPERS
    desk_order = 20
    list_display = ["name", "parent", "edition", "position", "paper_count"]
    list_editable = ["position"]
    list_filter = ["edition"]
    list_select_related = ["edition", "parent"]
    search_fields = ["name", "slug", "parent__name"]
    autocomplete_fields = ["edition", "parent"]
    prepopulated_fields = {"slug": ["name"]}
    choice_related = ("parent", "edition")
    fieldsets = [
        (None, {"fields": ["edition", "name", "slug"]}),
        (_("Place in the tree"), {"fields": ["parent", "position"]}),
        (_("Appearance"), {"fields": ["color"]}),
    ]

    def for_list(self, rows: QuerySet[Topic]) -> QuerySet[Topic]:
        return rows.annotate(paper_rows=with_count(Topic, "papers"))

    def choice_label(self, row: Topic) -> str:
        return f"{row.parent} → {row}" if row.parent else str(row)

    paper_count = count_column("paper_rows", _("papers"))


class GrantInline(OrderedInline[AwardGrant, Award]):
    model = AwardGrant
    verbose_name = _("winner")
    verbose_name_plural = _("winners, in order: a paper or a person in each row")
    fields = ["position", "paper", "person", "citation"]
    autocomplete_fields = ["paper", "person"]
    any_edition = frozenset({"paper"})
    short_texts = frozenset({"citation"})
    first_rows = 1
    list_select_related = ("paper", "person")
    show_change_link = False


@admin.register(Award)
class AwardAdmin(OrderedAdmin[Award]):
    desk_section = DeskSection.AWARDS
    desk_order = 30
    list_display = ["name", "edition", "winner_count", "position", "status"]
    list_editable = ["position"]
    list_filter = ["edition", "status"]
    list_select_related = ["edition"]
    search_fields = ["name", "uid", "grants__paper__sort_title", "grants__person__folded"]
    search_help_text = _("Name of the award, or a winner.")
    autocomplete_fields = ["edition"]
    inlines = [GrantInline]
    actions = [publish, unpublish]
    choice_related = ("edition",)
    fieldsets = [
        (None, {"fields": ["edition", "name", "citation"]}),
        (_("Place and status"), {"fields": ["position", "status"]}),
        (_("Identifier"), {"fields": ["uid"], "classes": ["collapse"]}),
    ]

    def for_list(self, rows: QuerySet[Award]) -> QuerySet[Award]:
        return rows.annotate(winner_rows=with_count(Award, "grants"))

    def choice_label(self, row: Award) -> str:
        return f"{row} ({row.edition.slug})"

    winner_count = count_column("winner_rows", _("winners"))


@admin.register(AwardGrant)
class AwardGrantAdmin(OrderedAdmin[AwardGrant]):
    desk_order = 60
    list_display = ["winner", "award", "edition", "position"]
    list_filter = ["award__edition"]
    list_select_related = ["award__edition", "paper", "person"]
    search_fields = ["award__name", "paper__sort_title", "person__folded"]
    autocomplete_fields = ["award", "paper", "person"]
    any_edition = frozenset({"paper"})
    fieldsets = [
        (None, {"fields": ["award", "paper", "person"], "description": _("Choose a paper or a person.")}),
        (_("Display"), {"fields": ["citation", "position"]}),
    ]

    @admin.display(description=_("winner"))
    def winner(self, grant: AwardGrant) -> str:
        return str(grant.paper or grant.person)

    @admin.display(description=_("edition"), ordering="award__edition__start_date")
    def edition(self, grant: AwardGrant) -> str:
        return str(grant.award.edition)


admin.site.unregister(Person)


@admin.register(Person)
class WinningPersonAdmin(PersonAdmin):
    """The admin of people, with an action to grant awards."""

    actions = [*PersonAdmin.actions, grant_to_people]
