"""Lists of the admin: search without accents, filters inside an edition, counts, export as files."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.options import IS_POPUP_VAR, Action, ActionLocation, IncorrectLookupParameters
from django.contrib.admin.utils import lookup_spawns_duplicates
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import Count, IntegerField, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.text import smart_split, unescape_string_literal
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

import markup
from accounts.access_scope import access_of, current_access
from content.request_keys import parse_key
from content.row_values import related_model
from editorial.access import ScopedAdmin
from editorial.current_edition import LIST_FILTER

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


class ContentList(ChangeList):
    """A list that fetches the data of its columns in a constant number of queries.

    It queries the keys of the page first and then the columns, so that nothing is joined or sorted for
    rows on other pages.
    """

    def apply_select_related(self, qs: QuerySet[Model]) -> QuerySet[Model]:
        return qs.select_related(None)

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        model_admin: Any = self.model_admin
        keys = list(self.result_list.values_list("pk", flat=True))
        rows = self.root_queryset.filter(pk__in=keys).order_by(*self.queryset.query.order_by)
        self.result_list = model_admin.for_list(super().apply_select_related(rows))


# Search

# Columns with folded text, where a case-sensitive comparison is enough and twice as fast in PostgreSQL.
FOLDED_COLUMNS = frozenset(("folded", "sort_title"))


def search_words(term: str) -> list[str]:
    """Return the words of a search; a quoted phrase is one word."""
    bits = smart_split(term.replace("\x00", ""))
    words = [
        unescape_string_literal(bit) if len(bit) > 1 and bit[0] in "\"'" and bit[0] == bit[-1] else bit
        for bit in bits
    ]
    return [word for word in words if word.strip()]


def search_rows[M: Model](rows: QuerySet[M], fields: Iterable[str], term: str) -> QuerySet[M]:
    """Return the rows that contain each word, as written or folded."""
    for word in search_words(term):
        folded = markup.fold(word)
        match = Q()
        for field in fields:
            if field.rpartition("__")[2] in FOLDED_COLUMNS:
                match |= _contains(rows.model, f"{field}__contains", folded)
                continue
            for spelling in dict.fromkeys([word, folded]):
                match |= _contains(rows.model, f"{field}__icontains", spelling)
        rows = rows.filter(match)
    return rows


def _contains(model: type[Model], lookup: str, word: str) -> Q:
    if not lookup_spawns_duplicates(model._meta, lookup):
        return Q(**{lookup: word})
    # Use a subquery to avoid duplicates, and to match each word with any related row.
    return Q(pk__in=model._base_manager.filter(**{lookup: word}).values("pk"))


# Counts


def count_column(annotation: str, description: "StrPromise | str") -> Callable[[object, Model], int]:
    """Return a column of a list that shows a count which the list's query has annotated."""

    @admin.display(description=description)
    def column(model_admin: object, row: Model) -> int:
        return int(getattr(row, annotation))

    return column


def with_count(model: type[Model], relation: str, outer: str = "pk", **conditions: object) -> Coalesce:
    """Return an expression that counts the rows of a reverse relation that the user may see.

    `outer` is the lookup from the list's rows to the key of the model. `conditions` filter the counted rows.
    """
    remote_field = model._meta.get_field(relation).remote_field
    key = remote_field.name if remote_field else relation
    related_rows = related_model(model, relation)._base_manager.filter(**conditions)
    rows = related_rows.filter(**{key: OuterRef(outer)}).order_by()
    if access := current_access():
        rows = access.rows(rows)
    counts = rows.values(key).annotate(rows=Count("pk")).values("rows")
    return Coalesce(Subquery(counts, output_field=IntegerField()), 0)


# Filters

# Value and label.
type Choice = tuple[str, str]


