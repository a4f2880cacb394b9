"""Search for papers in an edition by words and facets.

The list of papers, its files and the search of the edition have the same results in the same order. Words can
also name facets (`search.filters`), which links contain as parameters.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from conference.models import Edition
from content.pagination import BadParameter
from papers.catalog import Catalog, FacetValue, catalog
from papers.facets import FACETS, GROUPS, SORTS, VIEWS, Facet, FacetChoice
from papers.models import Authorship
from papers.rows import PaperRow
from papers.search_words import SearchWords, search_words
from people.models import Institution
from search.filters import Filter, Reading, read_filters
from search.freshness import check_index
from search.hits import Hits, RowKey, find_or_correct, found_without, matching_keys
from search.query import MAX_QUERY_CHARS, Query, Term, parse_query

MAX_WORDS = 100
# The number of institutions to choose from.
MAX_CHOICES = 50
MAIN_TRACK = _("Main track")
NO_TOPIC = _("Other papers")
# Removing a filter of these facets searches for its words instead, because they may occur in papers.
NAMED_FACETS = frozenset(("topic", "room"))
PLAIN_SEPARATOR = ","
# Choices with their numbers of papers.
type Counted = list[tuple[FacetValue, int]]


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


class PaperSearch(forms.Form):
    """Form of the words, facets, order, groups and view of a list of papers. `look_up` runs the search.

    Facets that the words name count as chosen. By default, results are sorted by relevance if words are left,
    by time if all words name facets, and else by title. Unknown parameters are ignored.

    Every state of the list has one address: parameters are in the order of the fields, without defaults.
    """

    # Parameters of fields whose own names are used for other parameters.
    PARAMETERS: ClassVar[Mapping[str, str]] = {}
    # Labels of facets that differ from `FACETS`.
    CHIP_LABELS: ClassVar[dict[str, Any]] = {}
    # Parameters besides facets that the search form sends as hidden inputs.
    HIDDEN_PARAMETERS: ClassVar[tuple[str, ...]] = ("sort", "seed", "by", "view")

    q = forms.CharField(label=_("Words"), max_length=MAX_WORDS, required=False)
    plain = forms.CharField(widget=forms.HiddenInput, required=False)
    sort = forms.ChoiceField(label=_("Sort"), choices=[*SORTS.items()], required=False)
    seed = forms.RegexField(
        "^[1-9][0-9]{0,5}$",
        label=SORTS["random"],
        required=False,
        error_messages={"invalid": _("Enter a number up to 999999.")},
    )
    by = forms.ChoiceField(label=_("Group"), choices=[*GROUPS.items()], required=False)
    view = forms.ChoiceField(label=pgettext_lazy("noun", "View"), choices=[*VIEWS.items()], required=False)

    def __init__(self, parameters: QueryDict, edition: Edition, at: datetime | None = None) -> None:
        self.edition, self.at = edition, at
        self.text, self.plain_words = typed_words(parameters)
        self.given_facets = [name for name in FACETS if parameters.get(self.add_prefix(name))]
        self.parameters = parameters.copy()
        self.parameters["plain"] = PLAIN_SEPARATOR.join(self.plain_words)
        for filter_ in self.reading.filters:
            self.parameters[self.add_prefix(filter_.facet)] = filter_.value
        super().__init__(self.parameters)
        self.catalog = self.read_catalog()
        for name in FACETS:
            field = forms.MultipleChoiceField if name == "has" else forms.ChoiceField
            choices = self.catalog.facets[name].values()
            options = [(choice.value, choice.label) for choice in choices]
            self.fields[name] = field(choices=options, required=False)
        self.order_fields(["q", "plain", *FACETS, "sort", "seed", "by", "view"])
        # Addresses omit parameters with these values.
        self.defaults = {"sort": self.default_sort, "view": "compact"}
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
        return self.words.catalog if self.text else catalog(self.edition, self.at)

    @property
    def default_sort(self) -> str:
        return "relevance" if self.reading.words else "schedule" if self.text else "title"

    # Parameters

    def add_prefix(self, field_name: str) -> str:
        """Return the parameter of a field."""
        return self.PARAMETERS.get(field_name, field_name)

    @property
    def chosen(self) -> dict[str, Any]:
        """The cleaned parameters; raises `BadParameter` for the first invalid one."""
        for name, errors in self.errors.items():
            parameter = self.add_prefix(name)
            values = [value for value in self.parameters.getlist(parameter) if value] or [""]
            raise BadParameter(parameter, values[-1], f"{errors[0]}")
        return self.cleaned_data

    @cached_property
    def values(self) -> dict[str, list[str]]:
        """The chosen values of each facet, those of `has` in the order of the catalog."""
        chosen = self.chosen
        values = {name: [chosen[name]] for name in FACETS if name != "has" and chosen[name]}
        has = [kind for kind in self.catalog.facets["has"] if kind in chosen["has"]]
        return {**values, "has": has} if has else values

    def query(self, without: Iterable[str] = (), **changes: str | list[str]) -> str:
        """Return the query string of the first page, with these changes and `without` some parameters."""
        state = {**self.chosen, **self.values, **changes}
        omitted = {*without} if state["sort"] == "random" else {*without, "seed"}
        parameters = {
            self.add_prefix(name): state[name]
            for name in self.fields
            if name not in omitted and state[name] and state[name] != self.defaults.get(name)
        }
        return urlencode(parameters, doseq=True)

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
            check_index()
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

    @property
    def matching(self) -> int:
        """The bitmap of the matching papers."""
        return self.catalog.matching(self.values) & self.text_matches

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

    # Without results

    @cached_property
    def ways_out(self) -> list[tuple[str, str]]:
        """The words and filters without any of which something is found: as typed, the query string without.

        At most two queries; subclasses that find more than papers may need more.
        """
        query = self.paper_query
        found = found_without(query, self.edition.pk) if len(query.required) > 1 else {}
        if len(query.required) == 1 and self.values:
            found = {query.required[0]: []}
        words = [
            (
                term.text,
                self.query(q=query.without(term).source, plain=PLAIN_SEPARATOR.join(self.plain_words)),
            )
            for term in self.useful_terms(found)
        ]
        filters = [
            (self.label(name, value), self._toggle_query(name, value))
            for name, values in self.values.items()
            for value in values
            if self.catalog.matching(self._values_without(name, value)) & self.text_matches
        ]
        return [*words, *filters]

    def useful_terms(self, found: Mapping[Term, Collection[RowKey]]) -> list[Term]:
        """Return the terms without which papers are found under the filters.

        The rows of a term match the other words. Without other words, all papers under the filters are found.
        """
        numbers, papers = self.catalog.numbers, self.catalog.matching(self.values)
        bits = {
            term: numbers.bits([key for kind, key in rows if kind == "paper"])
            if self.paper_query.without(term)
            else papers
            for term, rows in found.items()
        }
        return [term for term, matches in bits.items() if matches & papers]

    def _values_without(self, name: str, value: str) -> dict[str, list[str]]:
        values = {**self.values, name: [other for other in self.values[name] if other != value]}
        return {name: chosen for name, chosen in values.items() if chosen}

    # Choices

    @cached_property
    def facets(self) -> list[Facet]:
        """The facets with several choices or a chosen one. Choices without papers are omitted."""
        facets = [Facet(name, str(label), self._choices(name)) for name, label in FACETS.items()]
        return [facet for facet in facets if len(facet.choices) > 1 or facet.chosen]

    def _choices(self, name: str) -> list[FacetChoice]:
        chosen = self.values.get(name, [])
        # A paper can have several materials, so chosen kinds limit the counts of the other kinds.
        papers = self.catalog.matching(self.values, ignored="" if name == "has" else name) & self.text_matches
        counted = [
            (choice, number)
            for choice in self.catalog.facets[name].values()
            if (number := (choice.bits & papers).bit_count()) or choice.value in chosen
        ]
        if name == "topic":
            # Offer top-level topics, and the subtopics of the chosen topic and of its ancestors.
            open_parents = {"", *(parent for slug in chosen for parent in self._branch(slug))}
            counted = [(choice, number) for choice, number in counted if choice.parent in open_parents]
        elif name == "institution":
            counted = self._most_frequent(counted, chosen)
        return [
            FacetChoice(
                choice.label,
                number,
                self._toggle_query(name, choice.value),
                choice.value in chosen,
                len(self._branch(choice.parent)),
                choice.value,
            )
            for choice, number in counted
        ]

    def _toggle_query(self, name: str, value: str) -> str:
        chosen = self.values.get(name, [])
        if name == "has":
            return self.query(has=sorted({*chosen} ^ {value}, key=list(self.catalog.facets["has"]).index))
        return self.query(without=[name]) if value in chosen else self.query(**{name: value})

    def _branch(self, slug: str) -> list[str]:
        """Return the slugs of a topic and of those above it. Empty if there is no such topic."""
        topics, branch = self.catalog.facets["topic"], []
        while slug in topics:
            branch.append(slug)
            slug = topics[slug].parent
        return branch

    def _most_frequent(self, counted: Counted, chosen: list[str]) -> Counted:
        """Return the institutions with the most papers, with their current names. At most one query."""
        ranked = sorted(counted, key=lambda pair: (pair[0].value not in chosen, -pair[1]))[:MAX_CHOICES]
        rows = Institution.objects.filter(slug__in=[choice.value for choice, _ in ranked])
        names = dict(rows.values_list("slug", "name"))
        return [(replace(choice, name=names.get(choice.value, "")), number) for choice, number in ranked]

    # Order and groups

    @property
    def display_links(self) -> dict[str, list[tuple[str, str, bool]]]:
        """Links to other sort orders, groups and views: label, query string, whether it is current."""
        facets = self.catalog.facets
        groups = {"": _("One list"), **{name: label for name, label in GROUPS.items() if facets[name]}}
        options: dict[str, Mapping[str, object]] = {"sort": self.sorts, "by": groups, "view": VIEWS}
        return {name: self.option_links(name, labels) for name, labels in options.items() if len(labels) > 1}

    @property
    def sorts(self) -> dict[str, object]:
        """The sort orders for which the papers have data, and by relevance if there are words."""
        has_data = {
            "relevance": bool(self.paper_query),
            "schedule": bool(self.catalog.facets["day"]),
            "board": self.catalog.has_boards,
        }
        return {name: label for name, label in SORTS.items() if has_data.get(name, True)}

    def option_links(self, name: str, labels: Mapping[str, object]) -> list[tuple[str, str, bool]]:
        """Return links to the values of a parameter: label, query, whether it is current."""
        current = self.chosen[name] or self.defaults.get(name, "")
        return [
            (str(label), self.query(without=["seed"], **{name: value}), value == current)
            for value, label in labels.items()
        ]

    def groups(self, page: Iterable[PaperRow]) -> dict[str, list[PaperRow]]:
        """Return the papers of a page by their topics or tracks. Empty if they are not grouped."""
        groups: dict[str, list[PaperRow]] = {}
        topics = self.catalog.facets["topic"]
        for paper in page if self.chosen["by"] else ():
            if self.chosen["by"] == "track":
                name = paper.track or str(MAIN_TRACK)
            else:
                branch = self._branch(paper.topic.slug if paper.topic else "")
                name = " / ".join(topics[slug].label for slug in reversed(branch)) or str(NO_TOPIC)
            groups.setdefault(name, []).append(paper)
        return groups

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
