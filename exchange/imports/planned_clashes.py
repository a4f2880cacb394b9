"""Note the clashes in the timetable that an import would bring, before it is written."""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.utils.translation import ngettext

from exchange.imports.compare import ImportPlan, RowPlan
from exchange.imports.kinds import (
    AUTHORS,
    PAPER,
    PRESENTATION,
    ROLES,
    ROOM,
    SESSION,
    SPEAKERS,
    Kind,
    Listing,
)
from exchange.problems import Findings, Where
from papers.models import Paper
from schedule.clashes import (
    REQUIRED_ROLES,
    PeopleByOwner,
    StoredProgram,
    find_clashes,
    new_and_solved,
)
from schedule.clashes.findings import ClashSubject, RoomCapacity
from schedule.clashes.rules import apply_rules
from schedule.session_kinds import kind_label

CLASH_KINDS = (ROOM, PAPER, SESSION, PRESENTATION)
CANCELLED, WITHDRAWN = "cancelled", Paper.Status.WITHDRAWN
MAX_CLASHES = 500


def note_clashes(plan: ImportPlan, findings: Findings) -> None:
    """Note the clashes that the plan adds to those of the edition, at most 500. Ten queries."""
    if not any(_changed_steps(plan, kind) for kind in CLASH_KINDS):
        return
    before = [] if plan.edition._state.adding else find_clashes(plan.edition).all
    program = PlannedProgram(plan)
    new, _solved = new_and_solved(before, apply_rules(program.with_edit()))
    for clash in new[:MAX_CLASHES]:
        places = (program.places.get(subject.key) for subject in clash.subjects)
        where = next((place for place in places if place), Where())
        findings.note("clash", where, clash.sentence, **clash.facts)
    if (count := len(new) - MAX_CLASHES) > 0:
        message = ngettext("There is %(count)d more clash.", "There are %(count)d more clashes.", count)
        findings.note("clash", Where(), message, count=count)


def _changed_steps(plan: ImportPlan, kind: Kind) -> list[RowPlan]:
    return [step for step in plan.steps[kind.name] if step.is_new or step.merge.updates]


class PlannedProgram(StoredProgram):
    """The rows of an edition as an import would leave them. New rows have negative keys."""

    def __init__(self, plan: ImportPlan) -> None:
        if plan.edition._state.adding:
            self.zone = plan.edition.zone
            self.names, self.rooms = {}, {}
            self.sessions, self.talks, self.away = [], [], []
            self.by_session = self.by_talk = self.by_paper = {}
            self.kind_label = cache(kind_label)
        else:
            super().__init__(plan.edition)
        self._new_keys: dict[int, int] = {}
        # The places of changed rows in the files, by model and key.
        self.places: dict[tuple[str, int], Where] = {}
        self._new_kinds = {(kind.applies_to, kind.slug): kind.copies for kind in plan.new_kinds}
        self._steps = {kind.name: _changed_steps(plan, kind) for kind in CLASH_KINDS}
        self._plan_rooms()
        self._plan_sessions()
        self._plan_talks()
        self.by_session = self._with_people(
            self.by_session, SESSION, ROLES, lambda role: role.role in REQUIRED_ROLES
        )
        self.by_talk = self._with_people(self.by_talk, PRESENTATION, SPEAKERS, lambda speaker: True)
        self.by_paper = self._with_people(self.by_paper, PAPER, AUTHORS, lambda author: author.presenting)

    def _key(self, row: Any) -> int:
        """Return the key of a row; of a new one, which has none, a negative number."""
        key: int = row.pk or self._new_keys.setdefault(id(row), -1 - len(self._new_keys))
        return key

    def _optional_key(self, row: Any) -> int | None:
        return self._key(row) if row else None

    def _plan_rooms(self) -> None:
        for step in self._steps[ROOM.name]:
            row: Any = step.row
            subject = ClashSubject("room", self._key(row), row.slug, row.name)
            self.rooms[subject.pk] = RoomCapacity(subject, row.capacity, row.virtual)
            self.places[subject.key] = step.where

    def _kind_copies(self, row: Any) -> dict[str, str]:
        return self._new_kinds.get((row.applies_to, row.kind)) or row.kind_copies(row.kind)

    def _plan_sessions(self) -> None:
        sessions: dict[int, Any] = {row["pk"]: row for row in self.sessions}
        for step in self._steps[SESSION.name]:
            row: Any = step.row
            key = self._key(row)
            self.places["session", key] = step.where
            sessions[key] = {
                **{name: getattr(row, name) for name in ("uid", "kind", "title", "start", "end")},
                **self._kind_copies(row),
                "pk": key,
                "room": self._optional_key(row.room),
                "parent": self._optional_key(row.parent),
            }
            if CANCELLED in (row.status, row.parent and row.parent.status):
                del sessions[key]
        self.sessions = sorted(sessions.values(), key=lambda row: bool(row["parent"]))

    def _plan_talks(self) -> None:
        talks: dict[int, Any] = {row["pk"]: row for row in self.talks}
        for step in self._steps[PRESENTATION.name]:
            row: Any = step.row
            key = self._key(row)
            self.places["presentation", key] = step.where
            talks[key] = {
                **{name: getattr(row, name) for name in ("uid", "kind", "title", "start", "end", "board")},
                **self._kind_copies(row),
                "pk": key,
                "room": self._optional_key(row.room),
                "session": self._optional_key(row.session),
                "paper": self._optional_key(row.paper),
                "paper__title": row.paper.title if row.paper else None,
            }
            if row.status == CANCELLED:
                del talks[key]
        withdrawn = {
            self._key(step.row)
            for step in self._steps[PAPER.name]
            if getattr(step.row, "status", "") == WITHDRAWN
        }
        sessions = {None, *(row["pk"] for row in self.sessions)}
        self.talks = [
            row for row in talks.values() if row["paper"] not in withdrawn and row["session"] in sessions
        ]

    def _with_people(
        self, people: PeopleByOwner, kind: Kind, listing: Listing, attends: Callable[[Any], bool]
    ) -> PeopleByOwner:
        """Return the people with those of the lists that the plan changes."""
        planned: dict[int | None, set[int]] = {**people}
        for step in self._steps[kind.name]:
            if listing.name in step.parts:
                parts = [part.row for part in step.parts[listing.name] if attends(part.row)]
                planned[self._key(step.row)] = {self._key(part.person) for part in parts}
                for part in parts:
                    key = self._key(part.person)
                    self.names[key] = ClashSubject("person", key, part.person.uid, part.person.name)
        return planned
