"""What facets narrow by, read in parts, each again only after a change of what it is made of.

Which papers are public is one part; talks, institutions and material are read of all papers, so that they
outlast what becomes public.
"""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import starmap
from typing import Any, NamedTuple

from django.db.models import Q

from conference.models import Edition
from content import touches
from pagecache.per_revision import kept_while_it_stands
from papers.board_order import Board, natural
from papers.models import Authorship, Material, Paper
from papers.querysets import taking_place

# Editions of which these are kept: half a megabyte each for 6,000 papers. Others have their catalogues.
KEPT = 3
# So many papers are put where they stand now; after a change of more all are read again.
MENDED = 8
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

# What is read of a public paper.
COLUMNS = "pk", "uid", "topic__slug", "track"

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


def _mended(found: list[Title], names: Set[str], edition: Edition, at: datetime) -> list[Title] | None:
    """Put the papers that changed where they stand now. One query, and one for each that is public."""
    keys, uids = set(map(int, touches.keys(names, "*papers.paper"))), touches.keys(names, "papers")
    if len(keys) + len(uids) < len(names) or len(names) > MENDED:
        return None
    titles = [title for title in found if title.key not in keys and title.uid not in uids]
    for *columns, sorted_by in _titled(edition.pk, at, keys, uids):
        changed = _title(*columns)
        before = _before(edition.pk, at, sorted_by, changed.uid)
        if any(number != edition.revision for _, number in before):
            # Those that stand behind one another in the list may do so no longer.
            return None
        places = {title.key: place for place, title in enumerate(titles, 1)} if before else {0: 0}
        place = places.get(before[0][0] if before else 0)
        if place is None:
            return None
        titles.insert(place, changed)
    return titles


@kept_while_it_stands(KEPT, of=TITLES, mended=_mended)
def titles(edition: Edition, at: datetime) -> list[Title]:
    """Return the public papers by title. One query."""
    return list(starmap(_title, edition.papers.published(at).by_title().values_list(*COLUMNS)))


def _title(key: int, uid: str, topic: str | None, track: str) -> Title:
    return Title(key, uid, topic or "", track)


def _titled(edition: int, at: datetime, keys: Collection[int], uids: Collection[str]) -> Any:
    rows = Paper.objects.published(at).filter(Q(pk__in=keys) | Q(uid__in=uids), edition=edition)
    return rows.by_title().values_list(*COLUMNS, "sort_title")


def _before(edition: int, at: datetime, title: str, uid: str) -> Any:
    """The paper that stands before one by its title as it is sorted, and the edition's revision."""
    before = Q(sort_title__lt=title) | Q(uid__lt=uid)
    rows = Paper.objects.published(at).filter(before, edition=edition, sort_title__lte=title)
    return rows.order_by("-sort_title", "-uid").values_list("pk", "edition__revision")[:1]


@kept_while_it_stands(KEPT, of=TOPICS)
def topics(edition: Edition, _at: datetime) -> list[tuple[str, str, str]]:
    """Return slug, name and the slug above of the topics, in order. One query."""
    rows = edition.topics.values_list("slug", "name", "parent__slug")
    return [(slug, name, above or "") for slug, name, above in rows]


@kept_while_it_stands(KEPT, of=AWARDS)
def awards(edition: Edition, at: datetime) -> Members[tuple[str, str]]:
    """Return the papers by uid and name of the awards, in the chairs' order. One query."""
    return gathered(((uid, name), key) for key, uid, name in edition.papers.award_rows(at))


def _still(found: Members[str], names: Set[str], _edition: Edition, _at: datetime) -> Members[str] | None:
    """Take what was found where authors changed and none went: institutions are noted apart. One query."""
    keys = set(map(int, touches.keys(names, "*papers.authorship")))
    rows = Authorship._base_manager.filter(pk__in=keys)
    return found if rows.count() == len(names) else None


@kept_while_it_stands(KEPT, of=AUTHORS, mended=_still)
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
