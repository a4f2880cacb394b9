"""What takes place in an edition, read from the database: drafts too, nothing that is called off."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

from django.db.models import Model, QuerySet

from conference.models import Edition
from papers.models import Authorship
from schedule.clashes.plan import (
    NOTHING,
    ClashEvent,
    ClashProgram,
    ClashSubject,
    PlannedEdit,
    RoomCapacity,
    until_the_next,
)
from schedule.models import Presentation, Room, Session, SessionRole, Speaker
from schedule.session_kinds import AppliesTo, kind_label

# Who has to be there. Organizers come and go.
BOUND = ("speaker", "moderator", "chair", "panelist")
KIND_FIELDS = ("kind", "counts_as", "kind_name")
SESSION_FIELDS = ("pk", "uid", "title", *KIND_FIELDS, "start", "end", "room", "parent")
TALK_FIELDS = (
    "pk",
    "uid",
    "title",
    *KIND_FIELDS,
    "start",
    "end",
    "room",
    "session",
    "board",
    "paper",
    "paper__title",
)

type Row = dict[str, Any]


class PeopleIndex:
    """Who has to be where, by session, presentation and paper; and their names. Three queries."""

    def __init__(self, edition: Edition) -> None:
        self.names: dict[int, ClashSubject] = {}
        roles = SessionRole.objects.filter(session__edition=edition, role__in=BOUND)
        self.by_session = self._read(roles, "session")
        self.by_talk = self._read(Speaker.objects.filter(presentation__edition=edition), "presentation")
        # Of a paper's authors those who are marked: all others are free to be elsewhere.
        presenting = Authorship.objects.filter(paper__edition=edition, presenting=True)
        self.by_paper = self._read(presenting, "paper")

    def _read(self, rows: QuerySet[Model], owner: str) -> Mapping[int, set[int]]:
        found: dict[int, set[int]] = defaultdict(set)
        columns = rows.order_by().values_list(owner, "person", "person__uid", "person__name")
        for key, person, uid, name in columns:
            found[key].add(person)
            if person not in self.names:
                self.names[person] = ClashSubject("person", person, uid, name)
        return found


class Stored:
    """An edition's rows, to make a plan of, with and without what is planned. Six queries, however many."""

    def __init__(self, edition: Edition) -> None:
        self.zone = edition.zone
        self.cast = PeopleIndex(edition)
        sessions = Session.objects.filter(edition=edition).taking_place().order_by("start", "pk")
        talks = Presentation.objects.filter(edition=edition).taking_place()
        talks = talks.order_by("session", "position", "pk")
        # Wholes before their parts.
        self.sessions = sorted(sessions.values(*SESSION_FIELDS), key=lambda row: bool(row["parent"]))
        self.talks = list(talks.values(*TALK_FIELDS))
        rooms = Room.objects.filter(edition=edition).values_list("pk", "slug", "name", "capacity", "virtual")
        self.rooms = {
            pk: RoomCapacity(ClashSubject("room", pk, slug, name), capacity, virtual)
            for pk, slug, name, capacity, virtual in rooms
        }

    def plan(self, planned: PlannedEdit = NOTHING) -> ClashProgram:
        """Return what takes place; `planned` goes before what is stored."""
        sessions: dict[int, ClashEvent] = {}
        for row in changed(self.sessions, planned.sessions):
            sessions[row["pk"]] = session_event(row, self.cast, sessions)
        talks = talk_events(changed(self.talks, planned.talks), self.cast, sessions)
        return ClashProgram(self.zone, list(sessions.values()), talks, self.rooms, self.cast.names)


def changed(rows: Iterable[Row], planned: Mapping[int, Mapping[str, object]]) -> Iterable[Row]:
    """Return the rows with the fields that are planned otherwise."""
    return ({**row, **planned[row["pk"]]} if row["pk"] in planned else row for row in rows)


def read(edition: Edition) -> ClashProgram:
    """Return all that takes place in an edition. Six queries, however much there is."""
    return Stored(edition).plan()


def session_event(row: Row, cast: PeopleIndex, wholes: Mapping[int, ClashEvent]) -> ClashEvent:
    """Return a session as the rules see it."""
    label = kind_label(AppliesTo.SESSION, row["kind"], row["kind_name"])
    return ClashEvent(
        ClashSubject("session", row["pk"], row["uid"], row["title"], label),
        row["counts_as"],
        row["start"],
        row["end"],
        parent=wholes.get(row["parent"]) if row["parent"] else None,
        room=row["room"],
        people=frozenset(cast.by_session.get(row["pk"], ())),
    )


def talk_events(
    rows: Iterable[Row], cast: PeopleIndex, sessions: Mapping[int, ClashEvent]
) -> list[ClashEvent]:
    """Return the presentations that have a time, of their own or their session's."""
    by_session: dict[int | None, list[ClashEvent]] = defaultdict(list)
    open_ended: set[int] = set()
    for row in rows:
        event = talk_event(row, cast, sessions.get(row["session"]))
        if event is None:
            continue
        if row["start"] and not row["end"]:
            open_ended.add(row["pk"])
        by_session[row["session"]].append(event)
    return list(chain.from_iterable(with_edits(group, open_ended) for group in by_session.values()))


def talk_event(row: Row, cast: PeopleIndex, session: ClashEvent | None) -> ClashEvent | None:
    """Return a presentation as the rules see it; `None` without a time."""
    pk, paper, start, end = row["pk"], row["paper"], row["start"], row["end"]
    begins = start or (session.start if session else None)
    if begins is None:
        return None
    ends: datetime = max(begins, end or (session.end if session else begins))
    label = kind_label(AppliesTo.PRESENTATION, row["kind"], row["kind_name"])
    return ClashEvent(
        ClashSubject("presentation", pk, row["uid"], row["title"] or row["paper__title"] or "", label),
        row["counts_as"],
        begins,
        ends,
        session=session,
        room=row["room"],
        timed=bool(start or end),
        board=row["board"],
        paper=paper,
        people=frozenset({*cast.by_talk.get(pk, ()), *cast.by_paper.get(paper, ())}),
    )


def with_edits(talks: list[ClashEvent], open_ended: set[int]) -> Iterable[ClashEvent]:
    """Return the talks of a session, each with an end."""
    needed = talks[0].session is not None and any(talk.subject.pk in open_ended for talk in talks)
    return until_the_next(talks, open_ended) if needed else talks
