"""What gets in each other's way in the timetable: warnings for chairs, never a block.

`findings` (what takes place, what a clash is) and `rules` are pure. How a clash is shown, and where its rows
have their addresses, is up to the caller.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from django.db.models import Model, QuerySet

from conference.models import Edition
from papers.models import Authorship
from schedule.clashes.findings import (
    Clash,
    ClashEvent,
    ClashKind,
    ClashProgram,
    ClashSubject,
    PlannedEdit,
    RoomCapacity,
    Severity,
    until_the_next,
)
from schedule.clashes.rules import find
from schedule.models import Presentation, Room, Session, SessionRole, Speaker
from schedule.session_kinds import AppliesTo, kind_label

__all__ = [
    "Clash",
    "ClashDifference",
    "ClashKind",
    "ClashSubject",
    "PlannedEdit",
    "Severity",
    "difference",
    "of",
    "touching",
]


# Who has to be there. Organizers come and go.
BOUND = ("speaker", "moderator", "chair", "panelist")
ROOM_FIELDS = ("pk", "slug", "name", "capacity", "virtual")
KIND_FIELDS = ("pk", "uid", "kind", "counts_as", "kind_name")
SESSION_FIELDS = (*KIND_FIELDS, "title", "start", "end", "room", "parent")
TALK_FIELDS = (*KIND_FIELDS, "title", "start", "end", "room", "session", "board", "paper", "paper__title")

type Row = dict[str, Any]


class Stored:
    """An edition's rows, to make a plan of, with and without what is planned. Six queries, however many.

    Drafts too; nothing that is called off.
    """

    def __init__(self, edition: Edition) -> None:
        self.zone = edition.zone
        self.names: dict[int, ClashSubject] = {}
        roles = SessionRole.objects.filter(session__edition=edition, role__in=BOUND)
        self.by_session = self._people(roles, "session")
        self.by_talk = self._people(Speaker.objects.filter(presentation__edition=edition), "presentation")
        # Of a paper's authors those who are marked: all others are free to be elsewhere.
        presenting = Authorship.objects.filter(paper__edition=edition, presenting=True)
        self.by_paper = self._people(presenting, "paper")
        sessions = Session.objects.filter(edition=edition).taking_place().order_by("start", "pk")
        # Wholes before their parts.
        self.sessions = sorted(sessions.values(*SESSION_FIELDS), key=lambda row: bool(row["parent"]))
        talks = Presentation.objects.filter(edition=edition).taking_place()
        self.talks = list(talks.order_by("session", "position", "pk").values(*TALK_FIELDS))
        self.rooms = {
            pk: RoomCapacity(ClashSubject("room", pk, slug, name), capacity, virtual)
            for pk, slug, name, capacity, virtual in edition.rooms.values_list(*ROOM_FIELDS)
        }

    def _people(self, rows: QuerySet[Model], owner: str) -> Mapping[int, set[int]]:
        found: dict[int, set[int]] = defaultdict(set)
        columns = rows.order_by().values_list(owner, "person", "person__uid", "person__name")
        for key, person, uid, name in columns:
            found[key].add(person)
            self.names[person] = ClashSubject("person", person, uid, name)
        return found

    def plan(self, planned: PlannedEdit | None = None) -> ClashProgram:
        """Return what takes place; `planned` goes before what is stored."""
        edit = planned or PlannedEdit()
        sessions: dict[int, ClashEvent] = {}
        for row in changed(self.sessions, edit.sessions):
            sessions[row["pk"]] = self._session(row, sessions.get(row["parent"]))
        by_session: dict[int | None, list[ClashEvent]] = defaultdict(list)
        open_ended: set[int] = set()
        for row in changed(self.talks, edit.talks):
            event = self._talk(row, sessions.get(row["session"]))
            if event is not None:
                by_session[row["session"]].append(event)
                if row["start"] and not row["end"]:
                    open_ended.add(row["pk"])
        talks = chain.from_iterable(until_the_next(group, open_ended) for group in by_session.values())
        return ClashProgram(self.zone, list(sessions.values()), list(talks), self.rooms, self.names)

    def _session(self, row: Row, whole: ClashEvent | None) -> ClashEvent:
        label = kind_label(AppliesTo.SESSION, row["kind"], row["kind_name"])
        return ClashEvent(
            ClashSubject("session", row["pk"], row["uid"], row["title"], label),
            row["counts_as"],
            row["start"],
            row["end"],
            parent=whole,
            room=row["room"],
            people=frozenset(self.by_session.get(row["pk"], ())),
        )

    def _talk(self, row: Row, session: ClashEvent | None) -> ClashEvent | None:
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
            people=frozenset({*self.by_talk.get(pk, ()), *self.by_paper.get(paper, ())}),
        )


def changed(rows: Iterable[Row], planned: Mapping[int, Mapping[str, object]]) -> Iterable[Row]:
    return ({**row, **planned.get(row["pk"], {})} for row in rows)


def of(edition: Edition) -> list[Clash]:
    """Return all clashes of an edition by time, drafts included. Six queries, however many rows.

    Nothing that is called off clashes, nor a paper that is withdrawn. Of a paper's authors those marked as
    presenting count. Each clash names its rows as `subjects` (model, key, uid, name); give them addresses.
    """
    return find(Stored(edition).plan())


def touching(rows: Iterable[Session | Presentation | Room]) -> list[Clash]:
    """Return the clashes that concern any of these rows of one edition, or what is in them. Six queries."""
    given = list(rows)
    if not given:
        return []
    plan = Stored(given[0].edition).plan()
    keys = {(str(row._meta.model_name), row.pk) for row in given}
    keys |= {talk.subject.key for talk in plan.talks if talk.session and talk.session.subject.key in keys}
    return [clash for clash in find(plan) if any(subject.key in keys for subject in clash.subjects)]


@dataclass(frozen=True, slots=True)
class ClashDifference:
    """What plans do to the clashes of an edition: all that there would be, what is new, what is solved."""

    all: list[Clash]
    new: list[Clash]
    solved: list[Clash]
    # The session of each presentation that takes place in one, by key.
    session_of: dict[int, int]

    def sessions(self, clash: Clash) -> set[int]:
        """Return the keys of the sessions that a clash concerns, itself or through what is in them."""
        own = {subject.pk for subject in clash.subjects if subject.model == "session"}
        talks = (subject.pk for subject in clash.subjects if subject.model == "presentation")
        return own | {self.session_of[pk] for pk in talks if pk in self.session_of}


def difference(edition: Edition, planned: PlannedEdit) -> ClashDifference:
    """Return what plans that are not stored yet would do. Six queries, however many rows."""
    stored = Stored(edition)
    plan = stored.plan(planned)
    after = find(plan)
    before = find(stored.plan()) if planned.sessions or planned.talks else after
    known, kept = ({signature(clash) for clash in clashes} for clashes in (before, after))
    return ClashDifference(
        after,
        [clash for clash in after if signature(clash) not in known],
        [clash for clash in before if signature(clash) not in kept],
        {talk.subject.pk: talk.session.subject.pk for talk in plan.talks if talk.session},
    )


def signature(clash: Clash) -> tuple[ClashKind, frozenset[tuple[str, int]]]:
    """Return what makes two warnings the same one, whenever they are given: what clashes, and how."""
    return clash.kind, frozenset(subject.key for subject in clash.subjects)
