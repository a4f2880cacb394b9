"""The public papers of an edition by facet value, as bitmaps that are cached per revision.

Filtering takes one `&`, and counting one `bit_count()`. `papers.paper_search` has the choices of pages.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import reduce
from hashlib import blake2b
from itertools import repeat
from operator import and_, attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from django.utils.functional import lazy

import markup
from conference.models import Edition
from content import times
from pagecache.per_revision import cached_per_revision
from papers.models import Authorship, Material, Paper
from papers.querysets import is_cancelled
from papers.rows import UNSCHEDULED, Board, group_values, lazy_kind_labels, natural_sort_key
from people.models import Institution

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

# A cache entry takes about 1 MB for 6,000 papers.
CACHED_EDITIONS = 12
# Papers without a board are sorted last.
NO_BOARD: Board = ((1_000_000_000, ""),)
NO_SESSION = "", ""
# Position, slug and name of a room.
type RoomPlace = tuple[int, str, str]
NO_ROOM: RoomPlace = (0, "", "")
# The kinds of material that papers can be filtered by, in this order.
MATERIAL_KINDS = ("pdf", "slides", "poster", "video", "code", "data")

# The primary keys of the papers with a value, by value.
type Members[T] = Mapping[T, Iterable[int]]


class ListedPaper(NamedTuple):
    """The fields of a public paper by which the catalog sorts. `topic` is a slug, or empty."""

    key: int
    uid: str
    topic: str
    track: str


class PaperTalk(NamedTuple):
    """A presentation of a paper. `session` has the uid and title, or is `NO_SESSION`.

    `room` is its own or the session's, or `NO_ROOM`.
    """

    paper: int
    kind: str
    counts_as: str
    kind_name: str
    start: datetime
    session: tuple[str, str]
    board: str
    is_recorded: bool
    room: RoomPlace = NO_ROOM


@dataclass(slots=True)
class FacetValue:
    """A value of a facet, as written in addresses, and the bitmap of the papers with it."""

    value: str
    # Translated when rendered, because all languages share the catalog.
    name: "str | StrPromise"
    bits: int = 0
    parent: str = ""

    @property
    def label(self) -> str:
        return str(self.name)


# The choices of a facet by value, in display order.
type Choices = dict[str, FacetValue]


class PaperNumbers:
    """The index of each paper in the bitmaps."""

    def __init__(self, papers: Sequence[ListedPaper]) -> None:
        self.index_by_key = {paper.key: index for index, paper in enumerate(papers)}

    def bits(self, keys: Iterable[int]) -> int:
        """Return the bitmap of the papers with these primary keys. Unknown keys are ignored."""
        count = len(self.index_by_key)
        bitmap = bytearray(count // 8 + 1)
        for index in map(self.index_by_key.get, keys, repeat(count)):
            bitmap[index >> 3] |= 1 << (index & 7)
        return int.from_bytes(bitmap, "little") & ((1 << count) - 1)

    def choices[T](
        self,
        members: Members[T],
        value: Callable[[T], str] = str,
        label: "Callable[[T], str | StrPromise]" = str,
    ) -> Choices:
        """Return the choices with papers, in the order of the members."""
        choices: Choices = {}
        for member, keys in members.items():
            if bits := self.bits(keys):
                choices[value(member)] = FacetValue(value(member), label(member), bits)
        return choices


# Queries


@cached_per_revision(CACHED_EDITIONS)
def listed_papers(edition: Edition, at: datetime) -> tuple[list[ListedPaper], PaperNumbers]:
    """Return the public papers in an order that no title changes, and their numbers. One query."""
    rows = edition.papers.published(at).order_by("pk").values_list("pk", "uid", "topic__slug", "track")
    papers = [ListedPaper(key, uid, topic or "", track) for key, uid, topic, track in rows]
    return papers, PaperNumbers(papers)


@cached_per_revision(CACHED_EDITIONS)
def keys_by_title(edition: Edition, at: datetime) -> list[int]:
    """Return the primary keys of the public papers by title. One query."""
    return [*edition.papers.published(at).by_title().values_list("pk", flat=True)]


def papers_by_institution(edition: Edition) -> Members[str]:
    """Return the papers by the slugs of their authors' institutions. Two queries."""
    links: Any = Authorship.institutions.through
    rows = links._base_manager.filter(authorship__paper__edition=edition)
    by_key = group_values(rows.values_list("institution_id", "authorship__paper_id"))
    slugs = Institution.objects.filter(pk__in=by_key).order_by("folded", "pk").values_list("pk", "slug")
    return {slug: by_key[key] for key, slug in slugs}


def papers_by_material(edition: Edition) -> Mapping[str, Sequence[int]]:
    """Return the papers by the kinds of their visible materials. One query."""
    rows = Material._base_manager.filter(paper__edition=edition, visible=True)
    return group_values(rows.order_by().values_list("kind", "paper_id"))


