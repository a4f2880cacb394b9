"""Papers and talks in lists, as plain values: what a line shows and no more, read for all lines at once.

A thousand lines of rows of models took ten times as long to fetch and to write. Equal rows say the same, so
that `pagecache.fragments` can keep what was written of them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Self

from django.core.files.storage import default_storage
from django.db.models import Model, QuerySet
from django.db.models.functions import Coalesce

import markup
from conference.summaries import EditionSummary, columns
from content.array_lookup import Among, Keys
from content.page_paths import path_of
from content.querysets import moment, published_rows
from people.querysets import with_shown_names
from people.rows import PersonLink


class AwardRow(NamedTuple):
    """An award that a paper has."""

    edition: str
    uid: str
    name: str

    @property
    def award(self) -> Self:
        """Itself: rows of models have their award apart."""
        return self

    def get_absolute_url(self) -> str:
        return f"{path_of('papers:awards', self.edition)}#award-{self.uid}"


class MaterialLink(NamedTuple):
    """A file or link of a paper, with what it is called."""

    kind: str
    label: str
    href: str

    def __str__(self) -> str:
        return self.label


class Appearing:
    """What appears in a program: under a title and an abstract of its own, else its paper's."""

    __slots__ = ()
    title: Any
    title_html: Any
    abstract_html: Any
    paper: Any

    def __str__(self) -> str:
        return markup.plain(self.title) or str(self.paper)

    @property
    def shown_title_html(self) -> str:
        """Its own title, else its paper's."""
        return self.title_html or (self.paper.title_html if self.paper else "")

    @property
    def shown_abstract_html(self) -> str:
        """Its own abstract, else its paper's."""
        return self.abstract_html or (self.paper.abstract_html if self.paper else "")


class TopicRow(NamedTuple):
    """What a paper is about."""

    slug: str
    name: str


class PaperRow(NamedTuple):
    """A paper as a line shows it."""

    uid: str
    title: str
    title_html: str
    edition: EditionSummary
    abstract_html: str = ""
    shown_authors: tuple[PersonLink, ...] = ()
    shown_grants: tuple[AwardRow, ...] = ()
    shown_materials: tuple[MaterialLink, ...] = ()
    track: str = ""
    topic: TopicRow | None = None
    appearances: tuple["TalkRow", ...] = ()

    def __str__(self) -> str:
        return markup.plain(self.title)

    def get_absolute_url(self) -> str:
        return path_of("papers:detail", self.edition.slug, self.uid, markup.slug(self.title))


class RoomRow(NamedTuple):
    """The room of a talk."""

    slug: str
    name: str


class SessionRow(NamedTuple):
    """The session of a talk, as far as the talk's line depends on it."""

    kind: str
    counts_as: str
    start: datetime
    room_id: int | None
    cancelled: bool
    address: str

    def get_absolute_url(self) -> str:
        return self.address


class _Talk(NamedTuple):
    uid: str
    kind: str
    get_kind_display: str
    counts_as: str
    title: str = ""
    title_html: str = ""
    start: datetime | None = None
    end: datetime | None = None
    board: str = ""
    position: int = 0
    cancelled: bool = False
    cancellation_reason: str = ""
    recording_url: str = ""
    room_id: int | None = None
    room: RoomRow | None = None
    session: SessionRow | None = None
    moved_from: datetime | None = None
    abstract_html: str = ""
    paper: PaperRow | None = None
    shown_speakers: tuple[PersonLink, ...] = ()


class TalkRow(Appearing, _Talk):
    """A presentation as a line shows it. Its abstract is empty unless it was fetched.

    With a session, start, end and room are the talk's own; without, they are its own or the session's.
    `cancelled`: it, or its session, stays in the program only to say that it does not happen. `moved_from`
    is when it was announced before the current release.
    """

    __slots__ = ()

    def get_absolute_url(self) -> str:
        shown = self.paper or self.session
        return shown.get_absolute_url() if shown else ""

    @property
    def starts(self) -> datetime | None:
        """Its own start, else its session's."""
        return self.start or (self.session.start if self.session else None)


type RowsByKey[T] = Mapping[int, tuple[T, ...]]


