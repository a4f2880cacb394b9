"""The lists of likely duplicates in the admin, and of those that chairs said are two."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from editorial.access import access_for
from editorial.lists import ContentList, with_count
from editorial.model_admin import ContentAdmin
from people.access_scope import names_of
from people.admin.desk import AppearingFilter
from people.duplicates import reasons, storage
from people.merging import merge
from people.merging.side_by_side import side_by_side
from people.models import (
    Comparison,
    InstitutionDistinction,
    InstitutionPair,
    PersonDistinction,
    PersonPair,
)

CERTAIN, PROBABLE = 95, 75


class EvidenceFilter(admin.SimpleListFilter):
    """Pairs by what speaks for them."""

    title = _("what speaks for it")
    parameter_name = "evidence"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(name, words) for name, (words, _codes) in reasons.KINDS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        kind = reasons.KINDS.get(self.value() or "")
        if kind is None:
            return queryset
        some = Q()
        for code in kind[1]:
            some |= Q(signs__contains=f",{code},")
        return queryset.filter(some)


class LikelihoodFilter(admin.SimpleListFilter):
    """Pairs by how likely they are one."""

    title = _("likelihood")
    parameter_name = "likelihood"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("certain", _("almost certain")), ("probable", _("probable")), ("possible", _("possible"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        bounds = {
            "certain": (CERTAIN, 100),
            "probable": (PROBABLE, CERTAIN - 1),
            "possible": (0, PROBABLE - 1),
        }
        wanted = bounds.get(self.value() or "")
        return queryset.filter(score__range=wanted) if wanted else queryset


class DoubtfulFilter(admin.SimpleListFilter):
    """Pairs of whom one has a name that looks wrong."""

    title = _("doubtful names")
    parameter_name = "doubtful"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("with a doubtful name"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() != "yes":
            return queryset
        return queryset.filter(Q(first__suspicious=True) | Q(second__suspicious=True))


class PairList(ContentList):
    """A page of pairs, with the names of the co-authors whom the reasons mention."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows = list(self.result_list)
        names = names_of(access_for(request), reasons.people_named(rows))
        for row in rows:
            row.names_around = names
        self.result_list = rows


