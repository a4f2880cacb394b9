"""What takes place in an edition, read from the database: drafts too, nothing that is called off."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

from conference.models import Edition
from papers.models import Authorship
from schedule.clashes.plan import Event, Place, Plan, Subject, until_the_next
from schedule.models import Presentation, Room, Session, SessionRole, Speaker

# Who has to be there. Organizers come and go.
BOUND = ("speaker", "moderator", "chair", "panelist")
SESSION_FIELDS = ("pk", "uid", "title", "kind", "start", "end", "room", "parent")
TALK_FIELDS = (
    "pk",
    "uid",
    "title",
    "kind",
    "start",
    "end",
    "room",
    "session",
    "board",
    "paper",
    "paper__title",
)

SESSION_KINDS = dict(Session.Kind.choices)
TALK_KINDS = dict(Presentation.Kind.choices)


class Cast:
    """Who has to be where, by session, presentation and paper; and their names. Three queries."""

    def __init__(self, edition: Edition) -> None:
        self.names: dict[int, Subject] = {}
        roles = SessionRole.objects.filter(session__edition=edition, role__in=BOUND)
        self.by_session = self._read(roles, "session")
        self.by_talk = self._read(Speaker.objects.filter(presentation__edition=edition), "presentation")
        # Of a paper's authors those who are marked: all others are free to be elsewhere.
        presenting = Authorship.objects.filter(paper__edition=edition, presenting=True)
        self.by_paper = self._read(presenting, "paper")

    def _read(self, rows: Any, owner: str) -> Mapping[int, set[int]]:
        found: dict[int, set[int]] = defaultdict(set)
        columns = rows.order_by().values_list(owner, "person", "person__uid", "person__name")
        for key, person, uid, name in columns:
            found[key].add(person)
            if person not in self.names:
                self.names[person] = Subject("person", person, uid, name)
        return found


def read(edition: Edition) -> Plan:
    """Return all that takes place in an edition. Six queries, however much there is."""
    cast = Cast(edition)
    sessions = read_sessions(edition, cast)
    talks = read_talks(edition, cast, sessions)
    rooms = {
        pk: Place(Subject("room", pk, slug, name), capacity, virtual)
        for pk, slug, name, capacity, virtual in Room.objects.filter(edition=edition).values_list(
            "pk", "slug", "name", "capacity", "virtual"
        )
    }
    return Plan(edition.zone, list(sessions.values()), talks, rooms, cast.names)


def read_sessions(edition: Edition, cast: Cast) -> dict[int, Event]:
    """Return the sessions by key, wholes before their parts."""
    rows = Session.objects.filter(edition=edition).taking_place().order_by("start", "pk")
    columns = rows.values_list(*SESSION_FIELDS)
    found: dict[int, Event] = {}
    for pk, uid, title, kind, start, end, room, parent in sorted(columns, key=lambda row: bool(row[-1])):
        found[pk] = Event(
            Subject("session", pk, uid, title, SESSION_KINDS[kind]),
            kind,
            start,
            end,
            parent=found.get(parent) if parent else None,
            room=room,
            people=frozenset(cast.by_session.get(pk, ())),
        )
    return found


def read_talks(edition: Edition, cast: Cast, sessions: Mapping[int, Event]) -> list[Event]:
    """Return the presentations that have a time, of their own or their session's."""
    rows = Presentation.objects.filter(edition=edition).taking_place().order_by("session", "position", "pk")
    by_session: dict[int | None, list[Event]] = defaultdict(list)
    open_ended: set[int] = set()
    for pk, uid, title, kind, start, end, room, session_key, board, paper, paper_title in rows.values_list(
        *TALK_FIELDS
    ):
        session = sessions.get(session_key)
        begins = start or (session.start if session else None)
        if begins is None:
            continue
        ends: datetime = max(begins, end or (session.end if session else begins))
        if start and not end:
            open_ended.add(pk)
        by_session[session_key].append(
            Event(
                Subject("presentation", pk, uid, title or paper_title or "", TALK_KINDS[kind]),
                kind,
                begins,
                ends,
                session=session,
                room=room,
                timed=bool(start or end),
                board=board,
                paper=paper,
                people=frozenset({*cast.by_talk.get(pk, ()), *cast.by_paper.get(paper, ())}),
            )
        )
    return list(chain.from_iterable(settled(group, open_ended) for group in by_session.values()))


def settled(talks: list[Event], open_ended: set[int]) -> Iterable[Event]:
    """Return the talks of a session, each with an end."""
    needed = talks[0].session is not None and any(talk.subject.pk in open_ended for talk in talks)
    return until_the_next(talks, open_ended) if needed else talks
