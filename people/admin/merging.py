"""Admin views to merge, mark as distinct and split, and to revert merges and splits."""

from collections import defaultdict
from collections.abc import Iterable

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html, format_html_join
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import lookup_of
from content.history import ChangeSet, Origin, RowChange
from content.history.revert import CannotRevertError, undo, undo_plan
from content.models import Content
from content.request_keys import parse_key
from editorial.access import access_for
from editorial.model_admin import ContentAdmin, admin_link
from people.access_scope import change_sets_beyond_scope, visible_names
from people.duplicates import reasons, storage
from people.merging import merge, split
from people.merging.side_by_side import ComparedRow, SideBySide, VisibleRows, compared_people, side_by_side
from people.models import Mergeable, Person

# At most six rows fit next to each other.
MAX_COMPARED, MIN_COMPARED, PAGE_ROWS = 6, 2, 50
MAX_SHOWN_DROPPED = 5


class MergeAdmin(ContentAdmin):
    """The admin of a model whose rows can be merged."""

    change_form_template = "admin/people/mergeable_form.html"
    actions = ["compare_selected"]
    list_select_related = ["merged_into"]

    def choices_for_edition(self, rows: QuerySet[Model], edition: int) -> QuerySet[Model]:
        return super().choices_for_edition(rows, edition).filter(merged_into__isnull=True)

    @admin.display(description=_("merged into"))
    def merged(self, row: Mergeable) -> str:
        return str(row.merged_into or "")

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        own = [
            path("compare/", wrap(self.compare_view), name=f"{name}_compare"),
            path("merges/", wrap(self.merges_view), name=f"{name}_merges"),
            path("merges/<int:change_set>/", wrap(self.unmerge_view), name=f"{name}_unmerge"),
        ]
        return [*own, *super().get_urls()]

    def compare_address(self, keys: Iterable[int], back: str = "") -> str:
        """Return the address that compares these rows."""
        asked = [("id", key) for key in keys] + ([("next", back)] if back else [])
        return f"{self.page_address('compare')}?{urlencode(asked)}"

    @admin.action(permissions=["change"], description=_("Compare and merge selected %(verbose_name_plural)s"))
    def compare_selected(self, request: HttpRequest, queryset: QuerySet[Model]) -> HttpResponse | None:
        keys = list(queryset.order_by("pk").values_list("pk", flat=True)[: MAX_COMPARED + 1])
        if not MIN_COMPARED <= len(keys) <= MAX_COMPARED:
            words = gettext("Choose two to %(maximum)d to compare.") % {"maximum": MAX_COMPARED}
            self.message_user(request, words, messages.WARNING)
            return None
        return redirect(self.compare_address(keys))

    # Comparing

    def compared_rows(self, request: HttpRequest) -> list[Mergeable]:
        """Return the requested rows that the user may see."""
        keys = [key for text in request.GET.getlist("id")[:MAX_COMPARED] if (key := parse_key(text))]
        found = self.get_queryset(request).filter(merged_into__isnull=True).in_bulk(keys)
        return [found[key] for key in dict.fromkeys(keys) if key in found]

    def compare_view(self, request: HttpRequest) -> HttpResponse:
        """Compare two or more rows. With POST, merge them or mark them as distinct.

        The page reveals former names and addresses, so it requires permission to change all rows.
        """
        rows = self.compared_rows(request)
        if not self.has_change_permission(request):
            raise PermissionDenied
        if len(rows) < MIN_COMPARED:
            words = gettext("There are no longer two entries to compare: they were merged or deleted.")
            self.message_user(request, words, messages.WARNING)
            return redirect(self.next_address(request) or self.page_address("changelist"))
        if not all(self.has_change_permission(request, row) for row in rows):
            raise PermissionDenied
        shown = side_by_side(rows, self.visible_to(request))
        problems: list[str] = []
        if request.method == "POST":
            done = self.decide(request, shown, problems)
            if done is not None:
                return done
        context = self.page_context(
            request,
            gettext("Are these the same person or institution?"),
            shown=shown,
            problems=problems,
            reasons=self.reasons(request, rows),
            next=self.next_address(request),
            back=self.next_address(request) or self.page_address("changelist"),
            has_names=self.model is Person,
        )
        return TemplateResponse(request, "admin/people/compare.html", context)

    def decide(self, request: HttpRequest, shown: SideBySide, problems: list[str]) -> HttpResponse | None:
        """Merge or mark as distinct, and redirect. Otherwise add messages to `problems`."""
        rows = shown.rows
        if "distinct" in request.POST:
            merge.mark_distinct(rows)
            words = gettext("Saved: %(names)s are not the same. They won’t be suggested again.")
            listed = ", ".join(f"“{row}”" for row in rows)
            self.message_user(request, words % {"names": listed}, messages.SUCCESS)
            return redirect(self.next_address(request) or self.page_address("changelist"))
        if request.POST.get("seen") != shown.fingerprint:
            problems.append(gettext("Something changed after you opened the page. Review it again."))
            return None
        keys = {str(row.pk): row for row in rows}
        keep = keys.get(request.POST.get("keep", ""))
        if keep is None:
            problems.append(gettext("Choose which address to keep."))
            return None
        if elsewhere := self.used_elsewhere(request, shown, keep.pk):
            words = gettext("%(names)s: in editions that you can’t change. Keep that entry.")
            problems.append(words % {"names": ", ".join(map(str, elsewhere))})
            return None
        picked = {line.name: request.POST.get(f"value-{line.name}", "") for line in shown.lines}
        chosen = {name: int(key) for name, key in picked.items() if key in keys}
        hide = [row.name for row in rows if str(row.pk) in request.POST.getlist("hide")]
        try:
            merged = merge.merge(keep, rows, chosen, hide=hide, user=request.user)
        except merge.CannotMergeError as error:
            problems += error.reasons
            return None
        self.message_user(request, self.merge_message(merged, rows), messages.SUCCESS)
        return redirect(self.next_address(request) or self.page_address("change", keep.pk))

    def merge_message(self, merged: merge.Merged[Mergeable], rows: Iterable[Mergeable]) -> SafeString:
        """Return a message about a merge, with a link to revert it."""
        others = ", ".join(f"“{row}”" for row in rows if row.pk != merged.survivor.pk)
        count = merged.moved_count
        words = ngettext(
            "%(others)s merged into %(survivor)s: %(count)d entry moved.",
            "%(others)s merged into %(survivor)s: %(count)d entries moved.",
            count,
        )
        said = words % {"others": others, "survivor": f"“{merged.survivor}”", "count": count}
        if merged.dropped:
            listed = "; ".join(merged.dropped[:MAX_SHOWN_DROPPED])
            more = " …" if len(merged.dropped) > MAX_SHOWN_DROPPED else ""
            twice = gettext("Duplicate entries were merged: %(listed)s.")
            said = f"{said} {twice % {'listed': listed + more}}"
        back = self.page_address("unmerge", merged.change_set)
        return format_html('{} <a href="{}">{}</a>', said, back, gettext("Revert the merge"))

    def next_address(self, request: HttpRequest) -> str:
        """Return the requested next page if it is on this site."""
        address = request.POST.get("next", request.GET.get("next", ""))
        return address if url_has_allowed_host_and_scheme(address, {request.get_host()}) else ""

    def visible_to(self, request: HttpRequest) -> VisibleRows:
        """Return a function that returns the rows of a model that the user may see."""
        return lambda model: access_for(request).rows(model._default_manager.all())

    def used_elsewhere(self, request: HttpRequest, shown: SideBySide, keep: int = 0) -> list[Mergeable]:
        """Return the rows to merge that are referenced by rows that the user may not change."""
        access, keep = access_for(request), keep or shown.keep
        found = []
        for row in shown.rows:
            for model, relation in merge.relations(self.model) if row.pk != keep else ():
                if lookup_of(model) and not access.may_everywhere("change", model):
                    rows = model._default_manager.filter(**{relation.field.name: row})
                    if rows.exclude(pk__in=access.rows(rows, "change").values("pk")).exists():
                        found.append(row)
        return list(dict.fromkeys(found))

    def reasons(self, request: HttpRequest, rows: Iterable[Mergeable]) -> list[dict[str, object]]:
        """Return the reasons why these rows were suggested, by pair."""
        keys = [row.pk for row in rows]
        pairs = storage.PAIR_MODELS[self.model]._default_manager.filter(first__in=keys, second__in=keys)
        found = list(pairs.select_related("first", "second"))
        names = visible_names(access_for(request), reasons.named_people(found))
        return [{"pair": pair, "texts": reasons.reason_texts(pair.reasons, names)} for pair in found]

    # Reverting

    def merges(self) -> QuerySet[ChangeSet]:
        """Return the merges of this model."""
        start = f"{self.opts.label_lower}:"
        return ChangeSet.objects.filter(origin=Origin.MERGE, reference__startswith=start)

    def merged_rows(self, request: HttpRequest, change_set: ChangeSet) -> list[Mergeable]:
        """Return the rows of a merge, or none unless the user may see all of them."""
        changes = change_set.rows.filter(model=self.opts.label_lower, kind=RowChange.Kind.CHANGED)
        keys = {change.object_id for change in changes if "merged_into" in change.values}
        keys.add(int(change_set.reference.rpartition(":")[2]))
        rows = list(self.get_queryset(request).filter(pk__in=keys))
        return rows if len(rows) == len(keys) else []

    def merges_view(self, request: HttpRequest) -> HttpResponse:
        """List the merges, the latest first."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        page = Paginator(self.merges().select_related("user"), PAGE_ROWS).get_page(request.GET.get("p"))
        keys = [int(one.reference.rpartition(":")[2]) for one in page]
        survivors = self.get_queryset(request).in_bulk(keys)
        elsewhere = change_sets_beyond_scope(access_for(request), [one.pk for one in page])
        lines = [
            {
                "change_set": one,
                "row": admin_link(survivors[key]),
                "undo": "" if one.pk in elsewhere else self.page_address("unmerge", one.pk),
            }
            for one, key in zip(page, keys, strict=True)
            if key in survivors
        ]
        title = gettext("Merged %(rows)s") % {"rows": self.opts.verbose_name_plural}
        context = self.page_context(request, title, lines=lines, page_obj=page)
        return TemplateResponse(request, "admin/people/merges.html", context)

    def check_may_revert(self, request: HttpRequest, act: ChangeSet, rows: Iterable[Mergeable]) -> None:
        """Raise `PermissionDenied` unless the user may change all rows of the change set."""
        may = all(self.has_change_permission(request, row) for row in rows)
        if not may or change_sets_beyond_scope(access_for(request), [act.pk]):
            raise PermissionDenied

    def unmerge_view(self, request: HttpRequest, change_set: int) -> HttpResponse:
        """Preview the revert of a merge. With POST, revert it."""
        act = get_object_or_404(self.merges(), pk=change_set)
        rows = self.merged_rows(request, act)
        if not rows:
            raise Http404("No such merge.")
        self.check_may_revert(request, act, rows)
        found, problems = undo_plan(act), list[str]()
        if request.method == "POST" and not found.is_empty:
            try:
                undo(act, request.user)
            except CannotRevertError as error:
                problems = error.reasons
            else:
                links = format_html_join(", ", "{}", ((admin_link(row),) for row in rows))
                words = gettext("The merge was reverted:")
                self.message_user(request, format_html("{} {}", words, links), messages.SUCCESS)
                return redirect(self.compare_address(row.pk for row in rows))
        title = gettext("Revert a merge: %(detail)s") % {"detail": act.detail}
        context = self.page_context(
            request, title, act=act, found=found, problems=problems, back=self.page_address("merges")
        )
        return TemplateResponse(request, "admin/people/unmerge.html", context)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        row = self.get_object(request, object_id) if parse_key(object_id) else None
        more: dict[str, object] = {}
        if row is not None and row.merged_into_id:
            more["merged_into_link"] = admin_link(row.merged_into)
        elif row is not None and self.has_change_permission(request, row):
            more["suggested"] = self.suggested(row)
            more["split_address"] = self.page_address("split", row.pk) if self.model is Person else ""
        return super().change_view(request, object_id, form_url, {**more, **(extra_context or {})})

    def suggested(self, row: Mergeable) -> str:
        """Return the address that compares a row with its likely duplicates. Empty if there are none."""
        pairs = storage.PAIR_MODELS[self.model].objects.undecided().about_row(row.pk)
        found = pairs.values_list("first_id", "second_id")[: MAX_COMPARED - 1]
        keys = dict.fromkeys(key for pair in found for key in pair if key != row.pk)
        return self.compare_address([row.pk, *keys], self.page_address("change", row.pk)) if keys else ""

    def reference_link(self, change_set: ChangeSet) -> str:
        if change_set.origin == Origin.MERGE:
            return self.page_address("unmerge", change_set.pk)
        return super().reference_link(change_set)


class SplitAdmin(MergeAdmin):
    """The admin of people, who can also be split."""

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        own = [
            path("<path:object_id>/split/", wrap(self.split_view), name="people_person_split"),
            path("splits/<int:change_set>/", wrap(self.unsplit_view), name="people_person_unsplit"),
        ]
        return [*own, *super().get_urls()]

    def split_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the form to split a person. With POST, move the chosen rows to a new person."""
        person = self.get_object(request, object_id)
        if person is None or person.merged_into_id:
            raise Http404("No such person.")
        if not (self.has_change_permission(request, person) and self.has_add_permission(request)):
            raise PermissionDenied
        (column,) = compared_people([person], self.visible_to(request), limit=None)
        problems: list[str] = []
        if request.method == "POST":
            new = self.divide(request, person, column, problems)
            if new is not None:
                words = gettext("%(new)s was split from %(person)s.") % {"new": new, "person": person}
                act = split.split_change_sets().get(reference=f"{self.opts.label_lower}:{new.pk}")
                back = self.page_address("unsplit", act.pk), gettext("Revert the split")
                self.message_user(
                    request, format_html('{} <a href="{}">{}</a>', words, *back), messages.SUCCESS
                )
                return redirect(self.compare_address([person.pk, new.pk]))
        context = self.page_context(
            request,
            gettext("Split: %(person)s") % {"person": person},
            person=person,
            column=column,
            problems=problems,
            name=request.POST.get("name", person.name),
            picked=(request.POST if request.method == "POST" else request.GET).getlist("row"),
            back=self.page_address("change", person.pk),
        )
        return TemplateResponse(request, "admin/people/split.html", context)

    def divide(
        self, request: HttpRequest, person: Person, column: ComparedRow, problems: list[str]
    ) -> Person | None:
        """Move the chosen rows to a new person. Otherwise add messages to `problems`."""
        offered = column.by_key()
        picked: dict[type[Content], list[int]] = defaultdict(list)
        for key in dict.fromkeys(request.POST.getlist("row")):
            if key in offered:
                picked[type(offered[key])].append(offered[key].pk)
        name = " ".join(request.POST.get("name", "").split())
        if not name:
            problems.append(gettext("Enter the new person's name."))
        if not picked:
            problems.append(gettext("Choose what belongs to the new person."))
        access = access_for(request)
        for model, keys in picked.items():
            if access.rows(model._default_manager.filter(pk__in=keys), "change").count() < len(keys):
                problems.append(gettext("Some of it is in editions that you can’t change."))
        if problems:
            return None
        try:
            return split.split(person, name, picked, request.user)
        except ValidationError as error:
            problems += error.messages
            return None

    def unsplit_view(self, request: HttpRequest, change_set: int) -> HttpResponse:
        """Preview the revert of a split. With POST, revert it."""
        act = get_object_or_404(split.split_change_sets(), pk=change_set)
        found = split.inspect_split(act)
        seen = self.get_queryset(request)
        rows = [row for row in (found.person, found.new) if row is not None]
        if not rows or seen.filter(pk__in=[row.pk for row in rows]).count() < len(rows):
            raise Http404("No such split.")
        self.check_may_revert(request, act, rows)
        if request.method == "POST" and found.person and not found.is_empty:
            split.revert_split(act, request.user)
            words = gettext("The split was reverted:")
            said = format_html("{} {}", words, admin_link(found.person))
            self.message_user(request, said, messages.SUCCESS)
            return redirect(self.page_address("change", found.person.pk))
        title = gettext("Revert a split: %(detail)s") % {"detail": act.detail}
        context = self.page_context(
            request, title, act=act, found=found, back=self.page_address("changelist")
        )
        return TemplateResponse(request, "admin/people/unsplit.html", context)

    def reference_link(self, change_set: ChangeSet) -> str:
        is_split = change_set.origin == Origin.FORM and change_set.reference
        return self.page_address("unsplit", change_set.pk) if is_split else super().reference_link(change_set)
