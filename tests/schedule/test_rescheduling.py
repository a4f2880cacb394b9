"""Tests that changes of time or place are noted once, with any kind of write, and other changes are not.

A row that was only created has not moved.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db.models import F

from content.history import ChangeSet, Origin
from content.history.revert import revert, undo_plan
from exchange.imports.load import load
from schedule.models import Presentation, Session
from tests import factories as make
from tests.exchange.programs import HOUR, START, program, session

pytestmark = pytest.mark.django_db
BEFORE = datetime(2021, 1, 1, 12, tzinfo=UTC)
LATER = datetime(2021, 2, 1, 12, tzinfo=UTC)


@pytest.fixture
def shown() -> Session:
    with time_machine.travel(BEFORE, tick=False):
        return Session.objects.get(pk=make.make_session(make.make_edition(), start=START).pk)


def moved(row: Any) -> datetime | None:
    stored: datetime | None = type(row).objects.get(pk=row.pk).rescheduled_at
    return stored


@pytest.mark.parametrize(
    "change",
    [{"start": START - HOUR}, {"end": START + 9 * HOUR}, {"title": "Other"}, {"status": "cancelled"}],
)
@time_machine.travel(LATER, tick=False)
def test_trap_5_changes_that_concern_calendars_are_noted(shown: Session, change: dict[str, Any]) -> None:
    for name, value in change.items():
        setattr(shown, name, value)
    shown.save()

    assert moved(shown) == LATER


@time_machine.travel(LATER, tick=False)
def test_other_changes_and_empty_ones_are_not_noted(shown: Session) -> None:
    shown.abstract, shown.start = "More.", shown.start
    shown.save()
    Session.objects.update(status="published", stream_url="https://e.org/")
    Session.objects.bulk_update([shown], ["start", "title"])

    assert moved(shown) is None


@time_machine.travel(LATER, tick=False)
def test_draft_that_nobody_saw_has_not_moved_until_it_was_published(shown: Session) -> None:
    drafts = [make.make_session(shown.edition, status="draft") for _ in range(3)]
    for row in (Session.objects.get(pk=one.pk) for one in drafts[:2]):
        row.title, row.status = "Other", "published"
        row.save()
    Session.objects.filter(pk=drafts[2].pk).update(title="Other", status="published")
    assert [moved(row) for row in drafts] == [None] * 3

    first = Session.objects.get(pk=drafts[0].pk)
    first.status = "draft"
    first.save()
    Session.objects.filter(pk=drafts[2].pk).update(title="Third")
    assert [moved(row) for row in drafts] == [LATER, None, LATER]


@time_machine.travel(LATER, tick=False)
def test_room_that_was_not_loaded_counts_when_it_is_set(shown: Session) -> None:
    row = Session.objects.only("pk").get(pk=shown.pk)
    row.room = make.make_room(shown.edition)
    row.save(update_fields=["room"])

    assert moved(shown) == LATER


@time_machine.travel(LATER, tick=False)
def test_two_moves_in_one_second_are_two(shown: Session) -> None:
    for hours in (1, 2):
        shown.end = START + hours * HOUR * 2
        shown.save()

    assert moved(shown) == LATER + timedelta(seconds=1)


@time_machine.travel(LATER, tick=False)
def test_bulk_update_notes_the_rows_that_moved(shown: Session) -> None:
    other = make.make_session(shown.edition, start=START)
    Session.objects.filter(pk=other.pk).update(rescheduled_at=BEFORE)
    rows = list(Session.objects.order_by("pk"))
    rows[0].start -= HOUR
    Session.objects.bulk_update(rows, ["start"])

    assert [moved(row) for row in rows] == [LATER, BEFORE]


@time_machine.travel(LATER, tick=False)
def test_update_notes_the_rows_that_moved(shown: Session) -> None:
    with time_machine.travel(BEFORE, tick=False):
        talk = make.make_presentation(shown, status="cancelled")
    other = make.make_session(shown.edition, start=START, status="cancelled")
    Session.objects.filter(pk=other.pk).update(rescheduled_at=BEFORE)
    Session.objects.update(status="cancelled")
    Presentation.objects.update(status="cancelled", room=None)

    assert [moved(row) for row in (shown, other, talk)] == [LATER, BEFORE, None]


@time_machine.travel(LATER, tick=False)
def test_update_with_expression_is_noted(shown: Session) -> None:
    Session.objects.update(start=F("start") - HOUR, end=F("end") - HOUR)
    Session.objects.update(start=F("start") - HOUR)

    assert moved(shown) == LATER + timedelta(seconds=1)


@pytest.mark.parametrize("is_bulk", [False, True])
def test_what_loses_its_place_with_a_room_or_session_has_moved(shown: Session, is_bulk: bool) -> None:
    with time_machine.travel(BEFORE, tick=False):
        room = make.make_room(shown.edition)
        Session.objects.filter(pk=shown.pk).update(room=room)
        talk = make.make_presentation(shown, make.make_paper(shown.edition))
    for place, row in ((room, shown), (shown, talk)):
        rows = type(place).objects.filter(pk=place.pk)
        with time_machine.travel(LATER, tick=False):
            rows.delete() if is_bulk else rows.get().delete()
        assert moved(row) == LATER


def test_import_notes_what_it_moved_and_gives_new_rows_what_the_file_says() -> None:
    file = program(sessions=(session("s1", rescheduled_at=BEFORE), session("s2", rescheduled_at=BEFORE)))
    load(file, "2021")
    with time_machine.travel(LATER, tick=False):
        changed = session("s1", end=START + 9 * HOUR, rescheduled_at=BEFORE + HOUR)
        report = load(program(sessions=(changed, session("s2", rescheduled_at=LATER))), "2021")

    assert dict(Session.objects.values_list("uid", "rescheduled_at")) == {"s1": LATER, "s2": BEFORE}
    assert (report.total["changed"], report.total["kept"], report.total["conflicting"]) == (1, 0, 0)


@pytest.mark.parametrize("way", ["by hand", "import", "revert"])
def test_trap_5_what_was_deleted_and_returns_is_newer_than_before(shown: Session, way: str) -> None:
    key, edition = shown.uid, shown.edition
    shown.delete()
    with time_machine.travel(LATER, tick=False):
        if way == "by hand":
            make.make_session(edition, uid=key)
        elif way == "import":
            load(program(sessions=(session(key),)), edition.slug)
        else:
            revert(undo_plan(ChangeSet.objects.latest("pk")).steps, Origin.UNDO, None, "")

    assert Session.objects.get().rescheduled_at == LATER


def test_new_identifier_beside_a_deleted_one_has_not_moved(shown: Session) -> None:
    shown.delete()

    assert moved(make.make_session(shown.edition)) is None
