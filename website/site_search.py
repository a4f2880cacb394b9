"""The search in all years. It has the facets of the search of an edition, but reads them from the index."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content.pagination import BadParameter
from content.querysets import public_parts
from pagecache.keys import SEARCH_PARAMETERS
from papers.facets import FACETS, Facet, FacetChoice
from papers.models import Topic
from papers.paper_search import PLAIN_SEPARATOR, Chip, typed_words
from search.engine import area_key, area_word, edition_word, kind_word
from search.filters import Reading, read_filters, site_vocabulary
from search.hits import MAX_HITS, Hit, Hits, count_by_scope, find_documents, found_without
from search.query import Query, parse_query
from website.search_results import KINDS
from website.search_sections import BEST_HITS, SHOWN_PER_KIND, ResultSections

# The parameter `edition` is taken: it selects the edition whose menu a page of all years shows.
PARAMETERS = {"edition": "in", "area": "topic"}
SEARCH_PARAMETERS.update(PARAMETERS.values())
LABELS = {"edition": _("Year"), "area": FACETS["topic"]}


class SiteSearch(ResultSections):
    """A search in all editions, with the primary keys of the best results by kind."""

    # There is only one order of results, so the page has no links to others.
    display_links: dict[str, list[tuple[str, str, bool]]] = {}

    def __init__(self, parameters: QueryDict, editions: Sequence[Edition]) -> None:
        super().__init__()
        self.editions = {edition.slug: edition for edition in editions}
        self.text, self.plain_words = typed_words(parameters)
        self.areas = area_names(editions)
        options: dict[str, Mapping[str, object]] = {"kind": KINDS, "in": self.editions, "topic": self.areas}
        chosen = {name: parameters.get(name, "") for name in options}
        for name, value in chosen.items():
            if value and value not in options[name]:
                raise BadParameter(name, value)
        self.given_facets = {
            name: chosen[parameter] for name, parameter in PARAMETERS.items() if chosen[parameter]
        }
        self.tab = chosen["kind"]
        self.values = {
            **self.given_facets,
            **{filter_.facet: filter_.value for filter_ in self.reading.filters},
        }
        self.numbers: dict[frozenset[str], int] = {}

    @cached_property
    def reading(self) -> Reading:
        """The parsed words. An edition that they name is a filter, unless no other words are left."""
        names = site_vocabulary(
            (edition.slug, edition.name, edition.year) for edition in self.editions.values()
        )
        reading = read_filters(self.text, names, plain=self.plain_words, chosen=[*self.given_facets])
        return reading if parse_query(reading.words) else Reading(self.text)

    @cached_property
    def paper_query(self) -> Query:
        return parse_query(self.reading.words)

    @property
    def has_criteria(self) -> bool:
        return bool(self.paper_query)

    @property
    def shows_facets(self) -> bool:
        return bool(self.facets)

    def parameters(self) -> dict[str, object]:
        facets = {PARAMETERS[name]: value for name, value in self.given_facets.items()}
        return {"q": self.text, "plain": PLAIN_SEPARATOR.join(self.plain_words), "kind": self.tab, **facets}

    # Results

    def add_hits(self, query: Query, hits: Hits) -> None:
        """Store the best results from all years. If `hits` are capped, all matches are counted."""
        self.query = query
        counted = count_by_scope(query) if hits.capped else Counter(hit.scope for hit in hits.page)
        self.numbers = {frozenset(scope.split()): number for scope, number in counted.items()}
        if hits.capped:
            # Capped hits may omit other kinds than papers, and the chosen year.
            matching_hits = [*self._find_chosen(["paper"]), *self._find_chosen([*SHOWN_PER_KIND])]
        else:
            matching_hits = [hit for hit in hits.page if self._is_chosen(frozenset(hit.scope.split()))]
        self.best_kinds = {hit.kind for hit in hits.page[:BEST_HITS]}
        for kind in KINDS:
            self.keys[kind] = [hit.object_id for hit in matching_hits if hit.kind == kind]

    def _find_chosen(self, kinds: Sequence[str]) -> tuple[Hit, ...]:
        chosen = self.editions.get(self.values.get("edition", ""))
        edition, area = chosen.pk if chosen else None, self.values.get("area", "")
        return find_documents(self.query, edition=edition, kinds=kinds, area=area, limit=MAX_HITS).page

    def _is_chosen(self, scope: frozenset[str], ignored: str = "") -> bool:
        """Return whether these markers match the chosen facets, except the facet `ignored`."""
        edition, area = self.values.get("edition"), self.values.get("area")
        if area and ignored != "area" and area_word(area) not in scope:
            return False
        if not edition or ignored == "edition":
            return True
        return not scope.isdisjoint((edition_word(self.editions[edition].pk), edition_word(None)))

    def _count(self, markers: Sequence[str], ignored: str = "") -> int:
        """Count the results with one of these markers under the chosen facets, except the facet `ignored`."""
        return sum(
            number
            for scope, number in self.numbers.items()
            if not scope.isdisjoint(markers) and self._is_chosen(scope, ignored)
        )

    @cached_property
    def counts(self) -> dict[str, int]:
        return {kind: self._count([kind_word(kind)]) for kind in KINDS}

    @cached_property
    def ways_out(self) -> list[tuple[str, str]]:
        """The words without any of which something is found: as typed, the query string without."""
        query, edition = self.paper_query, self.editions.get(self.values.get("edition", ""))
        found = found_without(query, edition.pk if edition else None, self.values.get("area", ""))
        return [(term.text, self.query_with(query=query.without(term).source)) for term in found]

    # Facets and links

    @cached_property
    def facets(self) -> list[Facet]:
        """The facets of years and topics, with the number of results of each choice."""
        years = {slug: (edition.name, edition_word(edition.pk)) for slug, edition in self.editions.items()}
        areas = {key: (name, area_word(key)) for key, name in self.areas.items()}
        values_by_facet = {"edition": years, "area": areas}
        facets = [
            Facet(name, str(LABELS[name]), self._choices(name, values))
            for name, values in values_by_facet.items()
        ]
        return [facet for facet in facets if len(facet.choices) > 1 or facet.chosen]

    def _choices(self, name: str, values: dict[str, tuple[str, str]]) -> list[FacetChoice]:
        site_count = self._count([edition_word(None)], ignored=name) if name == "edition" else 0
        choices = []
        for value, (label, marker) in values.items():
            number, chosen = self._count([marker], ignored=name), self.values.get(name) == value
            if number or chosen:
                query = self.query_with(**{name: "" if chosen else value})
                choices.append(FacetChoice(label, number + site_count, query, chosen, 0, value))
        return sorted(choices, key=lambda choice: -choice.count) if name == "area" else choices

    def query_with(self, query: str | None = None, **changes: str) -> str:
        """Return the query string of the parsed search with these changes, on its first page."""
        values = {**self.values, **changes}
        state = {
            "q": self.reading.words if query is None else query,
            "plain": PLAIN_SEPARATOR.join(self.plain_words),
            "kind": self.tab,
            **{parameter: values.get(name, "") for name, parameter in PARAMETERS.items()},
        }
        return urlencode({name: value for name, value in state.items() if value})

    @property
    def chips(self) -> list[Chip]:
        """The chosen filters, each with the query string without it."""
        labels = {
            "edition": {slug: edition.name for slug, edition in self.editions.items()},
            "area": self.areas,
        }
        return [
            Chip(str(LABELS[name]), labels[name][value], self.query_with(**{name: ""}))
            for name, value in self.values.items()
        ]

    @property
    def plain_query(self) -> str:
        """Return the query string that searches for the names of editions as plain words."""
        plain = PLAIN_SEPARATOR.join([*self.plain_words, *self.reading.filter_words])
        return urlencode([("q", self.text), ("plain", plain), *self.hidden_parameters])

    @property
    def hidden_parameters(self) -> list[tuple[str, str]]:
        """The parameters except the words, for the hidden inputs of the search form."""
        facets = [(PARAMETERS[name], value) for name, value in self.given_facets.items()]
        return [*([("kind", self.tab)] if self.tab else []), *facets]

    @property
    def unfiltered(self) -> str:
        return self.reading.words

    @property
    def unfiltered_address(self) -> str:
        return f"?{urlencode({'q': self.unfiltered, 'plain': PLAIN_SEPARATOR.join(self.plain_words)})}"


def area_names(editions: Sequence[Edition]) -> dict[str, str]:
    """Return the names of the top-level topics by `area_key`. The newest edition's spelling is used.

    One query after a change, else none.
    """
    return _area_names(tuple((edition.pk, edition.revision, public_parts(edition)) for edition in editions))


@lru_cache(maxsize=4)
def _area_names(editions: tuple[tuple[int, int, object], ...]) -> dict[str, str]:
    rows = Topic.objects.published().filter(parent=None, edition__in=[key for key, *_rest in editions])
    names = rows.order_by("edition__start_date", "edition", "position", "pk").values_list("name", flat=True)
    return {key: name for name in names if (key := area_key(name))}
