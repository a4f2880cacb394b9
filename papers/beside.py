"""What stands beside a paper: before and after it in its sessions, posters and papers like it.

The paper was fetched `in_full()`, or `with_appearances()` at least.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from papers.boards import running_order
from papers.models import Paper
from papers.rows import Appearing, PaperRow, authors, lines

# So many posters are shown; the same topic says as much as two keywords.
MOST, TOPIC = 4, 2
COLUMNS = (
    *("uid", "title", "title_html", "starts", "ends", "place", "board", "room_key"),
    *("paper_id", "session_id", "position", "poster", "paper__topic_id", "paper__keywords"),
)


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
    """Return what stands beside a paper. Three queries, and those of `like()`."""
    papers = Paper.objects.published(at)
    rows = _around(paper, at)
    sessions = {one.session_id: one.session for one in _taking_place(paper) if one.session}
    ways = _ways(paper, sessions, rows)
    alike, like = _alike(paper, rows)[:most], papers.like(paper, at)
    shown = {row.paper_id for row in alike} | {*like}
    found = lines(papers, shown | {key for way in ways.values() for key in way if key})
    people = authors(papers, shown, at)
    named = {key: line._replace(shown_authors=people[key]) for key, line in found.items()}
    neighbours = [
        Neighbours(sessions[key], found.get(before or 0), found.get(after or 0))
        for key, (before, after) in ways.items()
    ]
    return Beside(
        [pair for pair in neighbours if pair.before or pair.after],
        [Poster._make((*row[: COLUMNS.index("paper_id")], named[row.paper_id], "", None)) for row in alike],
        [named[key] for key in like if key in named],
    )


def _taking_place(paper: Any) -> list[Any]:
    return [one for one in paper.appearances if not one.called_off]


def _around(paper: Any, at: datetime | None) -> list[Any]:
    """Return what stands in the sessions of the paper, and the posters of the days on which it is one."""
    shown, edition = _taking_place(paper), paper.edition
    sessions = {one.session_id for one in shown if one.session_id}
    days = {edition.day_of(one.begins) for one in shown if one.begins and one.kind == "poster"}
    spans = [edition.day_bounds(day) for day in sorted(days) if paper.topic_id or paper.keywords]
    if not sessions and not spans:
        return []
    rows = edition.presentations.published(at).beside(sessions, spans)
    return list(rows.values_list(*COLUMNS, named=True))


def _ways(
    paper: Any, sessions: Collection[int], rows: Iterable[Any]
) -> dict[int, tuple[int | None, int | None]]:
    """Return the keys of the papers before and after this one, by the key of the session."""
    members: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        members[row.session_id].append(row)
    ways = {}
    for session in sessions:
        order = [None, *dict.fromkeys(row.paper_id for row in running_order(members[session])), None]
        if paper.pk in order:
            place = order.index(paper.pk)
            ways[session] = order[place - 1], order[place + 1]
    return ways


def _alike(paper: Any, rows: Iterable[Any]) -> list[Any]:
    """Return the posters that share topic or keywords, likest first, else as one meets them."""
    own, found = _folded(paper.keywords), dict[int, tuple[int, Any]]()
    for row in rows:
        shared = len(own & _folded(row.paper__keywords))
        likeness = shared + TOPIC * (
            row.paper__topic_id is not None and row.paper__topic_id == paper.topic_id
        )
        if row.poster and row.paper_id and likeness and row.paper_id not in (paper.pk, *found):
            found[row.paper_id] = likeness, row
    return [row for _, row in sorted(found.values(), key=lambda pair: -pair[0])]


def _folded(keywords: list[str] | None) -> set[str]:
    return {keyword.casefold() for keyword in keywords or ()}
