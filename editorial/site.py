"""The admin site, with the desk as its first page, ordered sections, and labels for autocompletion."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.contrib.contenttypes.models import ContentType
from django.contrib.contenttypes.views import shortcut
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import access_of
from accounts.sign_in_views import AccountPages
from content.actor import acting_as
from content.editions import get_edition_model
from content.write_conflicts import retry_conflicts
from editorial.current_edition import (
    LIST_FILTER,
    choose_edition,
    chosen_edition,
    edition_of,
    editions_for,
    requested_edition,
)
from editorial.desk import ADD_LINKS, OPEN, desk_context, switch_state
from editorial.desk_search import desk_search
from editorial.first_steps import hide_steps, open_steps
from editorial.history_views import take_back_view
from editorial.model_admin import is_public
from editorial.sections import DeskSection
from editorial.text_help import text_help_view

if TYPE_CHECKING:
    from conference.models import Edition


class ChoicesView(AutocompleteJsonView):
    def serialize_result(self, obj: Model, to_field_name: str) -> dict[str, str]:
        label = getattr(self.model_admin, "choice_label", str)
        return {**super().serialize_result(obj, to_field_name), "text": label(obj)}

    def get_queryset(self) -> QuerySet[Model]:
        """Offer the rows that the form would accept."""
        source, site = self.source_field.model, cast("DeskSite", self.admin_site)
        rows = None
        if site.is_registered(source):
            model_admin = site.get_model_admin(source)
            rows = model_admin.get_field_queryset(None, self.source_field, self.request)
        rows = self.model_admin.get_queryset(self.request) if rows is None else rows
        rows = rows.complex_filter(self.source_field.get_limit_choices_to())
        matching, _spawns = self.model_admin.get_search_results(self.request, rows, self.term)
        return matching


def is_one_transaction(request: HttpRequest) -> bool:
    """Return whether a request writes by one of Django's pages of a row or a list, in one transaction."""
    url_name = request.resolver_match.url_name if request.resolver_match else None
    page = (url_name or "").rpartition("_")[2]
    return request.method == "POST" and page in ("add", "change", "delete", "changelist")


