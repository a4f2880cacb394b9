"""What facets narrow by, read in parts, each again only after a change of what it is made of.

Which papers are public is one part; talks, institutions and material are read of all papers, so that they
outlast what becomes public.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from conference.models import Edition
from conference.standing import kept_while_it_stands
from papers.boards import Board, natural
from papers.models import Authorship, Material, Paper
from papers.querysets import taking_place

# Editions of which these are kept: half a megabyte each for 6,000 papers. Others have their catalogues.
KEPT = 3
UNSCHEDULED = datetime.max.replace(tzinfo=UTC)
# Boards are sorted behind one another; papers without one come last.
NO_BOARD: Board = ((1_000_000_000, ""),)
TITLES = frozenset(["*papers.paper", "*papers.topic", "papers"])
TOPICS = frozenset(["*papers.topic"])
NO_SESSION = "", ""
AWARDS = frozenset(["*papers.award", "*papers.awardgrant", "*papers.paper"])
TALKS = frozenset(["*schedule.presentation", "*schedule.session"])
AUTHORS = frozenset(["*papers.authorship"])
MATERIALS = frozenset(["*papers.material"])
ALL = TITLES | TOPICS | AWARDS | TALKS | AUTHORS | MATERIALS

# By value, in order, the keys of the papers that have it.
type Members[T] = Mapping[T, Iterable[int]]


class Title(NamedTuple):
    """A public paper."""

    key: int
    uid: str
    topic: str
    track: str


def _keys() -> array[int]:
    return array("q")


def _gathering() -> dict[Any, array[int]]:
    return defaultdict(_keys)


@dataclass(slots=True)
class Talks:
    """What takes place of papers: by its kind, when it begins, and in which session (uid and title)."""

    kinds: dict[str, array[int]] = field(default_factory=_gathering)
    begun: dict[datetime, array[int]] = field(default_factory=_gathering)
    sessions: dict[tuple[str, str], array[int]] = field(default_factory=_gathering)
    recorded: array[int] = field(default_factory=_keys)
    # When each session has its first talk; when each paper begins, and its first board.
    opened: dict[tuple[str, str], datetime] = field(default_factory=dict)
    starts: dict[int, datetime] = field(default_factory=dict)
    boards: dict[int, Board] = field(default_factory=dict)

    def add(self, paper: int, kind: str, begins: datetime, session: tuple[str, str], board: str) -> None:
        self.kinds[kind].append(paper)
        self.begun[begins].append(paper)
        self.sessions[session].append(paper)
        if begins < self.opened.get(session, UNSCHEDULED):
            self.opened[session] = begins
        if begins < self.starts.get(paper, UNSCHEDULED):
            self.starts[paper] = begins
        if board:
            self.boards[paper] = min(self.boards.get(paper, NO_BOARD), natural(board))

    def in_order(self) -> list[tuple[str, str]]:
        """Return the sessions by their first talk."""
        known = self.sessions.keys() - {NO_SESSION}
        return sorted(known, key=lambda session: (self.opened.get(session, UNSCHEDULED), session))


@kept_while_it_stands(KEPT, of=TITLES)
def titles(edition: Edition, at: datetime) -> list[Title]:
    """Return the public papers by title. One query."""
    rows = edition.papers.published(at).by_title().values_list("pk", "uid", "topic__slug", "track")
    return [Title(key, uid, topic or "", track) for key, uid, topic, track in rows]


@kept_while_it_stands(KEPT, of=TOPICS)
def topics(edition: Edition, _at: datetime) -> list[tuple[str, str, str]]:
    """Return slug, name and the slug above of the topics, in order. One query."""
    rows = edition.topics.values_list("slug", "name", "parent__slug")
    return [(slug, name, above or "") for slug, name, above in rows]


@kept_while_it_stands(KEPT, of=AWARDS)
def awards(edition: Edition, at: datetime) -> Members[tuple[str, str]]:
    """Return the papers by uid and name of the awards, in the chairs' order. One query."""
    return gathered(((uid, name), key) for key, uid, name in edition.papers.award_rows(at))


@kept_while_it_stands(KEPT, of=AUTHORS)
def institutions(edition: Edition, _at: datetime) -> Members[str]:
    """Return the papers by slug of the institutions of their authors. Two queries."""
    links: Any = Authorship.institutions.through
    rows = links._base_manager.filter(authorship__paper__edition=edition)
    found = gathered(rows.values_list("institution_id", "authorship__paper_id"))
    known: Any = links._meta.get_field("institution").related_model
    slugs = known.objects.filter(pk__in=found).order_by("folded", "pk").values_list("pk", "slug")
    return {slug: found[key] for key, slug in slugs}


@kept_while_it_stands(KEPT, of=MATERIALS)
def materials(edition: Edition, _at: datetime) -> Members[str]:
    """Return the papers by kind of their visible material. One query."""
    rows = Material._base_manager.filter(paper__edition=edition, visible=True)
    return gathered(rows.order_by().values_list("kind", "paper_id"))


@kept_while_it_stands(KEPT, of=TALKS)
def talks(edition: Edition, at: datetime) -> Talks:
    """Return what takes place of papers and is public if they are. Two queries."""
    relation: Any = Paper._meta.get_field("presentations").related_model
    rows = relation.objects.filter(edition=edition, paper__isnull=False).public_beside_papers(at)
    rows = taking_place(rows).order_by()
    known: Any = relation._meta.get_field("session").related_model
    sessions = known.objects.filter(edition=edition).order_by().values_list("pk", "uid", "title", "start")
    named = {key: ((uid, title), start) for key, uid, title, start in sessions}
    columns = ("paper_id", "kind", "start", "session_id", "board", "recording_url")
    found = Talks()
    for key, kind, start, session, board, recording in rows.values_list(*columns):
        name, begins = named.get(session, (NO_SESSION, None))
        found.add(key, kind, start or begins or UNSCHEDULED, name, board)
        if recording:
            found.recorded.append(key)
    return found


def gathered[T](rows: Iterable[tuple[T, int]]) -> dict[T, array[int]]:
    """Return the second of each pair by the first."""
    members = _gathering()
    for value, key in rows:
        members[value].append(key)
    return dict(members)
