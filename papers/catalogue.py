"""Which papers of an edition have which property, as bitmaps in memory, kept until one of them changes.

Narrowing is one `&`, counting one `bit_count()`. How a page offers them is `facets`' business.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from hashlib import blake2b
from operator import and_, attrgetter
from typing import Any

from conference.models import Edition
from pagecache.per_revision import kept_while_it_stands
from papers import facetchoices, facetrows
from papers.facetchoices import Appearances, Choices, Order
from papers.facetrows import NO_BOARD, UNSCHEDULED, Title

# Editions whose catalogues are kept: about 1 MB each for 6,000 papers.
KEPT = 12


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The papers of an edition by title, and the choices of each facet in the order of the program."""

    order: Order
    appearances: Appearances
    facets: dict[str, Choices]

    @property
    def has_boards(self) -> bool:
        """Whether some poster has a board."""
        return any(title.key in self.appearances.boards for title in self.order.titles)

    def matching(self, chosen: dict[str, list[str]], but: str = "") -> int:
        """Return the papers that have all the chosen values, those of the facet `but` not counted."""
        wanted = [self.facets[name][value].bits for name in chosen if name != but for value in chosen[name]]
        return reduce(and_, wanted, self.order.everything)

    def ordered(self, bits: int, sort: str = "title", seed: str = "", by: str = "") -> list[int]:
        """Return the primary keys of these papers, sorted; in groups by topic or track where `by` says so."""
        found = self.order.numbers.among(self.order.titles, bits)
        if sort != "title":
            found.sort(key=self._key(sort, seed))
        if by == "topic":
            ranks = {slug: rank for rank, slug in enumerate(self.facets["topic"])}
            found.sort(key=lambda title: ranks.get(title.topic, len(ranks)))
        elif by == "track":
            found.sort(key=attrgetter("track"))
        return [title.key for title in found]

    def _key(self, sort: str, seed: str) -> Callable[[Title], Any]:
        starts, boards = self.appearances.starts, self.appearances.boards
        if sort == "random":
            return lambda title: blake2b(f"{seed} {title.uid}".encode(), digest_size=8).digest()
        if sort == "schedule":
            return lambda title: starts.get(title.key, UNSCHEDULED)
        return lambda title: (boards.get(title.key, NO_BOARD), starts.get(title.key, UNSCHEDULED))


@kept_while_it_stands(KEPT, of=facetrows.ALL)
def catalogue(edition: Edition, at: datetime) -> Catalogue:
    """Return the catalogue of an edition. Up to nine queries after a change, by what changed."""
    order = facetchoices.order(edition, at)
    appearances = facetchoices.appearances(edition, at, order.numbers)
    facets = {
        "topic": facetchoices.topics(edition, at, order.numbers),
        "track": facetchoices.tracks(edition, at, order.numbers),
        "kind": appearances.kinds,
        "award": facetchoices.awards(edition, at, order.numbers),
        "day": appearances.days,
        "session": appearances.sessions,
        "institution": facetchoices.institutions(edition, at, order.numbers),
        "has": facetchoices.materials(edition, at, order.numbers),
    }
    return Catalogue(order, appearances, {name: order.public(one) for name, one in facets.items()})
