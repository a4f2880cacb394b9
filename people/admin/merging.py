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
        urls = [
            path("compare/", wrap(self.compare_view), name=f"{name}_compare"),
            path("merges/", wrap(self.merges_view), name=f"{name}_merges"),
            path("merges/<int:key>/", wrap(self.unmerge_view), name=f"{name}_unmerge"),
        ]
        return [*urls, *super().get_urls()]

    def compare_address(self, keys: Iterable[int], back: str = "") -> str:
        """Return the address that compares these rows."""
        parameters = [("id", key) for key in keys] + ([("next", back)] if back else [])
        return f"{self.page_address('compare')}?{urlencode(parameters)}"

    @admin.action(permissions=["change"], description=_("Compare and merge selected %(verbose_name_plural)s"))
    def compare_selected(self, request: HttpRequest, queryset: QuerySet[Model]) -> HttpResponse | None:
        keys = list(queryset.order_by("pk").values_list("pk", flat=True)[: MAX_COMPARED + 1])
        if not MIN_COMPARED <= len(keys) <= MAX_COMPARED:
            message = gettext("Choose two to %(maximum)d to compare.") % {"maximum": MAX_COMPARED}
            self.message_user(request, message, messages.WARNING)
            return None
        return redirect(self.compare_address(keys))

    # Comparing

    def compared_rows(self, request: HttpRequest) -> list[Mergeable]:
        """Return the requested rows that the user may see."""
        keys = [key for text in request.GET.getlist("id")[:MAX_COMPARED] if (key := parse_key(text))]
        rows_by_key = self.get_queryset(request).filter(merged_into__isnull=True).in_bulk(keys)
        return [rows_by_key[key] for key in dict.fromkeys(keys) if key in rows_by_key]

    def compare_view(self, request: HttpRequest) -> HttpResponse:
        """Compare two or more rows. With POST, merge them or mark them as distinct.

        The page reveals former names and addresses, so it requires permission to change all rows.
        """
        rows = self.compared_rows(request)
        if not self.has_change_permission(request):
            raise PermissionDenied
        if len(rows) < MIN_COMPARED:
            message = gettext("There are no longer two entries to compare: they were merged or deleted.")
            self.message_user(request, message, messages.WARNING)
            return redirect(self.next_address(request) or self.page_address("changelist"))
        if not all(self.has_change_permission(request, row) for row in rows):
            raise PermissionDenied
        comparison = side_by_side(rows, self.visible_to(request))
        problems: list[str] = []
        if request.method == "POST":
            try:
                return self.decide(request, comparison)
            except merge.CannotMergeError as error:
                problems = error.reasons
        context = self.page_context(
            request,
            gettext("Are these the same person or institution?"),
            comparison=comparison,
            problems=problems,
            reasons=self.reasons(request, rows),
            next=self.next_address(request),
            back=self.next_address(request) or self.page_address("changelist"),
            has_names=self.model is Person,
        )
        return TemplateResponse(request, "admin/people/compare.html", context)

    def decide(self, request: HttpRequest, comparison: SideBySide) -> HttpResponse:
        """Merge or mark as distinct, and redirect. Raise `CannotMergeError` if the rows cannot be merged."""
        rows = comparison.rows
        if "distinct" in request.POST:
            merge.mark_distinct(rows)
            message = gettext("Saved: %(names)s are not the same. They won’t be suggested again.")
            row_names = ", ".join(f"“{row}”" for row in rows)
            self.message_user(request, message % {"names": row_names}, messages.SUCCESS)
            return redirect(self.next_address(request) or self.page_address("changelist"))
        if request.POST.get("seen") != comparison.fingerprint:
            message = gettext("Something changed after you opened the page. Review it again.")
            raise merge.CannotMergeError([message])
        rows_by_key = {str(row.pk): row for row in rows}
        survivor = rows_by_key.get(request.POST.get("keep", ""))
        if survivor is None:
            raise merge.CannotMergeError([gettext("Choose which address to keep.")])
        if uneditable_rows := self.used_elsewhere(request, comparison, survivor.pk):
            message = gettext("%(names)s: in editions that you can’t change. Keep that entry.")
            raise merge.CannotMergeError([message % {"names": ", ".join(map(str, uneditable_rows))}])
        requested_keys = {
            field.name: request.POST.get(f"value-{field.name}", "") for field in comparison.lines
        }
        choices = {name: int(key) for name, key in requested_keys.items() if key in rows_by_key}
        hidden_names = [row.name for row in rows if str(row.pk) in request.POST.getlist("hide")]
        merged = merge.merge(survivor, rows, choices, hide=hidden_names, user=request.user)
        self.message_user(request, self.merge_message(merged, rows), messages.SUCCESS)
        return redirect(self.next_address(request) or self.page_address("change", survivor.pk))

    def merge_message(self, merged: merge.Merged[Mergeable], rows: Iterable[Mergeable]) -> SafeString:
        """Return a message about a merge, with a link to revert it."""
        other_names = ", ".join(f"“{row}”" for row in rows if row.pk != merged.survivor.pk)
        count = merged.moved_count
        sentence = ngettext(
            "%(others)s merged into %(survivor)s: %(count)d entry moved.",
            "%(others)s merged into %(survivor)s: %(count)d entries moved.",
            count,
        )
        text = sentence % {"others": other_names, "survivor": f"“{merged.survivor}”", "count": count}
        if merged.dropped:
            dropped_names = "; ".join(merged.dropped[:MAX_SHOWN_DROPPED])
            ellipsis = " …" if len(merged.dropped) > MAX_SHOWN_DROPPED else ""
            dropped_sentence = gettext("Duplicate entries were merged: %(listed)s.")
            text = f"{text} {dropped_sentence % {'listed': dropped_names + ellipsis}}"
        unmerge_url = self.page_address("unmerge", merged.change_set)
        return format_html('{} <a href="{}">{}</a>', text, unmerge_url, gettext("Revert the merge"))

    def next_address(self, request: HttpRequest) -> str:
        """Return the requested next page if it is on this site."""
        address = request.POST.get("next", request.GET.get("next", ""))
        return address if url_has_allowed_host_and_scheme(address, {request.get_host()}) else ""

    def visible_to(self, request: HttpRequest) -> VisibleRows:
        """Return a function that returns the rows of a model that the user may see."""
        return lambda model: access_for(request).rows(model._default_manager.all())

    def used_elsewhere(
        self, request: HttpRequest, comparison: SideBySide, survivor_key: int = 0
    ) -> list[Mergeable]:
        """Return the rows to merge that are referenced by rows that the user may not change."""
        access, survivor_key = access_for(request), survivor_key or comparison.keep
        uneditable_rows = []
        for row in comparison.rows:
            for model, relation in merge.relations(self.model) if row.pk != survivor_key else ():
                if lookup_of(model) and not access.may_everywhere("change", model):
                    rows = model._default_manager.filter(**{relation.field.name: row})
                    if rows.exclude(pk__in=access.rows(rows, "change").values("pk")).exists():
                        uneditable_rows.append(row)
        return list(dict.fromkeys(uneditable_rows))

    def reasons(self, request: HttpRequest, rows: Iterable[Mergeable]) -> list[dict[str, object]]:
        """Return the reasons why these rows were suggested, by pair."""
        keys = [row.pk for row in rows]
        pairs = storage.PAIR_MODELS[self.model].objects.filter(first__in=keys, second__in=keys)
        pairs = pairs.select_related("first", "second")
        names = visible_names(access_for(request), reasons.named_people(pairs))
        return [{"pair": pair, "texts": reasons.reason_texts(pair.reasons, names)} for pair in pairs]

    # Reverting

    def merges(self) -> QuerySet[ChangeSet]:
        """Return the merges of this model."""
        prefix = f"{self.opts.label_lower}:"
        return ChangeSet.objects.filter(origin=Origin.MERGE, reference__startswith=prefix)

    def merged_rows(self, request: HttpRequest, change_set: ChangeSet) -> list[Mergeable]:
        """Return the rows of a merge, or none unless the user may see all of them."""
        changes = change_set.rows.filter(model=self.opts.label_lower, kind=RowChange.Kind.CHANGED)
        keys = {change.object_id for change in changes if "merged_into" in change.values}
        keys.add(merge.referenced_key(change_set))
        rows = list(self.get_queryset(request).filter(pk__in=keys))
        return rows if len(rows) == len(keys) else []

    def merges_view(self, request: HttpRequest) -> HttpResponse:
        """List the merges, the latest first."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        page = Paginator(self.merges().select_related("user"), PAGE_ROWS).get_page(request.GET.get("p"))
        keys = [merge.referenced_key(change_set) for change_set in page]
        survivors = self.get_queryset(request).in_bulk(keys)
        forbidden_keys = change_sets_beyond_scope(access_for(request), [row.pk for row in page])
        lines = [
            {
                "change_set": change_set,
                "row": admin_link(survivors[key]),
                "undo": ""
                if change_set.pk in forbidden_keys
                else self.page_address("unmerge", change_set.pk),
            }
            for change_set, key in zip(page, keys, strict=True)
            if key in survivors
        ]
        title = gettext("Merged %(rows)s") % {"rows": self.opts.verbose_name_plural}
        context = self.page_context(request, title, lines=lines, page_obj=page)
        return TemplateResponse(request, "admin/people/merges.html", context)

    def check_may_revert(
        self, request: HttpRequest, change_set: ChangeSet, rows: Iterable[Mergeable]
    ) -> None:
        """Raise `PermissionDenied` unless the user may change all rows of the change set."""
        may_change_rows = all(self.has_change_permission(request, row) for row in rows)
        if not may_change_rows or change_sets_beyond_scope(access_for(request), [change_set.pk]):
            raise PermissionDenied

    def unmerge_view(self, request: HttpRequest, key: int) -> HttpResponse:
        """Preview the revert of a merge. With POST, revert it."""
        change_set = get_object_or_404(self.merges(), pk=key)
        rows = self.merged_rows(request, change_set)
        if not rows:
            raise Http404("No such merge.")
        self.check_may_revert(request, change_set, rows)
        plan, problems = undo_plan(change_set), list[str]()
        if request.method == "POST" and not plan.is_empty:
            try:
                undo(change_set, request.user)
            except CannotRevertError as error:
                problems = error.reasons
            else:
                links = format_html_join(", ", "{}", ((admin_link(row),) for row in rows))
                message = format_html("{} {}", gettext("The merge was reverted:"), links)
                self.message_user(request, message, messages.SUCCESS)
                return redirect(self.compare_address(row.pk for row in rows))
        title = gettext("Revert a merge: %(detail)s") % {"detail": change_set.detail}
        context = self.page_context(
            request, title, undo_plan=plan, problems=problems, back=self.page_address("merges")
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
        context: dict[str, object] = {}
        if row is not None and row.merged_into_id:
            context["merged_into_link"] = admin_link(row.merged_into)
        elif row is not None and self.has_change_permission(request, row):
            context["duplicates_address"] = self.duplicates_address(row)
            context["split_address"] = self.page_address("split", row.pk) if self.model is Person else ""
        return super().change_view(request, object_id, form_url, {**context, **(extra_context or {})})

    def duplicates_address(self, row: Mergeable) -> str:
        """Return the address that compares a row with its likely duplicates. Empty if there are none."""
        pairs = storage.PAIR_MODELS[self.model].objects.undecided().about_row(row.pk)
        key_pairs = pairs.values_list("first_id", "second_id")[: MAX_COMPARED - 1]
        keys = dict.fromkeys(key for pair in key_pairs for key in pair if key != row.pk)
        return self.compare_address([row.pk, *keys], self.page_address("change", row.pk)) if keys else ""

    def reference_link(self, change_set: ChangeSet) -> str:
        if change_set.origin == Origin.MERGE:
            return self.page_address("unmerge", change_set.pk)
        return super().reference_link(change_set)


class SplitAdmin(MergeAdmin):
    """The admin of people, who can also be split."""

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        urls = [
            path("<path:object_id>/split/", wrap(self.split_view), name="people_person_split"),
            path("splits/<int:key>/", wrap(self.unsplit_view), name="people_person_unsplit"),
        ]
        return [*urls, *super().get_urls()]

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
            try:
                return self.divide(request, person, column)
            except ValidationError as error:
                problems = error.messages
        context = self.page_context(
            request,
            gettext("Split: %(person)s") % {"person": person},
            person=person,
            column=column,
            problems=problems,
            name=request.POST.get("name", person.name),
            selected_keys=(request.POST if request.method == "POST" else request.GET).getlist("row"),
            back=self.page_address("change", person.pk),
        )
        return TemplateResponse(request, "admin/people/split.html", context)

    def divide(self, request: HttpRequest, person: Person, column: ComparedRow) -> HttpResponse:
        """Move the chosen rows to a new person, and redirect. Raise `ValidationError` if this fails."""
        rows_by_key = column.by_key()
        keys_by_model: dict[type[Content], list[int]] = defaultdict(list)
        for key in dict.fromkeys(request.POST.getlist("row")):
            if key in rows_by_key:
                keys_by_model[type(rows_by_key[key])].append(rows_by_key[key].pk)
        name = " ".join(request.POST.get("name", "").split())
        problems = []
        if not name:
            problems.append(gettext("Enter the new person's name."))
        if not keys_by_model:
            problems.append(gettext("Choose what belongs to the new person."))
        access = access_for(request)
        for model, keys in keys_by_model.items():
            if access.rows(model._default_manager.filter(pk__in=keys), "change").count() < len(keys):
                problems.append(gettext("Some of it is in editions that you can’t change."))
        if problems:
            raise ValidationError(problems)
        new_person = split.split(person, name, keys_by_model, request.user)
        text = gettext("%(new)s was split from %(person)s.") % {"new": new_person, "person": person}
        change_set = split.split_change_sets().get(reference=f"{self.opts.label_lower}:{new_person.pk}")
        unsplit_url = self.page_address("unsplit", change_set.pk)
        message = format_html('{} <a href="{}">{}</a>', text, unsplit_url, gettext("Revert the split"))
        self.message_user(request, message, messages.SUCCESS)
        return redirect(self.compare_address([person.pk, new_person.pk]))

    def unsplit_view(self, request: HttpRequest, key: int) -> HttpResponse:
        """Preview the revert of a split. With POST, revert it."""
        change_set = get_object_or_404(split.split_change_sets(), pk=key)
        state = split.inspect_split(change_set)
        visible_people = self.get_queryset(request)
        rows = [row for row in (state.person, state.new) if row is not None]
        if not rows or visible_people.filter(pk__in=[row.pk for row in rows]).count() < len(rows):
            raise Http404("No such split.")
        self.check_may_revert(request, change_set, rows)
        if request.method == "POST" and state.person and not state.is_empty:
            split.revert_split(change_set, request.user)
            message = format_html("{} {}", gettext("The split was reverted:"), admin_link(state.person))
            self.message_user(request, message, messages.SUCCESS)
            return redirect(self.page_address("change", state.person.pk))
        title = gettext("Revert a split: %(detail)s") % {"detail": change_set.detail}
        context = self.page_context(request, title, undo_plan=state, back=self.page_address("changelist"))
        return TemplateResponse(request, "admin/people/unsplit.html", context)

    def reference_link(self, change_set: ChangeSet) -> str:
        is_split = change_set.origin == Origin.FORM and change_set.reference
        return self.page_address("unsplit", change_set.pk) if is_split else super().reference_link(change_set)
