"""The admin as a desk for chairs: its name, its groups in order, choices that tell namesakes apart."""

from functools import wraps
from typing import Any, cast

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from conference.acting import acting
from conference.adminscope import asked_edition
from conference.desk import DOORS, desk
from conference.models import Edition

GROUPS = ["conference", "papers", "people", "schedule", "exchange", "api", "auth"]


class ChoicesView(AutocompleteJsonView):
    """What an input that searches while one types offers."""

    def serialize_result(self, obj: Any, to_field_name: str) -> dict[str, str]:
        label = getattr(self.model_admin, "choice_label", str)
        return {**super().serialize_result(obj, to_field_name), "text": label(obj)}


class DeskSite(admin.AdminSite):
    """The admin of a program site."""

    site_header = settings.SITE_NAME
    site_title = settings.SITE_NAME
    index_title = _("The program")
    index_template = "admin/desk.html"

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Show the desk of the edition asked for, else of the newest, above the lists."""
        edition = asked_edition(request)
        context: dict[str, Any] = {"editions": [], "desk": None}
        if edition and self.may_see(request, Edition):
            found = desk(edition, timezone.now(), lambda model: self.may_see(request, model))
            context = {"editions": Edition.objects.all(), "desk": found, "title": str(edition)}
            context |= self.ways(request, edition)
        return super().index(request, {**context, **(extra_context or {})})

    def ways(self, request: HttpRequest, edition: Edition) -> dict[str, Any]:
        """Return where an edition goes public, and the pages that make something of it."""
        may_publish = self.get_model_admin(Edition).has_change_permission(request, edition)
        doors = (door for door in DOORS if self.get_model_admin(door.model).has_add_permission(request))
        return {
            "publish_url": reverse("admin:conference_edition_publish", args=[edition.pk])
            if may_publish
            else "",
            "doors": [(door.words, door.address(edition)) for door in doors],
        }

    def may_see(self, request: HttpRequest, model: type[Model]) -> bool:
        """Tell whether somebody may open the list of this model."""
        return self.get_model_admin(model).has_view_permission(request)

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        return cast(HttpResponse, ChoicesView.as_view(admin_site=self)(request))

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Let whatever a page of the admin changes stand in the history under the name of its user."""
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def seen(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            with acting("form", request.user):
                return inner(request, *args, **kwargs)

        return seen

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        groups = super().get_app_list(request, app_label)
        for group in groups:
            group["models"].sort(key=self.place)
        return sorted(groups, key=lambda group: (rank(group["app_label"]), group["name"]))

    def place(self, line: Any) -> tuple[int, str]:
        """Return where a line stands in its group."""
        return getattr(self.get_model_admin(line["model"]), "desk_order", 50), line["name"]


def rank(app: str) -> int:
    """Return where a group stands; unknown ones come last."""
    return GROUPS.index(app) if app in GROUPS else len(GROUPS)
