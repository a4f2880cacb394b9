"""Template tags for stars, and for the mark of rows that the current release moved."""

from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from content import times
from schedule.agenda.agendas import star_of
from schedule.agenda.stars import write_stars
from schedule.notices.live import LiveNotice, notices_about

register = template.Library()


@register.simple_tag(takes_context=True)
def moved_mark(context: dict[str, Any], row: Any) -> SafeString | str:
    """Return the mark "moved from …" of a moved row, unless it is canceled or was moved back."""
    moved_from, edition = getattr(row, "moved_from", None), context.get("edition")
    if not moved_from or not edition or row.cancelled:
        return ""
    if moved_from == getattr(row, "starts", row.start):
        return ""
    time_text = times.day_and_time_range(moved_from, moved_from, edition.zone)
    return format_html(
        ' <span class="status elsewhere">{}</span>', gettext("Moved from %(time)s") % {"time": time_text}
    )


@register.simple_tag
def paper_notices(paper: Any) -> list[LiveNotice]:
    """Return the live notices of a paper's sessions; the paper must be fetched `with_appearances()`."""
    sessions = [appearance.session for appearance in paper.appearances]
    return notices_about(paper.edition, timezone.now(), sessions) if any(sessions) else []


@register.filter
def stars(value: Any) -> str:
    """Return the stars that a button gives to one row or several."""
    # Do not test with `isinstance()`: light rows are named tuples.
    rows = value if type(value) in (list, tuple) else [value]
    return write_stars(map(star_of, rows))
