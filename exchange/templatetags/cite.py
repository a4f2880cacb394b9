"""The box that says how to cite a paper, for pages of floors that know nothing of files."""

from typing import Any

from django import template

from exchange.exports.citation_files import citation_of
from papers.models import Paper

register = template.Library()


@register.inclusion_tag("exchange/_cite.html", takes_context=True)
def cite_box(context: template.Context, paper: Paper) -> dict[str, Any]:
    """Show the citation of a paper that was fetched `with_authors()`, and its files."""
    shown = context.get("edition")
    edition = shown if shown is not None and shown.pk == paper.edition_id else paper.edition
    return {"paper": paper, "edition": edition, "citation": citation_of(paper, edition)}
