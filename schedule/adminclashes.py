"""Clashes in the admin: on the forms of what they concern, and told after saving. They hold up nothing."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from schedule import clashes
from schedule.clashes import Clash, Subject

# Where the rows of clashes have their forms.
MODELS = {
    "session": "schedule_session",
    "presentation": "schedule_presentation",
    "room": "schedule_room",
    "person": "people_person",
}
# So many are told after saving; the form shows them all.
TOLD = 3


def address(subject: Subject) -> str:
    """Return the address of the row's form."""
    return reverse(f"admin:{MODELS[subject.model]}_change", args=[subject.pk])


def linked(clash: Clash) -> dict[str, Any]:
    """Return a clash as templates show it, each row with the address of its form."""
    rows = [{"name": str(subject), "address": address(subject)} for subject in clash.subjects]
    return {"clash": clash, "rows": rows}


class ClashAdmin(admin.ModelAdmin[Any]):
    """A form that shows what its row gets in the way of."""

    change_form_template = "admin/schedule/clashing_form.html"

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = context.get("original")
        if row is not None and not context["errors"]:
            context["clashes"] = [linked(clash) for clash in clashes.touching([row])]
        return super().render_change_form(request, context, *args, **kwargs)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if found := clashes.touching([form.instance]):
            self.message_user(request, said(found), messages.WARNING)


def said(found: list[Clash]) -> SafeString:
    """Return what is told after saving."""
    count = len(found)
    head = ngettext("Saved, with %(count)s clash:", "Saved, with %(count)s clashes:", count)
    lines = [clash.message for clash in found[:TOLD]]
    if count > TOLD:
        lines.append(_("And %(count)s more on its form.") % {"count": count - TOLD})
    body = format_html_join(" ", "{}", ((line,) for line in lines))
    return format_html("{} {}", head % {"count": count}, body)
