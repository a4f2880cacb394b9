"""Search for papers in an edition by words and facets.

The list of papers, its files and the search of the edition have the same results in the same order. Words can
also name facets (`search.filters`), which links contain as parameters.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.utils.http import urlencode

from conference.models import Edition
from papers.catalog import Catalog
from papers.facets import FACETS, SORTS, PaperFilter
from papers.models import Authorship
from papers.search_words import SearchWords, search_words
from search.filters import Filter, Reading, read_filters
from search.freshness import update_index
from search.hits import Hits, find_or_correct, matching_keys
from search.query import MAX_QUERY_CHARS, Query, parse_query

# Removing a filter of these facets searches for its words instead, because they may occur in papers.
NAMED_FACETS = frozenset(("topic", "room"))
PLAIN_SEPARATOR = ","


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter of a search: the labels of its facet and value, and the query string without it."""

    label: str
    value: str
    query: str


def typed_words(parameters: QueryDict) -> tuple[str, list[str]]:
    """Return the words of a search, and its plain words, which are not read as filters."""
    # Remove null characters, which form fields reject.
    text, plain = (parameters.get(name, "").replace("\0", " ") for name in ("q", "plain"))
    return text[:MAX_QUERY_CHARS].strip(), [word for word in plain.split(PLAIN_SEPARATOR) if word.strip()]


