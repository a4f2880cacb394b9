"""Template words of the interface: its language, and how many there are of something."""

from typing import Any

from django import template
from django.utils.formats import number_format
from django.utils.translation import get_language, ngettext

register = template.Library()


@register.simple_tag
def language() -> str:
    """The language of the interface as pages name it; English has no country."""
    code = get_language() or "en"
    return "en" if code.startswith("en-") else code


def numbered(number: int) -> dict[str, str]:
    """Return the number as the language writes it, for messages that count."""
    return {"number": number_format(number, force_grouping=True)}


@register.filter
def papers(number: int) -> str:
    """1,200 papers."""
    return ngettext("%(number)s paper", "%(number)s papers", number) % numbered(number)


@register.filter
def people(number: int) -> str:
    """1,200 people."""
    return ngettext("%(number)s person", "%(number)s people", number) % numbered(number)


@register.filter
def posters(number: int) -> str:
    """800 posters."""
    return ngettext("%(number)s poster", "%(number)s posters", number) % numbered(number)


@register.filter
def held(session: Any) -> str:
    """6 talks, or 800 posters: what a session fetched `with_place()` holds; nothing where it is empty."""
    number = session.talk_count
    if session.counts_as == "poster":
        return posters(number) if number else ""
    return ngettext("%(number)s talk", "%(number)s talks", number) % numbered(number) if number else ""
