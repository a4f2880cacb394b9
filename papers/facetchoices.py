"""The choices of each facet with the public papers that have them, as bitmaps over the papers by title.

Each facet is kept until something changes of which it is made: bit n stands for the n-th paper.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

from conference import text, times
from conference.models import Edition
from conference.standing import kept_while_it_stands
from papers import facetrows
from papers.boards import Board
from papers.facetrows import KEPT, NO_BOARD, TITLES, UNSCHEDULED
from papers.models import Material, Paper

# Materials that papers can be asked for, in this order.
HAS = ("pdf", "slides", "poster", "video", "code", "data")


@dataclass(slots=True)
class Choice:
    """One value of a facet, as it stands in an address, and the papers that have it."""

    value: str
    label: str
    bits: int = 0
    above: str = ""


# The choices of a facet by their values, in the order of the program.
type Choices = dict[str, Choice]


@dataclass(frozen=True, slots=True)
class Order:
    """The public papers of an edition by title, and the place of each by its key."""

    titles: Sequence[facetrows.Title]
    places: Mapping[int, int]

    @property
    def everything(self) -> int:
        """The bitmap of all papers."""
        return (1 << len(self.titles)) - 1

    def bits(self, keys: Iterable[int]) -> int:
        """Return the bitmap of the papers with these primary keys; of other papers it says nothing."""
        beyond = len(self.titles)
        row = bytearray(beyond // 8 + 1)
        for place in map(self.places.get, keys, repeat(beyond)):
            row[place >> 3] |= 1 << (place & 7)
        return int.from_bytes(row, "little") & self.everything

    def choices[T](
        self,
        members: facetrows.Members[T],
        value: Callable[[T], str] = str,
        label: Callable[[T], str] = str,
    ) -> Choices:
        """Return the choices that some public paper has, in the order of the members."""
        bits = ((one, self.bits(keys)) for one, keys in members.items())
        return {value(one): Choice(value(one), label(one), some) for one, some in bits if some}


@kept_while_it_stands(KEPT, of=TITLES)
def order(edition: Edition, at: datetime) -> Order:
    """Return the papers by title. One query."""
    titles = facetrows.titles(edition, at)
    return Order(titles, {title.key: place for place, title in enumerate(titles)})


@kept_while_it_stands(KEPT, of=TITLES | facetrows.TOPICS)
def topics(edition: Edition, at: datetime) -> Choices:
    """A topic has the papers of those below it, too; the highest stand first, each before its own."""
    by_title, rows = order(edition, at), facetrows.topics(edition, at)
    own = by_title.choices(facetrows.gathered((title.topic, title.key) for title in by_title.titles))
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


@kept_while_it_stands(KEPT, of=TITLES)
def tracks(edition: Edition, at: datetime) -> Choices:
    """The tracks by name."""
    by_title = order(edition, at)
    members = facetrows.gathered((title.track, title.key) for title in by_title.titles)
    return by_title.choices({track: members[track] for track in sorted(members) if track})


@kept_while_it_stands(KEPT, of=TITLES | facetrows.AWARDS)
def awards(edition: Edition, at: datetime) -> Choices:
    """The awards in the chairs' order."""
    return order(edition, at).choices(facetrows.awards(edition, at), itemgetter(0), itemgetter(1))


@kept_while_it_stands(KEPT, of=TITLES | facetrows.AUTHORS)
def institutions(edition: Edition, at: datetime) -> Choices:
    """The institutions by name. They have only slugs: a name may change without the edition's stamp."""
    return order(edition, at).choices(facetrows.institutions(edition, at), label=lambda _slug: "")


@kept_while_it_stands(KEPT, of=TITLES | facetrows.MATERIALS | facetrows.TALKS)
def materials(edition: Edition, at: datetime) -> Choices:
    """The kinds of material that can be asked for; a recording of a talk is a video of its paper."""
    members = facetrows.materials(edition, at)
    videos = chain(members.get("video", ()), facetrows.talks(edition, at).recorded)
    labels: dict[str, Any] = dict(Material.Kind.choices)
    offered = {kind: videos if kind == "video" else members.get(kind, ()) for kind in HAS}
    return order(edition, at).choices(offered, label=labels.__getitem__)


@dataclass(frozen=True, slots=True)
class Appearances:
    """Kinds, days and sessions of what takes place; the first start and the first board of each paper."""

    kinds: Choices
    days: Choices
    sessions: Choices
    starts: list[datetime]
    boards: list[Board]


@kept_while_it_stands(KEPT, of=TITLES | facetrows.TALKS)
def appearances(edition: Edition, at: datetime) -> Appearances:
    """Return what takes place of the papers; days and sessions by time."""
    by_title, talks = order(edition, at), facetrows.talks(edition, at)
    labels = presentation_kinds()
    kinds = {kind: talks.kinds[kind] for kind in labels if kind in talks.kinds}
    days: dict[date, list[Iterable[int]]] = {}
    for begins in sorted(talks.begun.keys() - {UNSCHEDULED}):
        days.setdefault(edition.day_of(begins), []).append(talks.begun[begins])
    on_days = {day: chain.from_iterable(keys) for day, keys in days.items()}
    sessions = {session: talks.sessions[session] for session in talks.in_order()}
    return Appearances(
        by_title.choices(kinds, label=labels.__getitem__),
        by_title.choices(on_days, date.isoformat, times.short_day),
        by_title.choices(sessions, itemgetter(0), lambda named: text.plain(named[1])),
        [talks.starts.get(title.key, UNSCHEDULED) for title in by_title.titles],
        [talks.boards.get(title.key, NO_BOARD) for title in by_title.titles],
    )


def presentation_kinds() -> dict[str, str]:
    """Return the labels of the kinds of presentations, asked of the floor above by its relation."""
    presentation: Any = Paper._meta.get_field("presentations").related_model
    return dict(presentation._meta.get_field("kind").flatchoices)
