"""Which papers of an edition have which property, as bitmaps in memory, kept until one of them changes.

Narrowing is one `&`, counting one `bit_count()`. How a page offers them is `facets`' business.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from hashlib import blake2b
from operator import and_
from typing import Any

from conference.models import Edition
from conference.standing import kept_while_it_stands
from papers import facetchoices, facetrows
from papers.facetchoices import Appearances, Choices, Order
from papers.facetrows import NO_BOARD

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
        return any(board is not NO_BOARD for board in self.appearances.boards)

    def matching(self, chosen: dict[str, list[str]], but: str = "") -> int:
        """Return the papers that have all the chosen values, those of the facet `but` not counted."""
        wanted = [self.facets[name][value].bits for name in chosen if name != but for value in chosen[name]]
        return reduce(and_, wanted, self.order.everything)

    def ordered(self, bits: int, sort: str = "title", seed: str = "", by: str = "") -> list[int]:
        """Return the primary keys of these papers, sorted; in groups by topic or track where `by` says so."""
        titles = self.order.titles
        found = sorted(positions(bits), key=self._key(sort, seed)) if sort != "title" else positions(bits)
        if by == "topic":
            ranks = {slug: rank for rank, slug in enumerate(self.facets["topic"])}
            found.sort(key=lambda place: ranks.get(titles[place].topic, len(ranks)))
        elif by == "track":
            found.sort(key=lambda place: titles[place].track)
        return [titles[place].key for place in found]

    def _key(self, sort: str, seed: str) -> Callable[[int], Any]:
        starts, boards, titles = self.appearances.starts, self.appearances.boards, self.order.titles
        if sort == "schedule":
            return starts.__getitem__
        if sort == "board":
            return lambda place: (boards[place], starts[place])
        return lambda place: blake2b(f"{seed} {titles[place].uid}".encode(), digest_size=8).digest()


def positions(bits: int) -> list[int]:
    """Return the positions of the bits that are set, in order."""
    return [place for place, sign in enumerate(reversed(f"{bits:b}")) if sign == "1"]


@kept_while_it_stands(KEPT, of=facetrows.ALL)
def catalogue(edition: Edition, at: datetime) -> Catalogue:
    """Return the catalogue of an edition. Up to eight queries after a change, by what changed."""
    appearances = facetchoices.appearances(edition, at)
    facets = {
        "topic": facetchoices.topics(edition, at),
        "track": facetchoices.tracks(edition, at),
        "kind": appearances.kinds,
        "award": facetchoices.awards(edition, at),
        "day": appearances.days,
        "session": appearances.sessions,
        "institution": facetchoices.institutions(edition, at),
        "has": facetchoices.materials(edition, at),
    }
    return Catalogue(facetchoices.order(edition, at), appearances, facets)
