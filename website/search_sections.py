"""The results of a search by kind, for the search pages of an edition and of all years."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.core.paginator import Page as PageOf
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from papers.rows import PaperRow
from search.query import Query
from website.search_results import KINDS, SearchResult, marked_papers, search_results

# The number of results of each kind that are shown with the papers.
SHOWN_PER_KIND = {"person": 4, "session": 3, "talk": 3, "page": 3}
SHOWN_WITHOUT_PAPERS = 12
# Sections with a hit among the first `BEST_HITS` come before the papers.
BEST_HITS = 3


@dataclass(frozen=True, slots=True)
class Section:
    """The shown results of a kind. `query` links to all of them if there are more."""

    name: str
    label: str
    results: Sequence[SearchResult | PaperRow]
    count: int
    query: str = ""


class ResultSections:
    """The primary keys of the results by kind (`keys`), best first, and the sections of a page of them."""

    # The kind to which the page is limited, or an empty string.
    tab: str

    def __init__(self, edition: Edition | None = None) -> None:
        self.edition = edition
        self.query = Query()
        self.best_kinds: set[str] = set()
        self.keys: dict[str, list[int]] = {kind: [] for kind in KINDS}

    @property
    def is_of_all_years(self) -> bool:
        return self.edition is None

    def parameters(self) -> dict[str, object]:
        """Return the words as typed and the other choices, as parameters of the address."""
        raise NotImplementedError

    @property
    def counts(self) -> dict[str, int]:
        """The number of results of each kind."""
        return {kind: len(keys) for kind, keys in self.keys.items()}

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    def sections(self, page: PageOf[int], editions: Iterable[Edition]) -> list[Section]:
        """Return the sections of one page: those of one kind, or papers with a few of each other kind."""
        if self.tab == "paper" or (not self.tab and page.number > 1):
            return [self._paper_section(page)]
        if self.tab:
            return self._kind_sections({self.tab: list(page.object_list)}, editions)
        shown_keys = {
            kind: self.keys[kind][: number if self.keys["paper"] else SHOWN_WITHOUT_PAPERS]
            for kind, number in SHOWN_PER_KIND.items()
            if self.keys[kind]
        }
        other_sections = self._kind_sections(shown_keys, editions)
        first = [section for section in other_sections if section.name in self.best_kinds]
        last = [section for section in other_sections if section.name not in self.best_kinds]
        papers = [self._paper_section(page)] if page.object_list else []
        return [*first, *papers, *last]

    def _paper_section(self, page: PageOf[int]) -> Section:
        rows = marked_papers(list(page.object_list), self.query)
        return Section("paper", str(KINDS["paper"]), rows, self.counts["paper"])

    def _kind_sections(
        self, keys_by_kind: dict[str, list[int]], editions: Iterable[Edition]
    ) -> list[Section]:
        """Return a section for each kind. It links to all results if it shows only some of them."""
        found = [(kind, key) for kind, keys in keys_by_kind.items() for key in keys]
        results = search_results(found, self.query, editions, self.edition)
        return [
            Section(
                kind,
                str(KINDS[kind]),
                [results[kind, key] for key in keys if (kind, key) in results],
                count := self.counts[kind],
                self.text_query(tab=kind) if count > len(keys) and self.tab != kind else "",
            )
            for kind, keys in keys_by_kind.items()
        ]

    def tabs(self) -> list[tuple[str, object, int | None, str]]:
        """Return the name, label, number of results and query of each tab."""
        counts = {"": None, **self.counts}
        labels = {"": _("All"), **KINDS}
        names = [name for name in labels if not name or counts[name] or name == self.tab]
        return [(name, labels[name], counts[name], f"?{self.text_query(tab=name)}") for name in names]

    def text_query(self, **changes: str) -> str:
        """Return the query string with the words as typed. It ends in `&` unless the tab is changed."""
        state = {**self.parameters(), **({"kind": changes["tab"]} if changes else {})}
        query = urlencode({name: value for name, value in state.items() if value}, doseq=True)
        return query if changes or not query else f"{query}&"
