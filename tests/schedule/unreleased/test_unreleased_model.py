"""Random edits, imports, notices, releases and undoes by two chairs, against a model of dictionaries."""

from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from content.history import ChangeSet, Origin
from content.history.recording import recording
from content.history.revert import undo
from content.unreleased.plan import planned
from exchange.imports.load import load
from exchange.records import Program, SessionRecord
from schedule.models import ReleasePlan, Room, Session, UnreleasedChange
from schedule.unreleased import releasing
from schedule.unreleased.beginnings import publishing_within
from schedule.unreleased.conflicts import MINE, THEIRS, find_conflicts
from schedule.unreleased.new_clashes import NewClashesError
from schedule.unreleased.undo import undo_release
from tests import factories as make
from tests.schedule.unreleased.waiting import open_plan

pytestmark = pytest.mark.django_db

UIDS, CHAIRS = ("s0", "s1", "s2"), (0, 1)
ROOMS = ("a", "b", "c")
FIRST = make.MORNING

type Values = dict[str, Any]

uids, chairs = st.sampled_from(UIDS), st.sampled_from(CHAIRS)
edits = st.one_of(
    st.tuples(st.just("title"), st.sampled_from(("Red", "Green", "Blue"))),
    st.tuples(st.just("room"), st.sampled_from(ROOMS)),
    st.tuples(st.just("hour"), st.integers(0, 3)),
)


