"""Template words for stars."""

from typing import Any

from django import template

from schedule.agenda.agenda_view import star_of
from schedule.agenda.stars import write_stars

register = template.Library()


@register.filter
def stars(things: Any) -> str:
    """The stars that a button gives to one thing, or to several at once."""
    # Light rows are tuples themselves.
    rows = things if type(things) in (list, tuple) else [things]
    return write_stars(map(star_of, rows))