def paper_talks(edition: Edition, at: datetime) -> list[PaperTalk]:
    """Return the presentations that are public if their papers are, by start. One query."""
    rows = edition.presentations.filter(paper__isnull=False).public_beside_papers(at).filter(~is_cancelled())
    own_columns = ("paper_id", "kind", "counts_as", "kind_name", "begins", "board", "recording_url")
    columns = (*own_columns, "session__uid", "session__title", "room_position", "room_slug", "room_name")
    talks = [
        PaperTalk(
            row.paper_id,
            row.kind,
            row.counts_as,
            row.kind_name,
            row.begins or UNSCHEDULED,
            (row.session__uid or "", row.session__title or ""),
            row.board,
            bool(row.recording_url),
            (row.room_position, row.room_slug, row.room_name) if row.room_slug else NO_ROOM,
        )
        for row in rows.with_beginning().with_room().order_by().values_list(*columns, named=True)
    ]
    return sorted(talks, key=attrgetter("start", "session"))


# The choices of each facet. Those that are read from one table are kept while others change.


@cached_per_revision(CACHED_EDITIONS)
def topic_choices(edition: Edition, at: datetime) -> Choices:
    """Return the topics in order, each before its subtopics. A topic includes their papers."""
    papers, numbers = listed_papers(edition, at)
    rows = edition.topics.values_list("slug", "name", "parent__slug")
    topics = {slug: (name, parent or "") for slug, name, parent in rows}
    bits = dict.fromkeys(topics, 0)
    for slug, choice in numbers.choices(group_values((paper.topic, paper.key) for paper in papers)).items():
        # A topic may have been added after `rows` were fetched.
        while slug in topics:
            bits[slug] |= choice.bits
            slug = topics[slug][1]
    choices: Choices = {}

    def add(parent_slug: str) -> None:
        for slug, (name, parent) in topics.items():
            if parent == parent_slug and bits[slug]:
                choices[slug] = FacetValue(slug, name, bits[slug], parent_slug)
                add(slug)

    add("")
    return choices


def kind_choices(talks: Iterable[PaperTalk], numbers: PaperNumbers) -> Choices:
    """Return the kinds of presentations. A custom kind also counts as its built-in kind."""
    custom_kinds = sorted({(talk.kind, talk.kind_name) for talk in talks if talk.kind_name})
    labels = lazy_kind_labels(Paper, "presentations") | dict(custom_kinds)
    members = group_values((kind, talk.paper) for talk in talks for kind in {talk.kind, talk.counts_as})
    return numbers.choices({kind: members[kind] for kind in labels}, label=labels.__getitem__)


@cached_per_revision(CACHED_EDITIONS)
def award_choices(edition: Edition, at: datetime) -> Choices:
    _papers, numbers = listed_papers(edition, at)
    awards = group_values(((uid, name), key) for key, uid, name in edition.papers.award_rows(at))
    return numbers.choices(awards, itemgetter(0), itemgetter(1))


@cached_per_revision(CACHED_EDITIONS)
def institution_choices(edition: Edition, at: datetime) -> Choices:
    """Return the institutions without names, which may change without a new revision of the edition."""
    _papers, numbers = listed_papers(edition, at)
    return numbers.choices(papers_by_institution(edition), label=lambda _slug: "")


@cached_per_revision(CACHED_EDITIONS)
def material_choices(edition: Edition, at: datetime) -> Choices:
    _papers, numbers = listed_papers(edition, at)
    materials, labels = papers_by_material(edition), dict[str, Any](Material.Kind.choices)
    return numbers.choices({kind: materials[kind] for kind in MATERIAL_KINDS}, label=labels.__getitem__)


@dataclass(frozen=True, slots=True)
class ScheduledPapers:
    """The choices of facets of talks, the first start and board of each paper, and those with recordings."""

    facets: dict[str, Choices]
    starts: Mapping[int, datetime]
    boards: Mapping[int, Board]
    recorded: int