class PaperSearch(PaperFilter):
    """Form of the words, facets and order of a list of papers. `look_up` runs the search.

    Facets that the words name count as chosen. By default, results are sorted by relevance if words are left,
    by time if all words name facets, and else by title.
    """

    # Labels of facets that differ from `FACETS`.
    CHIP_LABELS: ClassVar[dict[str, Any]] = {}
    # Parameters besides facets that the search form sends as hidden inputs.
    HIDDEN_PARAMETERS: ClassVar[tuple[str, ...]] = ("sort", "seed", "by", "view")

    def __init__(self, parameters: QueryDict, edition: Edition, at: datetime | None = None) -> None:
        self.edition, self.at = edition, at
        self.text, self.plain_words = typed_words(parameters)
        self.given_facets = [name for name in FACETS if parameters.get(self.add_prefix(name))]
        state = parameters.copy()
        state["plain"] = PLAIN_SEPARATOR.join(self.plain_words)
        for filter_ in self.reading.filters:
            state[self.add_prefix(filter_.facet)] = filter_.value
        super().__init__(state, edition, at)
        self.fields["plain"] = forms.CharField(required=False)
        self.order_fields(["q", "plain"])
        self.defaults["sort"] = self.default_sort
        self.ranks: dict[int, int] = {}
        self.matched_keys: Collection[int] = ()
        self.searched_query = Query()
        self.is_corrected = False

    @cached_property
    def words(self) -> SearchWords:
        return search_words(self.edition, self.at)

    @cached_property
    def reading(self) -> Reading:
        if not self.text:
            return Reading("")
        return read_filters(
            self.text, self.words.vocabulary, plain=self.plain_words, chosen=self.given_facets
        )

    def read_catalog(self) -> Catalog:
        """Return the catalog. With words, its facets include values that no paper has."""
        return self.words.catalog if self.text else super().read_catalog()

    @property
    def default_sort(self) -> str:
        return "relevance" if self.reading.words else "schedule" if self.text else "title"

    @property
    def sorts(self) -> dict[str, object]:
        relevance = {"relevance": SORTS["relevance"]} if self.paper_query else {}
        return {**relevance, **super().sorts}

    # Parameters

    def clean(self) -> None:
        """Remove the words that name facets from the words to search for."""
        if "q" in self.cleaned_data:
            self.cleaned_data["q"] = self.reading.words

    @property
    def is_narrowed(self) -> bool:
        return bool(self.values or self.text)

    @cached_property
    def paper_query(self) -> Query:
        return parse_query(self.reading.words)

    # Results

    def look_up(self) -> None:
        """Search for the words, if there are any, and correct typing errors."""
        if self.text:
            update_index()
        if self.paper_query:
            query, hits, self.is_corrected = find_or_correct(self.paper_query, self.edition.pk)
            self.add_hits(query, hits)

    def add_hits(self, query: Query, hits: Hits) -> None:
        """Store the search results. One query if the hits are capped, and one for papers of people.

        If the hits are people but no papers, use the papers of these people. A former name of an author has
        such hits.
        """
        self.searched_query = query
        papers = [hit.object_id for hit in hits.page if hit.kind == "paper"]
        self.ranks = {key: rank for rank, key in enumerate(papers)}
        self.matched_keys = matching_keys(query, self.edition.pk, "paper") if hits.capped else papers
        people = [hit.object_id for hit in hits.page if hit.kind == "person"]
        if people and not self.matched_keys:
            rows = Authorship.objects.published(self.at).filter(paper__edition=self.edition)
            self.matched_keys = [*rows.filter(person__in=people).order_by().values_list("paper", flat=True)]

    @cached_property
    def text_matches(self) -> int:
        """The bitmap of the papers that match the words. One query for each word if all are excluded."""
        numbers, query = self.catalog.numbers, self.paper_query
        if not self.text:
            return self.catalog.all_papers
        if query:
            return numbers.bits(self.matched_keys)
        bits = self.catalog.all_papers if self.values else 0
        for term in query.excluded if bits else ():
            term_query = Query((replace(term, excluded=False),))
            bits &= ~numbers.bits(matching_keys(term_query, self.edition.pk, "paper"))
        return bits

    @cached_property
    def keys(self) -> list[int]:
        """The primary keys of the matching papers, in order."""
        chosen = self.chosen
        sort = chosen["sort"] or self.default_sort
        return self.catalog.sorted_keys(
            self.matching, sort, chosen.get("seed", ""), chosen.get("by", ""), self.ranks
        )

    # Links

    @property
    def chips(self) -> list[Chip]:
        """The chosen facets."""
        filters = {filter_.facet: filter_ for filter_ in self.reading.filters}
        return [
            Chip(
                str(self.CHIP_LABELS.get(name, FACETS[name])),
                self.label(name, value),
                self.query_without(filters[name]) if name in filters else self._toggle_query(name, value),
            )
            for name, values in self.values.items()
            for value in values
        ]

    @property
    def removable_chips(self) -> list[Chip]:
        """The words, then the chosen facets."""
        label, words = str(self.fields["q"].label), self.reading.words
        return [*([Chip(label, words, self.query(without=["q", "plain"]))] if words else []), *self.chips]

    def label(self, name: str, value: str) -> str:
        if name != "institution":
            return self.catalog.facets[name][value].label
        # The catalog has no names of institutions. `facets` fetches them.
        facets = (facet for facet in self.facets if facet.name == name)
        return next(choice.label for facet in facets for choice in facet.chosen)

    def query_without(self, filter_: Filter) -> str:
        """Return the query string without a filter. It searches for a topic's or room's name as words."""
        if filter_.is_explicit or filter_.facet not in NAMED_FACETS:
            return self.query(without=[filter_.facet])
        others = [other for other in self.reading.filters if other != filter_]
        plain_words = [*self.plain_words, self.reading.source_text(filter_)]
        return self.query(
            without=[filter_.facet], q=self.reading.without(others), plain=PLAIN_SEPARATOR.join(plain_words)
        )

    @property
    def plain_query(self) -> str:
        """Return the query string that searches for the words of filters as plain words."""
        plain = PLAIN_SEPARATOR.join([*self.plain_words, *self.reading.filter_words])
        return urlencode([("q", self.text), ("plain", plain), *self.hidden_parameters])

    @property
    def hidden_parameters(self) -> list[tuple[str, str]]:
        """The parameters of the hidden inputs of the search form."""
        names = [self.add_prefix(name) for name in [*self.given_facets, *self.HIDDEN_PARAMETERS]]
        return [(name, value) for name in names for value in self.parameters.getlist(name) if value]
