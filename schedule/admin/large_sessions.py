"""Sessions with hundreds of presentations: their form leaves them to the pages that are made for many."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from schedule.models import Session

# A form with more takes longer to open than somebody likes to wait; a hall of 750 posters took three seconds.
MAX_INLINE_ROWS = 100
# What a form that was sent has if the presentations were in it.
SENT_FIELD = "presentations-TOTAL_FORMS"


def number_in(session: Any) -> int:
    """Return how many presentations a session has. One query for each row that was fetched."""
    if "number_in_form" not in vars(session):
        session.number_in_form = session.presentations.count()
    return int(session.number_in_form)


def leaves_out_presentations(request: HttpRequest, session: Session | None) -> bool:
    """Tell whether presentations stay out of the form. A form that was sent is read as it was shown."""
    if session is None:
        return False
    if request.method == "POST":
        return SENT_FIELD not in request.POST
    return number_in(session) > MAX_INLINE_ROWS


def presentation_links(session: Session) -> SafeString:
    """Return links to the pages where the presentations are edited."""
    number = number_in(session)
    listed = f"{reverse('admin:schedule_presentation_changelist')}?session__id__exact={session.pk}"
    return format_html(
        '<a href="{}">{}</a>, <a href="{}">{}</a>, <a href="{}">{}</a>',
        reverse("admin:schedule_session_talks", args=[session.pk]),
        gettext("Order and times"),
        reverse("admin:schedule_session_boards", args=[session.pk]),
        gettext("Boards"),
        listed,
        ngettext("List of %(number)d", "List of %(number)d", number) % {"number": number},
    )
