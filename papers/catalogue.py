"""Which papers of an edition have which property, as bitmaps in memory, kept until the edition changes.

Bit n of a bitmap stands for the n-th paper by title: narrowing is one `&`, counting one `bit_count()`.
How a page offers them is `facets`' business.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache, reduce
from hashlib import blake2b
from operator import and_
from typing import Any

from conference import text, times
from conference.models import Edition
from conference.querysets import public_parts
from papers.boards import Board, natural
from papers.models import Material, Paper

# Materials that papers can be asked for, in this order.
HAS = ("pdf", "slides", "poster", "video", "code", "data")
# Editions whose catalogues are kept: about 1 MB each for 6,000 papers.
KEPT = 12
UNSCHEDULED = datetime.max.replace(tzinfo=UTC)
# Boards are sorted behind one another; papers without one come last.
NO_BOARD: Board = ((1_000_000_000, ""),)


@dataclass(slots=True)
class Choice:
    """One value of a facet, as it stands in an address, and the papers that have it."""

    value: str
    label: str
    bits: int = 0
    above: str = ""


@dataclass(slots=True)
class Catalogue:
    """The papers of an edition by title, and the choices of each facet in the order of the program."""

    keys: list[int] = field(default_factory=list)
    uids: list[str] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    tracks: list[str] = field(default_factory=list)
    starts: list[datetime] = field(default_factory=list)
    boards: list[Board] = field(default_factory=list)
    facets: dict[str, dict[str, Choice]] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)

    @property
    def everything(self) -> int:
        """The bitmap of all papers."""
        return (1 << len(self.keys)) - 1

    @property
    def has_boards(self) -> bool:
        """Whether some poster has a board."""
        return any(board is not NO_BOARD for board in self.boards)

    def bits(self, keys: Iterable[int]) -> int:
        """Return the bitmap of the papers with these primary keys."""
        return bits_of(self.places[key] for key in keys if key in self.places)

    def matching(self, chosen: dict[str, list[str]], but: str = "") -> int:
        """Return the papers that have all the chosen values, those of the facet `but` not counted."""
        wanted = [self.facets[name][value].bits for name in chosen if name != but for value in chosen[name]]
        return reduce(and_, wanted, self.everything)

    def ordered(self, bits: int, sort: str = "title", seed: str = "", by: str = "") -> list[int]:
        """Return the primary keys of these papers, sorted; in groups by topic or track where `by` says so."""
        found = sorted(positions(bits), key=self._key(sort, seed)) if sort != "title" else positions(bits)
        if by == "topic":
            ranks = {slug: rank for rank, slug in enumerate(self.facets["topic"])}
            found.sort(key=lambda place: ranks.get(self.topics[place], len(ranks)))
        elif by == "track":
            found.sort(key=lambda place: self.tracks[place])
        return [self.keys[place] for place in found]

    def _key(self, sort: str, seed: str) -> Callable[[int], Any]:
        if sort == "schedule":
            return self.starts.__getitem__
        if sort == "board":
            return lambda place: (self.boards[place], self.starts[place])
        return lambda place: blake2b(f"{seed} {self.uids[place]}".encode(), digest_size=8).digest()


def bits_of(found: Iterable[int]) -> int:
    """Return the bitmap with a bit at each of these positions."""
    places = set(found)
    row = bytearray(max(places, default=-1) // 8 + 1)
    for place in places:
        row[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(row, "little")


def positions(bits: int) -> list[int]:
    """Return the positions of the bits that are set, in order."""
    return [place for place, sign in enumerate(reversed(f"{bits:b}")) if sign == "1"]


def presentation_kinds() -> dict[str, str]:
    """Return the labels of the kinds of presentations, asked of the floor above by its relation."""
    presentation: Any = Paper._meta.get_field("presentations").related_model
    return dict(presentation._meta.get_field("kind").flatchoices)


def catalogue(edition: Edition, at: datetime | None = None) -> Catalogue:
    """Return the catalogue of an edition. Six queries after a change, else none.

    It holds nothing that changes without the edition's stamp: of institutions the slugs, not the names.
    """
    calendar = (edition.timezone, edition.day_start_hour)
    state = (edition.pk, edition.revision, edition.changed_at, *calendar, *public_parts(edition, at))
    return _built(_Asked(state, edition, at))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a catalogue is asked for; equal states have equal catalogues."""

    state: tuple[object, ...]
    edition: Edition = field(compare=False)
    at: datetime | None = field(compare=False)