class EditionPartFilter(admin.SimpleListFilter):
    """A filter whose choices are those of the edition that the list is narrowed to; hidden without one."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[Choice]:
        edition, access = parse_key(request.GET.get(LIST_FILTER)), access_of(request.user)
        if not edition:
            return []
        model = model_admin.model
        # Only users who may see a whole edition may see the choices.
        may_see = access.may_everywhere("view", model) or edition in access.editions("view", model)
        return self.choices_in(edition, model_admin) if may_see else []

    def choices_in(self, edition: int, model_admin: admin.ModelAdmin[Model]) -> list[Choice]:
        """Return value and label of each choice of this edition."""
        raise LookupError(f"{type(self).__name__} offers no choices")

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        value = self.value()
        # Ignore a value of another edition that is left over in the address.
        valid_values = {str(key) for key, _ in self.lookup_choices}
        return self.filter_rows(queryset, value) if value is not None and value in valid_values else queryset

    def filter_rows(self, rows: QuerySet[Model], value: str) -> QuerySet[Model]:
        return rows.filter(**{str(self.parameter_name): value})


class RelatedPartFilter(EditionPartFilter):
    """A filter by a foreign key, whose choices are the edition's rows, such as its topics."""

    def choices_in(self, edition: int, model_admin: admin.ModelAdmin[Model]) -> list[Choice]:
        related = related_model(model_admin.model, str(self.parameter_name))
        return [(row.pk, str(row)) for row in related._default_manager.filter(edition=edition)]


def related_part(name: str, title: "StrPromise | str") -> type[RelatedPartFilter]:
    """Return a filter by this foreign key, under its title in the reader's language."""
    return type(f"{name.title()}Filter", (RelatedPartFilter,), {"title": title, "parameter_name": name})


class TrackFilter(EditionPartFilter):
    title = _("track")
    parameter_name = "track"

    def choices_in(self, edition: int, model_admin: admin.ModelAdmin[Model]) -> list[Choice]:
        rows = model_admin.model._default_manager.filter(edition=edition).order_by("track")
        tracks = rows.values_list("track", flat=True).distinct()
        return [(track, track or gettext("Main track")) for track in tracks]


@dataclass(frozen=True, slots=True)
class ListFile:
    """A file format of lists. `write` takes ordered rows and returns a response."""

    name: str
    label: "StrPromise | str"
    models: frozenset[type[Model]]
    write: Callable[[QuerySet[Any]], HttpResponseBase]


# In the order of the links.
LIST_FILES: list[ListFile] = []


def files_of(model: type[Model]) -> list[ListFile]:
    return [file for file in LIST_FILES if model in file.models]


class ExportAdmin[M: Model = Model](ScopedAdmin[M]):
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.export_view)
        name = f"{self.opts.app_label}_{self.opts.model_name}_export"
        return [path("export/<str:form>/", view, name=name), *super().get_urls()]

    def export_view(self, request: HttpRequest, form: str) -> HttpResponseBase:
        """Return all pages of the searched and filtered list as a file."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        file = next((file for file in files_of(self.model) if file.name == form), None)
        if file is None:
            raise Http404("There is no such file.")
        try:
            rows = self.get_changelist_instance(request).queryset
        except IncorrectLookupParameters:
            return redirect(f"{self.page_address('changelist')}?e=1")
        return file.write(rows)

    def export_links(self, request: HttpRequest) -> list[tuple[object, str]]:
        """Return label and address of each file format."""
        parameters = request.GET.copy()
        parameters.pop("p", None)
        query = f"?{parameters.urlencode()}" if parameters else ""
        files = files_of(self.model)
        return [(file.label, self.page_address("export", file.name) + query) for file in files]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        links = {"export_links": self.export_links(request)}
        return super().changelist_view(request, {**links, **(extra_context or {})})

    def get_actions(
        self, request: HttpRequest, action_location: ActionLocation = ActionLocation.CHANGE_LIST
    ) -> dict[str, Action | None]:
        actions = super().get_actions(request, action_location)
        is_list = action_location == ActionLocation.CHANGE_LIST and IS_POPUP_VAR not in request.GET
        if is_list and self.has_view_or_change_permission(request):
            actions |= {f"export_{file.name}": export_action(file) for file in files_of(self.model)}
        return actions


def export_action(file: ListFile) -> Action:

    def export(
        model_admin: admin.ModelAdmin[Model], request: HttpRequest, queryset: QuerySet[Model]
    ) -> HttpResponseBase:
        return file.write(queryset)

    description = gettext("Export selected %%(verbose_name_plural)s as %(format)s") % {"format": file.label}
    return Action(export, f"export_{file.name}", description, description, [ActionLocation.CHANGE_LIST])
