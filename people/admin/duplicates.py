"""The lists of likely duplicates in the admin, and of those that chairs said are two."""

from typing import ClassVar, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
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
from people.admin.merging import MergeAdmin
from people.admin.people import AppearingFilter
from people.duplicates import reasons, storage
from people.merging import merge
from people.merging.side_by_side import SideBySide, side_by_side
from people.models import (
    Comparison,
    InstitutionDistinction,
    InstitutionPair,
    PersonDistinction,
    PersonPair,
)

type Pair = PersonPair | InstitutionPair

# How likely two are one, in words, and of a hundred such pairs, how many are.
LIKELIHOODS = {
    "certain": (_("almost certain"), (95, 100)),
    "probable": (_("probable"), (75, 94)),
    "possible": (_("possible"), (0, 74)),
}


class EvidenceFilter(admin.SimpleListFilter):
    """Pairs by what speaks for them."""

    title = _("what speaks for it")
    parameter_name = "evidence"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Pair]) -> list[tuple[str, str]]:
        return [(name, str(words)) for name, (words, _codes) in reasons.KINDS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Pair]) -> QuerySet[Pair]:
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

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Pair]) -> list[tuple[str, str]]:
        return [(name, str(words)) for name, (words, _bounds) in LIKELIHOODS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Pair]) -> QuerySet[Pair]:
        wanted = LIKELIHOODS.get(self.value() or "")
        return queryset.filter(score__range=wanted[1]) if wanted else queryset


