"""Views of the search: result pages, suggestions while typing, and the OpenSearch description."""

from collections.abc import Sequence
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from conference.models import Edition
from conference.request_edition import edition_page, published_editions
from content.pagination import paginate
from operations.indexing.update import is_current as is_index_current
from search.hits import find_or_correct, suggest
from search.query import MAX_QUERY_CHARS, describe_query, parse_query
from website.edition_search import EditionSearch, examples
from website.jumps import Jump, find_jumps
from website.search_results import suggested_results
from website.site_search import SiteSearch

PAGE_SIZE = 20
# The search operators, with their meanings.
OPERATORS = [
    ('"graph neural networks"', _("this exact phrase")),
    ("compil", _("words that begin this way: compiler, compilation")),
    ("-survey", _("without this word")),
    ("author:šimek", _("by this author or speaker; accents do not matter")),
    ("title:sparse", _("in the title")),
    ('topic:"computer vision"', _("on this topic")),
    ("award:outstanding", _("with this award")),
    ("year:2021-2023", _("from these years")),
]
# Operators of the search of an edition only.
EDITION_OPERATORS = [
    ("day:wednesday", _("on this day; the weekday or date alone also works")),
    ('room:"hall a"', _("in this room")),
    ("kind:poster", _("presented this way; “posters” alone also works")),
]
# Operators of the search of all years only.
SITE_OPERATORS = [("edition:2021", _("of this year; its name alone also works"))]


@require_safe
def site_search(request: HttpRequest) -> HttpResponse:
    """Show the results from all years by kind. Years and topics can filter them."""
    is_current, editions = is_index_current(), published_editions(request)
    search = SiteSearch(request.GET, editions)
    query, hits, is_corrected = find_or_correct(search.paper_query)
    search.add_hits(query, hits)
    context = {
        "chooser": search,
        "feed_query": search.unfiltered if query else "",
        "corrected": str(query) if is_corrected else "",
        "operators": [*OPERATORS, *SITE_OPERATORS],
        **results_context(request, search, search.text),
    }
    return is_cacheable_search(render(request, "website/search.html", context), is_current)


def results_context(request: HttpRequest, search: EditionSearch | SiteSearch, text: str) -> dict[str, object]:
    """Return the template context that the result pages of both searches share."""
    page = paginate(request, search.keys[search.tab or "paper"], PAGE_SIZE)
    return {
        "search_text": text,
        "search": search,
        "query": search.has_criteria,
        "query_description": describe_query(search.query),
        "page": page,
        "sections": search.sections(page, published_editions(request)),
        "base_query": search.text_query(),
        "tab": search.tab,
        "tabs": search.tabs(),
    }


@edition_page
def edition_search(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show the results from an edition, with people and the pages of all years.

    Papers can be filtered and sorted as in their list, and sessions and talks filtered by day, room and kind.
    """
    is_current = is_index_current()
    search = EditionSearch(request.GET, edition, timezone.now())
    query, hits, is_corrected = find_or_correct(search.papers.other_query, edition.pk)
    search.add_hits(query, hits)
    text = search.papers.text
    context = {
        "chooser": search.papers,
        # The feed covers all years, so it ignores days and rooms.
        "feed_query": search.papers.unfiltered if query else "",
        "corrected": str(query) if is_corrected else "",
        "all_years_url": f"{reverse('website:search')}{search_query_string(text, search.tab)}",
        "operators": [*OPERATORS, *EDITION_OPERATORS],
        "examples": () if text or search.papers.values else examples(search.papers),
        **results_context(request, search, text),
    }
    return is_cacheable_search(render(request, "website/edition_search.html", context), is_current)


def is_cacheable_search(response: HttpResponse, is_current: bool) -> HttpResponse:
    """Allow caching the response until something changes, unless the index is out of date."""
    if not is_current:
        patch_cache_control(response, private=True, no_cache=True)
    return response


def search_query_string(text: str, kind: str) -> str:
    return f"?{urlencode({name: value for name, value in (('q', text), ('kind', kind)) if value})}"


@require_safe
def site_suggestions(request: HttpRequest) -> HttpResponse:
    """Return the options of the list under the search box. `static/js/search.js` requests it while typing."""
    text, is_current = request.GET.get("q", "")[:MAX_QUERY_CHARS].strip(), is_index_current()
    found, query = [hit.row for hit in suggest(text)], parse_query(text)
    context = {
        "results": suggested_results(found, query, published_editions(request)),
        "has_results": bool(query),
        **suggestions_context(text, find_jumps(request, text), reverse("website:search")),
    }
    return is_cacheable_search(render(request, "website/_suggestions.html", context), is_current)


def suggestions_context(text: str, pages: Sequence[Jump], address: str) -> dict[str, object]:
    """Return the template context of suggestions except the results. Likely pages precede the results."""
    return {
        "search_text": text,
        "first_jumps": [page for page in pages if page.is_likely],
        "jumps": [page for page in pages if not page.is_likely],
        "results_address": f"{address}{search_query_string(text, '')}",
    }


@edition_page
def edition_suggestions(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Return the options in an edition: pages, and results under the filters that the words name."""
    is_current = is_index_current()
    search = EditionSearch(request.GET, edition, timezone.now())
    found, query = search.suggestions()
    text = search.papers.text
    context = {
        "results": suggested_results(found, query, published_editions(request), edition),
        "chips": search.papers.chips,
        "has_results": search.papers.has_criteria,
        **suggestions_context(
            text, find_jumps(request, text, search.papers), request.path.removesuffix("suggest")
        ),
    }
    return is_cacheable_search(render(request, "website/_suggestions.html", context), is_current)


@require_safe
def opensearch(request: HttpRequest) -> HttpResponse:
    """Describe the search, so that browsers can offer it."""
    context = {"address": f"{settings.SITE_URL}{reverse('website:search')}"}
    kind = "application/opensearchdescription+xml; charset=utf-8"
    return render(request, "website/opensearch.xml", context, content_type=kind)
