"""What stands beside a paper: before and after it in its sessions, posters and papers like it.

The paper was fetched `in_full()`, or `with_appearances()` at least.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from papers.day_talks import DayTalk, DayTalks, day_talks_around, folded, most_similar
from papers.models import Paper
from papers.rows import Appearing, PaperRow, authors, paper_rows

# So many posters are shown.
MAX_RELATED = 4
# The keys of the papers before and after; `None` at the ends.
type Way = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The papers before and after a paper in one session; `None` at the ends."""

    session: Any
    before: PaperRow | None
    after: PaperRow | None


class _Poster(NamedTuple):
    uid: str
    title: str
    title_html: str
    starts: datetime | None
    ends: datetime | None
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
class Related:
    """Where one may go on to from a paper."""

    neighbors: list[Neighbors]
    posters: list[Poster]
    related: list[PaperRow]


def related(paper: Paper, at: datetime | None = None, most: int = MAX_RELATED) -> Related:
    """Return what stands beside a paper. Two queries, those of `like()`, and one for each day not kept."""
    papers = Paper.objects.published(at)
    sessions = {one.session_id: one.session for one in _taking_place(paper)}
    ways = {key: _way(paper, _day(paper, session.start, at).order(key)) for key, session in sessions.items()}
    alike, like = _alike(paper, at)[:most], papers.like(paper, at)
    shown = {poster.paper for poster in alike if poster.paper} | {*like}
    found = paper_rows(papers, shown | {key for way in ways.values() for key in way if key}, at)
    people = authors(papers, shown, at)
    named = {key: line._replace(shown_authors=people[key]) for key, line in found.items()}
    neighbors = [
        Neighbors(sessions[key], found.get(before or 0), found.get(after or 0))
        for key, (before, after) in ways.items()
    ]
    return Related(
        [pair for pair in neighbors if pair.before or pair.after],
        [_poster(poster, named[poster.paper]) for poster in alike if poster.paper in named],
        [named[key] for key in like if key in named],
    )


def _taking_place(paper: Any) -> list[Any]:
    return [one for one in paper.appearances if one.session and not one.called_off]


def _day(paper: Paper, moment: datetime, at: datetime | None) -> DayTalks:
    edition = paper.edition
    return day_talks_around(edition, at, *edition.day_bounds(edition.day_of(moment)))


def _way(paper: Paper, order: Sequence[int | None]) -> Way:
    """Return the keys of the papers before and after this one in a session."""
    if paper.pk not in order:
        return None, None
    place = order.index(paper.pk)
    return order[place - 1] if place else None, (*order, None)[place + 1]


def _alike(paper: Any, at: datetime | None) -> list[DayTalk]:
    """Return the posters of others on its posters' days that share topic or keywords, likest first."""
    if not (paper.topic_id or paper.keywords):
        return []
    own = [one for one in _taking_place(paper) if "poster" in (one.kind, one.session.kind)]
    day_of, days = paper.edition.day_of, {paper.edition.day_of(one.begins) for one in own}
    # A session may go on from one day to the next.
    posters = {_day(paper, moment, at).posters for one in own for moment in (one.begins, one.session.start)}
    found = most_similar(posters, paper.topic_id, folded(paper.keywords))
    return [poster for poster in found if poster.paper != paper.pk and day_of(poster.starts) in days]


def _poster(talk: DayTalk, paper: PaperRow) -> Poster:
    shown = talk.uid, talk.title, talk.title_html, talk.starts, talk.ends, talk.place, talk.board
    return Poster(*shown, talk.room_id, paper)
