"""Clashes in the admin: shown on forms and after saving. They never prevent saving."""

from collections import Counter
from contextlib import nullcontext
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import escape, format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conference.models import Edition
from content.request_keys import parse_key
from content.unreleased.plan import planned
from editorial.access import access_for
from editorial.current_edition import editions_for, requested_edition
from editorial.model_admin import ContentAdmin, link_or_name
from schedule import clashes
from schedule.clashes import Clash, ClashKind, ClashSubject
from schedule.clashes.findings import NameList
from schedule.models import Presentation, Session

# The parts of URL names of the forms, by name of the model in clashes.
FORM_NAMES = {
    "session": "schedule_session",
    "presentation": "schedule_presentation",
    "room": "schedule_room",
    "person": "people_person",
}
CLASHES_PER_PAGE = 100
# The maximum number of clashes shown after saving, and on a form, which links to all.
MAX_LISTED_CLASHES, MAX_FORM_CLASHES = 3, 20
# The models whose rows narrow the page of clashes, by the parameter with the key.
ABOUT: dict[str, type[Session | Presentation]] = {"session": Session, "presentation": Presentation}


def clash_context(clash: Clash) -> dict[str, object]:
    """Return the template context of a clash: its sentence with a link to each row that it names."""
    facts = {name: render_fact(fact) for name, fact in clash.facts.items()}
    return {"clash": clash, "message": mark_safe(escape(clash.sentence) % facts)}


def render_fact(fact: object) -> str:
    if isinstance(fact, NameList):
        return fact.join(render_fact)
    if isinstance(fact, ClashSubject):
        # A planned presentation has no form: link to its paper, whose key is the negated one.
        url_name = FORM_NAMES[fact.model] if fact.pk > 0 else "papers_paper"
        url = reverse(f"admin:{url_name}_change", args=[abs(fact.pk)])
        return format_html('<a href="{}">{}</a>', url, fact)
    return escape(fact)


class ClashAdmin[M: Session | Presentation](admin.ModelAdmin[M]):
    """A form that shows the clashes of its row."""

    change_form_template = "admin/schedule/clashing_form.html"

    def render_change_form(
        self, request: HttpRequest, context: dict[str, object], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        obj: M | None = kwargs["obj"]
        if obj is not None and not context["errors"] and self.can_see_clashes(request, obj):
            found = clashes.find_clashes_about([obj])
            context["clash_count"] = len(found)
            context["clashes"] = [clash_context(clash) for clash in found[:MAX_FORM_CLASHES]]
            query = {"edition": obj.edition.pk, self.opts.model_name: obj.pk}
            context["all_clashes_url"] = reverse("admin:schedule_session_clashes", query=query)
        return super().render_change_form(request, context, *args, **kwargs)

    def can_see_clashes(self, request: HttpRequest, row: M) -> bool:
        """Return whether the user may see all rows that may clash with this one."""
        return access_for(request).may_all_rows("view", self.model, row.edition)

    def save_related(self, request: HttpRequest, form: ModelForm[M], formsets: object, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        row = form.instance
        if self.can_see_clashes(request, row) and (row_clashes := clashes.find_clashes_about([row])):
            self.message_user(request, saved_with_clashes(row_clashes), messages.WARNING)


def clashes_view(model_admin: ContentAdmin, request: HttpRequest) -> HttpResponse:
    """List the clashes of an edition as planned, or those of one kind."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    edition = requested_edition(request)
    if edition and not access_for(request).may_all_rows("view", Session, edition):
        raise PermissionDenied
    with planned(edition) if edition else nullcontext():
        return clashes_page(model_admin, request, edition)


def clashes_page(model_admin: ContentAdmin, request: HttpRequest, edition: Edition | None) -> HttpResponse:
    about, found, query = None, [], {}
    if edition:
        about, edition_clashes = requested_row(request, edition), clashes.cached_clashes(edition)
        found, query = edition_clashes.all, {"edition": edition.pk}
        if about:
            found, query[str(about._meta.model_name)] = edition_clashes.about([about]), about.pk
    counts = Counter(clash.kind for clash in found)
    kind = request.GET.get("kind", "")
    listed_clashes = [clash for clash in found if clash.kind == kind] if kind in counts else found
    page = Paginator(listed_clashes, CLASHES_PER_PAGE).get_page(request.GET.get("page"))
    context = model_admin.page_context(
        request,
        _("Clashes of %(edition)s") % {"edition": edition} if edition else _("Clashes"),
        edition=edition,
        editions=editions_for(request),
        kinds=[(clash_kind, counts[clash_kind]) for clash_kind in ClashKind if clash_kind in counts],
        kind=kind if kind in counts else "",
        about=link_or_name(about) if about else "",
        all_address=f"?{urlencode(query)}",
        total=len(found),
        page=page,
        clashes=[clash_context(clash) for clash in page],
    )
    return TemplateResponse(request, "admin/schedule/clashes.html", context).render()


def requested_row(request: HttpRequest, edition: Edition) -> Session | Presentation | None:
    """Return the session or presentation to whose clashes the page is narrowed, if any."""
    for name, model in ABOUT.items():
        if key := parse_key(request.GET.get(name)):
            rows: QuerySet[Session | Presentation] = model._default_manager.filter(edition=edition)
            return rows.filter(pk=key).first()
    return None


def saved_with_clashes(row_clashes: list[Clash]) -> SafeString:
    count = len(row_clashes)
    head = ngettext("Saved, with %(count)s clash:", "Saved, with %(count)s clashes:", count)
    lines = [clash.message for clash in row_clashes[:MAX_LISTED_CLASHES]]
    if (more := count - MAX_LISTED_CLASHES) > 0:
        message = ngettext(
            "%(count)s more is listed on its form.", "%(count)s more are listed on its form.", more
        )
        lines.append(message % {"count": more})
    body = format_html_join(" ", "{}", ((line,) for line in lines))
    return format_html("{} {}", head % {"count": count}, body)
