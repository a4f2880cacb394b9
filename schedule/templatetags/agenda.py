"""Template words for stars, and for what else a visitor may want to see."""

from typing import Any

from django import template

from papers.models import Paper
from schedule.agenda import star_of
from schedule.alike import posters_like
from schedule.models import Presentation
from schedule.stars import write_stars

register = template.Library()


@register.filter
def stars(things: Any) -> str:
    """The stars that a button gives to one thing, or to several at once."""
    rows = things if isinstance(things, (list, tuple)) else [things]
    return write_stars(map(star_of, rows))


@register.simple_tag
def posters_alike(paper: Paper) -> list[Presentation]:
    """Posters like this paper's, on the same day."""
    return posters_like(paper)
