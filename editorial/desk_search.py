"""A search in the rows of the admin's lists: papers, people, sessions, talks and pages, including drafts.

Public rows are found by the full-text index, best first, all others by the search of their lists. The index
is not updated first: that can take seconds after a large change, and the lists find all rows anyway. Each app
registers its searched models in its `admin`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from django.contrib.admin import AdminSite
from django.db.models import Case, Model, Q, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext

from accounts.access_scope import lookup_of
from editorial.current_edition import edition_of, requested_edition
from editorial.lists import search_words
from search.hits import MAX_HITS, find_documents
from search.query import MAX_QUERY_CHARS, parse_query

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    from conference.models import Edition

# The maximum number of shown rows of a kind; the others are on the kind's list.
MAX_ROWS = 8
# The maximum number of rows of a kind from the index, before rows that the user may not see are removed.
MAX_RANKED = 50


@dataclass(frozen=True, slots=True, eq=False)
class SearchedRows:
    """A searched model; `kind` is its name in the full-text index."""

    model: type[Model]
    kind: str
    title: StrPromise | str
    narrow: Callable[[Any], QuerySet[Any]] = lambda rows: rows
    related: tuple[str, ...] = ()
    position: int = 50


SEARCHED: list[SearchedRows] = []


@dataclass(frozen=True, slots=True)
class FoundRow:
    label: str
    # The edition, and the status unless it is published.
    details: tuple[str, ...]
    address: str


@dataclass(frozen=True, slots=True)
class FoundRows:
    """The found rows of a kind; `more` is the address of the list if there are more of them, else empty."""

    kind: str
    title: StrPromise | str
    rows: list[FoundRow]
    more: str


def desk_search(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """Show the rows that match the words and that the user may see, those of the working edition first."""
    text = request.GET.get("q", "").replace("\x00", "").strip()[:MAX_QUERY_CHARS]
    edition = requested_edition(request)
    context = site.each_context(request) | {
        "title": gettext("Search"),
        # The search bar on every page of the admin shows it, so no other page may use the name.
        "desk_search_text": text,
        "edition": edition,
        "results": list(found_rows(request, site, text, edition)) if search_words(text) else [],
    }
    return TemplateResponse(request, "admin/desk_search.html", context)


def found_rows(
    request: HttpRequest, site: AdminSite, text: str, edition: Edition | None
) -> Iterator[FoundRows]:
    """Yield the kinds with matching rows. One query for each kind, besides those of the index."""
    hits = find_documents(
        parse_query(text), kinds=[searched.kind for searched in SEARCHED], limit=MAX_HITS
    ).page
    for searched in sorted(SEARCHED, key=attrgetter("position")):
        model_admin = site.get_model_admin(searched.model)
        if not model_admin.has_view_permission(request):
            continue
        ranked = [hit.object_id for hit in hits if hit.kind == searched.kind][:MAX_RANKED]
        rows = searched.narrow(model_admin.get_queryset(request))
        # Only `rows` is limited to visible rows: two such conditions are nested too deeply for SQLite.
        all_rows = searched.narrow(searched.model._default_manager.order_by())
        matched, _spawns = model_admin.get_search_results(request, all_rows, text)
        matching = rows.filter(Q(pk__in=ranked) | Q(pk__in=matched.values("pk")))
        if searched.related:
            matching = matching.select_related(*searched.related)
        best = matching.order_by(*result_order(searched.model, ranked, edition))
        top_rows = list(best[: MAX_ROWS + 1])
        if top_rows:
            lines = [found_row(row) for row in top_rows[:MAX_ROWS]]
            more = list_address(searched.model, text) if len(top_rows) > MAX_ROWS else ""
            yield FoundRows(searched.kind, searched.title, lines, more)


def result_order(model: type[Model], ranked: list[int], edition: Edition | None) -> list[Any]:
    """Sort by working edition first, then by rank in the index, then the newest first."""
    terms: list[Any] = []
    if edition and lookup_of(model):
        terms.append(Case(When(edition=edition.pk, then=Value(0)), default=Value(1)))
    if ranked:
        ranks = [When(pk=key, then=Value(rank)) for rank, key in enumerate(ranked[:MAX_ROWS])]
        terms.append(Case(*ranks, When(pk__in=ranked, then=Value(MAX_ROWS)), default=Value(MAX_ROWS + 1)))
    return [*terms, "-pk"]


def found_row(row: Any) -> FoundRow:
    meta = row._meta
    edition = edition_of(row)
    details = [str(edition)] if edition else []
    if getattr(row, "status", "published") != "published":
        details.append(str(row.get_status_display()))
    address = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
    return FoundRow(str(row) or gettext("Without a title"), tuple(details), address)


def list_address(model: type[Model], text: str) -> str:
    meta = model._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist", query={"q": text})