class DoubtfulFilter(admin.SimpleListFilter):
    """Pairs of whom one has a name that looks wrong."""

    title = _("doubtful names")
    parameter_name = "doubtful"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Pair]) -> list[tuple[str, str]]:
        return [("yes", gettext("with a doubtful name"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Pair]) -> QuerySet[Pair]:
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
            vars(row)["names_around"] = names
        self.result_list = rows


class PairAdmin(admin.ModelAdmin[Pair]):
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
    def rows_model(self) -> type[Model]:
        """The model whose rows are compared."""
        return next(model for model, pairs in storage.PAIR_MODELS.items() if pairs is self.model)

    @property
    def rows_admin(self) -> MergeAdmin:
        return cast(MergeAdmin, self.admin_site.get_model_admin(self.rows_model))

    def has_view_permission(self, request: HttpRequest, obj: Pair | None = None) -> bool:
        # The reasons reveal former names: only those who may change both see them.
        return self.has_change_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Pair | None = None) -> bool:
        rows = [obj.first, obj.second] if obj else [None]
        return all(self.rows_admin.has_change_permission(request, row) for row in rows)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Pair | None = None) -> bool:
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.rows_admin.has_module_permission(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Pair]:
        access = access_for(request)
        found = storage.PAIR_MODELS[self.rows_model].objects.undecided()
        if not access.everywhere("change", self.rows_model):
            keys = access.rows(self.rows_model._base_manager.order_by(), "change").values("pk")
            found = found.filter(Q(first__in=keys, second__in=keys))
        pairs: QuerySet[Pair] = found.order_by("-score", "pk")
        return pairs

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[PairList]:
        return PairList

    def for_list(self, rows: QuerySet[Pair]) -> QuerySet[Pair]:
        counted: QuerySet[Pair] = rows.annotate(
            first_papers=with_count(self.rows_model, "authorships", "first"),
            second_papers=with_count(self.rows_model, "authorships", "second"),
        )
        return counted

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.look_view)
        name = f"{self.opts.app_label}_{self.opts.model_name}_look"
        return [path("look/", view, name=name), *super().get_urls()]

    def address(self, page: str) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        if request.method == "GET" and self.has_view_permission(request):
            storage.search_if_quick(self.rows_model)
        last = Comparison.of(self.rows_model)
        new_count = self.rows_model._default_manager.filter(pk__gt=last.last_key if last else 0).count()
        more = {
            "title": capfirst(str(self.opts.verbose_name_plural)),
            "comparison": last,
            "is_stale": last is None or last.state != storage.state(),
            "new_count": new_count,
            "look_address": self.address("look"),
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
        return redirect(self.address("changelist"))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        pair = self.get_object(request, object_id)
        if pair is None or not self.has_view_permission(request, pair):
            raise PermissionDenied
        return redirect(self.rows_admin.compare_address([pair.first_id, pair.second_id]))

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
        words = next(words for words, (least, _most) in LIKELIHOODS.values() if pair.score >= least)
        return format_html("{} <span>{} %</span>", words, pair.score)

    @admin.display(description=_("why"))
    def why(self, pair: Pair) -> SafeString:
        lines = reasons.reason_texts(pair.reasons, vars(pair)["names_around"])
        marked = ((("against" if one.is_against else "for"), one.words) for one in lines)
        return format_html("<ul>{}</ul>", format_html_join("", '<li class="{}">{}</li>', marked))

    # Actions

    def chosen(self, request: HttpRequest, pairs: QuerySet[Pair]) -> list[Pair]:
        """Return the pairs of which the user may decide."""
        rows = pairs.select_related("first", "second")
        return [pair for pair in rows if self.has_change_permission(request, pair)]

    @admin.action(permissions=["change"], description=_("These are not the same"))
    def not_the_same(self, request: HttpRequest, queryset: QuerySet[Pair]) -> None:
        pairs = self.chosen(request, queryset)
        for pair in pairs:
            merge.distinguish([pair.first, pair.second])
        words = ngettext(
            "%(count)d pair noted as not the same.", "%(count)d pairs noted as not the same.", len(pairs)
        )
        self.message_user(request, words % {"count": len(pairs)}, messages.SUCCESS)

    @admin.action(permissions=["change"], description=_("Merge each of these pairs"))
    def merge_pairs(self, request: HttpRequest, queryset: QuerySet[Pair]) -> HttpResponse | None:
        """Ask first, saying what will be merged into what; then merge, each pair an act of its own."""
        visible = self.rows_admin.visible_to(request)
        plans = [side_by_side([pair.first, pair.second], visible) for pair in self.chosen(request, queryset)]
        foreign = [plan for plan in plans if self.rows_admin.used_elsewhere(request, plan)]
        if foreign:
            names = ", ".join(str(row) for plan in foreign for row in plan.rows)
            words = gettext("Not changed, because they are in editions that you may not change: %(names)s.")
            self.message_user(request, words % {"names": names}, messages.WARNING)
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

    def merge_all(self, request: HttpRequest, plans: list[SideBySide]) -> None:
        """Merge pair by pair; one whose row was merged a moment ago is left out and said so."""
        done, left = 0, list[str]()
        for plan in plans:
            keep = next(row for row in plan.rows if row.pk == plan.keep)
            try:
                merge.merge(keep, plan.rows, plan.presets, hide=plan.doubtful, user=request.user)
                done += 1
            except merge.CannotMergeError as error:
                left += error.reasons
        words = ngettext("%(count)d pair merged.", "%(count)d pairs merged.", done) % {"count": done}
        address, back = self.rows_admin.named("merges"), gettext("Take merges back")
        said = format_html('{} <a href="{}">{}</a>', words, address, back)
        self.message_user(request, said, messages.SUCCESS)
        for reason in dict.fromkeys(left):
            self.message_user(request, reason, messages.WARNING)


def paper_count(count: int) -> str:
    return ngettext("%(count)d paper", "%(count)d papers", count) % {"count": count}


def planned(plan: SideBySide) -> dict[str, object]:
    """Return what a merge would do, for the confirmation page."""
    columns = {column.row.pk: column for column in plan.columns}
    keep = columns.pop(plan.keep)
    name = next(row.name for row in plan.rows if row.pk == plan.presets["name"])
    return {"keep": keep, "others": columns.values(), "name": name}


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
