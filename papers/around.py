"""What stands around a paper in its sessions and on its days: read once for all papers there.

A poster session holds hundreds, and each of their pages asks for the same rows.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from conference.models import Edition
from conference.standing import kept_while_it_stands
from papers.boards import running_order

# Sessions, each with its posters' days, that are kept: with 750 posters about a megabyte each.
KEPT = 16
COLUMNS = (
    *("uid", "title", "title_html", "starts", "ends", "place", "board", "room_key"),
    *("paper_id", "session_id", "position", "poster", "paper__topic_id", "paper__keywords"),
)


class Hung(NamedTuple):
    """A poster of a paper, and the paper's keywords."""

    row: Any
    keywords: frozenset[str]


class Around(NamedTuple):
    """The papers of each session in the order in which one meets them, and the posters, by time."""

    orders: Mapping[int, tuple[int | None, ...]]
    posters: list[Hung]


NOTHING = Around({}, [])


@kept_while_it_stands(KEPT)
def around(
    edition: Edition,
    at: datetime | None,
    sessions: frozenset[int],
    spans: tuple[tuple[datetime, datetime], ...],
) -> Around:
    """Return what takes place in sessions, given by their keys, and the posters that begin in spans.

    One query, unless it was asked since the last change.
    """
    found = edition.presentations.published(at).beside(sessions, spans)
    rows = list(found.values_list(*COLUMNS, named=True))
    members: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        members[row.session_id].append(row)
    orders = {
        session: tuple(dict.fromkeys(row.paper_id for row in running_order(members[session])))
        for session in sessions
    }
    posters = [Hung(row, folded(row.paper__keywords)) for row in rows if row.poster and row.paper_id]
    return Around(orders, posters)


def folded(keywords: Collection[str] | None) -> frozenset[str]:
    """Return keywords as they are compared."""
    return frozenset(keyword.casefold() for keyword in keywords or ())
