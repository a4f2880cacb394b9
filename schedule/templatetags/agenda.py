"""Template words for stars: what a button of a session or presentation sends."""

from typing import Any

from django import template

from schedule.agenda import star_of
from schedule.stars import write_stars

register = template.Library()


@register.filter
def stars(things: Any) -> str:
    """The stars that a button gives to one thing, or to several at once."""
    rows = things if isinstance(things, (list, tuple)) else [things]
    return write_stars(map(star_of, rows))
