"""What a calendar writes of sessions and presentations, as records: read by their keys, nothing beside it.

A dump of an edition narrowed to one talk took thirty questions, most of them about what no calendar shows.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Q

from conference.models import Edition
from content.array_lookup import Among, Keys
from exchange.exports.dump import writing_context
from exchange.exports.printed_names import PrintedNames
from exchange.formats.appointments import Wanted
from exchange.formats.ics import CalendarScope
from exchange.records import (
    EditionRecord,
    PaperRecord,
    PresentationRecord,
    Program,
    RoomRecord,
    SessionRecord,
)
from schedule.models import Presentation, Session

EVENT = (
    "uid",
    "kind",
    "title",
    "abstract",
    "start",
    "end",
    "status",
    "cancellation_reason",
    "rescheduled_at",
)
ROOM = ("room__slug", "room__name", "room__virtual")


@dataclass(slots=True)
class CalendarRecords:
    """The records of one edition while they are found."""

    sessions: list[SessionRecord] = field(default_factory=list)
    presentations: list[PresentationRecord] = field(default_factory=list)
    papers: dict[str, PaperRecord] = field(default_factory=dict)
    rooms: dict[str, RoomRecord] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)

    def room(self, slug: str | None, name: str, virtual: bool) -> str | None:
        if slug:
            self.rooms[slug] = RoomRecord(slug=slug, name=name, virtual=virtual)
        return slug

    def part(self, edition: Edition) -> CalendarScope:
        """Return what a calendar takes of this edition: sessions of `own`, and all presentations."""
        program = Program(
            edition=EditionRecord(
                slug=edition.slug, name=edition.name, timezone=edition.timezone, venue=edition.venue
            ),
            rooms=tuple(self.rooms.values()),
            papers=tuple(self.papers.values()),
            sessions=tuple(self.sessions),
            presentations=tuple(self.presentations),
        )
        wanted = Wanted(frozenset(self.own), frozenset(shown.uid for shown in self.presentations))
        return CalendarScope(program, writing_context(edition), wanted)


def parts(
    editions: Iterable[Edition], sessions: Collection[int], presentations: Collection[int], at: datetime
) -> list[CalendarScope]:
    """Return the part of each edition in these sessions and presentations, of which the keys are given.

    Six questions at most: presentations, sessions, roles, speakers, authors, and who hides a name.
    """
    talks = _presentations(Keys(presentations), at)
    around = {session for _, _, session, *_ in talks if session}
    rows = _sessions(Keys({*sessions, *around}), at)
    papers = {paper for _, _, _, paper, *_ in talks if paper}
    people = PrintedNames(at, sessions=sessions, presentations=[key for key, *_ in talks], papers=papers)
    found: dict[int, CalendarRecords] = defaultdict(CalendarRecords)
    for row in rows:
        _add_session(found[row[1]], row, people, is_own=row[0] in sessions)
    for row in talks:
        _add_talk(found[row[1]], row, people)
    return [found[edition.pk].part(edition) for edition in editions]


def _add_session(to: CalendarRecords, row: Any, people: PrintedNames, *, is_own: bool) -> None:
    key, _edition, parent, slug, name, virtual, *values = row
    record = SessionRecord(
        parent=parent,
        room=to.room(slug, name, virtual),
        roles=people.roles(key),
        **dict(zip(EVENT, values, strict=True)),
    )
    to.sessions.append(record)
    if is_own:
        to.own.add(record.uid)


def _add_talk(to: CalendarRecords, row: Any, people: PrintedNames) -> None:
    key, _edition, _session, paper, session, uid, title, abstract, slug, name, virtual, board, *values = row
    to.presentations.append(
        PresentationRecord(
            paper=uid,
            session=session,
            board=board,
            room=to.room(slug, name, virtual),
            speakers=people.speakers(key),
            **dict(zip(EVENT, values, strict=True)),
        )
    )
    if uid:
        to.papers[uid] = PaperRecord(uid=uid, title=title, abstract=abstract, authors=people.authors(paper))


# Questions


def _presentations(keys: Keys, at: datetime) -> Any:
    rows = Presentation.objects.published(at).filter(Among("pk", keys)).order_by()
    paper = ("paper_id", "session__uid", "paper__uid", "paper__title", "paper__abstract")
    return rows.values_list("pk", "edition_id", "session_id", *paper, *ROOM, "board", *EVENT)


def _sessions(keys: Keys, at: datetime) -> Any:
    """Sessions with these keys, and the wholes of which they are parts."""
    wholes = Session.objects.filter(Among("pk", keys)).order_by().values("parent")
    rows = Session.objects.published(at).filter(Q(Among("pk", keys)) | Q(pk__in=wholes)).order_by()
    return rows.values_list("pk", "edition_id", "parent__uid", *ROOM, *EVENT)
