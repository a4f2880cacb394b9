"""Sessions with hundreds of presentations: their form leaves them to the pages that are made for many."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from schedule.models import Presentation

# A form with more takes longer to open than somebody likes to wait; a hall of 750 posters took three seconds.
MAX_INLINE_ROWS = 100
# What a form that was sent has if the presentations were in it.
SENT_FIELD = "presentations-TOTAL_FORMS"


def number_in(session: Any) -> int:
    """Return how many presentations a session has. One query for each row that was fetched."""
    if "number_in_form" not in vars(session):
        session.number_in_form = session.presentations.count()
    return int(session.number_in_form)


class ManyAdmin(admin.ModelAdmin[Any]):
    """Leaves a long list of presentations out of the form, and says where they are instead."""

    def _has_many(self, request: HttpRequest, session: Any) -> bool:
        """Whether the presentations stay out. A form that was sent is read as it was shown."""
        if request.method == "POST":
            return session is not None and SENT_FIELD not in request.POST
        return session is not None and number_in(session) > MAX_INLINE_ROWS

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        inlines = super().get_inlines(request, obj)
        if not self._has_many(request, obj):
            return inlines
        return [one for one in inlines if one.model is not Presentation]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        sets = super().get_fieldsets(request, obj)
        if not self._has_many(request, obj):
            return sets
        return [*sets, (_("Presentations"), {"fields": ["presentations_elsewhere"]})]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [*super().get_readonly_fields(request, obj), "presentations_elsewhere"]

    @admin.display(description=_("too many for one form"))
    def presentations_elsewhere(self, session: Any) -> SafeString:
        """Link the pages where they are edited."""
        number = number_in(session)
        listed = f"{reverse('admin:schedule_presentation_changelist')}?session__id__exact={session.pk}"
        return format_html(
            '<a href="{}">{}</a>, <a href="{}">{}</a>, <a href="{}">{}</a>',
            reverse("admin:schedule_session_talks", args=[session.pk]),
            _("Order and times"),
            reverse("admin:schedule_session_boards", args=[session.pk]),
            _("Boards"),
            listed,
            ngettext("List of %(number)d", "List of %(number)d", number) % {"number": number},
        )
