"""The search in an edition, for papers, people, sessions, talks and pages."""

from datetime import date, datetime
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils import dateformat
from django.utils.translation import gettext

from conference.models import Edition
from papers.catalog import FacetValue
from papers.paper_search import PLAIN_SEPARATOR
from search.hits import MAX_HITS, MAX_SUGGESTIONS, Hits, RowKey, find_documents, suggest
from search.query import Query
from website.edition_papers import TIMED_KINDS, EditionPapers, timed_rows
from website.search_results import KINDS
from website.search_sections import BEST_HITS, SHOWN_PER_KIND, ResultSections


class EditionSearch(ResultSections):
    """A search in an edition, with the primary keys of the results by kind (`keys`)."""

    edition: Edition

    def __init__(self, parameters: QueryDict, edition: Edition, at: datetime) -> None:
        super().__init__(edition)
        self.at = at
        self.papers = EditionPapers(parameters, edition, KINDS, at)
        # This raises an error if a parameter is invalid.
        self.chosen = self.papers.chosen
        self.tab = str(self.chosen["tab"])

    def add_hits(self, query: Query, hits: Hits) -> None:
        """Store the hits by kind, under the chosen filters."""
        self.query = query
        self.best_kinds = {hit.kind for hit in hits.page[:BEST_HITS]}
        self.papers.add_hits(query, hits)
        if not self.papers.has_criteria:
            return
        self.keys["paper"] = self.papers.keys
        # Only papers can match a query that has nothing but excluded words.
        if self.papers.has_paper_facet or (query.excluded and not query):
            return
        if hits.capped:
            # Capped hits may omit other kinds than papers.
            hits = find_documents(query, edition=self.edition.pk, kinds=[*SHOWN_PER_KIND], limit=MAX_HITS)
        for kind in SHOWN_PER_KIND:
            self.keys[kind] = [hit.object_id for hit in hits.page if hit.kind == kind]
        if self.papers.timed_values:
            self.keys["page"] = []
            for kind in TIMED_KINDS:
                self.keys[kind] = self._filter_keys(kind)

    def _filter_keys(self, kind: str) -> list[int]:
        """Return keys of sessions or talks of the chosen day, room and kind. Without words, all by time."""
        rows = timed_rows(kind, self.edition, self.papers.timed_values, self.at)
        if not self.query:
            return list(rows.values_list("pk", flat=True))
        keys = self.keys[kind]
        matching = {*rows.order_by().filter(pk__in=keys).values_list("pk", flat=True)} if keys else ()
        return [key for key in keys if key in matching]

    def suggestions(self) -> tuple[list[RowKey], Query]:
        """Return rows under the filters that the words name, best first, and the query of the other words."""
        query, edition_key = self.papers.other_query, self.edition.pk
        text = self.papers.unfiltered
        hits = suggest(text, edition_key)
        if not self.papers.values:
            return [hit.row for hit in hits], query
        self.add_hits(query, Hits(tuple(hits), len(hits)))
        pairs = {(kind, key) for kind, keys in self.keys.items() for key in keys}
        if query:
            return [hit.row for hit in hits if hit.row in pairs], query
        timed_pairs = [(kind, key) for kind in TIMED_KINDS for key in self.keys[kind]]
        shown_pairs = [*timed_pairs[: MAX_SUGGESTIONS // 2], *(("paper", key) for key in self.keys["paper"])]
        return shown_pairs[:MAX_SUGGESTIONS], query

    # Properties that the page shows

    @property
    def topics(self) -> list[tuple[FacetValue, int]]:
        """The top-level topics with the numbers of their papers."""
        topics = self.papers.catalog.facets["topic"].values()
        return [(topic, topic.bits.bit_count()) for topic in topics if not topic.parent]

    @property
    def has_criteria(self) -> bool:
        return self.papers.has_criteria

    @property
    def shows_facets(self) -> bool:
        return bool((self.papers.facets and self.keys["paper"]) or self.papers.has_paper_facet)

    def parameters(self) -> dict[str, object]:
        papers = self.papers
        facets = {papers.add_prefix(name): papers.values[name] for name in papers.given_facets}
        plain = PLAIN_SEPARATOR.join(papers.plain_words)
        return {"q": papers.text, "plain": plain, "kind": self.tab, **facets, "sort": self.chosen["sort"]}


def examples(search: EditionPapers) -> list[tuple[str, str]]:
    """Return example searches that have results in this edition, each with its query string."""
    facets = search.catalog.facets
    days = [date.fromisoformat(choice.value) for choice in facets["day"].values() if choice.bits]
    topics = sorted(facets["topic"].values(), key=lambda topic: -topic.bits.bit_count())
    texts = []
    if days and topics and "poster" in facets["kind"]:
        bits = facets["kind"]["poster"].bits
        day = max(facets["day"].values(), key=lambda choice: (choice.bits & bits).bit_count())
        largest = next((topic for topic in topics if topic.bits & day.bits & bits), topics[0])
        weekday = dateformat.format(date.fromisoformat(day.value), "l")
        names = {"topic": largest.label.lower(), "day": weekday}
        texts.append(gettext("posters on %(topic)s %(day)s") % names)
    if days and "oral" in facets["kind"]:
        texts.append(gettext("orals %(day)s") % {"day": dateformat.format(days[0], "l")})
    if "tutorial" in facets["kind"]:
        texts.append(gettext("tutorials"))
    if "invited_talk" in facets["kind"]:
        texts.append(gettext("invited talks"))
    return [(text, urlencode({"q": text})) for text in texts]
