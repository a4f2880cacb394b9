"""The talks of many sessions at once, as plain values. Why plain values: see `papers.rows`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models.functions import Coalesce

from content.array_lookup import Among, Keys
from content.querysets import moment
from papers.board_order import OrderedTalk, running_order
from papers.models import Paper
from papers.rows import (
    AwardRow,
    MaterialLink,
    PaperRow,
    RoomRow,
    RowsByKey,
    SessionRow,
    TalkRow,
    authors,
    awards,
    grouped,
    labels_of,
    material_links,
)
from people.querysets import with_shown_names
from people.rows import PersonLink
from schedule.cancellation import Status
from schedule.models import Presentation, Session, Speaker

ABSTRACTS = ("abstract_html", "paper__abstract_html")
# How many stand for talks that are too many for a page.
TALKS_SHOWN = 10
OWN = (
    "pk",
    "uid",
    "kind",
    "kind_name",
    "counts_as",
    "title",
    "title_html",
    "start",
    "end",
    "board",
    "position",
)
STATE = ("status", "cancellation_reason", "recording_url")
PLACE = ("session_id", "starts", "room_id", "room__slug", "room__name")
PRINTED = ("paper_id", "paper__uid", "paper__title", "paper__title_html")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is shown of talks. `moves`: when what moved was announced before, by key.

    Of a session with more than `most` talks the first `TALKS_SHOWN` are shown, unless it is `entire`.
    """

    moves: Mapping[str, datetime]
    most: int
    entire: Session | None = None
    abstracts: bool = False
    materials: bool = False


@dataclass(frozen=True, slots=True)
class _Beside:
    """Data from other tables, by the key of the paper or of the talk."""

    authors: RowsByKey[PersonLink]
    awards: RowsByKey[AwardRow]
    materials: RowsByKey[MaterialLink]
    speakers: RowsByKey[PersonLink]


def fill(sessions: Iterable[Session], talks: object, wanted: Wanted, at: datetime | None = None) -> None:
    """Give each session its talks as `shown_talks`. Four queries, five with materials; one if there are none.

    `talks` are the public presentations to choose from, all of them if it is `None`.
    """
    wholes = {session.pk: session for session in sessions}
    chosen = Presentation.objects.published(at) if talks is None else talks
    found = grouped((row.session_id, row) for row in _rows(chosen, wholes, wanted.abstracts))
    shown = {key: selected(found[key], wanted, session) for key, session in wholes.items()}
    beside = _beside([row for some in shown.values() for row in some], wanted, at)
    for key, session in wholes.items():
        session.shown_talks = _talks(shown[key], session, wanted, beside)


def _rows(talks: Any, sessions: Collection[int], abstracts: bool) -> Any:
    columns = (*OWN, *STATE, *PLACE, *PRINTED, *(ABSTRACTS if abstracts else ()))
    rows = talks.filter(session__in=sessions).annotate(starts=Coalesce("start", "session__start"))
    return rows.order_by("position", "pk").values_list(*columns, named=True)


def selected[T: OrderedTalk](rows: Sequence[T], wanted: Wanted, session: Session) -> Sequence[T]:
    """Return the talks of the session; of too many the first ones, as one meets them."""
    if len(rows) <= wanted.most or session == wanted.entire:
        return rows
    return running_order(rows[: wanted.most])[:TALKS_SHOWN]


def _beside(rows: Sequence[Any], wanted: Wanted, at: datetime | None) -> _Beside:
    papers, keys = Paper.objects.all(), [row.paper_id for row in rows if row.paper_id]
    opened = material_links(papers, keys if wanted.materials else (), at)
    spoken = speakers([row.pk for row in rows], at)
    return _Beside(authors(papers, keys, at), awards(papers, keys, at), opened, spoken)


def _talks(rows: Iterable[Any], session: Session, wanted: Wanted, beside: _Beside) -> list[TalkRow]:
    face, off = session.edition.face, session.cancelled
    kind = session.kind, session.counts_as
    whole = SessionRow(*kind, session.start, session.room_id, off, session.get_absolute_url())
    labels = labels_of(Paper, "presentations")

    def paper(row: Any) -> PaperRow:
        return PaperRow(
            row.paper__uid,
            row.paper__title,
            row.paper__title_html,
            face,
            row.paper__abstract_html if wanted.abstracts else "",
            beside.authors[row.paper_id],
            beside.awards[row.paper_id],
            beside.materials[row.paper_id],
        )

    def talk(row: Any) -> TalkRow:
        return TalkRow(
            row.uid,
            row.kind,
            row.kind_name or labels[row.kind],
            row.counts_as,
            row.title,
            row.title_html,
            row.start,
            row.end,
            row.board,
            row.position,
            off or row.status == Status.CANCELLED,
            row.cancellation_reason,
            row.recording_url,
            row.room_id,
            RoomRow(row.room__slug, row.room__name) if row.room_id else None,
            whole,
            wanted.moves.get(f"presentation:{row.uid}"),
            row.abstract_html if wanted.abstracts else "",
            paper(row) if row.paper_id else None,
            beside.speakers[row.pk],
        )

    return [talk(row) for row in rows]


def speakers(talks: Collection[int], at: datetime | None = None) -> RowsByKey[PersonLink]:
    """Return the speakers of these talks in order, as printed. One query, none without talks."""
    return grouped((talk, PersonLink(*who)) for talk, *who in _speakers(Keys(talks), moment(at)))


def _speakers(talks: Keys, at: datetime) -> Any:
    named = with_shown_names(Speaker.objects.published(at)).filter(Among("presentation_id", talks))
    columns = ("presentation_id", "person__uid", "person__name", "shown_name", "affiliation")
    return named.order_by("position", "pk").values_list(*columns)
