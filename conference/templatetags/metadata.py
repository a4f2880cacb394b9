"""Template words for what machines read of a page."""

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from conference.page_metadata import breadcrumbs, json_ld

register = template.Library()


@register.simple_block_tag(takes_context=True)
def pagetitle(context: template.Context, content: str) -> SafeString:
    """The title of the page, and the one that cards elsewhere show: the head's own, else the same."""
    head: Any = context.get("head")
    shown = head.title if head and head.title else mark_safe(content.replace('"', "&quot;"))
    return format_html('<title>{}</title>\n    <meta property="og:title" content="{}">', content, shown)


@register.simple_tag(takes_context=True)
def crumbs_data(context: template.Context, crumbs: Sequence[tuple[str, str]]) -> SafeString:
    """The way down to the page as linked data: from the edition's home, or that of the site."""
    edition: Any = context.get("edition")
    home = edition.get_absolute_url() if edition else "/"
    top = (str(edition or context.get("site_name", "")), home)
    return json_ld(breadcrumbs([top, *crumbs]))
