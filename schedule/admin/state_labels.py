"""The state of an invitation as a colored label."""

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from schedule.models import ProgramInvitation


def state_label(invitation: ProgramInvitation) -> SafeString:
    """Return the state as a colored label, which also marks an invitation past its due date."""
    today = invitation.edition.day_of(timezone.now())
    is_late = invitation.is_past_due(today)
    label = invitation.get_state_display()
    if is_late:
        label = gettext("%(state)s, overdue") % {"state": label}
    css_name = "late" if is_late else invitation.state.replace("_", "-")
    return format_html('<span class="asked asked-{}">{}</span>', css_name, label)
