"""The talks of many sessions at once, as plain values instead of models; `papers.rows` has the reasons."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.db.models.functions import Coalesce

from conference.models import EditionSummary
from content.array_lookup import AnyOf
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
from schedule.querysets import MAX_LISTED_TALKS

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
    max_talks: int,
    talks_shown: int = TALKS_SHOWN,
    full_session: Session | None = None,
    moves: Mapping[str, datetime] = MappingProxyType({}),
    abstracts: bool = False,
    materials: bool = False,
) -> None:
    """Set `shown_talks` of each session to those of these public `talks` that are in it.

    If there are more than `max_talks`, only the first `talks_shown` are set; all of `full_session` are.
    `moves` are the earlier starts of moved rows by key. Four queries, five with materials, one without talks.
    """
    sessions_by_key = {session.pk: session for session in sessions}
    columns = (
        *OWN_COLUMNS,
        *STATE_COLUMNS,
        *PLACE_COLUMNS,
        *PAPER_COLUMNS,
        *(ABSTRACT_COLUMNS if abstracts else ()),
    )
    queryset = talks.matching(session_id__in=sessions_by_key)
    queryset = queryset.annotate(starts=Coalesce(talks.value("start"), talks.value("session__start")))
    talk_rows = queryset.order_by(talks.value("position"), "pk").rows(*columns)
    rows_by_session = {**group_values((row.session_id, row) for row in talk_rows)}
    for key, rows in rows_by_session.items():
        if len(rows) > max_talks and sessions_by_key[key] != full_session:
            rows_by_session[key] = tuple(running_order(rows[:MAX_LISTED_TALKS])[:talks_shown])
    shown_rows = [row for rows in rows_by_session.values() for row in rows]
    papers, paper_keys = Paper.objects.all(), [row.paper_id for row in shown_rows if row.paper_id]
    authors, awards = authors_by_paper(papers, paper_keys, at), awards_by_paper(papers, paper_keys, at)
    paper_materials = materials_by_paper(papers, paper_keys if materials else (), at)
    speakers_by_talk = speakers([row.pk for row in shown_rows], at)
    labels = kind_labels(Paper, "presentations")

    def paper_row(row: Any, edition: EditionSummary) -> PaperRow:
        return PaperRow(
            row.paper__uid,
            row.paper__title,
            row.paper__title_html,
            edition,
            row.paper__abstract_html if abstracts else "",
            authors[row.paper_id],
            awards[row.paper_id],
            paper_materials[row.paper_id],
            picture=thumbnail_of_name(row.paper__thumbnail) if materials else None,
        )

    def talk_row(row: Any, edition: EditionSummary, session_row: SessionRow) -> TalkRow:
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
            session_row.cancelled or row.status == Status.CANCELLED,
            row.cancellation_reason,
            row.recording_url,
            row.room_id,
            RoomRow(row.room__slug, row.room__name) if row.room_id else None,
            session_row,
            moves.get(f"presentation:{row.uid}"),
            row.abstract_html if abstracts else "",
            paper_row(row, edition) if row.paper_id else None,
            speakers_by_talk[row.pk],
        )

    for key, session in sessions_by_key.items():
        session_row = SessionRow(
            session.kind,
            session.counts_as,
            session.start,
            session.room_id,
            session.cancelled,
            session.get_absolute_url(),
        )
        summary, rows = session.edition.summary, rows_by_session.get(key, ())
        session.shown_talks = [talk_row(row, summary, session_row) for row in rows]


def speakers(talks: Collection[int], at: datetime | None = None) -> RowsByKey[PersonLink]:
    """Return the speakers of talks in order, with printed names, by talk. One query, none without talks."""
    published = with_shown_names(Speaker.objects.published(at_or_now(at)))
    rows: Any = published.filter(AnyOf("presentation_id", talks)).in_order()
    columns = ("presentation_id", "person__uid", "person__name", "shown_name", "affiliation")
    return group_values((talk, PersonLink(*person)) for talk, *person in rows.values_list(*columns))
