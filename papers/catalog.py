"""Which public papers of an edition have which property, as bitmaps in memory, cached per revision.

Narrowing is one `&`, counting one `bit_count()`. How a page offers the choices: `papers.facets`.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import reduce
from hashlib import blake2b
from itertools import chain, repeat
from operator import and_, attrgetter, itemgetter
from typing import Any, NamedTuple

import markup
from conference.models import Edition
from content import times
from pagecache.per_revision import cached_per_revision
from papers.board_order import Board, natural
from papers.models import Authorship, Material, Paper
from papers.querysets import taking_place

# About 1 MB each for 6,000 papers.
CACHED_EDITIONS = 12
UNSCHEDULED = datetime.max.replace(tzinfo=UTC)
# Papers without a board are sorted last.
NO_BOARD: Board = ((1_000_000_000, ""),)
NO_SESSION = "", ""
# The kinds of material that papers can be narrowed by, in this order.
MATERIAL_KINDS = ("pdf", "slides", "poster", "video", "code", "data")

# By value, in order, the primary keys of the papers that have it.
type Members[T] = Mapping[T, Iterable[int]]


class ListedPaper(NamedTuple):
    """A public paper as the catalog sorts it; `topic` is the slug of its topic, or empty."""

    key: int
    uid: str
    topic: str
    track: str


@dataclass(slots=True)
class FacetValue:
    """One value of a facet, as it is written in an address, and the bitmap of the papers that have it."""

    value: str
    label: str
    bits: int = 0
    above: str = ""


# The choices of a facet by their values, in the order of the program.
type Choices = dict[str, FacetValue]


class PaperNumbers:
    """The place of each paper in the bitmaps."""

    def __init__(self, papers: Sequence[ListedPaper]) -> None:
        self._places = {paper.key: place for place, paper in enumerate(papers)}

    def bits(self, keys: Iterable[int]) -> int:
        """Return the bitmap of the papers with these primary keys; keys of other papers are ignored."""
        beyond = len(self._places)
        row = bytearray(beyond // 8 + 1)
        for place in map(self._places.get, keys, repeat(beyond)):
            row[place >> 3] |= 1 << (place & 7)
        return int.from_bytes(row, "little") & ((1 << beyond) - 1)

    def choices[T](
        self, members: Members[T], value: Callable[[T], str] = str, label: Callable[[T], str] = str
    ) -> Choices:
        """Return the choices that some paper has, in the order of the members."""
        bits = ((one, self.bits(keys)) for one, keys in members.items())
        return {value(one): FacetValue(value(one), label(one), some) for one, some in bits if some}


def _keys() -> array[int]:
    return array("q")


def _keys_by_value() -> dict[Any, array[int]]:
    return defaultdict(_keys)


def grouped[T](rows: Iterable[tuple[T, int]]) -> dict[T, array[int]]:
    """Return the second of each pair by the first."""
    members = _keys_by_value()
    for value, key in rows:
        members[value].append(key)
    return dict(members)


# What is read of an edition


def listed_papers(edition: Edition, at: datetime) -> list[ListedPaper]:
    """Return the public papers by title. One query."""
    rows = edition.papers.published(at).by_title().values_list("pk", "uid", "topic__slug", "track")
    return [ListedPaper(key, uid, topic or "", track) for key, uid, topic, track in rows]


def topic_rows(edition: Edition) -> list[tuple[str, str, str]]:
    """Return slug, name and the slug of the parent of each topic, in order. One query."""
    rows = edition.topics.values_list("slug", "name", "parent__slug")
    return [(slug, name, above or "") for slug, name, above in rows]


def papers_by_award(edition: Edition, at: datetime) -> Members[tuple[str, str]]:
    """Return the papers by uid and name of the awards, in the chairs' order. One query."""
    return grouped(((uid, name), key) for key, uid, name in edition.papers.award_rows(at))


def papers_by_institution(edition: Edition) -> Members[str]:
    """Return the papers by slug of the institutions of their authors. Two queries."""
    links: Any = Authorship.institutions.through
    rows = links._base_manager.filter(authorship__paper__edition=edition)
    found = grouped(rows.values_list("institution_id", "authorship__paper_id"))
    institution: Any = links._meta.get_field("institution").related_model
    slugs = institution.objects.filter(pk__in=found).order_by("folded", "pk").values_list("pk", "slug")
    return {slug: found[key] for key, slug in slugs}


def papers_by_material(edition: Edition) -> Members[str]:
    """Return the papers by kind of their visible material. One query."""
    rows = Material._base_manager.filter(paper__edition=edition, visible=True)
    return grouped(rows.order_by().values_list("kind", "paper_id"))


