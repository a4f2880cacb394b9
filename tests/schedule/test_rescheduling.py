"""Tests that any write that changes a time or room sets `rescheduled_at`, and that other changes do not."""

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
def published_session() -> Session:
    with time_machine.travel(BEFORE, tick=False):
        return Session.objects.get(pk=make.make_session(make.make_edition(), start=START).pk)


def stored_rescheduled_at(row: Any) -> datetime | None:
    stored: datetime | None = type(row).objects.get(pk=row.pk).rescheduled_at
    return stored


@pytest.mark.parametrize(
    "change",
    [{"start": START - HOUR}, {"end": START + 9 * HOUR}, {"title": "Other"}, {"status": "cancelled"}],
)
@time_machine.travel(LATER, tick=False)
def test_trap_5_changes_that_concern_calendars_are_noted(
    published_session: Session, change: dict[str, Any]
) -> None:
    for name, value in change.items():
        setattr(published_session, name, value)
    published_session.save()

    assert stored_rescheduled_at(published_session) == LATER


@time_machine.travel(LATER, tick=False)
def test_other_and_empty_changes_do_not_set_rescheduled_at(published_session: Session) -> None:
    published_session.abstract, published_session.start = "More.", published_session.start
    published_session.save()
    Session.objects.update(status="published", stream_url="https://e.org/")
    Session.objects.bulk_update([published_session], ["start", "title"])

    assert stored_rescheduled_at(published_session) is None


@time_machine.travel(LATER, tick=False)
def test_draft_is_not_rescheduled_until_it_was_published(published_session: Session) -> None:
    drafts = [make.make_session(published_session.edition, status="draft") for _ in range(3)]
    for row in (Session.objects.get(pk=draft.pk) for draft in drafts[:2]):
        row.title, row.status = "Other", "published"
        row.save()
    Session.objects.filter(pk=drafts[2].pk).update(title="Other", status="published")
    assert [stored_rescheduled_at(row) for row in drafts] == [None] * 3

    first = Session.objects.get(pk=drafts[0].pk)
    first.status = "draft"
    first.save()
    Session.objects.filter(pk=drafts[2].pk).update(title="Third")
    assert [stored_rescheduled_at(row) for row in drafts] == [LATER, None, LATER]


@time_machine.travel(LATER, tick=False)
def test_setting_a_deferred_room_sets_rescheduled_at(published_session: Session) -> None:
    row = Session.objects.only("pk").get(pk=published_session.pk)
    row.room = make.make_room(published_session.edition)
    row.save(update_fields=["room"])

    assert stored_rescheduled_at(published_session) == LATER


@time_machine.travel(LATER, tick=False)
def test_two_moves_in_one_second_have_different_times(published_session: Session) -> None:
    for hours in (1, 2):
        published_session.end = START + hours * HOUR * 2
        published_session.save()

    assert stored_rescheduled_at(published_session) == LATER + timedelta(seconds=1)


@time_machine.travel(LATER, tick=False)
def test_bulk_update_sets_rescheduled_at_of_moved_rows(published_session: Session) -> None:
    other = make.make_session(published_session.edition, start=START)
    Session.objects.filter(pk=other.pk).update(rescheduled_at=BEFORE)
    rows = list(Session.objects.order_by("pk"))
    rows[0].start -= HOUR
    Session.objects.bulk_update(rows, ["start"])

    assert [stored_rescheduled_at(row) for row in rows] == [LATER, BEFORE]


@time_machine.travel(LATER, tick=False)
def test_update_sets_rescheduled_at_of_moved_rows(published_session: Session) -> None:
    with time_machine.travel(BEFORE, tick=False):
        talk = make.make_presentation(published_session, status="cancelled")
    other = make.make_session(published_session.edition, start=START, status="cancelled")
    Session.objects.filter(pk=other.pk).update(rescheduled_at=BEFORE)
    Session.objects.update(status="cancelled")
    Presentation.objects.update(status="cancelled", room=None)

    assert [stored_rescheduled_at(row) for row in (published_session, other, talk)] == [LATER, BEFORE, None]


@time_machine.travel(LATER, tick=False)
def test_update_with_expressions_sets_rescheduled_at(published_session: Session) -> None:
    Session.objects.update(start=F("start") - HOUR, end=F("end") - HOUR)
    Session.objects.update(start=F("start") - HOUR)

    assert stored_rescheduled_at(published_session) == LATER + timedelta(seconds=1)


@pytest.mark.parametrize("is_bulk", [False, True])
def test_deleting_a_room_or_session_reschedules_its_rows(published_session: Session, is_bulk: bool) -> None:
    with time_machine.travel(BEFORE, tick=False):
        room = make.make_room(published_session.edition)
        Session.objects.filter(pk=published_session.pk).update(room=room)
        talk = make.make_presentation(published_session, make.make_paper(published_session.edition))
    for target, row in ((room, published_session), (published_session, talk)):
        rows = type(target).objects.filter(pk=target.pk)
        with time_machine.travel(LATER, tick=False):
            rows.delete() if is_bulk else rows.get().delete()
        assert stored_rescheduled_at(row) == LATER


def test_import_sets_rescheduled_at_of_moved_rows_and_keeps_it_for_new_ones() -> None:
    file = program(sessions=(session("s1", rescheduled_at=BEFORE), session("s2", rescheduled_at=BEFORE)))
    load(file, "2021")
    with time_machine.travel(LATER, tick=False):
        changed = session("s1", end=START + 9 * HOUR, rescheduled_at=BEFORE + HOUR)
        report = load(program(sessions=(changed, session("s2", rescheduled_at=LATER))), "2021")

    assert dict(Session.objects.values_list("uid", "rescheduled_at")) == {"s1": LATER, "s2": BEFORE}
    assert (report.total["changed"], report.total["kept"], report.total["conflicting"]) == (1, 0, 0)


@pytest.mark.parametrize("method", ["by hand", "import", "revert"])
def test_trap_5_what_was_deleted_and_returns_is_newer_than_before(
    published_session: Session, method: str
) -> None:
    key, edition = published_session.uid, published_session.edition
    published_session.delete()
    with time_machine.travel(LATER, tick=False):
        if method == "by hand":
            make.make_session(edition, uid=key)
        elif method == "import":
            load(program(sessions=(session(key),)), edition.slug)
        else:
            revert(undo_plan(ChangeSet.objects.latest("pk")).steps, Origin.UNDO, None, "")

    assert Session.objects.get().rescheduled_at == LATER


def test_new_row_beside_a_deleted_one_is_not_rescheduled(published_session: Session) -> None:
    published_session.delete()

    assert stored_rescheduled_at(make.make_session(published_session.edition)) is None


def test_draft_that_was_never_public_is_not_rescheduled_when_it_returns(published_session: Session) -> None:
    edition = published_session.edition
    make.make_session(edition, uid="draft", status="draft").delete()
    make.make_session(edition, uid="other", status="draft").delete()
    other = Session(edition=edition, uid="other", title="Other", start=START, end=START + HOUR)
    Session.objects.bulk_create([other])

    assert stored_rescheduled_at(make.make_session(edition, uid="draft")) is None
    assert Session.objects.get(uid="other").rescheduled_at is None


@time_machine.travel(LATER, tick=False)
def test_row_that_was_public_is_newer_also_without_a_history(published_session: Session) -> None:
    key, edition = published_session.uid, published_session.edition
    published_session.delete()
    ChangeSet.objects.all().delete()

    assert stored_rescheduled_at(make.make_session(edition, uid=key)) == LATER
