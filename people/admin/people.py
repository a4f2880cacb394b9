"""The admin of people, names, institutions and committees, and their lines on the dashboard."""

import json
from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import NestedObjects
from django.db import models, router
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import access_of, current_access
from conference.models import Edition
from conference.publishing import PUBLISHED_ROWS, SITE, PublishedRows
from content.row_values import related_model
from editorial.current_edition import LIST_FILTER, edition_of, editions_for
from editorial.desk import CHECKS, ROW_COUNTS, Check, CheckFilter, RowCount
from editorial.desk_search import SEARCHED, SearchedRows
from editorial.lists import count_column, search_rows, with_count
from editorial.model_admin import PRIVATE_SEARCH_FIELDS, ContentAdmin, OrderedAdmin, PartInline, link_or_name
from editorial.sections import DeskSection
from people.admin.merging import MergeAdmin, SplitAdmin
from people.committee_copy import offices_of
from people.merging.merge import parent_of
from people.models import (
    CommitteeRole,
    Institution,
    InstitutionPair,
    LikelyNamesake,
    Person,
    PersonIdentifier,
    PersonName,
    PersonPair,
)
from people.querysets import LetteredQuerySet, SuggestionQuerySet


class AppearingFilter(admin.SimpleListFilter):
    """A filter of people, institutions or suggestions by an edition in which they appear."""

    title = _("edition")
    parameter_name = LIST_FILTER

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Model]) -> list[tuple[str, str]]:
        return [(str(edition.pk), str(edition)) for edition in editions_for(request)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        keys = {key for key, _name in self.lookup_choices}
        if self.value() not in keys or not isinstance(queryset, LetteredQuerySet | SuggestionQuerySet):
            return queryset
        return queryset.appearing_in(self.value())


class AppearingRows(RowCount):
    """A count of the people who appear in the edition, or of suggestions about them."""

    __slots__ = ()

    def rows(self, edition: Edition) -> Any:
        rows: Any = self.model._default_manager
        return self.narrow(rows.appearing_in(edition.pk))


class AppearingCheck(AppearingRows, Check):
    """A count of the people of the edition whom a chair should check."""

    __slots__ = ()


SEARCHED.append(SearchedRows(Person, "person", _("People"), position=20))
ROW_COUNTS.append(AppearingRows(Person, ngettext_lazy("person", "people", "count"), position=15))
CHECKS += [
    AppearingCheck(
        Person,
        ngettext_lazy("doubtful name", "doubtful names", "count"),
        lambda rows: rows.doubtful(),
        name="doubtful",
        title=_("Doubtful names"),
        position=30,
    ),
    AppearingRows(
        PersonPair,
        ngettext_lazy("likely duplicate to check", "likely duplicates to check", "count"),
        lambda rows: rows.undecided(),
        position=31,
    ),
    AppearingRows(
        LikelyNamesake,
        ngettext_lazy("person who may be two", "people who may be two", "count"),
        lambda rows: rows.undecided(),
        position=31,
    ),
    AppearingRows(
        InstitutionPair,
        ngettext_lazy("institution possibly listed twice", "institutions possibly listed twice", "count"),
        lambda rows: rows.undecided(),
        position=32,
    ),
]
PUBLISHED_ROWS.append(
    PublishedRows(
        CommitteeRole, SITE, ngettext_lazy("committee role", "committee roles", "count"), position=53
    )
)


# The form of a person lists no more papers, and links to all.
MAX_LISTED_PAPERS = 100


class PartOfPersonInline(PartInline):
    """An inline of rows that an account may see if it may see it on the form of their person.

    The condition of the database for the rows of all people would take longer than the rest of the form.
    """

    is_scoped_by_owner = True


class NameInline(PartOfPersonInline):
    """Other spellings, which `PersonAdmin.get_inlines()` shows to those who may read private fields."""

    model = PersonName
    fields = ["name", "hidden"]
    show_change_link = False
    verbose_name = _("other spelling")
    verbose_name_plural = _("other spellings of the name")


class IdentifierInline(PartOfPersonInline):
    model = PersonIdentifier
    fields = ["scheme", "value"]
    show_change_link = False
    verbose_name = _("identifier elsewhere")
    verbose_name_plural = _("identifiers in other systems")


@admin.register(Person)
class PersonAdmin(SplitAdmin):
    desk_section = DeskSection.PEOPLE
    desk_order = 10
    private_history = True
    list_display = ["name", "affiliation", "paper_count", "role_count", "orcid", "merged"]
    list_filter = [AppearingFilter, CheckFilter]
    search_fields = ["folded", "names__folded", "uid", "orcid", "email", "affiliation"]
    search_help_text = _("Any spelling of the name with or without accents, affiliation, e-mail or ORCID.")
    inlines = [NameInline, IdentifierInline]
    readonly_fields = ["papers", "merged_into"]
    fieldsets = [
        (_("Name"), {"fields": ["name", ("given", "family"), "native_name"]}),
        (_("On the person's page"), {"fields": ["affiliation", "homepage", "photo", "biography"]}),
        (_("For the chairs only"), {"fields": ["email"]}),
        (_("Identifiers"), {"fields": ["orcid", "uid", "merged_into"]}),
        (_("In the program"), {"fields": ["papers"]}),
    ]

    def get_fieldsets(self, request: HttpRequest, obj: Person | None = None) -> Any:
        """Omit private fields unless the user may read them."""
        fieldsets = super().get_fieldsets(request, obj)
        if self.shows_private_fields(request, obj):
            return fieldsets
        return [fieldset for fieldset in fieldsets if "email" not in fieldset[1]["fields"]]

    def get_inlines(self, request: HttpRequest, obj: Person | None) -> Any:
        """Omit other spellings, some of which are hidden, unless the user may read private fields."""
        inlines = super().get_inlines(request, obj)
        shown = self.shows_private_fields(request, obj)
        return [inline for inline in inlines if shown or inline is not NameInline]

    def shows_private_fields(self, request: HttpRequest, obj: Person | None) -> bool:
        return obj is None or access_of(request.user).may("private", Person, obj)

    def for_list(self, rows: QuerySet[Person]) -> QuerySet[Person]:
        return rows.annotate(
            paper_rows=with_count(Person, "authorships"), role_rows=with_count(Person, "session_roles")
        )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Person], search_term: str
    ) -> tuple[QuerySet[Person], bool]:
        """Search former names and e-mail addresses only of people whose private fields the user may read."""
        results, may_have_duplicates = super().get_search_results(request, queryset, search_term)
        access = access_of(request.user)
        if access.may_everywhere("private", Person) or not search_term.strip():
            return results, may_have_duplicates
        readable_people = Person._base_manager.filter(access.scope(Person, "private")).values("pk")
        public_fields = [field for field in self.search_fields if field not in PRIVATE_SEARCH_FIELDS]
        # `results` are already limited to the rows that the user may see.
        public_results = search_rows(Person._base_manager.all(), public_fields, search_term)
        condition = models.Q(pk__in=readable_people) | models.Q(pk__in=public_results.values("pk"))
        return results.filter(condition), may_have_duplicates

    def response_add(
        self, request: HttpRequest, obj: Person, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Add the affiliation to the response of a pop-up, for the form that opened it."""
        response = super().response_add(request, obj, post_url_continue)
        if isinstance(response, TemplateResponse) and response.context_data:
            popup_data = json.loads(response.context_data["popup_response_data"])
            response.context_data["popup_response_data"] = json.dumps(
                {**popup_data, "affiliation": obj.affiliation}
            )
        return response

    def choice_label(self, row: Any) -> str:
        return f"{row.name} ({row.affiliation})" if row.affiliation else str(row.name)

    def get_deleted_objects(
        self, objs: Sequence[Person] | QuerySet[Person], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """List the papers and sessions of a protected person instead of authorships and roles."""
        deleted, counts, perms_needed, protected = super().get_deleted_objects(objs, request)
        return deleted, counts, perms_needed, [*protecting_rows(objs)] if protected else []

    paper_count = count_column("paper_rows", _("papers"))
    role_count = count_column("role_rows", _("roles in sessions"))

    @admin.display(description=_("papers"))
    def papers(self, person: Person) -> SafeString | str:
        if not person.pk:
            return gettext("None yet.")
        rows = person.authorships.select_related("paper__edition").order_by(
            "-paper__edition__start_date", "pk"
        )
        if access := current_access():
            rows = access.rows(rows)
        shown = [*rows[: MAX_LISTED_PAPERS + 1]]
        lines = [
            format_html("<p>{} ({})</p>", link_or_name(row.paper), row.paper.edition)
            for row in shown[:MAX_LISTED_PAPERS]
        ]
        if len(shown) > MAX_LISTED_PAPERS:
            names = rows.model._meta.app_label, rows.model._meta.model_name
            query = {"person__id__exact": person.pk}
            list_url = reverse("admin:{}_{}_changelist".format(*names), query=query)
            label = gettext("All %(count)d papers") % {"count": rows.count()}
            lines.append(format_html('<p><a href="{}">{}</a></p>', list_url, label))
        return format_html_join("", "{}", ((line,) for line in lines)) or gettext("None yet.")


def protecting_rows(people: Sequence[Person] | QuerySet[Person]) -> list[SafeString]:
    """Return a line for each row that protects these people from deletion."""
    collector = NestedObjects(using=router.db_for_write(Person), origin=people)
    collector.collect(people)
    return sorted(describe_row(row) for row in collector.protected)


def describe_row(row: models.Model) -> SafeString:
    """Describe a row with its parent: "Paper: Title (MLSys 2021), authorship of Ada Lovelace"."""
    parent = parent_of(row) or row
    return format_html(
        # Translators: “Paper: Title (MLSys 2021), authorship of Ada Lovelace”.
        gettext("{kind}: {thing} ({edition}), {part} of {person}"),
        kind=str(parent._meta.verbose_name).capitalize(),
        thing=link_or_name(parent),
        edition=edition_of(row) or gettext("all editions"),
        part=row._meta.verbose_name,
        person=getattr(row, "person", row),
    )


@admin.register(PersonName)
class PersonNameAdmin(ContentAdmin):
    desk_order = 40
    private_history = True
    list_display = ["name", "person", "hidden"]
    list_filter = ["hidden"]
    list_select_related = ["person"]
    search_fields = ["folded", "person__folded"]
    autocomplete_fields = ["person"]
    fields = ["person", "name", "hidden"]


@admin.register(PersonIdentifier)
class PersonIdentifierAdmin(ContentAdmin):
    desk_order = 50
    private_history = True
    list_display = ["value", "scheme", "person"]
    list_filter = ["scheme"]
    list_select_related = ["person"]
    search_fields = ["value", "person__folded"]
    autocomplete_fields = ["person"]
    fields = ["person", "scheme", "value"]


@admin.register(Institution)
class InstitutionAdmin(MergeAdmin):
    desk_section = DeskSection.PEOPLE
    desk_order = 20
    list_display = ["name", "country", "ror", "author_count", "merged"]
    search_fields = ["folded", "slug", "ror"]
    search_help_text = _("Name or other name, with or without accents.")
    prepopulated_fields = {"slug": ["name"]}
    readonly_fields = ["merged_into"]
    fieldsets = [
        (None, {"fields": ["name", "aliases", "country"]}),
        (_("Identifiers"), {"fields": ["slug", "ror", "merged_into"]}),
    ]

    def for_list(self, rows: QuerySet[Institution]) -> QuerySet[Institution]:
        authorships = related_model(Institution, "authorships")
        access, condition = current_access(), models.Q(authorships__isnull=False)
        if access and not access.may_everywhere("view", authorships):
            condition = models.Q(authorships__in=access.rows(authorships._base_manager.all()).values("pk"))
        return rows.annotate(author_rows=models.Count("authorships", filter=condition))

    def choice_label(self, row: Any) -> str:
        return f"{row.name} ({row.country})" if row.country else str(row.name)

    author_count = count_column("author_rows", _("authors"))


@admin.register(CommitteeRole)
class CommitteeRoleAdmin(OrderedAdmin):
    desk_section = DeskSection.COMMITTEE
    offered_texts = {"role": offices_of}
    desk_order = 30
    list_display = ["person", "role", "affiliation", "edition", "position"]
    list_editable = ["position"]
    list_filter = ["edition", "role"]
    list_select_related = ["edition", "person"]
    search_fields = ["person__folded", "person__names__folded", "role", "affiliation"]
    autocomplete_fields = ["edition", "person"]
    fieldsets = [
        (None, {"fields": ["edition", "person", "role"]}),
        (_("As printed"), {"fields": ["affiliation", "position"]}),
    ]
