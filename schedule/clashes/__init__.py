"""Clashes in the timetable: warnings for chairs that never block a change.

`findings` (data classes of the program and of clashes) and `rules` are pure. The caller decides how a clash
is shown, and which addresses its rows have.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from itertools import chain
from typing import Any, cast

from django.db.models import CharField, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils.translation import get_language

from conference.models import Edition
from content import preview_context, revision
from content.changed import reads
from papers.models import Authorship
from schedule.clashes.findings import (
    Away,
    Clash,
    ClashEvent,
    ClashKind,
    ClashProgram,
    ClashSubject,
    PlannedEdit,
    RoomCapacity,
    SessionColumns,
    Severity,
    TalkColumns,
    close_open_ends,
)
from schedule.clashes.rules import apply_rules
from schedule.models import Presentation, Room, Session, SessionRole, Speaker, Unavailability
from schedule.querysets import PresentationQuerySet
from schedule.session_kinds import AppliesTo, kind_label

__all__ = [
    "Clash",
    "ClashDifference",
    "ClashKind",
    "ClashSubject",
    "EditionClashes",
    "PlannedEdit",
    "Severity",
    "cached_clashes",
    "clash_difference",
    "find_clashes",
    "find_clashes_about",
    "new_and_solved",
]


# Roles whose holders must attend; organizers need not.
REQUIRED_ROLES = ("speaker", "moderator", "chair", "panelist")
ROOM_FIELDS = ("pk", "slug", "name", "capacity", "virtual")
PERSON_FIELDS = ("person", "person__uid", "person__name")

# Keys of people, by the key of their session, presentation or paper.
type PeopleByOwner = Mapping[int | None, set[int]]
# Editions whose clashes are cached; a planned state counts as one.
CACHED_EDITIONS = 4
NO_EDIT = PlannedEdit()


@dataclass(frozen=True, slots=True)
class Near:
    """Keys of the rows around which to search clashes; sessions and rooms include what is in them."""

    talks: set[int] = field(default_factory=set)
    papers: set[int] = field(default_factory=set)
    sessions: set[int] = field(default_factory=set)
    rooms: set[int] = field(default_factory=set)
    people: set[int] = field(default_factory=set)


class StoredProgram:
    """An edition's rows, including drafts, without canceled ones. Five queries for any number of rows.

    With `near`, it contains only the presentations that those rows may clash with: those in the sessions and
    rooms, and those of the people and papers.
    """

    def __init__(self, edition: Edition, near: Near | None = None) -> None:
        self.zone = edition.zone
        self.names: dict[int, ClashSubject] = {}
        roles = (
            SessionRole.objects.filter(session__edition=edition)
            .matching(role__in=REQUIRED_ROLES)
            .taking_part()
        )
        speakers = Speaker.objects.filter(presentation__edition=edition).taking_part()
        # Authors who are not marked as presenting may be elsewhere.
        presenting = Authorship.objects.filter(paper__edition=edition, presenting=True)
        talks = Presentation.objects.filter(edition=edition).taking_place()
        if near is not None:
            # Do not filter by edition: SQLite would take seconds instead of searching by paper and person.
            presenting = Authorship.objects.filter(presenting=True)
            papers_by_talk = near_talks(near, talks, presenting)
            papers = {*filter(None, papers_by_talk.values()), *near.papers}
            talks, presenting = talks.filter(pk__in=papers_by_talk), presenting.filter(paper__in=papers)
        self.by_session, self.by_talk, self.by_paper = self._people_by_owner(
            session=roles, presentation=speakers, paper=presenting
        )
        sessions = Session.objects.filter(edition=edition).taking_place()
        sessions = sessions.order_by(sessions.value("start"), "pk")
        # Parents before their parts.
        self.sessions = sorted(columns_of(sessions, SessionColumns), key=lambda row: bool(row["parent"]))
        # Thousands of rows share a few kinds.
        self.kind_label = cache(kind_label)
        order = [talks.value(name) for name in ("session_id", "position")]
        self.talks = columns_of(talks.order_by(*order, "pk"), TalkColumns)
        self.rooms = {
            pk: RoomCapacity(ClashSubject("room", pk, slug, name), capacity, virtual)
            for pk, slug, name, capacity, virtual in edition.rooms.values_list(*ROOM_FIELDS)
        }
        self.away = [*self._absences(edition)]

    def _people_by_owner(self, **querysets: QuerySet[Any]) -> list[PeopleByOwner]:
        """Return the people for each queryset, by the key of their owner, such as a session. One query."""
        people_by_owner: dict[str, dict[int | None, set[int]]] = {
            owner: defaultdict(set) for owner in querysets
        }
        first_query, *other_queries = (
            queryset.order_by().values_list(Value(owner, CharField()), owner, *PERSON_FIELDS)
            for owner, queryset in querysets.items()
        )
        for owner, key, person, uid, name in first_query.union(*other_queries, all=True).order_by():
            people_by_owner[owner][key].add(person)
            self.names[person] = ClashSubject("person", person, uid, name)
        return [*people_by_owner.values()]

    def _absences(self, edition: Edition) -> Iterator[Away]:
        # Use the person that a merged one was merged into.
        person_key = Coalesce("person__merged_into", "person")
        rows = Unavailability.objects.filter(edition=edition).order_by("start", "pk")
        for person, room, start, end in rows.values_list(person_key, "room", "start", "end"):
            # Skip people without a role in the program, and rooms that were deleted.
            subject = self.names.get(person) or (self.rooms[room].subject if room in self.rooms else None)
            if subject:
                yield Away(subject, start, end)

    def with_edit(self, edit: PlannedEdit = NO_EDIT) -> ClashProgram:
        """Return the program with this edit applied."""
        sessions: dict[int | None, ClashEvent] = {}
        for row in apply_edit(self.sessions, edit.sessions):
            sessions[row["pk"]] = self._session_event(row, sessions.get(row["parent"]))
        by_session: dict[int | None, list[ClashEvent]] = defaultdict(list)
        open_ended: set[int] = set()
        for talk in chain(apply_edit(self.talks, edit.talks), edit.new_talks):
            event = self._talk_event(talk, sessions.get(talk["session"]))
            if event is not None:
                by_session[talk["session"]].append(event)
                if talk["start"] and not talk["end"]:
                    open_ended.add(talk["pk"])
        talks = chain.from_iterable(close_open_ends(group, open_ended) for group in by_session.values())
        return ClashProgram(
            self.zone, list(sessions.values()), list(talks), self.rooms, self.names, self.away
        )

    def _session_event(self, row: SessionColumns, parent: ClashEvent | None) -> ClashEvent:
        label = self.kind_label(AppliesTo.SESSION, row["kind"], row["kind_name"])
        return ClashEvent(
            ClashSubject("session", row["pk"], row["uid"], row["title"], label),
            row["counts_as"],
            row["start"],
            row["end"],
            parent=parent,
            room=row["room"],
            people=frozenset(self.by_session.get(row["pk"], ())),
        )

    def _talk_event(self, row: TalkColumns, session: ClashEvent | None) -> ClashEvent | None:
        """Return a presentation as an event; `None` without a time."""
        pk, paper, start, end = row["pk"], row["paper"], row["start"], row["end"]
        begins = start or (session.start if session else None)
        if begins is None:
            return None
        ends: datetime = max(begins, end or (session.end if session else begins))
        label = self.kind_label(AppliesTo.PRESENTATION, row["kind"], row["kind_name"])
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


def near_edit(edit: PlannedEdit) -> Near:
    """Return what an edit concerns: the presentations, new ones too, and the sessions that they come into."""
    rows = [*edit.talks.values(), *edit.new_talks]
    sessions = {key for row in rows if isinstance(key := row.get("session"), int)}
    return Near({*edit.talks}, {paper for row in edit.new_talks if (paper := row["paper"])}, sessions)


def near_rows(rows: Iterable[Session | Presentation | Room]) -> Near:
    """Return what these rows of one edition concern, with the presentations in sessions. Five queries."""
    near = Near()
    keys = {Session: near.sessions, Presentation: near.talks, Room: near.rooms}
    for row in rows:
        keys[type(row)].add(row.pk)
    roles = SessionRole.objects.matching(session_id__in=near.sessions, role__in=REQUIRED_ROLES).taking_part()
    near.people.update(row.person_id for row in roles.order_by().rows("person_id"))
    talks = Presentation.objects.order_by()
    near.talks.update(row.pk for row in talks.matching(session_id__in=near.sessions).rows("pk"))
    used_rooms = {row.room_id for row in Session.objects.matching(pk__in=near.sessions).rows("room_id")}
    for row in talks.filter(pk__in=near.talks).rows("session_id", "room_id"):
        used_rooms.add(row.room_id)
        near.sessions.add(row.session_id)
    near.sessions.update(row.pk for row in Session.objects.matching(room_id__in=near.rooms).rows("pk"))
    near.rooms.update(used_rooms)
    near.sessions.discard(None)
    near.rooms.discard(None)
    return near


def near_talks(
    near: Near, talks: PresentationQuerySet, presenting: QuerySet[Authorship]
) -> dict[int, int | None]:
    """Return the presentations that those near may clash with, and their papers. Up to eleven queries."""
    # Use a query for each condition: joined by OR, they take seconds.
    rows = talks.order_by()
    papers_by_talk: dict[int, int | None] = {**dict(rows.filter(pk__in=near.talks).rows("pk", "paper_id"))}
    papers = {*filter(None, papers_by_talk.values()), *near.papers}
    speaking = Speaker.objects.order_by()
    people = {*near.people, *presenting.filter(paper__in=papers).order_by().values_list("person", flat=True)}
    people |= {*speaking.filter(presentation__in=[*papers_by_talk]).values_list("person", flat=True)}
    presented_papers = presenting.filter(person__in=people).order_by().values_list("paper", flat=True)
    talks_of_speakers = speaking.filter(person__in=people).values_list("presentation", flat=True)
    for condition in (
        {"session_id__in": near.sessions},
        {"room_id__in": near.rooms},
        {"paper_id__in": [*{*papers, *presented_papers}]},
        {"pk__in": [*talks_of_speakers]},
    ):
        papers_by_talk |= dict(rows.matching(**condition).rows("pk", "paper_id"))
    # A presentation without an end lasts until the next one of its session begins.
    open_ended = rows.filter(pk__in=[*papers_by_talk]).matching(start__isnull=False, end__isnull=True)
    if sessions := {row.session_id for row in open_ended.rows("session_id")} - {None}:
        papers_by_talk |= dict(rows.matching(session_id__in=sessions).rows("pk", "paper_id"))
    return papers_by_talk


def columns_of[Columns](rows: Any, columns: type[Columns]) -> list[Columns]:
    """Read the columns of rows that a `TypedDict` names."""
    return cast("list[Columns]", [row._asdict() for row in rows.rows(*columns.__annotations__)])


def apply_edit[Columns: (SessionColumns, TalkColumns)](
    rows: Iterable[Columns], planned: Mapping[int, Mapping[str, object]]
) -> Iterable[Columns]:
    return (cast("Columns", {**row, **planned.get(row["pk"], {})}) for row in rows)


@dataclass(frozen=True, slots=True)
class EditionClashes:
    """All clashes of the stored program of an edition, by time, and its rows."""

    stored: StoredProgram
    all: list[Clash]
    # The session of each presentation that takes place in one, by key.
    session_of: dict[int, int]

    def about(self, rows: Iterable[Session | Presentation | Room]) -> list[Clash]:
        """Return the clashes that concern any of these rows, or presentations in these sessions."""
        keys = {(str(row._meta.model_name), row.pk) for row in rows}
        sessions = {pk for model, pk in keys if model == "session"}
        keys |= {("presentation", talk) for talk, pk in self.session_of.items() if pk in sessions}
        return [clash for clash in self.all if any(subject.key in keys for subject in clash.subjects)]


def find_clashes(edition: Edition) -> EditionClashes:
    """Return the clashes of an edition, including drafts. Five queries for any number of rows.

    Canceled rows and withdrawn papers do not clash. Only authors who are marked as presenting are considered.
    Each clash names its rows as `subjects` (model, key, uid, name); the caller gives them addresses.
    """
    stored = StoredProgram(edition)
    program = stored.with_edit()
    return EditionClashes(stored, apply_rules(program), _session_of(program))


def cached_clashes(edition: Edition) -> EditionClashes:
    """Return the clashes, cached until the revision changes. Two queries, and five to find them.

    No caller may change the result.
    """
    if revision.is_locked():
        return find_clashes(edition)
    found, names = _clashes_at_revision(
        edition, revision.current(edition.pk), preview_context.cache_key_part(), get_language()
    )
    reads.add(names)
    return found


@lru_cache(maxsize=CACHED_EDITIONS)
def _clashes_at_revision(
    edition: Edition, _revision: revision.Revision, _preview_key: tuple[object, ...], _language: str | None
) -> tuple[EditionClashes, frozenset[str]]:
    """Return the clashes, and the tables and columns that they were read from."""
    with reads.noted() as names:
        found = find_clashes(edition)
    return found, frozenset(names)


def _session_of(program: ClashProgram) -> dict[int, int]:
    return {talk.subject.pk: talk.session.subject.pk for talk in program.talks if talk.session}


def find_clashes_about(rows: Iterable[Session | Presentation | Room]) -> list[Clash]:
    """Return the clashes that concern these rows of one edition, or presentations in them.

    Only what may clash with them is read, in up to 22 queries.
    """
    all_rows = list(rows)
    if not all_rows:
        return []
    stored = StoredProgram(all_rows[0].edition, near_rows(all_rows))
    program = stored.with_edit()
    return EditionClashes(stored, apply_rules(program), _session_of(program)).about(all_rows)


@dataclass(frozen=True, slots=True)
class ClashDifference:
    """The effect of an edit on the clashes of an edition: all clashes after it, new ones and solved ones."""

    all: list[Clash]
    new: list[Clash]
    solved: list[Clash]
    # The session of each presentation that takes place in one, by key.
    session_of: dict[int, int]

    def sessions(self, clash: Clash) -> set[int]:
        """Return the keys of the sessions that a clash concerns, directly or through their presentations."""
        session_keys = {subject.pk for subject in clash.subjects if subject.model == "session"}
        talks = (subject.pk for subject in clash.subjects if subject.model == "presentation")
        return session_keys | {self.session_of[pk] for pk in talks if pk in self.session_of}


def clash_difference(edition: Edition, planned: PlannedEdit, *, nearby: bool = False) -> ClashDifference:
    """Return how an edit would change the clashes, in as many queries as `cached_clashes()`.

    With `nearby`, which takes up to 14 queries, `all` is limited to presentations that edited ones may clash
    with.
    """
    if nearby:
        stored = StoredProgram(edition, near_edit(planned))
        before = apply_rules(stored.with_edit())
    else:
        current = cached_clashes(edition)
        stored, before = current.stored, current.all
        if planned == NO_EDIT:
            return ClashDifference(before, [], [], current.session_of)
    program = stored.with_edit(planned)
    after = apply_rules(program)
    return ClashDifference(after, *new_and_solved(before, after), _session_of(program))


def new_and_solved(before: list[Clash], after: list[Clash]) -> tuple[list[Clash], list[Clash]]:
    """Return the clashes that are new, and those that are solved."""
    old_signatures, new_signatures = ({signature(clash) for clash in clashes} for clashes in (before, after))
    new = [clash for clash in after if signature(clash) not in old_signatures]
    return new, [clash for clash in before if signature(clash) not in new_signatures]


def signature(clash: Clash) -> tuple[ClashKind, frozenset[tuple[str, int]]]:
    """Return the identity of a clash, which an edit does not change: its kind and its rows."""
    return clash.kind, frozenset(subject.key for subject in clash.subjects)
