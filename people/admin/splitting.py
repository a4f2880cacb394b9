"""Splitting a person in the admin: which papers, roles, names belong to somebody else."""

from collections import defaultdict
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from content.history import ChangeSet, Origin
from editorial.access import access_for
from editorial.model_admin import admin_link
from people.access_scope import reaching_elsewhere
from people.admin.merging import MergeAdmin
from people.merging import split
from people.merging.side_by_side import ComparedRow, columns_of
from people.models import Person


class SplitAdmin(MergeAdmin):
    """People, of whom one may be two."""

    def get_urls(self) -> list[Any]:
        wrap = self.admin_site.admin_view
        own = [
            path("<path:object_id>/split/", wrap(self.split_view), name="people_person_split"),
            path("splits/<int:change_set>/", wrap(self.unsplit_view), name="people_person_unsplit"),
        ]
        return [*own, *super().get_urls()]

    def split_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask what belongs to somebody else; with POST, give it to a new person."""
        person = self.get_object(request, object_id)
        if person is None or person.merged_into_id:
            raise Http404("No such person.")
        if not (self.has_change_permission(request, person) and self.has_add_permission(request)):
            raise PermissionDenied
        (column,) = columns_of([person], self.seen_by(request), most=None)
        problems: list[str] = []
        if request.method == "POST":
            new = self.divide(request, column, problems)
            if new is not None:
                words = gettext("%(new)s was split from %(person)s.") % {"new": new, "person": person}
                self.message_user(request, self.with_way_back(words, new), messages.SUCCESS)
                return redirect(self.compare_address([person.pk, new.pk]))
        context = self.frame(
            request,
            gettext("Split: %(person)s") % {"person": person},
            person=person,
            column=column,
            problems=problems,
            name=request.POST.get("name", person.name),
            picked=request.POST.getlist("row"),
            back=self.named("change", person.pk),
        )
        return TemplateResponse(request, "admin/people/split.html", context)

    def divide(self, request: HttpRequest, column: ComparedRow, problems: list[str]) -> Person | None:
        """Give what was picked to a new person; or add why not."""
        offered = column.by_key()
        picked: dict[type[Any], list[int]] = defaultdict(list)
        for key in dict.fromkeys(request.POST.getlist("row")):
            if key in offered:
                picked[type(offered[key])].append(offered[key].pk)
        name = " ".join(request.POST.get("name", "").split())
        if not name:
            problems.append(gettext("Give the new person's name."))
        if not picked:
            problems.append(gettext("Choose what belongs to the new person."))
        access = access_for(request)
        for model, keys in picked.items():
            if access.rows(model._default_manager.filter(pk__in=keys), "change").count() < len(keys):
                problems.append(gettext("Some of it stands in editions that you may not change."))
        if problems:
            return None
        try:
            return split.split(column.row, name, picked, request.user)
        except ValidationError as error:
            problems += error.messages
            return None

    # Back

    def with_way_back(self, words: str, new: Person) -> SafeString:
        """Return what was done, with a link that takes it back."""
        act = split.acts().get(reference=f"{new._meta.label_lower}:{new.pk}")
        back = gettext("Take the split back")
        return format_html('{} <a href="{}">{}</a>', words, self.named("unsplit", act.pk), back)

    def unsplit_view(self, request: HttpRequest, change_set: int) -> HttpResponse:
        """Say what taking a split back will do; with POST, do it."""
        act = get_object_or_404(split.acts(), pk=change_set)
        found = split.moved_by(act)
        seen = self.get_queryset(request)
        rows = [row for row in (found.person, found.new) if row is not None]
        if not rows or seen.filter(pk__in=[row.pk for row in rows]).count() < len(rows):
            raise Http404("No such split.")
        may = all(self.has_change_permission(request, row) for row in rows)
        if not may or reaching_elsewhere(access_for(request), [act.pk]):
            raise PermissionDenied
        if request.method == "POST" and not found.is_empty:
            split.take_back(act, request.user)
            words = gettext("The split was taken back:")
            said = format_html("{} {}", words, admin_link(found.person))
            self.message_user(request, said, messages.SUCCESS)
            return redirect(self.named("change", found.person.pk))
        title = gettext("Take a split back: %(detail)s") % {"detail": act.detail}
        context = self.frame(request, title, act=act, found=found, back=self.named("changelist"))
        return TemplateResponse(request, "admin/people/unsplit.html", context)

    def reference_link(self, change_set: ChangeSet) -> str:
        is_split = change_set.origin == Origin.FORM and change_set.reference
        return self.named("unsplit", change_set.pk) if is_split else super().reference_link(change_set)