@cached_per_revision(CACHED_EDITIONS)
def scheduled_papers(edition: Edition, at: datetime) -> ScheduledPapers:
    _papers, numbers = listed_papers(edition, at)
    talks = paper_talks(edition, at)
    days = {start: edition.day_of(start) for start in {talk.start for talk in talks} - {UNSCHEDULED}}
    papers_by_day = group_values((days[talk.start], talk.paper) for talk in talks if talk.start in days)
    sessions = group_values((talk.session, talk.paper) for talk in talks if talk.session != NO_SESSION)
    rooms = group_values((talk.room, talk.paper) for talk in talks if talk.room != NO_ROOM)
    facets = {
        "kind": kind_choices(talks, numbers),
        "day": numbers.choices(papers_by_day, date.isoformat, lazy(times.short_day, str)),
        "room": numbers.choices({room: rooms[room] for room in sorted(rooms)}, itemgetter(1), itemgetter(2)),
        "session": numbers.choices(sessions, itemgetter(0), lambda session: markup.plain(session[1])),
    }
    starts = {talk.paper: talk.start for talk in reversed(talks)}
    boards = group_values((talk.paper, natural_sort_key(talk.board)) for talk in talks if talk.board)
    recorded = numbers.bits(talk.paper for talk in talks if talk.is_recorded)
    return ScheduledPapers(facets, starts, {paper: min(labels) for paper, labels in boards.items()}, recorded)


def with_recordings(choices: Choices, recorded: int) -> Choices:
    """Return the choices of materials, in which a recording of a talk counts as a video of its paper."""
    videos = choices["video"].bits if "video" in choices else 0
    if not (videos | recorded):
        return choices
    video = FacetValue("video", dict[str, Any](Material.Kind.choices)["video"], videos | recorded)
    all_choices = {**choices, "video": video}
    return {kind: all_choices[kind] for kind in MATERIAL_KINDS if kind in all_choices}


# The catalog


@dataclass(frozen=True, slots=True)
class Catalog:
    """The public papers of an edition by title, and the choices of each facet."""

    papers: Sequence[ListedPaper]
    numbers: PaperNumbers
    facets: dict[str, Choices]
    starts: Mapping[int, datetime]
    boards: Mapping[int, Board]

    @property
    def all_papers(self) -> int:
        return (1 << len(self.numbers.index_by_key)) - 1

    @property
    def has_boards(self) -> bool:
        return any(paper.key in self.boards for paper in self.papers)

    def matching(self, chosen: dict[str, list[str]], ignored: str = "") -> int:
        """Return the bitmap of papers that have all the chosen values, except of the facet `ignored`."""
        bitmaps = [
            self.facets[name][value].bits for name in chosen if name != ignored for value in chosen[name]
        ]
        return reduce(and_, bitmaps, self.all_papers)

    def sorted_keys(
        self,
        bits: int,
        sort: str = "title",
        seed: str = "",
        by: str = "",
        ranks: Mapping[int, int] | None = None,
    ) -> list[int]:
        """Return the primary keys of these papers, sorted, and grouped if `by` is "topic" or "track".

        `ranks` maps keys to ranks of relevance. Papers without a rank follow by title.
        """
        indexes = self.numbers.index_by_key
        digits = f"{bits:0{len(indexes)}b}"[::-1]
        papers = [paper for paper in self.papers if digits[indexes[paper.key]] == "1"]
        if sort != "title":
            papers.sort(key=self._sort_key(sort, seed, ranks or {}))
        if by == "topic":
            topic_ranks = {slug: rank for rank, slug in enumerate(self.facets["topic"])}
            papers.sort(key=lambda paper: topic_ranks.get(paper.topic, len(topic_ranks)))
        elif by == "track":
            papers.sort(key=attrgetter("track"))
        return [paper.key for paper in papers]

    def _sort_key(self, sort: str, seed: str, ranks: Mapping[int, int]) -> Callable[[ListedPaper], Any]:
        if sort == "relevance":
            return lambda paper: ranks.get(paper.key, len(ranks))
        if sort == "random":
            return lambda paper: blake2b(f"{seed} {paper.uid}".encode(), digest_size=8).digest()
        if sort == "schedule":
            return lambda paper: self.starts.get(paper.key, UNSCHEDULED)
        return lambda paper: (self.boards.get(paper.key, NO_BOARD), self.starts.get(paper.key, UNSCHEDULED))


@cached_per_revision(CACHED_EDITIONS)
def catalog(edition: Edition, at: datetime) -> Catalog:
    """Return the catalog of an edition. Eight queries if all of it has changed."""
    papers, numbers = listed_papers(edition, at)
    tracks = group_values((paper.track, paper.key) for paper in papers if paper.track)
    talks = scheduled_papers(edition, at)
    facets = {
        "topic": topic_choices(edition, at),
        "track": numbers.choices({track: tracks[track] for track in sorted(tracks)}),
        "kind": talks.facets["kind"],
        "award": award_choices(edition, at),
        "day": talks.facets["day"],
        "room": talks.facets["room"],
        "session": talks.facets["session"],
        "institution": institution_choices(edition, at),
        "has": with_recordings(material_choices(edition, at), talks.recorded),
    }
    indexes = map(numbers.index_by_key.get, keys_by_title(edition, at))
    by_title = [papers[index] for index in indexes if index is not None]
    return Catalog(by_title, numbers, facets, talks.starts, talks.boards)
