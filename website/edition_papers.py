"""The search for papers within the search of an edition."""

from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from functools import cached_property
from typing import Any, ClassVar

from django import forms
from django.db.models import Q
from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from pagecache.keys import SEARCH_PARAMETERS
from papers.catalog import Catalog
from papers.facets import FACETS, SORTS
from papers.paper_search import PaperSearch, typed_words
from schedule.models import Presentation, Session
from schedule.querysets import BREAK_KINDS, of_kind
from search.hits import RowKey
from search.query import Query, Term, parse_query

# The parameter `kind` is taken: it selects the tab, such as papers or people.
PARAMETERS = {"kind": "as", "tab": "kind"}
SEARCH_PARAMETERS.update({"plain", "sort", *(PARAMETERS.get(name, name) for name in FACETS)})
SEARCH_SORTS = ("relevance", "title", "schedule", "board")
# These facets filter sessions and talks as well as papers.
TIMED_FACETS = frozenset(("day", "room", "kind"))
TIMED_KINDS = ("session", "talk")


class EditionPapers(PaperSearch):
    """Form of the words, facets and order of a search in an edition. `add_hits` sets the results."""

    PARAMETERS: ClassVar[Mapping[str, str]] = PARAMETERS
    # The facet also applies to sessions, which the label “Presented as” does not fit.
    CHIP_LABELS: ClassVar[dict[str, object]] = {"kind": _("Kind")}
    HIDDEN_PARAMETERS: ClassVar[tuple[str, ...]] = ("tab",)

    def __init__(
        self, parameters: QueryDict, edition: Edition, tabs: Iterable[str], at: datetime | None = None
    ) -> None:
        # Truncate long searches instead of rejecting them.
        truncated = parameters.copy()
        truncated["q"], _plain_words = typed_words(parameters)
        super().__init__(truncated, edition, at)
        self.fields["q"] = forms.CharField(required=False)
        self.fields["tab"] = forms.ChoiceField(choices=[(tab, tab) for tab in tabs], required=False)
        self.fields["sort"] = forms.ChoiceField(
            choices=[(name, SORTS[name]) for name in SEARCH_SORTS], required=False
        )
        for name in ("seed", "by", "view"):
            del self.fields[name]
        self.order_fields(["q", "plain", "tab", *FACETS, "sort"])

    def read_catalog(self) -> Catalog:
        return self.words.catalog

    @property
    def default_sort(self) -> str:
        return "relevance" if self.reading.words else "schedule"

    # The search

    @cached_property
    def other_query(self) -> Query:
        """The query for people, sessions and pages, in which names of topics are plain words."""
        return parse_query(self.unfiltered)

    @property
    def has_criteria(self) -> bool:
        """Whether the search has a word or a filter."""
        return bool(self.paper_query or self.values)

    @property
    def timed_values(self) -> dict[str, str]:
        """The chosen filters of sessions and talks."""
        return {name: self.values[name][0] for name in TIMED_FACETS if name in self.values}

    @property
    def has_paper_facet(self) -> bool:
        """Whether a facet was chosen that only papers have."""
        names_topic = any(
            filter_.facet == "topic" and not filter_.is_explicit for filter_ in self.reading.filters
        )
        return bool(self.values.keys() - TIMED_FACETS - ({"topic"} if names_topic else set()))

    def useful_terms(self, found: Mapping[Term, Collection[RowKey]]) -> list[Term]:
        """Return the terms without which anything is found, not only papers. At most two queries."""
        useful = super().useful_terms(found)
        if not self.has_paper_facet and len(useful) < len(found):
            others = self._timed_rows(found) if self.timed_values else found
            useful = [term for term in found if term in useful or others[term]]
        return useful

    def _timed_rows(self, found: Mapping[Term, Collection[RowKey]]) -> Mapping[Term, Collection[RowKey]]:
        """Return the sessions and talks under the filters; all of them if no other words are left."""
        rows: set[RowKey] = set()
        for kind in TIMED_KINDS:
            matching = timed_rows(kind, self.edition, self.timed_values, self.at).order_by()
            rows.update((kind, key) for key in matching.values_list("pk", flat=True))
        return {
            term: rows.intersection(keys) if self.paper_query.without(term) else rows
            for term, keys in found.items()
        }

    # Links

    @property
    def display_links(self) -> dict[str, list[tuple[str, str, bool]]]:
        sorts = {name: label for name, label in self.sorts.items() if name in SEARCH_SORTS}
        return {"sort": self.option_links("sort", sorts)} if len(sorts) > 1 else {}

    @property
    def unfiltered(self) -> str:
        """The words without those that were read as filters, except names of topics."""
        return self.reading.without(
            filter_ for filter_ in self.reading.filters if filter_.facet != "topic" or filter_.is_explicit
        )

    @property
    def unfiltered_address(self) -> str:
        return f"?{urlencode({'q': self.unfiltered, 'plain': self.unfiltered})}"


def timed_rows(kind: str, edition: Edition, values: dict[str, str], at: datetime | None) -> Any:
    """Return the public sessions, or talks without a paper, of a day, room and kind, by time."""
    room = values.get("room", "")
    if kind == "session":
        rows: Any = Session.objects.published(at).filter(edition=edition).in_order()
        start = "start"
        in_room = Q(room__slug=room)
        if values.keys() == {"day"}:
            rows = rows.exclude(counts_as__in=BREAK_KINDS)
    else:
        rows = Presentation.objects.published(at).filter(edition=edition, paper=None).with_beginning()
        start = "begins"
        in_room = Q(room__slug=room) | Q(room__isnull=True, session__room__slug=room)
    if "day" in values:
        first, last = edition.day_bounds(date.fromisoformat(values["day"]))
        rows = rows.filter(**{f"{start}__gte": first, f"{start}__lt": last})
    if room:
        rows = rows.filter(in_room)
    if "kind" in values:
        rows = rows.filter(of_kind(values["kind"]))
    return rows
