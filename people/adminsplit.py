"""Splitting a person in the admin: which papers, roles, names belong to somebody else."""

from collections import defaultdict
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.translation import gettext

from conference.adminaccess import access_for
from people import merging
from people.adminmerging import MergeAdmin
from people.models import Person
from people.sidebyside import Column, columns_of


class SplitAdmin(MergeAdmin):
    """People, of whom one may be two."""

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.split_view)
        return [path("<path:object_id>/split/", view, name="people_person_split"), *super().get_urls()]

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
                words = gettext("%(new)s was split from %(person)s. To take it back, merge the two.")
                self.message_user(request, words % {"new": new, "person": person}, messages.SUCCESS)
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

    def divide(self, request: HttpRequest, column: Column, problems: list[str]) -> Person | None:
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
            return merging.split(column.row, name, picked, request.user)
        except ValidationError as error:
            problems += error.messages
            return None
