"""The choices of each facet with the papers that have them, as bitmaps over numbered papers.

Each facet is kept until something changes of which it is made. A paper keeps its number when another title is
sorted elsewhere and when it is withdrawn, so that the bitmaps outlast that.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

import markup
from conference.models import Edition
from content import times
from pagecache.per_revision import kept_while_it_stands
from papers import facetrows
from papers.board_order import Board
from papers.facetrows import KEPT, TITLES, UNSCHEDULED
from papers.models import Material, Paper

# Materials that papers can be asked for, in this order.
HAS = ("pdf", "slides", "poster", "video", "code", "data")
# What hangs on the numbers alone outlasts every change that leaves these.
NOTHING: Set[str] = frozenset()


@dataclass(slots=True)
class Choice:
    """One value of a facet, as it stands in an address, and the papers that have it."""

    value: str
    label: str
    bits: int = 0
    above: str = ""


# The choices of a facet by their values, in the order of the program.
type Choices = dict[str, Choice]


class Numbers:
    """The numbers of papers by their keys, with the topic and the track of each. Equal only to itself."""

    def __init__(self, titles: Sequence[facetrows.Title]) -> None:
        self._places = {title.key: place for place, title in enumerate(titles)}
        self.titles = tuple(titles)

    def fit(self, titles: Iterable[facetrows.Title]) -> bool:
        """Whether each of these papers has a number, and is about the same as when it got it."""
        places, known = self._places, self.titles
        return all(
            (place := places.get(title.key)) is not None and known[place][2:] == title[2:] for title in titles
        )

    def bits(self, keys: Iterable[int]) -> int:
        """Return the bitmap of the papers with these primary keys; of other papers it says nothing."""
        beyond = len(self.titles)
        row = bytearray(beyond // 8 + 1)
        for place in map(self._places.get, keys, repeat(beyond)):
            row[place >> 3] |= 1 << (place & 7)
        return int.from_bytes(row, "little") & ((1 << beyond) - 1)

    def among(self, titles: Sequence[facetrows.Title], bits: int) -> list[facetrows.Title]:
        """Return those of these papers whose bits are set, in the order given."""
        signs, places = f"{bits:0{len(self.titles)}b}"[::-1], self._places
        return [title for title in titles if signs[places[title.key]] == "1"]

    def choices[T](
        self,
        members: facetrows.Members[T],
        value: Callable[[T], str] = str,
        label: Callable[[T], str] = str,
    ) -> Choices:
        """Return the choices that some of the papers have, in the order of the members."""
        bits = ((one, self.bits(keys)) for one, keys in members.items())
        return {value(one): Choice(value(one), label(one), some) for one, some in bits if some}


def _fitting(found: Numbers, _names: Set[str], edition: Edition, at: datetime) -> Numbers | None:
    return found if found.fit(facetrows.titles(edition, at)) else None


@kept_while_it_stands(KEPT, of=TITLES, mended=_fitting)
def numbers(edition: Edition, at: datetime) -> Numbers:
    """Return the numbers of the public papers, and perhaps of some that were. One query."""
    return Numbers(facetrows.titles(edition, at))


@dataclass(frozen=True, slots=True)
class Order:
    """The public papers of an edition by title, their numbers, and the bitmap of all of them."""

    titles: Sequence[facetrows.Title]
    numbers: Numbers
    everything: int

    def public(self, choices: Choices) -> Choices:
        """Return the choices that some public paper has, with public papers alone."""
        if self.everything.bit_count() == len(self.numbers.titles):
            return choices
        both = ((choice, choice.bits & self.everything) for choice in choices.values())
        return {choice.value: replace(choice, bits=bits) for choice, bits in both if bits}


@kept_while_it_stands(KEPT, of=TITLES)
def order(edition: Edition, at: datetime) -> Order:
    """Return the papers by title. One query."""
    titles, numbered = facetrows.titles(edition, at), numbers(edition, at)
    # They may have been read at two moments.
    numbered = numbered if numbered.fit(titles) else Numbers(titles)
    return Order(titles, numbered, numbered.bits(title.key for title in titles))


@kept_while_it_stands(KEPT, of=facetrows.TOPICS, by_value=False)
def topics(edition: Edition, at: datetime, numbered: Numbers) -> Choices:
    """A topic has the papers of those below it, too; the highest stand first, each before its own."""
    rows = facetrows.topics(edition, at)
    own = numbered.choices(facetrows.gathered((title.topic, title.key) for title in numbered.titles))
    above = {slug: parent for slug, _, parent in rows}
    bits = dict.fromkeys(above, 0)
    for slug, choice in own.items():
        # A topic may be newer than those that were read.
        while slug in bits:
            bits[slug] |= choice.bits
            slug = above[slug]
    ordered: Choices = {}

    def add(parent: str) -> None:
        for slug, name, over in rows:
            if over == parent and bits[slug]:
                ordered[slug] = Choice(slug, name, bits[slug], parent)
                add(slug)

    add("")
    return ordered


@kept_while_it_stands(KEPT, of=NOTHING, by_value=False)
def tracks(_edition: Edition, _at: datetime, numbered: Numbers) -> Choices:
    """The tracks by name."""
    members = facetrows.gathered((title.track, title.key) for title in numbered.titles)
    return numbered.choices({track: members[track] for track in sorted(members) if track})


@kept_while_it_stands(KEPT, of=facetrows.AWARDS, by_value=False)
def awards(edition: Edition, at: datetime, numbered: Numbers) -> Choices:
    """The awards in the chairs' order."""
    return numbered.choices(facetrows.awards(edition, at), itemgetter(0), itemgetter(1))