class ScheduleMachine(RuleBasedStateMachine):
    """Three sessions; of each the public values, those that wait, and those with which they began."""

    def __init__(self) -> None:
        super().__init__()
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.edition = make.make_edition()
        self.rooms = {slug: make.make_room(self.edition, slug.upper(), slug=slug) for slug in ROOMS}
        self.users = [User.objects.create_user(f"chair-{number}") for number in CHAIRS]
        records = [SessionRecord(uid=uid, title=uid, status="published", **self.times(0)) for uid in UIDS]
        load(Program(sessions=tuple(records)), "2021", publication="now")
        Session.objects.update(room=self.rooms["a"])
        open_plan(self.edition)
        self.public = {uid: {"title": uid, "room": "a", "hour": 0} for uid in UIDS}
        self.waiting: dict[str, Values] = {uid: {} for uid in UIDS}
        self.began: dict[str, Values] = {uid: {} for uid in UIDS}
        self.imported = {uid: uid for uid in UIDS}
        # The last release: of each row the values before and after; and what an edit can take back.
        self.released: dict[str, dict[str, tuple[Any, Any]]] = {}
        self.last_edits: dict[str, tuple[ChangeSet, Values, Values]] = {}

    def times(self, hour: int) -> dict[str, Any]:
        start = FIRST + timedelta(hours=hour)
        return {"start": start, "end": start + timedelta(hours=1)}

    def plan(self) -> ReleasePlan:
        return ReleasePlan.objects.get(edition=self.edition)

    def set_value(self, row: Session, name: str, value: Any) -> None:
        if name == "room":
            row.room = self.rooms[value]
        elif name == "hour":
            times = self.times(value)
            row.start, row.end = times["start"], times["end"]
        else:
            row.title = value

    def wait(self, uid: str, name: str, value: Any) -> None:
        """Let a value wait in the model; the public one waits no longer."""
        self.began[uid].setdefault(name, self.public[uid][name])
        self.waiting[uid][name] = value
        self.drop_public(uid)

    def drop_public(self, uid: str) -> None:
        for name in [name for name, value in self.waiting[uid].items() if value == self.public[uid][name]]:
            del self.waiting[uid][name], self.began[uid][name]

    def planned_values(self, uid: str) -> Values:
        return {**self.public[uid], **self.waiting[uid]}

    # What chairs do

    @rule(uid=uids, edit=edits, chair=chairs)
    def edit_session(self, uid: str, edit: tuple[str, Any], chair: int) -> None:
        before = deepcopy((self.waiting[uid], self.began[uid]))
        if self.planned_values(uid)[edit[0]] == edit[1]:
            return
        with recording(Origin.FORM, self.users[chair]) as log:
            with planned(self.edition, for_edits=True):
                row = Session.objects.get(uid=uid)
                self.set_value(row, *edit)
                row.save()
            log.write()
        self.wait(uid, *edit)
        assert log.change_set is not None
        self.last_edits[uid] = (log.change_set, *before)
        change = UnreleasedChange.objects.filter(session__uid=uid).first()
        assert change is None or change.by == self.users[chair]

    @rule(uid=uids, title=st.sampled_from(("Imported", "Imported again")))
    def import_title(self, uid: str, title: str) -> None:
        """Import a title: it is taken unless someone changed the one that was imported before."""
        load(Program(sessions=(SessionRecord(uid=uid, title=title),)), "2021")
        current = self.planned_values(uid)["title"]
        if title != self.imported[uid] and current in (self.imported[uid], title):
            if current != title:
                self.wait(uid, "title", title)
            self.imported[uid] = title
        self.last_edits.clear()

    @rule(uid=uids, edit=edits)
    def give_notice(self, uid: str, edit: tuple[str, Any]) -> None:
        name, value = edit
        row = Session.objects.get(uid=uid)
        with recording(Origin.ACTION, self.users[0]), publishing_within(row):
            self.set_value(row, name, value)
            row.save()
        before, self.public[uid][name] = self.public[uid][name], value
        if name in self.waiting[uid] and self.began[uid][name] == before:
            self.began[uid][name] = value
        self.drop_public(uid)
        self.last_edits.pop(uid, None)

    # What becomes of the changes

    @precondition(lambda self: any(self.waiting.values()))
    @rule(chosen=st.sets(uids), choice=st.sampled_from((MINE, THEIRS)), chair=chairs)
    def release(self, chosen: set[str], choice: str, chair: int) -> None:
        """Release the chosen sessions, or all if none of them waits."""
        rows = [uid for uid in UIDS if uid in chosen and self.waiting[uid]]
        rows, is_all = rows or [uid for uid in UIDS if self.waiting[uid]], not rows
        changes = [*UnreleasedChange.objects.filter(session__uid__in=rows).order_by("pk")]
        options: dict[str, Any] = {
            "chosen": None if is_all else [change.pk for change in changes],
            "choices": {conflict.line: choice for conflict in find_conflicts(changes)},
        }
        try:
            with transaction.atomic():
                releasing.release(self.plan(), self.users[chair], timezone.now(), **options)
        except NewClashesError as error:
            options["confirmed"] = error.keys
            releasing.release(self.plan(), self.users[chair], timezone.now(), **options)
        self.released = {}
        for uid in rows:
            for name, value in self.waiting[uid].items():
                before = self.public[uid][name]
                if choice == MINE or self.began[uid][name] == before:
                    self.released.setdefault(uid, {})[name] = (before, value)
                    self.public[uid][name] = value
            self.waiting[uid], self.began[uid] = {}, {}
            self.last_edits.pop(uid, None)

    @precondition(lambda self: any(self.waiting.values()))
    @rule(chosen=st.sets(uids))
    def discard(self, chosen: set[str]) -> None:
        """Discard the changes of the chosen sessions, or all if none was chosen."""
        changes = UnreleasedChange.objects.filter(session__uid__in=chosen).values_list("pk", flat=True)
        releasing.discard(self.plan(), chosen=[*changes] if chosen else None)
        for uid in chosen or UIDS:
            self.waiting[uid], self.began[uid] = {}, {}
            self.last_edits.pop(uid, None)

    @precondition(lambda self: self.last_edits)
    @rule(data=st.data(), chair=chairs)
    def take_back(self, data: st.DataObject, chair: int) -> None:
        """Take back the last edit of a session."""
        uid = data.draw(st.sampled_from(sorted(self.last_edits)))
        change_set, self.waiting[uid], self.began[uid] = self.last_edits.pop(uid)
        undo(change_set, self.users[chair])

    @precondition(lambda self: self.released)
    @rule(chair=chairs)
    def undo_release(self, chair: int) -> None:
        """Undo the last release: what is public still goes back, and its values wait again."""
        plan = self.plan()
        undo_release(plan, self.users[chair], timezone.now(), seen=plan.released_set_id or 0)
        for uid, values in self.released.items():
            for name, (before, after) in values.items():
                if self.public[uid][name] == after:
                    self.public[uid][name] = before
                self.waiting[uid].setdefault(name, after)
                self.began[uid][name] = before
            self.drop_public(uid)
            self.last_edits.pop(uid, None)
        self.released = {}

    # What must hold

    def stored(self) -> dict[str, Values]:
        return {
            row.uid: {
                "title": row.title,
                "room": Room.objects.get(pk=row.room_id).slug,
                "hour": (row.start - FIRST) // timedelta(hours=1),
            }
            for row in Session.objects.order_by("uid")
        }

    @invariant()
    def public_and_planned_values_are_those_of_the_model(self) -> None:
        assert self.stored() == self.public
        with planned(self.edition):
            assert self.stored() == {uid: self.planned_values(uid) for uid in UIDS}
        waiting = UnreleasedChange.objects.order_by("session__uid").values_list("session__uid", flat=True)
        assert [*waiting] == [uid for uid in UIDS if self.waiting[uid]]

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)


def test_two_chairs_and_a_model_agree() -> None:
    options = hypothesis_settings(max_examples=10, stateful_step_count=12, deadline=None)
    run_state_machine_as_test(ScheduleMachine, settings=options)