class DeskSite(AccountPages):
    site_header = settings.SITE_NAME
    site_title = settings.SITE_NAME
    index_title = _("The program")
    index_template = "admin/desk.html"

    def index(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> TemplateResponse:
        """Show the desk of the requested edition, else of the newest, above the lists."""
        edition = requested_edition(request)
        may_add = access_of(request.user).may("add", get_edition_model())
        context: dict[str, object] = {"editions": [], "desk": None, "may_add_edition": may_add}
        if edition and request.GET.get("edition") == str(edition.pk):
            choose_edition(request, edition)
        if edition and self.may_see(request, get_edition_model(), edition):
            desk = desk_context(edition, timezone.now(), lambda model: self.may_see(request, model, edition))
            context |= {"editions": editions_for(request), "desk": desk, "title": str(edition)}
            context |= self.link_context(request, edition)
            if context["add_links"]:
                context["steps"] = open_steps(request, edition, desk["row_numbers"])
        return super().index(request, {**context, **(extra_context or {})})

    def link_context(self, request: HttpRequest, edition: Edition) -> dict[str, object]:
        """Return the links to publish an edition and to add rows to it."""
        access = access_of(request.user)
        meta = get_edition_model()._meta
        publish = reverse(f"admin:{meta.app_label}_{meta.model_name}_publish", args=[edition.pk])
        ordered = sorted(ADD_LINKS, key=attrgetter("position"))
        links = [link for link in ordered if link.is_open_to(access, edition)]
        return {
            "is_public": switch_state(edition.public_from, timezone.now()) == OPEN,
            "may_preview": access.may("preview", get_edition_model(), edition),
            "publish_url": publish if access.may("change", get_edition_model(), edition) else "",
            "import_url": next((link.address(edition) for link in links if link.fills_edition), ""),
            "publish_links": [(link.label, link.address(edition)) for link in links if link.publishes],
            "add_links": [(link.label, link.address(edition)) for link in links if not link.publishes],
        }

    def hide_steps(self, request: HttpRequest) -> HttpResponse:
        """Hide the first steps of an edition in this browser."""
        if request.method != "POST":
            raise Http404
        edition = requested_edition(request)
        if edition is None:
            raise Http404
        response = redirect(reverse("admin:index", query={"edition": edition.pk}))
        hide_steps(request, response, edition)
        return response

    def may_see(self, request: HttpRequest, model: type[Model], edition: Edition) -> bool:
        return access_of(request.user).may_all_rows("view", model, edition)

    def get_urls(self) -> list[URLPattern | URLResolver]:
        # Replaces Django's view, which reveals the URL of any object to all staff.
        view = self.admin_view(self.view_on_site)
        redirect_page = path("r/<int:content_type_id>/<path:object_id>/", view, name="view_on_site")
        inherited = super().get_urls()
        pages = [
            path("search/", self.admin_view(desk_search), {"site": self}, name="search"),
            path("first-steps/hide/", self.admin_view(self.hide_steps), name="hide_steps"),
            path("text/", self.admin_view(text_help_view), name="text_help"),
            path(
                "acts/<int:act>/take-back/", self.admin_view(take_back_view), {"site": self}, name="take_back"
            ),
        ]
        return [
            redirect_page,
            *pages,
            *(pattern for pattern in inherited if getattr(pattern, "name", "") != redirect_page.name),
        ]

    def view_on_site(self, request: HttpRequest, content_type_id: int, object_id: str) -> HttpResponse:
        """Redirect to the public page of a row that the user may see, or to its preview."""
        content_type = get_object_or_404(ContentType, pk=content_type_id)
        model = content_type.model_class()
        if model is None or not self.is_registered(model):
            raise Http404
        row: Any = self.get_model_admin(model).get_object(request, object_id)
        if row is None:
            raise Http404
        edition = edition_of(row)
        if edition and not is_public(row) and access_of(request.user).may("preview", type(edition), edition):
            return redirect(edition.get_preview_url(row.get_absolute_url()))
        return cast(HttpResponse, shortcut(request, content_type_id, object_id))

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        return cast(HttpResponse, ChoicesView.as_view(admin_site=self)(request))

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Record the changes of an admin page in the history under its user."""
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def recorded_view(request: HttpRequest, *args: object, **kwargs: object) -> Any:
            call: Callable[[], Any] = partial(inner, request, *args, **kwargs)
            if is_one_transaction(request):
                call = retry_conflicts(call)
            with acting_as("form", request.user):
                response = call()
                # Pages also show what the user may see while they are rendered.
                return response.render() if isinstance(response, TemplateResponse) else response

        return recorded_view

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[object]:
        """Return the sections with their lists, limited to an app if its label is given."""
        edition, access = chosen_edition(request), access_of(request.user)
        sections: dict[str, list[Any]] = {}
        for group in super().get_app_list(request, app_label):
            for line in group["models"]:
                section = self.section_of(line)
                if section == DeskSection.TECHNICAL and not access.may_everywhere("view", line["model"]):
                    continue
                line["path"] = line.get("admin_url")
                if edition:
                    self.add_edition_to_links(line, str(edition.pk))
                sections.setdefault(section, []).append(line)
        return [
            {
                "name": section.label,
                "app_label": section.value,
                "models": sorted(sections[section], key=self.sort_key),
                "is_folded": section == DeskSection.TECHNICAL,
                "is_current": any(
                    line["path"] and line["path"] in request.path for line in sections[section]
                ),
            }
            for section in DeskSection
            if section in sections
        ]

    def section_of(self, line: Any) -> str:
        # Django's own models: accounts and groups.
        default = DeskSection.MEMBERS if line["model"]._meta.app_label == "auth" else DeskSection.TECHNICAL
        return getattr(self.get_model_admin(line["model"]), "desk_section", default)

    def add_edition_to_links(self, line: Any, edition: str) -> None:
        """Filter the links of a model by the edition chosen on the desk, if the model has editions."""
        for list_filter in self.get_model_admin(line["model"]).list_filter:
            parameter = getattr(list_filter, "parameter_name", f"{list_filter}__id__exact")
            if parameter == LIST_FILTER or parameter.endswith(f"__{LIST_FILTER}"):
                line["admin_url"] = (
                    line["admin_url"] and f"{line['admin_url']}?{urlencode({parameter: edition})}"
                )
                line["add_url"] = line["add_url"] and f"{line['add_url']}?{urlencode({'edition': edition})}"

    def sort_key(self, line: Any) -> tuple[int, str]:
        return getattr(self.get_model_admin(line["model"]), "desk_order", 50), line["name"]