class PairAdmin(admin.ModelAdmin[Any]):
    """Likely duplicates of one model. Rights are those on that model."""

    list_display = ["both", "likelihood", "why"]
    list_display_links = None
    list_select_related = ["first", "second"]
    list_per_page = 50
    show_full_result_count = False
    change_list_template = "admin/people/duplicates.html"
    actions = ["not_the_same", "merge_pairs"]
    desk_order: ClassVar[int] = 15

    @property
    def rows_model(self) -> Any:
        """The model whose rows are compared."""
        return self.model._meta.get_field("first").related_model

    @property
    def rows_admin(self) -> Any:
        return self.admin_site.get_model_admin(self.rows_model)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # The reasons reveal former names: only those who may change both see them.
        return self.has_change_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return all(self.rows_admin.has_change_permission(request, row) for row in self.sides(obj))

    def sides(self, pair: Any) -> list[Any]:
        return [pair.first, pair.second] if pair else [None]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        allowed: bool = self.rows_admin.has_module_permission(request)
        return allowed

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        access, pairs = access_for(request), self.model._default_manager
        found: QuerySet[Any] = pairs.undecided()
        if not access.everywhere("change", self.rows_model):
            keys = access.rows(self.rows_model._base_manager.order_by(), "change").values("pk")
            found = found.filter(first__in=keys, second__in=keys)
        return found.order_by("-score", "pk")

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[PairList]:
        return PairList

    def for_list(self, rows: QuerySet[Any]) -> Any:
        return rows.annotate(
            first_papers=with_count(self.rows_model, "authorships", "first"),
            second_papers=with_count(self.rows_model, "authorships", "second"),
        )

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.look_view)
        name = f"{self.opts.app_label}_{self.opts.model_name}_look"
        return [path("look/", view, name=name), *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if request.method == "GET" and self.has_view_permission(request):
            storage.search_if_quick(self.rows_model)
        last = Comparison.of(self.rows_model)
        came = self.rows_model._default_manager.filter(pk__gt=last.last_key if last else 0).count()
        more = {
            "title": capfirst(str(self.opts.verbose_name_plural)),
            "comparison": last,
            "is_stale": last is None or last.state != storage.state(),
            "came": came,
            "look_address": reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_look"),
            "merges_address": self.rows_admin.named("merges"),
        }
        return super().changelist_view(request, {**more, **(extra_context or {})})

    def look_view(self, request: HttpRequest) -> HttpResponse:
        """Search for duplicates again."""
        if request.method != "POST" or not self.has_view_permission(request):
            raise PermissionDenied
        began = timezone.now()
        count = storage.search(self.rows_model)
        seconds = (timezone.now() - began).total_seconds()
        words = ngettext(
            "Looked again: %(count)d likely duplicate, in %(seconds).1f s.",
            "Looked again: %(count)d likely duplicates, in %(seconds).1f s.",
            count,
        )
        self.message_user(request, words % {"count": count, "seconds": seconds}, messages.SUCCESS)
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        pair = self.get_object(request, object_id)
        if pair is None or not self.has_view_permission(request, pair):
            raise PermissionDenied
        return redirect(self.rows_admin.compare_address([pair.first_id, pair.second_id]))

    # Columns

    @admin.display(description=_("the two"))
    def both(self, pair: Any) -> SafeString:
        here = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
        address = self.rows_admin.compare_address([pair.first_id, pair.second_id], here)
        return format_html(
            '<a href="{}"><b>{}</b> <span>{}</span><b>{}</b> <span>{}</span></a>',
            address,
            pair.first,
            told_papers(pair.first_papers),
            pair.second,
            told_papers(pair.second_papers),
        )

    @admin.display(description=_("likelihood"), ordering="score")
    def likelihood(self, pair: Any) -> SafeString:
        words = _("almost certain") if pair.score >= CERTAIN else _("probable")
        words = words if pair.score >= PROBABLE else _("possible")
        return format_html("{} <span>{} %</span>", words, pair.score)

    @admin.display(description=_("why"))
    def why(self, pair: Any) -> SafeString:
        lines = reasons.reason_texts(pair.reasons, pair.names_around)
        marked = ((("against" if one.is_against else "for"), one.words) for one in lines)
        return format_html("<ul>{}</ul>", format_html_join("", '<li class="{}">{}</li>', marked))

    # Actions

    def chosen(self, request: HttpRequest, pairs: QuerySet[Any]) -> list[Any]:
        """Return the pairs of which the user may decide."""
        rows = pairs.select_related("first", "second")
        return [pair for pair in rows if self.has_change_permission(request, pair)]

    @admin.action(permissions=["change"], description=_("These are not the same"))
    def not_the_same(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        pairs, was_fresh = self.chosen(request, queryset), storage.is_fresh(self.rows_model)
        for pair in pairs:
            merge.distinguish([pair.first, pair.second])
        for pair in pairs:
            storage.exclude_decided(self.rows_model, [pair.first_id, pair.second_id], was_fresh=was_fresh)
        words = ngettext(
            "%(count)d pair noted as not the same.", "%(count)d pairs noted as not the same.", len(pairs)
        )
        self.message_user(request, words % {"count": len(pairs)}, messages.SUCCESS)

    @admin.action(permissions=["change"], description=_("Merge each of these pairs"))
    def merge_pairs(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        """Ask first, saying what will be merged into what; then merge, each pair an act of its own."""
        seen = self.rows_admin.seen_by(request)
        plans = [side_by_side([pair.first, pair.second], seen) for pair in self.chosen(request, queryset)]
        foreign = [plan for plan in plans if self.rows_admin.stands_elsewhere(request, plan)]
        if foreign:
            self.message_user(request, self.rows_admin.told_elsewhere(foreign), messages.WARNING)
        plans = [plan for plan in plans if plan not in foreign]
        if "confirmed" not in request.POST:
            context = self.rows_admin.frame(
                request,
                gettext("Merge each of these pairs?"),
                plans=[planned(plan) for plan in plans],
                keys=request.POST.getlist("_selected_action"),
            )
            return TemplateResponse(request, "admin/people/merge_pairs.html", context)
        self.merge_all(request, plans)
        return None

    def merge_all(self, request: HttpRequest, plans: list[Any]) -> None:
        """Merge pair by pair; one whose row was merged a moment ago is left out and said so."""
        was_fresh, done, left = storage.is_fresh(self.rows_model), 0, list[str]()
        for plan in plans:
            rows = [column.row for column in plan.columns]
            keep = next(row for row in rows if row.pk == plan.keep)
            chosen = {line.name: c.key for line in plan.lines for c in line.choices if c.is_preset}
            try:
                merge.merge(keep, rows, chosen, hide=plan.doubtful, user=request.user)
            except merge.CannotMergeError as error:
                left += error.reasons
            else:
                done += 1
                storage.exclude_decided(self.rows_model, [row.pk for row in rows], was_fresh=was_fresh)
        words = ngettext("%(count)d pair merged.", "%(count)d pairs merged.", done) % {"count": done}
        address, back = self.rows_admin.named("merges"), gettext("Take merges back")
        said = format_html('{} <a href="{}">{}</a>', words, address, back)
        self.message_user(request, said, messages.SUCCESS)
        for reason in dict.fromkeys(left):
            self.message_user(request, reason, messages.WARNING)


def told_papers(count: int) -> str:
    return ngettext("%(count)d paper", "%(count)d papers", count) % {"count": count}


def planned(plan: Any) -> dict[str, Any]:
    """Return what a merge would do, for the confirmation page."""
    keep = next(column for column in plan.columns if column.row.pk == plan.keep)
    others = [column for column in plan.columns if column is not keep]
    by_key = {column.row.pk: column.row for column in plan.columns}
    name = next(c.key for line in plan.lines if line.name == "name" for c in line.choices if c.is_preset)
    return {"keep": keep, "others": others, "name": by_key[name].name}


@admin.register(PersonPair)
class PersonPairAdmin(PairAdmin):
    list_filter = [AppearingFilter, LikelihoodFilter, EvidenceFilter, DoubtfulFilter]
    search_fields = ["first__folded", "second__folded"]
    search_help_text = _("A part of one of the names.")


@admin.register(InstitutionPair)
class InstitutionPairAdmin(PairAdmin):
    desk_order = 25
    list_filter = [AppearingFilter, LikelihoodFilter, EvidenceFilter]
    search_fields = ["first__folded", "second__folded"]
    search_help_text = _("A part of one of the names.")


class DistinctionAdmin(ContentAdmin):
    """Pairs that are not the same; to delete one lets it be suggested again."""

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