@kept_while_it_stands(KEPT, of=facetrows.AUTHORS, by_value=False)
def institutions(edition: Edition, at: datetime, numbered: Numbers) -> Choices:
    """The institutions by name. They have only slugs: a name may change without the edition's stamp."""
    return numbered.choices(facetrows.institutions(edition, at), label=lambda _slug: "")


@kept_while_it_stands(KEPT, of=facetrows.MATERIALS | facetrows.TALKS, by_value=False)
def materials(edition: Edition, at: datetime, numbered: Numbers) -> Choices:
    """The kinds of material that can be asked for; a recording of a talk is a video of its paper."""
    members = facetrows.materials(edition, at)
    videos = chain(members.get("video", ()), facetrows.talks(edition, at).recorded)
    labels: dict[str, Any] = dict(Material.Kind.choices)
    offered = {kind: videos if kind == "video" else members.get(kind, ()) for kind in HAS}
    return numbered.choices(offered, label=labels.__getitem__)


@dataclass(frozen=True, slots=True)
class Appearances:
    """Kinds, days and sessions of what takes place; the first start and the first board of papers."""

    kinds: Choices
    days: Choices
    sessions: Choices
    starts: Mapping[int, datetime]
    boards: Mapping[int, Board]


@kept_while_it_stands(KEPT, of=facetrows.TALKS, by_value=False)
def appearances(edition: Edition, at: datetime, numbered: Numbers) -> Appearances:
    """Return what takes place of the papers; days and sessions by time."""
    talks = facetrows.talks(edition, at)
    labels = presentation_kinds()
    kinds = {kind: talks.kinds[kind] for kind in labels if kind in talks.kinds}
    days: dict[date, list[Iterable[int]]] = {}
    for begins in sorted(talks.begun.keys() - {UNSCHEDULED}):
        days.setdefault(edition.day_of(begins), []).append(talks.begun[begins])
    on_days = {day: chain.from_iterable(keys) for day, keys in days.items()}
    sessions = {session: talks.sessions[session] for session in talks.in_order()}
    return Appearances(
        numbered.choices(kinds, label=labels.__getitem__),
        numbered.choices(on_days, date.isoformat, times.short_day),
        numbered.choices(sessions, itemgetter(0), lambda named: markup.plain(named[1])),
        talks.starts,
        talks.boards,
    )


def presentation_kinds() -> dict[str, str]:
    """Return the labels of the kinds of presentations, asked of the floor above by its relation."""
    presentation: Any = Paper._meta.get_field("presentations").related_model
    return dict(presentation._meta.get_field("kind").flatchoices)
