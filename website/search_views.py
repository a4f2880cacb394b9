"""The search page, what is found while somebody types, and the description that browsers read."""

from functools import partial
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from conference.models import Edition
from conference.request_edition import edition_page, published_editions
from content.pagination import NUMBER, BadParameter, base_query, page_of
from operations.indexing.update import refreshed
from search.hits import Hits, find, suggest
from search.query import MAX_QUERY_CHARS, Query, described, parse
from search.vocabulary import corrected
from website.search_results import KINDS, search_results

PAGE_SIZE = 20
# What one can type beyond words, with what it means.
OPERATORS = [
    ('"graph neural networks"', _("the words side by side")),
    ("compil", _("the last word may be unfinished: compiler, compilation")),
    ("-survey", _("without this word")),
    ("author:šimek", _("by this author or speaker; accents do not matter")),
    ("title:sparse", _("in the title")),
    ('topic:"computer vision"', _("on this topic")),
    ("award:outstanding", _("with this award")),
    ("year:2021-2023", _("from these years")),
]


@edition_page
def edition_search(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Search one edition, and what belongs to all years: people and pages."""
    return search_response(request, edition)


@require_safe
def site_search(request: HttpRequest) -> HttpResponse:
    """Search all years."""
    return search_response(request, None)


def search_response(request: HttpRequest, edition: Edition | None) -> HttpResponse:
    """Show one page of what was found; with a typing error, what the right spelling finds."""
    words, kind = request.GET.get("q", "")[:MAX_QUERY_CHARS].strip(), request.GET.get("kind", "")
    if kind and kind not in KINDS:
        raise BadParameter("kind", kind)
    is_current = refreshed()
    query, hits, is_corrected = found(parse(words), edition, kind, offset_of(request))
    page = page_of(request, range(hits.count), PAGE_SIZE)
    chosen = {"q": words, "kind": kind}
    context = {
        "search_text": words,
        "query": query,
        "understood": described(query),
        "corrected": str(query) if is_corrected else "",
        "hits": hits,
        "findings": search_results(hits.page, query, published_editions(request)),
        "page": page,
        "base_query": base_query(chosen),
        "kind": kind,
        "kinds": [(name, label, narrowed(words, name)) for name, label in {"": _("All"), **KINDS}.items()],
        "everywhere": f"{reverse('website:search')}{narrowed(words, kind)}",
        "operators": OPERATORS,
    }
    return is_cacheable_search(render(request, "website/search.html", context), is_current)


def is_cacheable_search(response: HttpResponse, is_current: bool) -> HttpResponse:
    """Let the response be cached until something changes, unless the index was behind."""
    if not is_current:
        patch_cache_control(response, private=True, no_cache=True)
    return response


def found(query: Query, edition: Edition | None, kind: str, offset: int) -> tuple[Query, Hits, bool]:
    """Return the words that were searched, the hits, and whether a typing error was corrected."""
    look = partial(
        find,
        edition=edition.pk if edition else None,
        kinds=[kind] if kind else [],
        limit=PAGE_SIZE,
        offset=offset,
    )
    hits = look(query)
    if hits.count or not query:
        return query, hits, False
    right = corrected(query)
    likely = look(right) if right else hits
    return (right, likely, True) if right and likely.count else (query, hits, False)


def offset_of(request: HttpRequest) -> int:
    """Return how many hits precede the page; whether it exists is known when they are counted."""
    number = request.GET.get("page", "1")
    return (int(number) - 1) * PAGE_SIZE if NUMBER.fullmatch(number) else 0


def narrowed(words: str, kind: str) -> str:
    """Return the search for these words, narrowed to a kind, as a query string."""
    return f"?{urlencode({name: value for name, value in (('q', words), ('kind', kind)) if value})}"


@edition_page
def edition_suggestions(request: HttpRequest, edition: Edition) -> HttpResponse:
    return suggestions(request, edition)


@require_safe
def site_suggestions(request: HttpRequest) -> HttpResponse:
    return suggestions(request, None)


def suggestions(request: HttpRequest, edition: Edition | None) -> HttpResponse:
    """Return the options of the list under the search box while somebody types; see static/js/search.js."""
    words, is_current = request.GET.get("q", ""), refreshed()
    hits = suggest(words, edition.pk if edition else None)
    shown = search_results(hits, parse(words), published_editions(request))
    context = {"findings": shown, "edition": edition}
    return is_cacheable_search(render(request, "website/_suggestions.html", context), is_current)


@require_safe
def opensearch(request: HttpRequest) -> HttpResponse:
    """Describe the search, so that browsers can offer it."""
    context = {"address": f"{settings.SITE_URL}{reverse('website:search')}"}
    kind = "application/opensearchdescription+xml; charset=utf-8"
    return render(request, "website/opensearch.xml", context, content_type=kind)
