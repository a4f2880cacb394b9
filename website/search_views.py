"""The search page, what is found while somebody types, and the description that browsers read."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import OuterRef, Prefetch, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

import markup
from conference.models import Edition, Page
from conference.request_edition import edition_page, published_editions
from content.pagination import NUMBER, BadParameter, base_query, page_of
from operations.indexing.update import refreshed
from papers.models import Paper
from people.models import Person
from people.querysets import with_shown_names
from schedule.models import Presentation, Session, Speaker
from search.highlighting import excerpt, highlight
from search.hits import Hit, Hits, corrected, find, suggest
from search.query import MAX_QUERY_CHARS, Field, Query, described, parse

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
# What can be found, in the words of the links that narrow a search to it.
KINDS = {
    "paper": _("Papers"),
    "person": _("People"),
    "session": _("Sessions"),
    "talk": _("Talks"),
    "page": pgettext_lazy("of the site", "Pages"),
}


@require_safe
def site_search(request: HttpRequest, edition: Edition | None = None) -> HttpResponse:
    """Show one page of what was found; with a typing error, what the right spelling finds.

    The search of an edition also finds what belongs to all years: people and pages.
    """
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
    right = corrected(query) if query and not hits.count else None
    likely = look(right) if right else hits
    return (right, likely, True) if right and likely.count else (query, hits, False)


def offset_of(request: HttpRequest) -> int:
    """Return how many hits precede the page; whether it exists is known when they are counted."""
    number = request.GET.get("page", "1")
    return (int(number) - 1) * PAGE_SIZE if NUMBER.fullmatch(number) else 0


def narrowed(words: str, kind: str) -> str:
    return f"?{urlencode({name: value for name, value in (('q', words), ('kind', kind)) if value})}"


@require_safe
def site_suggestions(request: HttpRequest, edition: Edition | None = None) -> HttpResponse:
    """Return the options of the list under the search box while somebody types; see static/js/search.js."""
    words, is_current = request.GET.get("q", ""), refreshed()
    hits = suggest(words, edition.pk if edition else None)
    shown = search_results(hits, parse(words), published_editions(request))
    context = {"findings": shown, "edition": edition}
    return is_cacheable_search(render(request, "website/_suggestions.html", context), is_current)


edition_search, edition_suggestions = edition_page(site_search), edition_page(site_suggestions)


@require_safe
def opensearch(request: HttpRequest) -> HttpResponse:
    """Describe the search, so that browsers can offer it."""
    context = {"address": f"{settings.SITE_URL}{reverse('website:search')}"}
    kind = "application/opensearchdescription+xml; charset=utf-8"
    return render(request, "website/opensearch.xml", context, content_type=kind)


# Results


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One thing that was found: what it is, its marked title, its people with their addresses, a passage."""

    kind: str
    title: SafeString
    url: str
    edition: Edition | None = None
    people: Sequence[tuple[SafeString, str]] = ()
    passage: SafeString | str = ""
    start: datetime | None = None
    end: datetime | None = None
    awards: Sequence[tuple[str, str]] = ()
    note: str = ""


def search_results(hits: Collection[Hit], query: Query, editions: Iterable[Edition]) -> list[SearchResult]:
    """Return the results for these hits in their order, where public, in these editions.

    A query or two for each kind of thing, three for papers.
    """
    known = {edition.pk: edition for edition in editions}
    found: dict[Hit, Any] = {}
    for kind in KINDS:
        of_kind = {hit.object_id: hit for hit in hits if hit.kind == kind}
        rows = public_rows(kind).filter(pk__in=of_kind) if of_kind else ()
        found |= {of_kind[row.pk]: row for row in rows}
    results = []
    for hit in hits:
        row = found.get(hit)
        key = getattr(row, "edition_id", None)
        if row is not None and (key is None or key in known):
            results.append(search_result(hit.kind, row, query, known.get(key or 0)))
    return results


def public_rows(kind: str) -> Any:
    """Return the public rows of a kind, with what a result shows of them."""
    match kind:
        case "paper":
            talks = Presentation.objects.published().filter(paper=OuterRef("pk")).with_beginning()
            first = talks.filter(called_off=False, begins__isnull=False).values("begins")[:1]
            rows = Paper.objects.published().select_related("topic").with_authors().with_awards()
            return rows.annotate(begins=Subquery(first))
        case "session":
            return Session.objects.published().with_called_off().with_people()
        case "talk":
            speakers = with_shown_names(Speaker.objects.published()).order_by("position", "pk")
            spoken = Presentation.objects.published().filter(paper=None).with_beginning()
            spoken = spoken.prefetch_related(Prefetch("speakers", speakers, "shown_speakers"))
            return spoken.select_related("session")
        case "person":
            return Person.objects.published()
        case _:
            return Page.objects.published()


def search_result(kind: str, row: Any, query: Query, edition: Edition | None) -> SearchResult:
    if kind == "person":
        title, passage = highlight(row.name, query, Field.PEOPLE), highlight(row.affiliation, query)
        return SearchResult(gettext("Person"), title, row.get_absolute_url(), passage=passage)
    if edition:
        row.edition = edition
    if kind == "page":
        label, title = pgettext("of the site", "Page"), highlight(row.title, query, Field.TITLE)
        passage = excerpt(markup.plain(row.body), query)
        return SearchResult(label, title, row.get_absolute_url(), edition, passage=passage)
    title = highlight(markup.plain(row.title), query, Field.TITLE)
    passage = excerpt(markup.plain(row.abstract), query)
    if kind == "paper":
        return SearchResult(
            gettext("Paper"),
            title,
            row.get_absolute_url(),
            edition,
            credits_of(row.shown_authors, query),
            passage,
            row.begins,
            awards=[(grant.award.name, grant.award.get_absolute_url()) for grant in row.shown_grants],
            note=row.topic.name if row.topic else "",
        )
    if kind == "session":
        people, start, end, url = row.shown_roles, row.start, row.end, row.get_absolute_url()
    else:
        people, start, end = row.shown_speakers, row.starts, row.ends
        if row.session:
            row.session.edition = edition
        url = row.get_absolute_url() + (f"#talk-{row.uid}" if row.session else "")
    return SearchResult(
        row.get_kind_display(),
        title,
        url,
        edition,
        credits_of(people, query),
        passage,
        start,
        end,
        note=gettext("Cancelled") if row.called_off else "",
    )


def credits_of(people: Iterable[Any], query: Query) -> list[tuple[SafeString, str]]:
    """Return the names as shown, marked, each with the address of its person."""
    return [(highlight(one.shown_name, query, Field.PEOPLE), one.person.get_absolute_url()) for one in people]
