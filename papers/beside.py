"""What stands beside a paper: before and after it in its sessions."""

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from papers.boards import running_order
from papers.models import Paper


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The papers before and after a paper in one session; `None` at the ends."""

    session: Any
    before: Paper | None
    after: Paper | None


def neighbours(paper: Any, at: datetime | None = None) -> list[Neighbours]:
    """Return what stands beside a paper in each of its sessions, in order. Three queries at most.

    The paper was fetched `with_appearances()`.
    """
    sessions = {
        one.session_id: one.session for one in paper.appearances if one.session and not one.called_off
    }
    papers = Paper.objects.published(at)
    rows = papers.session_rows(list(sessions), at) if sessions else []
    beside: dict[int, tuple[int | None, int | None]] = {}
    for session, members in groupby(rows, key=attrgetter("session_id")):
        row = [None, *dict.fromkeys(talk.paper_id for talk in running_order(members)), None]
        if paper.pk in row:
            place = row.index(paper.pk)
            beside[session] = row[place - 1], row[place + 1]
    keys = {key for pair in beside.values() for key in pair if key}
    found = {one.pk: one for one in papers.exactly(list(keys)).select_related("edition")}
    pairs = ((sessions[key], *map(found.get, beside[key])) for key in sessions if key in beside)
    return [Neighbours(*pair) for pair in pairs if pair[1] or pair[2]]
