"""The template words for pieces of pages that hang on their values alone."""

from collections.abc import Iterable

from django import template
from django.db.models import Model
from django.utils.safestring import SafeString

from pagecache.fragments import rendered, rendered_each

register = template.Library()


@register.simple_tag
def fragment(name: str, **values: object) -> SafeString:
    """The piece that this template makes of these values; it sees nothing else of the page."""
    return rendered(name, values)


@register.simple_tag
def fragment_each(template: str, name: str, rows: Iterable[Model], **values: object) -> SafeString:
    """The pieces of rows, one behind the other: each is in the template by this name, beside the values."""
    return rendered_each(template, name, rows, values)
