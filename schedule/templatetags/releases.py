"""The mark beside what the current release moved."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conference import times

register = template.Library()


@register.simple_tag(takes_context=True)
def moved_mark(context: dict[str, Any], thing: Any) -> SafeString | str:
    """Moved from Tue 6 Apr, 09:00 PDT: on pages that have `moves` (schedule.told), for what takes place."""
    moves, edition = context.get("moves"), context.get("edition")
    before = moves.get(f"{thing._meta.model_name}:{thing.uid}") if moves else None
    if not before or not edition or thing.cancelled:
        return ""
    words = times.when(before, before, edition.zone)
    return format_html(
        ' <span class="status elsewhere">{}</span>', gettext("Moved from %(time)s") % {"time": words}
    )
