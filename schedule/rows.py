"""The talks of many sessions at once, as plain values instead of models; `papers.rows` has the reasons."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.db.models.functions import Coalesce

from conference.models import EditionSummary
from content.array_lookup import AnyOf, Keys
from content.querysets import at_or_now
from papers.models import Paper
from papers.rows import (
    PaperRow,
    RoomRow,
    RowsByKey,
    SessionRow,
    TalkRow,
    authors_by_paper,
    awards_by_paper,
    group_values,
    kind_labels,
    materials_by_paper,
    running_order,
    thumbnail_of_name,
)
from people.querysets import with_shown_names
from people.rows import PersonLink
from schedule.entries import Status
from schedule.models import Session, Speaker

ABSTRACT_COLUMNS = ("abstract_html", "paper__abstract_html")
# The number of talks that are shown if a session has too many for a page.
TALKS_SHOWN = 10
OWN_COLUMNS = ("pk", "uid", "kind", "kind_name", "counts_as", "title", "title_html", "start", "end", "starts")
STATE_COLUMNS = ("board", "position", "status", "cancellation_reason", "recording_url")
PLACE_COLUMNS = ("session_id", "room_id", "room__slug", "room__name")
PAPER_COLUMNS = ("paper_id", "paper__uid", "paper__title", "paper__title_html", "paper__thumbnail")


def attach_talks(
    sessions: Iterable[Session],
    talks: Any,
    at: datetime | None = None,
    *,
    most: int,
    entire: Session | None = None,
    moves: Mapping[str, datetime] = MappingProxyType({}),
    abstracts: bool = False,
    materials: bool = False,
) -> None:
    """Set `shown_talks` of each session to those of these public `talks` that are in it.

    If there are more than `most`, only the first `TALKS_SHOWN` are set, unless the session is `entire`.
    `moves` are the earlier starts of moved rows by key. Four queries, five with materials, one without talks.
    """
    wholes = {session.pk: session for session in sessions}
    columns = (
        *OWN_COLUMNS,
        *STATE_COLUMNS,
        *PLACE_COLUMNS,
        *PAPER_COLUMNS,
        *(ABSTRACT_COLUMNS if abstracts else ()),
    )
    rows = talks.filter(session__in=wholes).annotate(starts=Coalesce("start", "session__start"))
    rows = rows.order_by("position", "pk").values_list(*columns, named=True)
    found = {**group_values((row.session_id, row) for row in rows)}
    for key, some in found.items():
        if len(some) > most and wholes[key] != entire:
            found[key] = tuple(running_order(some[:most])[:TALKS_SHOWN])
    shown = [row for some in found.values() for row in some]
    papers, keys = Paper.objects.all(), [row.paper_id for row in shown if row.paper_id]
    people, won = authors_by_paper(papers, keys, at), awards_by_paper(papers, keys, at)
    opened = materials_by_paper(papers, keys if materials else (), at)
    spoken = speakers([row.pk for row in shown], at)
    labels = kind_labels(Paper, "presentations")

    def paper(row: Any, edition: EditionSummary) -> PaperRow:
        return PaperRow(
            row.paper__uid,
            row.paper__title,
            row.paper__title_html,
            edition,
            row.paper__abstract_html if abstracts else "",
            people[row.paper_id],
            won[row.paper_id],
            opened[row.paper_id],
            picture=thumbnail_of_name(row.paper__thumbnail) if materials else None,
        )

    def talk(row: Any, edition: EditionSummary, session: SessionRow) -> TalkRow:
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
            session.cancelled or row.status == Status.CANCELLED,
            row.cancellation_reason,
            row.recording_url,
            row.room_id,
            RoomRow(row.room__slug, row.room__name) if row.room_id else None,
            session,
            moves.get(f"presentation:{row.uid}"),
            row.abstract_html if abstracts else "",
            paper(row, edition) if row.paper_id else None,
            spoken[row.pk],
        )

    for key, one in wholes.items():
        edition, own = one.edition.face, (one.kind, one.counts_as, one.start, one.room_id)
        session = SessionRow(*own, one.cancelled, one.get_absolute_url())
        one.shown_talks = [talk(row, edition, session) for row in found.get(key, ())]


def speakers(talks: Collection[int], at: datetime | None = None) -> RowsByKey[PersonLink]:
    """Return the speakers of talks in order, with printed names, by talk. One query, none without talks."""
    named = with_shown_names(Speaker.objects.published(at_or_now(at)))
    rows: Any = named.filter(AnyOf("presentation_id", Keys(talks))).order_by("position", "pk")
    columns = ("presentation_id", "person__uid", "person__name", "shown_name", "affiliation")
    return group_values((talk, PersonLink(*who)) for talk, *who in rows.values_list(*columns))