def grouped[T](pairs: Iterable[tuple[int, T]]) -> RowsByKey[T]:
    """Return the values of each key, in the order given; nothing for any other key."""
    found: dict[int, list[T]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return defaultdict(tuple, {key: tuple(values) for key, values in found.items()})


def authors(
    papers: QuerySet[Model], keys: Collection[int], at: datetime | None = None
) -> RowsByKey[PersonLink]:
    """Return the authors of the papers with these keys in order, as printed. One query, none without keys."""
    return grouped(
        (paper, PersonLink(*who)) for paper, *who in _authors(papers.model, Keys(keys), moment(at))
    )


def _authors(papers: type[Model], keys: Keys, at: datetime) -> Any:
    rows = with_shown_names(published_rows(papers, "authorships", at)).filter(Among("paper_id", keys))
    columns = ("paper_id", "person__uid", "person__name", "shown_name")
    return rows.order_by("paper_id", "position").values_list(*columns)


def awards(papers: QuerySet[Model], keys: Collection[int], at: datetime | None = None) -> RowsByKey[AwardRow]:
    """Return the awards of these papers in the chairs' order. One query, none without keys."""
    return grouped(
        (paper, AwardRow(*award)) for paper, *award in _award_rows(papers.model, Keys(keys), moment(at))
    )


def _award_rows(papers: type[Model], keys: Keys, at: datetime) -> Any:
    rows = published_rows(papers, "grants", at).filter(Among("paper_id", keys))
    ordered = rows.order_by("award__position", "award__pk", "position")
    return ordered.values_list("paper_id", "award__edition__slug", "award__uid", "award__name")


def paper_rows(
    papers: QuerySet[Model], keys: Collection[int], at: datetime | None = None
) -> Mapping[int, PaperRow]:
    """Return the published papers that have these keys, titles alone. One query, none without keys."""
    rows = _lines(papers.model, Keys(keys), moment(at))
    return {key: PaperRow(uid, title, html, EditionSummary(*face)) for key, uid, title, html, *face in rows}


def _lines(papers: type[Model], keys: Keys, at: datetime) -> Any:
    rows = papers._default_manager.published(at).filter(Among("pk", keys))  # type: ignore[attr-defined]
    return rows.values_list("pk", "uid", "title", "title_html", *columns("edition__"))


def material_links(papers: Any, keys: Collection[int], at: datetime | None = None) -> RowsByKey[MaterialLink]:
    """Return the visible files and links of these papers. One query, none without keys."""
    labels = labels_of(papers.model, "materials")
    return grouped(
        (paper, MaterialLink(kind, label or labels[kind], url or (default_storage.url(file) if file else "")))
        for paper, kind, label, url, file in _links(papers.model, Keys(keys), moment(at))
    )


def _links(papers: type[Model], keys: Keys, at: datetime) -> Any:
    rows = published_rows(papers, "materials", at).filter(Among("paper_id", keys)).order_by("position", "pk")
    return rows.values_list("paper_id", "kind", "label", "url", "file")


def appearances(papers: Any, keys: Collection[int], at: datetime | None = None) -> RowsByKey[TalkRow]:
    """Return where these papers appear, by time. One query, none without keys."""
    labels = labels_of(papers.model, "presentations")
    rows = _appearances(papers.model, Keys(keys), moment(at))
    return grouped(
        (
            paper,
            TalkRow(
                uid,
                kind,
                name or labels[kind],
                counts_as,
                start=start,
                room_id=room,
                board=board,
                cancelled=off,
            ),
        )
        for paper, uid, kind, name, counts_as, start, room, board, off in rows
    )


def _appearances(papers: type[Model], keys: Keys, at: datetime) -> Any:
    rows = published_rows(papers, "presentations", at).filter(Among("paper_id", keys)).with_beginning()
    placed = rows.annotate(where=Coalesce("room_id", "session__room_id"))
    kind = ("kind", "kind_name", "counts_as")
    return placed.values_list("paper_id", "uid", *kind, "begins", "where", "board", "called_off")


def labels_of(papers: Any, relation: str) -> dict[str, str]:
    """Return the words for the kinds of what belongs to papers."""
    kinds = papers._meta.get_field(relation).related_model._meta.get_field("kind").flatchoices
    return {kind: str(label) for kind, label in kinds}


def card_columns(detailed: bool) -> list[str]:
    """Return the columns of papers that `cards()` needs."""
    own = ["pk", "uid", "title", "title_html", "track", "topic__slug", "topic__name"]
    return [*own, *(["abstract_html"] if detailed else []), *columns("edition__")]


def cards(
    papers: QuerySet[Model], rows: Sequence[Any], at: datetime | None = None, *, detailed: bool = False
) -> list[PaperRow]:
    """Return what one line of a list shows of each of these rows. Three queries, four where `detailed`."""
    keys = [row.pk for row in rows]
    people, won = authors(papers, keys, at), awards(papers, keys, at)
    shown, opened = appearances(papers, keys, at), material_links(papers, keys if detailed else (), at)
    return [
        PaperRow(
            row.uid,
            row.title,
            row.title_html,
            EditionSummary(*row[-len(EditionSummary._fields) :]),
            row.abstract_html if detailed else "",
            people[row.pk],
            won[row.pk],
            opened[row.pk],
            row.track,
            TopicRow(row.topic__slug, row.topic__name) if row.topic__slug else None,
            shown[row.pk],
        )
        for row in rows
    ]
