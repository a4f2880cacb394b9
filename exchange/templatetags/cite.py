"""Template tags of citations, for pages of lower-level apps, which may not import `exchange`."""

from django import template

from exchange.exports.citation_files import FORMATS, citation_of
from exchange.exports.downloads import url_name
from papers.models import Paper

register = template.Library()


@register.simple_tag
def citation_formats() -> list[tuple[str, str]]:
    """Return the labels of the formats for citations, and the last part of the names of their URLs."""
    return [(fmt.short_label, url_name(ending)) for ending, (fmt, _) in FORMATS.items()]


@register.inclusion_tag("exchange/_cite.html", takes_context=True)
def cite_box(context: template.Context, paper: Paper) -> dict[str, object]:
    """Show the citation of a paper fetched `with_authors()`, and links to its files."""
    page_edition = context.get("edition")
    edition = (
        page_edition if page_edition is not None and page_edition.pk == paper.edition_id else paper.edition
    )
    return {"paper": paper, "edition": edition, "citation": citation_of(paper, edition)}
