"""The next appearances of people: with a paper, a talk, or in a session."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import F, Value
from django.db.models.functions import Coalesce

import markup
from conference.models import Edition
from content.page_paths import page_path
from content.querysets import at_or_now
from schedule.models import Presentation, Session
from schedule.session_kinds import AppliesTo, kind_label


class NextAppearance(NamedTuple):
    """An appearance: the key of its edition, label of its kind, time, room, and address of its page."""

    edition: int
    kind: str
    start: datetime
    room_name: str
    url: str
    # Whether all appearances of the person have ended, so that this is the last one.
    is_past: bool


COLUMNS = (
    "person_key",
    "edition",
    "edition__slug",
    "applies",
    "kind",
    "kind_name",
    "begins",
    "ends",
    "room_name",
    "page_uid",
    "page_title",
    "is_paper",
)


def next_appearances(
    people: Collection[int], editions: Iterable[Edition], at: datetime | None = None
) -> dict[int, NextAppearance]:
    """Return the next appearance of each person in these editions by key, or else the last.

    One query, none without people.
    """
    if not people:
        return {}
    now, edition_keys = at_or_now(at), [edition.pk for edition in editions]
    talks = Presentation.objects.published(now).filter(edition__in=edition_keys).with_beginning()
    talks = talks.filter(called_off=False, begins__isnull=False).annotate(
        applies=Value(AppliesTo.PRESENTATION.value),
        ends=Coalesce("end", "session__end", "start", "session__start"),
        room_name=Coalesce("room__name", "session__room__name", Value("")),
    )
    paper_talks = talks.filter(paper__authorships__person__in=people).annotate(
        person_key=F("paper__authorships__person"),
        page_uid=F("paper__uid"),
        page_title=F("paper__title"),
        is_paper=Value(True),
    )
    speaker_talks = talks.filter(speakers__person__in=people, session__isnull=False).annotate(
        person_key=F("speakers__person"),
        page_uid=F("session__uid"),
        page_title=F("session__title"),
        is_paper=Value(False),
    )
    sessions = (
        Session.objects.published(now).with_called_off().filter(edition__in=edition_keys, called_off=False)
    )
    role_sessions = sessions.filter(roles__person__in=people).annotate(
        person_key=F("roles__person"),
        applies=Value(AppliesTo.SESSION.value),
        begins=F("start"),
        ends=F("end"),
        room_name=Coalesce("room__name", Value("")),
        page_uid=F("uid"),
        page_title=F("title"),
        is_paper=Value(False),
    )
    querysets = [
        rows.order_by().values_list(*COLUMNS, named=True)
        for rows in (paper_talks, speaker_talks, role_sessions)
    ]
    rows_by_person: dict[int, list[Any]] = {}
    for row in querysets[0].union(*querysets[1:], all=True).order_by():
        rows_by_person.setdefault(row.person_key, []).append(row)
    return {person: _next_appearance(rows, now) for person, rows in rows_by_person.items()}


def _next_appearance(rows: list[Any], now: datetime) -> NextAppearance:
    # Sort by start, then in an order that is the same on every database.
    ordered = sorted(rows, key=lambda row: (row.begins, row.page_uid))
    upcoming = [row for row in ordered if max(row.begins, row.ends) > now]
    row = upcoming[0] if upcoming else ordered[-1]
    view = "papers:detail" if row.is_paper else "schedule:session"
    url = page_path(view, row.edition__slug, row.page_uid, markup.slug(row.page_title))
    kind = kind_label(row.applies, row.kind, row.kind_name)
    return NextAppearance(row.edition, kind, row.begins, row.room_name, url, not upcoming)