@lru_cache(maxsize=KEPT)
def _built(asked: _Asked) -> Catalogue:
    found, edition, at = Catalogue(), asked.edition, asked.at
    papers = edition.papers.published(at)
    for place, row in enumerate(papers.by_title().values_list("pk", "uid", "topic__slug", "track")):
        key, uid, topic, track = row
        found.places[key] = place
        found.keys.append(key)
        found.uids.append(uid)
        found.topics.append(topic or "")
        found.tracks.append(track)
    _add_topics(found, edition)
    _add_tracks(found)
    found.facets["award"] = _gathered(found, papers.award_rows(at))
    appearances = list(papers.appearance_rows(at))
    _add_appearances(found, appearances, edition)
    institutions = ((key, slug, "") for key, slug in papers.institution_rows(at))
    found.facets["institution"] = _gathered(found, institutions)
    recorded = ((row.paper_id, "video") for row in appearances if row.recording_url)
    _add_materials(found, (*papers.material_rows(at), *recorded))
    return found


def _gathered(found: Catalogue, rows: Iterable[tuple[Any, ...]]) -> dict[str, Choice]:
    """Return the choices of rows of a paper's key, a value and its label, in the order of the rows."""
    members: dict[str, tuple[str, list[int]]] = {}
    for key, value, label in rows:
        if key in found.places:
            members.setdefault(value, (label, []))[1].append(found.places[key])
    return {value: Choice(value, label, bits_of(places)) for value, (label, places) in members.items()}


def _add_topics(found: Catalogue, edition: Edition) -> None:
    """A topic has the papers of those below it, too; the highest stand first, each before its own."""
    rows = list(edition.topics.values_list("slug", "name", "parent__slug"))
    own = _gathered(found, zip(found.keys, found.topics, found.topics, strict=True))
    above = {slug: parent or "" for slug, _, parent in rows}
    bits = dict.fromkeys(above, 0)
    for slug, choice in own.items():
        while slug:
            bits[slug] |= choice.bits
            slug = above[slug]
    ordered: dict[str, Choice] = {}

    def add(parent: str) -> None:
        for slug, name, over in rows:
            if (over or "") == parent and bits[slug]:
                ordered[slug] = Choice(slug, name, bits[slug], parent)
                add(slug)

    add("")
    found.facets["topic"] = ordered


def _add_tracks(found: Catalogue) -> None:
    rows = sorted(zip(found.tracks, found.keys, strict=True))
    found.facets["track"] = _gathered(found, ((key, track, track) for track, key in rows if track))


def _add_appearances(found: Catalogue, rows: list[Any], edition: Edition) -> None:
    """Kinds, days and sessions of what takes place; the first start and the first board of each paper."""
    found.starts, found.boards = [UNSCHEDULED] * len(found.keys), [NO_BOARD] * len(found.keys)
    for row in rows:
        place = found.places.get(row.paper_id)
        if place is not None:
            found.starts[place] = min(found.starts[place], row.begins or UNSCHEDULED)
            if row.board:
                found.boards[place] = min(found.boards[place], natural(row.board))
    labels = presentation_kinds()
    kinds = _gathered(found, ((row.paper_id, row.kind, labels[row.kind]) for row in rows))
    found.facets["kind"] = {kind: kinds[kind] for kind in labels if kind in kinds}
    # Thousands begin at some dozens of times: each has its day worked out once.
    days = {begins: edition.day_of(begins) for begins in {row.begins for row in rows if row.begins}}
    named = {day: (day.isoformat(), times.short_day(day)) for day in days.values()}
    begun = ((row.paper_id, *named[days[row.begins]]) for row in rows if row.begins)
    found.facets["day"] = _gathered(found, begun)
    sessions = ((row.paper_id, row.session__uid, row.session__title) for row in rows if row.session__uid)
    found.facets["session"] = _gathered(found, sessions)
    for choice in found.facets["session"].values():
        choice.label = text.plain(choice.label)


def _add_materials(found: Catalogue, rows: Iterable[tuple[int, str]]) -> None:
    labels = dict(Material.Kind.choices)
    kinds = _gathered(found, ((key, kind, labels[kind]) for key, kind in rows))
    found.facets["has"] = {kind: kinds[kind] for kind in HAS if kind in kinds}
