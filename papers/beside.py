"""What stands beside a paper: before and after it in its sessions, posters and papers like it.

The paper was fetched `in_full()`, or `with_appearances()` at least.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from conference.querysets import moment
from papers.around import NOTHING, Around, Hung, Posters, around, folded, posters
from papers.models import Paper
from papers.rows import Appearing, PaperRow, authors, lines

# So many posters are shown.
MOST = 4
# The keys of the papers before and after; `None` at the ends.
type Way = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The papers before and after a paper in one session; `None` at the ends."""

    session: Any
    before: PaperRow | None
    after: PaperRow | None


class _Poster(NamedTuple):
    uid: str
    title: str
    title_html: str
    starts: datetime
    ends: datetime
    place: str
    board: str
    room_id: int | None
    paper: PaperRow
    abstract_html: str = ""
    # The room is known already.
    session: None = None


class Poster(Appearing, _Poster):
    """A poster of another paper. `place` is the name of its room; `room_id` is the room's key."""

    __slots__ = ()

    def get_absolute_url(self) -> str:
        return str(self.paper.get_absolute_url())


@dataclass(frozen=True, slots=True)
class Beside:
    """Where one may go on to from a paper."""

    neighbours: list[Neighbours]
    posters: list[Poster]
    related: list[PaperRow]


def beside(paper: Any, at: datetime | None = None, most: int = MOST) -> Beside:
    """Return what stands beside a paper. Three queries, those of `like()`, and one where `around()` reads."""
    papers = Paper.objects.published(at)
    rows = _around(paper, at)
    sessions = {one.session_id: one.session for one in _taking_place(paper) if one.session}
    ways = _ways(paper, rows.orders)
    alike, like = _alike(paper, rows.posters)[:most], papers.like(paper, at)
    shown = {hung.paper for hung in alike} | {*like}
    found = lines(papers, shown | {key for way in ways.values() for key in way if key}, at)
    people = authors(papers, shown, at)
    named = {key: line._replace(shown_authors=people[key]) for key, line in found.items()}
    neighbours = [
        Neighbours(sessions[key], found.get(before or 0), found.get(after or 0))
        for key, (before, after) in ways.items()
    ]
    return Beside(
        [pair for pair in neighbours if pair.before or pair.after],
        _posters(alike, named, at),
        [named[key] for key in like if key in named],
    )


def _taking_place(paper: Any) -> list[Any]:
    return [one for one in paper.appearances if not one.called_off]


def _around(paper: Any, at: datetime | None) -> Around:
    shown, edition = _taking_place(paper), paper.edition
    sessions = frozenset(one.session_id for one in shown if one.session_id)
    days = {edition.day_of(one.begins) for one in shown if one.begins and one.kind == "poster"}
    spans = tuple(edition.day_bounds(day) for day in sorted(days) if paper.topic_id or paper.keywords)
    return around(edition, at, sessions, spans) if sessions or spans else NOTHING


def _ways(paper: Any, orders: Mapping[int, tuple[int | None, ...]]) -> dict[int, Way]:
    """Return the keys of the papers before and after this one, by the key of the session."""
    ways = {}
    for session, order in orders.items():
        if paper.pk in order:
            place = order.index(paper.pk)
            before = order[place - 1] if place else None
            ways[session] = before, (*order, None)[place + 1]
    return ways


def _alike(paper: Any, posters: Posters) -> list[Hung]:
    """Return the posters of other papers that share topic or keywords, likest first."""
    found = posters.like(paper.topic_id, folded(paper.keywords))
    return [hung for hung in found if hung.paper != paper.pk]


def _posters(alike: Iterable[Hung], named: Mapping[int, PaperRow], at: datetime | None) -> list[Poster]:
    """Return these posters with their papers; of what was taken away meanwhile none."""
    rows = posters([hung.poster for hung in alike], moment(at))
    found = (rows[hung.poster] for hung in alike if hung.poster in rows and hung.paper in named)
    return [Poster._make((*columns, named[paper], "", None)) for _, *columns, paper in found]
