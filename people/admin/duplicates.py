"""The admin of likely duplicates, and of pairs that are not the same."""

from collections.abc import Mapping
from typing import ClassVar, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from editorial.access import access_for
from editorial.lists import ContentList, with_count
from editorial.model_admin import ContentAdmin
from editorial.sections import DeskSection
from people.access_scope import visible_names
from people.admin.merging import MergeAdmin
from people.admin.people import AppearingFilter
from people.duplicates import reasons, storage
from people.merging import merge
from people.merging.side_by_side import SideBySide, side_by_side
from people.models import (
    Comparison,
    Institution,
    InstitutionDistinction,
    InstitutionPair,
    Mergeable,
    Person,
    PersonDistinction,
    PersonPair,
)
from people.pairs import Suggestion
from people.querysets import SuggestionQuerySet

type Pair = PersonPair | InstitutionPair

# Labels of likelihoods with their range in percent.
LIKELIHOODS = {
    "certain": (_("almost certain"), (95, 100)),
    "probable": (_("probable"), (75, 94)),
    "possible": (_("possible"), (0, 74)),
}


class ConditionFilter(admin.SimpleListFilter):
    """A filter with a condition for each choice. `conditions` maps values to label and condition."""

    conditions: ClassVar[Mapping[str, tuple[str | Promise, Q]]]

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Model]) -> list[tuple[str, str]]:
        return [(name, str(label)) for name, (label, _condition) in self.conditions.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        _label, condition = self.conditions.get(self.value() or "", ("", Q()))
        return queryset.filter(condition)


class EvidenceFilter(ConditionFilter):
    """A filter of pairs by evidence."""

    title = _("evidence")
    parameter_name = "evidence"
    conditions = {
        name: (label, Q.create([("signs__contains", f",{code},") for code in codes], connector=Q.OR))
        for name, (label, codes) in reasons.EVIDENCE_KINDS.items()
    }


class LikelihoodFilter(ConditionFilter):
    """A filter of pairs by likelihood."""

    title = _("likelihood")
    parameter_name = "likelihood"
    conditions = {name: (label, Q(score__range=scores)) for name, (label, scores) in LIKELIHOODS.items()}


class DoubtfulFilter(ConditionFilter):
    """A filter of pairs with a name that looks wrong."""

    title = _("doubtful names")
    parameter_name = "doubtful"
    conditions = {
        "yes": (_("with a questionable name"), Q(first__suspicious=True) | Q(second__suspicious=True)),
    }


class PairList(ContentList):
    """The change list of pairs. It sets the names of co-authors, which the reasons contain."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        pairs = list(self.result_list)
        names = visible_names(access_for(request), reasons.named_people(pairs))
        for pair in pairs:
            vars(pair)["coauthor_names"] = names
        self.result_list = pairs


class SuggestionAdmin[S: Suggestion](admin.ModelAdmin[S]):
    """The admin of suggestions about rows of a model, with the permissions of that model."""

    rows_model: type[Mergeable]
    list_per_page = 50
    show_full_result_count = False

    @property
    def rows_admin(self) -> MergeAdmin:
        return cast(MergeAdmin, self.admin_site.get_model_admin(self.rows_model))

    def has_view_permission(self, request: HttpRequest, obj: S | None = None) -> bool:
        # The reasons reveal former names, so viewing requires permission to change.
        return self.has_change_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: S | None = None) -> bool:
        subjects = [getattr(obj, name) for name in self.model.subjects] if obj else [None]
        return all(self.rows_admin.has_change_permission(request, subject) for subject in subjects)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: S | None = None) -> bool:
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.rows_admin.has_module_permission(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[S]:
        access = access_for(request)
        suggestions = cast(SuggestionQuerySet[S], super().get_queryset(request)).undecided()
        if not access.may_everywhere("change", self.rows_model):
            keys = access.rows(self.rows_model._base_manager.order_by(), "change").values("pk")
            suggestions = suggestions.filter(**{f"{name}__in": keys for name in self.model.subjects})
        return suggestions

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        if request.method == "GET" and self.has_view_permission(request):
            storage.search_if_quick(self.rows_model)
        return super().changelist_view(request, {**self.list_context(), **(extra_context or {})})

    def list_context(self) -> dict[str, object]:
        """Return additional template context of the list."""
        return {}

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        """Redirect to the page on which a chair decides."""
        suggestion = self.get_object(request, object_id)
        if suggestion is None or not self.has_view_permission(request, suggestion):
            raise PermissionDenied
        return redirect(self.decision_address(suggestion))

    def decision_address(self, suggestion: S) -> str:
        raise NotImplementedError

    def decidable_rows(self, request: HttpRequest, suggestions: QuerySet[S]) -> list[S]:
        """Return the suggestions that the user may decide."""
        rows = suggestions.select_related(*self.model.subjects)
        return [row for row in rows if self.has_change_permission(request, row)]


class PairAdmin(SuggestionAdmin[Pair]):
    """The admin of likely duplicates of a model."""

    desk_section: ClassVar[str] = DeskSection.PEOPLE
    list_display = ["both", "likelihood", "why"]
    list_display_links = None
    list_select_related = ["first", "second"]
    change_list_template = "admin/people/duplicates.html"
    actions = ["not_the_same", "merge_pairs"]
    desk_order: ClassVar[int] = 15
    search_fields = ["first__folded", "second__folded"]
    search_help_text = _("Part of a name.")

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[PairList]:
        return PairList

    def for_list(self, rows: QuerySet[Pair]) -> QuerySet[Pair]:
        annotated: QuerySet[Pair] = rows.annotate(
            first_papers=with_count(self.rows_model, "authorships", "first"),
            second_papers=with_count(self.rows_model, "authorships", "second"),
        )
        return annotated

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.look_view)
        name = f"{self.opts.app_label}_{self.opts.model_name}_look"
        return [path("look/", view, name=name), *super().get_urls()]

    def address(self, page: str) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}")

    def list_context(self) -> dict[str, object]:
        comparison = Comparison.for_model(self.rows_model)
        new_rows = self.rows_model._default_manager.filter(pk__gt=comparison.last_key if comparison else 0)
        model_name = self.rows_model._meta.model_name
        return {
            "title": capfirst(str(self.opts.verbose_name_plural)),
            "comparison": comparison,
            "is_stale": not storage.is_fresh(comparison),
            "new_count": new_rows.count(),
            "look_address": self.address("look"),
            "merges_address": self.rows_admin.page_address("merges"),
            "distinctions_address": reverse(f"admin:people_{model_name}distinction_changelist"),
        }

    def look_view(self, request: HttpRequest) -> HttpResponse:
        """Search for duplicates again."""
        if request.method != "POST" or not self.has_view_permission(request):
            raise PermissionDenied
        started_at = timezone.now()
        count = storage.search(self.rows_model)
        seconds = (timezone.now() - started_at).total_seconds()
        message = ngettext(
            "Checked: %(count)d likely duplicate, in %(seconds).1f s.",
            "Checked: %(count)d likely duplicates, in %(seconds).1f s.",
            count,
        )
        self.message_user(request, message % {"count": count, "seconds": seconds}, messages.SUCCESS)
        return redirect(self.address("changelist"))

    def decision_address(self, suggestion: Pair) -> str:
        return self.rows_admin.compare_address([suggestion.first_id, suggestion.second_id])

    # Columns

    @admin.display(description=_("the two"))
    def both(self, pair: Pair) -> SafeString:
        keys = [pair.first_id, pair.second_id]
        return format_html(
            '<a href="{}"><b>{}</b> <span>{}</span><b>{}</b> <span>{}</span></a>',
            self.rows_admin.compare_address(keys, self.address("changelist")),
            pair.first,
            paper_count(vars(pair)["first_papers"]),
            pair.second,
            paper_count(vars(pair)["second_papers"]),
        )

    @admin.display(description=_("likelihood"), ordering="score")
    def likelihood(self, pair: Pair) -> SafeString:
        label = next(label for label, (minimum, _maximum) in LIKELIHOODS.values() if pair.score >= minimum)
        return format_html("{} <span>{} %</span>", label, pair.score)

    @admin.display(description=_("why"))
    def why(self, pair: Pair) -> SafeString:
        texts = reasons.reason_texts(pair.reasons, vars(pair)["coauthor_names"])
        items = ((("against" if text.is_against else "for"), text.text) for text in texts)
        return format_html("<ul>{}</ul>", format_html_join("", '<li class="{}">{}</li>', items))

    # Actions

    @admin.action(permissions=["change"], description=_("Not the same"))
    def not_the_same(self, request: HttpRequest, queryset: QuerySet[Pair]) -> None:
        pairs = self.decidable_rows(request, queryset)
        for pair in pairs:
            merge.mark_distinct([pair.first, pair.second])
        message = ngettext(
            "%(count)d pair noted as not the same.", "%(count)d pairs noted as not the same.", len(pairs)
        )
        self.message_user(request, message % {"count": len(pairs)}, messages.SUCCESS)

    @admin.action(permissions=["change"], description=_("Merge each of these pairs"))
    def merge_pairs(self, request: HttpRequest, queryset: QuerySet[Pair]) -> HttpResponse | None:
        """Ask for confirmation, and then merge each pair in a separate change set."""
        visible_rows = self.rows_admin.visible_to(request)
        plans = [
            side_by_side([pair.first, pair.second], visible_rows)
            for pair in self.decidable_rows(request, queryset)
        ]
        forbidden_plans = [plan for plan in plans if self.rows_admin.used_elsewhere(request, plan)]
        if forbidden_plans:
            names = ", ".join(str(row) for plan in forbidden_plans for row in plan.rows)
            message = gettext("Not changed, because they are in editions that you can’t change: %(names)s.")
            self.message_user(request, message % {"names": names}, messages.WARNING)
        plans = [plan for plan in plans if plan not in forbidden_plans]
        if "confirmed" not in request.POST:
            context = self.rows_admin.page_context(
                request,
                gettext("Merge each of these pairs?"),
                plans=[merge_summary(plan) for plan in plans],
                keys=request.POST.getlist("_selected_action"),
            )
            return TemplateResponse(request, "admin/people/merge_pairs.html", context)
        self.merge_all(request, plans)
        return None

    def merge_all(self, request: HttpRequest, plans: list[SideBySide]) -> None:
        """Merge each pair, and report the pairs that can't be merged."""
        count, problems = 0, list[str]()
        for plan in plans:
            survivor = next(row for row in plan.rows if row.pk == plan.keep)
            try:
                merge.merge(survivor, plan.rows, plan.presets, hide=plan.doubtful, user=request.user)
                count += 1
            except merge.CannotMergeError as error:
                problems += error.reasons
        text = ngettext("%(count)d pair merged.", "%(count)d pairs merged.", count) % {"count": count}
        merges_url = self.rows_admin.page_address("merges")
        message = format_html('{} <a href="{}">{}</a>', text, merges_url, gettext("Revert merges"))
        self.message_user(request, message, messages.SUCCESS)
        for problem in dict.fromkeys(problems):
            self.message_user(request, problem, messages.WARNING)


def paper_count(count: int) -> str:
    return ngettext("%(count)d paper", "%(count)d papers", count) % {"count": count}


def merge_summary(plan: SideBySide) -> dict[str, object]:
    """Return the template context of a merge on the confirmation page."""
    columns = {column.row.pk: column for column in plan.columns}
    survivor = columns.pop(plan.keep)
    name = next(row.name for row in plan.rows if row.pk == plan.presets["name"])
    return {"keep": survivor, "others": columns.values(), "name": name}


@admin.register(PersonPair)
class PersonPairAdmin(PairAdmin):
    rows_model = Person
    list_filter = [AppearingFilter, LikelihoodFilter, EvidenceFilter, DoubtfulFilter]


@admin.register(InstitutionPair)
class InstitutionPairAdmin(PairAdmin):
    rows_model = Institution
    desk_order = 25
    list_filter = [AppearingFilter, LikelihoodFilter, EvidenceFilter]


class DistinctionAdmin(ContentAdmin):
    """The admin of pairs that are not the same. Pairs may be suggested again after they are deleted."""

    list_display = ["__str__"]
    list_select_related = ["first", "second"]
    search_fields = ["first__folded", "second__folded"]
    autocomplete_fields = ["first", "second"]
    fields = ["first", "second"]


@admin.register(PersonDistinction)
class PersonDistinctionAdmin(DistinctionAdmin):
    desk_order = 60


@admin.register(InstitutionDistinction)
class InstitutionDistinctionAdmin(DistinctionAdmin):
    desk_order = 61