@dataclass(slots=True)
class PaperTalks:
    """The public presentations of papers: by kind, start, and session (uid and title)."""

    # A kind of the conference's own is there under its slug, with its name, and as what it counts as.
    kinds: dict[str, array[int]] = field(default_factory=_keys_by_value)
    kind_names: dict[str, str] = field(default_factory=dict)
    begun: dict[datetime, array[int]] = field(default_factory=_keys_by_value)
    sessions: dict[tuple[str, str], array[int]] = field(default_factory=_keys_by_value)
    recorded: array[int] = field(default_factory=_keys)
    # The first start of each session and of each paper, and the first board of each paper.
    session_starts: dict[tuple[str, str], datetime] = field(default_factory=dict)
    starts: dict[int, datetime] = field(default_factory=dict)
    boards: dict[int, Board] = field(default_factory=dict)

    def add(
        self, paper: int, kinds: Iterable[str], begins: datetime, session: tuple[str, str], board: str
    ) -> None:
        for kind in kinds:
            self.kinds[kind].append(paper)
        self.begun[begins].append(paper)
        self.sessions[session].append(paper)
        if begins < self.session_starts.get(session, UNSCHEDULED):
            self.session_starts[session] = begins
        if begins < self.starts.get(paper, UNSCHEDULED):
            self.starts[paper] = begins
        if board:
            self.boards[paper] = min(self.boards.get(paper, NO_BOARD), natural(board))

    def sessions_in_order(self) -> list[tuple[str, str]]:
        """Return the sessions by their first talk."""
        known = self.sessions.keys() - {NO_SESSION}
        return sorted(known, key=lambda session: (self.session_starts.get(session, UNSCHEDULED), session))


def paper_talks(edition: Edition, at: datetime) -> PaperTalks:
    """Return the presentations that are public if their papers are. Two queries."""
    presentation: Any = Paper._meta.get_field("presentations").related_model
    rows = presentation.objects.filter(edition=edition, paper__isnull=False).public_beside_papers(at)
    rows = taking_place(rows).order_by()
    session_model: Any = presentation._meta.get_field("session").related_model
    sessions = (
        session_model.objects.filter(edition=edition).order_by().values_list("pk", "uid", "title", "start")
    )
    named = {key: ((uid, title), start) for key, uid, title, start in sessions}
    columns = ("paper_id", "kind", "counts_as", "kind_name", "start", "session_id", "board", "recording_url")
    found = PaperTalks()
    for key, kind, counts_as, kind_name, start, session, board, recording in rows.values_list(*columns):
        name, begins = named.get(session, (NO_SESSION, None))
        found.add(key, {kind, counts_as}, start or begins or UNSCHEDULED, name, board)
        if kind_name:
            found.kind_names[kind] = kind_name
        if recording:
            found.recorded.append(key)
    return found


# The choices of each facet


def topic_choices(
    rows: Sequence[tuple[str, str, str]], papers: Sequence[ListedPaper], numbers: PaperNumbers
) -> Choices:
    """Return the topics in order, each before its own; a topic has the papers of those below it, too."""
    own = numbers.choices(grouped((paper.topic, paper.key) for paper in papers))
    above = {slug: parent for slug, _, parent in rows}
    bits = dict.fromkeys(above, 0)
    for slug, choice in own.items():
        # A topic may be newer than the rows that were read.
        while slug in bits:
            bits[slug] |= choice.bits
            slug = above[slug]
    ordered: Choices = {}

    def add(parent: str) -> None:
        for slug, name, over in rows:
            if over == parent and bits[slug]:
                ordered[slug] = FacetValue(slug, name, bits[slug], parent)
                add(slug)

    add("")
    return ordered


def track_choices(papers: Sequence[ListedPaper], numbers: PaperNumbers) -> Choices:
    """Return the tracks by name."""
    members = grouped((paper.track, paper.key) for paper in papers)
    return numbers.choices({track: members[track] for track in sorted(members) if track})


def material_choices(members: Members[str], recorded: Iterable[int], numbers: PaperNumbers) -> Choices:
    """Return the kinds of material; a recording of a talk counts as a video of its paper."""
    videos = chain(members.get("video", ()), recorded)
    labels: dict[str, Any] = dict(Material.Kind.choices)
    offered = {kind: videos if kind == "video" else members.get(kind, ()) for kind in MATERIAL_KINDS}
    return numbers.choices(offered, label=labels.__getitem__)


