"""The template word for pieces of pages that hang on their values alone."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

from conference.fragments import written

register = template.Library()


@register.simple_tag
def fragment(name: str, **values: Any) -> SafeString:
    """The piece that this template makes of these values; it sees nothing else of the page."""
    return written(name, values)