def day_choices(edition: Edition, talks: PaperTalks, numbers: PaperNumbers) -> Choices:
    """Return the program days on which something is presented, by date."""
    days: dict[date, list[Iterable[int]]] = {}
    for begins in sorted(talks.begun.keys() - {UNSCHEDULED}):
        days.setdefault(edition.day_of(begins), []).append(talks.begun[begins])
    members = {day: chain.from_iterable(keys) for day, keys in days.items()}
    return numbers.choices(members, date.isoformat, times.short_day)


def session_choices(talks: PaperTalks, numbers: PaperNumbers) -> Choices:
    """Return the sessions by the time of their first talk."""
    members = {session: talks.sessions[session] for session in talks.sessions_in_order()}
    return numbers.choices(members, itemgetter(0), lambda named: markup.plain(named[1]))


def presentation_kinds() -> dict[str, str]:
    """Return the labels of the kinds of presentations."""
    presentation: Any = Paper._meta.get_field("presentations").related_model
    return dict(presentation._meta.get_field("kind").flatchoices)


def kind_choices(talks: PaperTalks, numbers: PaperNumbers) -> Choices:
    """Return the kinds of presentations that occur."""
    labels = {**presentation_kinds(), **dict(sorted(talks.kind_names.items()))}
    kinds = {kind: talks.kinds[kind] for kind in labels if kind in talks.kinds}
    return numbers.choices(kinds, label=labels.__getitem__)


# All of them


@dataclass(frozen=True, slots=True)
class Catalog:
    """The public papers of an edition by title, and the choices of each facet in the order of the program."""

    papers: Sequence[ListedPaper]
    numbers: PaperNumbers
    facets: dict[str, Choices]
    starts: Mapping[int, datetime]
    boards: Mapping[int, Board]

    @property
    def everything(self) -> int:
        """The bitmap of all papers."""
        return (1 << len(self.papers)) - 1

    @property
    def has_boards(self) -> bool:
        """Whether some poster has a board."""
        return any(paper.key in self.boards for paper in self.papers)

    def matching(self, chosen: dict[str, list[str]], but: str = "") -> int:
        """Return the papers that have all the chosen values, those of the facet `but` not counted."""
        wanted = [self.facets[name][value].bits for name in chosen if name != but for value in chosen[name]]
        return reduce(and_, wanted, self.everything)

    def ordered(self, bits: int, sort: str = "title", seed: str = "", by: str = "") -> list[int]:
        """Return the primary keys of these papers, sorted; grouped by topic or track where `by` says so."""
        digits = f"{bits:0{len(self.papers)}b}"[::-1]
        found = [paper for paper, digit in zip(self.papers, digits, strict=False) if digit == "1"]
        if sort != "title":
            found.sort(key=self._key(sort, seed))
        if by == "topic":
            ranks = {slug: rank for rank, slug in enumerate(self.facets["topic"])}
            found.sort(key=lambda paper: ranks.get(paper.topic, len(ranks)))
        elif by == "track":
            found.sort(key=attrgetter("track"))
        return [paper.key for paper in found]

    def _key(self, sort: str, seed: str) -> Callable[[ListedPaper], Any]:
        if sort == "random":
            return lambda paper: blake2b(f"{seed} {paper.uid}".encode(), digest_size=8).digest()
        if sort == "schedule":
            return lambda paper: self.starts.get(paper.key, UNSCHEDULED)
        return lambda paper: (self.boards.get(paper.key, NO_BOARD), self.starts.get(paper.key, UNSCHEDULED))


@cached_per_revision(CACHED_EDITIONS)
def catalog(edition: Edition, at: datetime) -> Catalog:
    """Return the catalog of an edition. Eight queries after a change."""
    papers = listed_papers(edition, at)
    numbers = PaperNumbers(papers)
    talks = paper_talks(edition, at)
    facets = {
        "topic": topic_choices(topic_rows(edition), papers, numbers),
        "track": track_choices(papers, numbers),
        "kind": kind_choices(talks, numbers),
        "award": numbers.choices(papers_by_award(edition, at), itemgetter(0), itemgetter(1)),
        "day": day_choices(edition, talks, numbers),
        "session": session_choices(talks, numbers),
        # By slug alone: a name may change without a new revision of the edition.
        "institution": numbers.choices(papers_by_institution(edition), label=lambda _slug: ""),
        "has": material_choices(papers_by_material(edition), talks.recorded, numbers),
    }
    return Catalog(papers, numbers, facets, talks.starts, talks.boards)
