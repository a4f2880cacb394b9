"""Tests of releases: unreleased changes are not public until they are released; then all of them are."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import DatabaseError, OperationalError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from pytest_django import Settings

from conference.models import Edition
from content.history import ChangeSet, Origin, RowChange
from content.history.recording import recording
from content.history.revert import undo
from content.ordering import move_to
from content.revision import lock
from content.unreleased.plan import RELEASE_DETAIL, planned, publishing, read_version
from content.unreleased.worker_report import report
from papers.models import Paper
from schedule.following import Agenda, AgendaStar
from schedule.models import (
    Presentation,
    ProgramInvitation,
    Release,
    ReleasePlan,
    Room,
    Session,
    SessionRole,
    UnreleasedChange,
)
from schedule.releases import announce
from schedule.unreleased import releasing
from schedule.unreleased.conflicts import MINE, THEIRS, RefusedError, find_conflicts
from schedule.unreleased.new_clashes import NewClashesError
from schedule.unreleased.tasks import release_planned
from schedule.unreleased.undo import undo_release
from tests import factories as make
from tests.connections import LOCK_TIMEOUT_SECONDS, run_over_another_connection, wait_for_a_lock

pytestmark = pytest.mark.django_db

PAGES = (
    "/2021/",
    "/2021/schedule/",
    "/2021/papers/",
    "/2021/schedule.ics",
    "/2021/schedule.json",
    "/2021/schedule.xml",
    "/2021/program.csv",
    "/2021/talks/",
    "/2021/changes/",
    "/search/?q=oral",
    "/api/v1/sessions/?edition=2021",
    "/api/v1/presentations/?edition=2021",
    "/api/v1/rooms/?edition=2021",
    "/api/v1/papers/?edition=2021",
)


@pytest.fixture
def program(edition: Edition) -> Edition:
    """Create three rooms, two sessions with three talks each, and a chair."""
    with lock():
        make.make_room(edition, "Annex", slug="annex")
        for number in (1, 2):
            room = make.make_room(edition, f"Hall {number}", slug=f"hall-{number}")
            title = f"Oral session {number}"
            session = make.make_session(edition, uid=f"s{number}", title=title, room=room)
            make.add_role(session, f"Chair {number}", "chair")
            for talk in (1, 2, 3):
                paper = make.make_paper(edition, [f"Author {number}{talk}"], title=f"Paper {number}{talk}")
                make.make_presentation(session, paper=paper, uid=f"t{number}{talk}")
    return edition


@pytest.fixture
def plan(program: Edition, user: User) -> ReleasePlan:
    return releasing.let_changes_wait(program, user, timezone.now())


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_superuser("chair")


def edit_as(user: User, edit: Callable[[], object]) -> None:
    with recording(Origin.FORM, user):
        edit()


def release_all(plan: ReleasePlan, user: User, **options: Any) -> releasing.Released:
    return releasing.release(plan, user, timezone.now(), **options)


def release_with_clashes(plan: ReleasePlan, user: User) -> releasing.Released:
    """Release, and confirm all new clashes."""
    try:
        return release_all(plan, user)
    except NewClashesError as error:
        return release_all(plan, user, confirmed=error.keys)


def public_pages(client: Client) -> dict[str, list[str]]:
    responses = {page: client.get(page) for page in PAGES}
    contents = {
        page: response.getvalue() if response.streaming else response.content
        for page, response in responses.items()
    }
    # It follows the clock for some seconds after a change.
    texts = {page: re.sub('"as_of":"[^"]*"', "", content.decode()) for page, content in contents.items()}
    return {page: text.splitlines() for page, text in texts.items()}


def get_session(uid: str) -> Session:
    row: Session = Session.objects.get(uid=uid)
    return row


def change_title(user: User, title: str, uid: str = "s1") -> None:
    def edit() -> None:
        session = get_session(uid)
        session.title = title
        session.save()

    edit_as(user, edit)


def labels() -> list[str]:
    return [str(change) for change in UnreleasedChange.objects.order_by("pk")]


def change_all_models() -> None:
    """Change, add and remove rows of all kinds that wait."""
    session = get_session("s1")
    session.title, session.room = "Oral session, $x^2$ first", Room.objects.get(slug="annex")
    session.status = "cancelled"
    session.save()
    added = make.make_session(session.edition, uid="s3", title="Late oral session", room=None)
    make.add_role(added, "Late Chair", "chair")
    talk = Presentation.objects.get(uid="t11")
    talk.session, talk.position = added, 0
    talk.save()
    with planned(session.edition):
        move_to(Presentation.objects.get(uid="t23"), 1)
    SessionRole.objects.filter(session__uid="s2").delete()
    Presentation.objects.get(uid="t22").delete()


def stored_rows() -> dict[str, list[Any]]:
    """Return all columns of all rows except `rescheduled_at` and what only repeats unreleased changes."""
    models = (Room, Session, Presentation, SessionRole, Paper)
    rows_by_model = {}
    for model in models:
        names = [
            f.attname for f in model._meta.concrete_fields if f.name not in ("rescheduled_at", "on_release")
        ]
        rows_by_model[model.__name__] = [
            dict(zip(names, row, strict=True))
            for row in model._base_manager.order_by("pk").values_list(*names)
        ]
    return rows_by_model


def waiting_values() -> list[tuple[str, str, dict[str, Any], dict[str, Any], str]]:
    """Return what waits: row, values, beginnings, author."""
    return sorted(
        (change.target, str(change), change.values, change.began, change.by_name + change.on_release)
        for change in UnreleasedChange.objects.all()
    )


def test_changes_are_not_public_until_released(client: Client, plan: ReleasePlan, user: User) -> None:
    before, rows_before = public_pages(client), stored_rows()
    edit_as(user, change_all_models)
    while_waiting = public_pages(client)
    release_with_clashes(plan, user)

    assert {page for page in PAGES if while_waiting[page] != before[page]} == set()
    assert public_pages(client) != before
    assert stored_rows() != rows_before
    assert get_session("s3").status == "published"
    assert Presentation.objects.get(uid="t11").session == get_session("s3")
    assert not SessionRole.objects.filter(session__uid="s2").exists()
    assert not Presentation.objects.filter(uid="t22").exists()
    assert ChangeSet.objects.filter(detail=RELEASE_DETAIL).count() == 1
    assert not UnreleasedChange.objects.exists()


# Changes by others


def test_changes_of_two_chairs_are_merged_by_field(plan: ReleasePlan, user: User) -> None:
    other = User.objects.create_superuser("other")
    change_title(user, "New title")
    edit_as(other, lambda: Session.objects.filter(uid="s1").update(room=Room.objects.get(slug="annex")))
    change = UnreleasedChange.objects.get()

    assert change.values == {"title": "New title", "room": Room.objects.get(slug="annex").pk}
    assert (change.by, get_session("s1").title) == (other, "Oral session 1")


def test_second_release_is_refused_and_names_the_first(plan: ReleasePlan, user: User) -> None:
    change_title(user, "New title")
    seen = read_version(plan.edition_id)
    release_all(plan, user, seen=seen)
    with pytest.raises(RefusedError) as error:
        release_all(plan, user, seen=seen)

    assert "Already released by chair at" in error.value.reasons[0]
    assert ChangeSet.objects.filter(detail=RELEASE_DETAIL).count() == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True)
def test_one_of_two_concurrent_releases_is_refused(plan: ReleasePlan, user: User) -> None:
    change_title(user, "New title")
    seen = read_version(plan.edition_id)
    with transaction.atomic():
        release_all(plan, user, seen=seen)
        thread, failed = run_over_another_connection(lambda: release_all(plan, user, seen=seen))
        wait_for_a_lock(thread)
    thread.join(LOCK_TIMEOUT_SECONDS)

    assert [type(error) for error in failed] == [RefusedError]
    assert "Already released by chair at" in str(failed[0])
    assert get_session("s1").title == "New title"
    assert ChangeSet.objects.filter(detail=RELEASE_DETAIL).count() == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True)
def test_chairs_who_save_different_sessions_do_not_wait_for_each_other(plan: ReleasePlan, user: User) -> None:
    def save_at_once() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '100ms'")
        change_title(user, "Second", "s2")

    with transaction.atomic():
        change_title(user, "First", "s1")
        thread, failed = run_over_another_connection(save_at_once)
        thread.join(LOCK_TIMEOUT_SECONDS)
        is_saved = not thread.is_alive()

    assert (is_saved, failed) == (True, [])
    assert [change.values["title"] for change in UnreleasedChange.objects.order_by("session")] == [
        "First",
        "Second",
    ]


@pytest.mark.parametrize(("choice", "title"), [(MINE, "Mine"), (THEIRS, "Theirs")])
def test_concurrent_public_change_needs_a_choice(
    plan: ReleasePlan, user: User, choice: str, title: str
) -> None:
    change_title(user, "Mine")
    with publishing():
        Session.objects.filter(uid="s1").update(title="Theirs")
    (conflict,) = find_conflicts([*UnreleasedChange.objects.all()])
    with pytest.raises(RefusedError):
        release_all(plan, user)
    title_after_refusal = get_session("s1").title
    release_all(plan, user, choices={conflict.line: choice})

    assert (conflict.public, conflict.mine, title_after_refusal) == ("Theirs", "Mine", "Theirs")
    assert (get_session("s1").title, labels()) == (title, [])


def test_change_of_a_deleted_row_is_gone(plan: ReleasePlan, user: User) -> None:
    change_title(user, "Mine")
    change_title(user, "Second", "s2")
    with publishing():
        get_session("s1").delete()
    release_all(plan, user)

    assert [*Session.objects.values_list("title", flat=True)] == ["Second"]


def test_new_talk_of_a_deleted_paper_is_gone(plan: ReleasePlan, program: Edition, user: User) -> None:
    paper = make.make_paper(program)
    edit_as(user, lambda: make.make_presentation(get_session("s1"), paper=paper, uid="new"))
    before = len(labels())
    Paper.objects.get(pk=paper.pk).delete()

    assert before == 2
    assert labels() == []


def test_chosen_change_is_released_with_what_it_needs(
    plan: ReleasePlan, program: Edition, user: User
) -> None:
    def add() -> None:
        session = make.make_session(program, uid="s3", title="Late", status="published")
        make.make_presentation(session, title="Late talk", uid="late")

    edit_as(user, add)
    change_title(user, "Not yet", "s2")
    key = UnreleasedChange.objects.get(presentation__uid="late").pk
    release_all(plan, user, chosen=[key])

    assert [get_session("s3").status, Presentation.objects.get(uid="late").status] == ["published"] * 2
    assert labels() == ["Oral session 2"]
    assert get_session("s2").title == "Oral session 2"


def test_moved_talk_is_chosen_with_the_new_session_it_needs(
    plan: ReleasePlan, program: Edition, user: User
) -> None:
    edit_as(user, lambda: make.make_session(program, uid="s3", title="Late", status="published"))

    def move() -> None:
        talk = Presentation.objects.get(uid="t11")
        talk.session, talk.position = get_session("s3"), 0
        talk.save()

    edit_as(user, move)
    release_all(plan, user, chosen=[UnreleasedChange.objects.get(presentation__uid="t11").pk])

    assert get_session("s3").status == "published"
    assert Presentation.objects.get(uid="t11").session == get_session("s3")


def test_discarding_a_new_session_discards_what_needs_it(
    plan: ReleasePlan, program: Edition, user: User
) -> None:
    edit_as(user, lambda: make.make_session(program, uid="s3", title="Late", status="published"))

    def move() -> None:
        talk = Presentation.objects.get(uid="t11")
        talk.session, talk.position = get_session("s3"), 0
        talk.save()

    edit_as(user, move)
    change_title(user, "Stays", "s2")
    count = releasing.discard(plan, chosen=[UnreleasedChange.objects.get(session__uid="s3").pk])

    assert count == 2
    assert labels() == ["Oral session 2"]
    assert not Session.objects.filter(uid="s3").exists()
    assert Presentation.objects.get(uid="t11").session == get_session("s1")


def test_discarding_leaves_earlier_drafts(plan: ReleasePlan, program: Edition, user: User) -> None:
    draft = make.make_session(program, uid="draft", title="Draft", status="draft")

    def edit() -> None:
        draft.status = "published"
        draft.save()

    edit_as(user, edit)
    waiting = labels()
    releasing.discard(plan)

    assert (waiting, labels()) == (["Draft"], [])
    assert (get_session("draft").status, get_session("draft").on_release) == ("draft", "")


def test_discarding_all_leaves_the_public_program(client: Client, plan: ReleasePlan, user: User) -> None:
    rows, pages = stored_rows(), public_pages(client)
    edit_as(user, change_all_models)
    releasing.discard(plan)

    assert stored_rows() == rows
    assert public_pages(client) == pages


def test_removal_keeps_stars_and_invitations_until_the_release(
    plan: ReleasePlan, program: Edition, user: User
) -> None:
    talk = Presentation.objects.get(uid="t11")
    agenda = Agenda.objects.create(edition=program, token_digest="x")
    agenda.stars.create(presentation=talk)
    ProgramInvitation.objects.create(edition=program, person=make.make_person("Asked"), presentation=talk)
    edit_as(user, lambda: talk.delete())
    counts = [AgendaStar.objects.count(), ProgramInvitation.objects.count()]
    release_all(plan, user)

    assert counts == [1, 1]
    assert [AgendaStar.objects.count(), ProgramInvitation.objects.count()] == [0, 0]


def test_changes_of_other_editions_are_public_at_once(plan: ReleasePlan, user: User) -> None:
    other = make.make_session(make.make_edition(2022), uid="elsewhere", title="Old")
    edit_as(user, lambda: Session.objects.filter(pk=other.pk).update(title="New"))
    change_title(user, "Waits")

    assert Session.objects.get(pk=other.pk).title == "New"
    assert labels() == ["Oral session 1"]


def test_release_clears_reasons_only_of_reinstated_sessions(plan: ReleasePlan, user: User) -> None:
    with publishing():
        for uid in ("s1", "s2"):
            Session.objects.filter(uid=uid).update(status="cancelled", cancellation_reason=f"Storm {uid}")

    def reinstate() -> None:
        for session, status in ((get_session("s1"), "published"), (get_session("s2"), "cancelled")):
            session.status, session.cancellation_reason = status, "Flood"
            session.start -= timedelta(minutes=int(session.uid[1:]))
            session.save()

    edit_as(user, reinstate)
    release_with_clashes(plan, user)

    assert [get_session(uid).cancellation_reason for uid in ("s1", "s2")] == ["", "Flood"]
    assert [get_session(uid).status for uid in ("s1", "s2")] == ["published", "cancelled"]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("action", ["release", "discard"])
def test_nothing_is_done_about_an_edit_that_came_after_the_page(
    plan: ReleasePlan, user: User, action: str
) -> None:
    change_title(user, "Seen")
    seen = read_version(plan.edition_id)

    def act() -> None:
        release_all(plan, user, seen=seen) if action == "release" else releasing.discard(plan, seen=seen)

    with transaction.atomic():
        change_title(user, "Not seen")
        thread, failed = run_over_another_connection(act)
        wait_for_a_lock(thread)
    thread.join(LOCK_TIMEOUT_SECONDS)

    assert [type(error) for error in failed] == [RefusedError]
    assert "Changes were made after you opened this page" in str(failed[0])
    assert get_session("s1").title == "Oral session 1"
    assert UnreleasedChange.objects.get().values == {"title": "Not seen"}


# Undo


def test_undo_restores_all_rows_and_puts_the_work_back(client: Client, plan: ReleasePlan, user: User) -> None:
    rows, pages = stored_rows(), public_pages(client)
    edit_as(user, change_all_models)
    waiting = waiting_values()
    released = release_with_clashes(plan, user)
    assert released.change_set is not None
    undone = undo_release(plan, user, timezone.now(), seen=released.change_set.pk)
    after = stored_rows()

    assert [
        model for model in rows if comparable(after[model]) != comparable(with_added(rows, after, model))
    ] == []
    assert waiting_values() == waiting
    assert undone.kept == []
    # Calendars note that their events moved twice.
    quiet = [page for page in PAGES if "schedule" not in page and "/api/" not in page]
    assert [page for page in quiet if public_pages(client)[page] != pages[page]] == []
    release_with_clashes(plan, user)
    assert not UnreleasedChange.objects.exists()


def comparable(rows: list[Any]) -> list[Any]:
    """Return rows without their times: a row that an undo puts back is created then."""
    times = {"changed_at": None, "created_at": None}
    return sorted(({**row, **times} for row in rows), key=lambda row: row["id"])


def with_added(rows: dict[str, list[Any]], after: dict[str, list[Any]], model: str) -> list[Any]:
    """Return rows before the edits, and those after the undo that the edits added: they wait as drafts."""
    keys = {row["id"] for row in rows[model]}
    return [*rows[model], *(row for row in after[model] if row["id"] not in keys)]


def test_undo_merges_with_changes_made_since(plan: ReleasePlan, user: User) -> None:
    change_title(user, "Released")
    released = release_all(plan, user)
    edit_as(user, lambda: Session.objects.filter(uid="s1").update(room=Room.objects.get(slug="annex")))
    assert released.change_set is not None
    undo_release(plan, user, timezone.now(), seen=released.change_set.pk)
    change = UnreleasedChange.objects.get()

    assert get_session("s1").title == "Oral session 1"
    assert change.values == {"title": "Released", "room": Room.objects.get(slug="annex").pk}
    assert change.began == {"title": "Oral session 1", "room": Room.objects.get(slug="hall-1").pk}


def test_undo_drops_what_was_changed_back_since(plan: ReleasePlan, user: User) -> None:
    change_title(user, "Released")
    released = release_all(plan, user)
    change_title(user, "Oral session 1")
    assert released.change_set is not None
    undo_release(plan, user, timezone.now(), seen=released.change_set.pk)

    assert get_session("s1").title == "Oral session 1"
    assert labels() == []


def test_new_row_that_waits_again_goes_if_it_is_discarded(
    plan: ReleasePlan, program: Edition, user: User
) -> None:
    edit_as(user, lambda: make.make_session(program, uid="s3", title="Late", status="published"))
    released = release_all(plan, user)
    change_title(user, "Later", "s3")
    assert released.change_set is not None
    undo_release(plan, user, timezone.now(), seen=released.change_set.pk)
    waiting = [(change.on_release, change.creates_row) for change in UnreleasedChange.objects.all()]
    releasing.discard(plan)

    assert waiting == [("published", True)]
    assert not Session.objects.filter(uid="s3").exists()


def test_a_release_is_undone_once(plan: ReleasePlan, user: User) -> None:
    change_title(user, "Released")
    released = release_all(plan, user)
    assert released.change_set is not None
    undo_release(plan, user, timezone.now(), seen=released.change_set.pk)
    with pytest.raises(RefusedError, match="can no longer be undone"):
        undo_release(plan, user, timezone.now(), seen=released.change_set.pk)


def test_later_releases_do_not_tell_undone_work_as_news(
    plan: ReleasePlan, program: Edition, user: User
) -> None:
    announce(program, timezone.now())
    change_title(user, "Undone")
    released = release_all(plan, user, announcement=releasing.Announcement())
    with publishing():
        Session.objects.filter(uid="s2").update(title="Urgent")
    # A release that was announced in between, such as by a live notice, has the undone title in its snapshot.
    announce(program, timezone.now())
    assert released.change_set is not None
    undone = undo_release(plan, user, timezone.now(), seen=released.change_set.pk)
    last = announce(program, timezone.now())

    assert undone.is_withdrawn
    assert [(row.number, len(row.changes)) for row in Release.objects.order_by("number")] == [
        (1, 0),
        (3, 1),
        (4, 0),
    ]
    assert last.changes == []


def test_the_revert_of_a_release_in_the_history_puts_the_work_back(plan: ReleasePlan, user: User) -> None:
    change_title(user, "Released")
    released = release_all(plan, user)
    assert released.change_set is not None
    with publishing():
        undo(released.change_set, user)

    assert get_session("s1").title == "Oral session 1"
    assert UnreleasedChange.objects.get().values == {"title": "Released"}


# Planned releases


def plan_now(plan: ReleasePlan, user: User, **options: Any) -> Any:
    report()
    moment = timezone.now()
    releasing.plan_release(plan, user, moment, moment, **options)
    return moment


def test_planned_release_is_made_at_its_time_and_once(plan: ReleasePlan, user: User) -> None:
    change_title(user, "Planned")
    moment = plan_now(plan, user, announcement=releasing.Announcement("News"))
    early = releasing.release_due(moment - timedelta(days=1))
    released = releasing.release_due(moment)

    assert (early, [row.pk for row in released]) == ([], [plan.pk])
    assert get_session("s1").title == "Planned"
    assert Release.objects.get().title == "News"
    assert ReleasePlan.objects.get().release_at is None
    assert releasing.release_due(moment) == []
    assert Release.objects.count() == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True)
def test_one_of_two_workers_makes_a_planned_release(plan: ReleasePlan, user: User) -> None:
    change_title(user, "Planned")
    moment = plan_now(plan, user, announcement=releasing.Announcement("News"))
    results: list[list[ReleasePlan]] = []
    with transaction.atomic():
        results.append(releasing.release_due(moment))
        thread, failed = run_over_another_connection(lambda: results.append(releasing.release_due(moment)))
        wait_for_a_lock(thread)
    thread.join(LOCK_TIMEOUT_SECONDS)

    assert (failed, [len(made) for made in results]) == ([], [1, 0])
    assert Release.objects.get().title == "News"


def test_refused_planned_release_stores_the_reason(plan: ReleasePlan, user: User) -> None:
    change_title(user, "Mine")
    with publishing():
        Session.objects.filter(uid="s1").update(title="Theirs")
    released = releasing.release_due(plan_now(plan, user))

    assert released == []
    assert "changed meanwhile" in ReleasePlan.objects.get().refusal
    assert get_session("s1").title == "Theirs"


@pytest.mark.parametrize("error", [DatabaseError("disk full"), ValidationError("unforeseen")])
def test_release_that_fails_does_not_keep_others_from_being_made(
    plan: ReleasePlan, user: User, monkeypatch: pytest.MonkeyPatch, caplog: Any, error: Exception
) -> None:
    other = make.make_edition(2022)
    make.make_session(other, uid="elsewhere", title="Old")
    second = releasing.let_changes_wait(other, user, timezone.now())
    change_title(user, "Fails")
    change_title(user, "Released", "elsewhere")
    moment = plan_now(second, user)
    plan_now(plan, user)
    release = releasing.release

    def fail_in_first(chosen: ReleasePlan, *args: Any, **options: Any) -> Any:
        if chosen.pk == plan.pk:
            raise error
        return release(chosen, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(releasing, "release", fail_in_first)
        released = releasing.release_due(moment + timedelta(hours=1))
    titles = get_session("s1").title, get_session("elsewhere").title
    released_later = releasing.release_due(moment + timedelta(hours=1))

    assert [row.pk for row in released] == [second.pk]
    assert titles == ("Oral session 1", "Released")
    assert f"The planned release of edition {plan.edition_id} failed." in caplog.text
    # It stays due.
    assert [row.pk for row in released_later] == [plan.pk]
    assert get_session("s1").title == "Fails"


def test_planned_release_that_fails_is_tried_again_after_a_minute(
    plan: ReleasePlan, user: User, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    change_title(user, "Released")
    plan_now(plan, user)

    def fail(*args: object, **options: object) -> None:
        raise OperationalError("canceling statement due to lock timeout")

    with monkeypatch.context() as patch:
        patch.setattr(releasing, "release", fail)
        release_planned.func()
    (task,) = DBTaskResult.objects.all()
    pause = task.run_after - task.enqueued_at
    failed_title = get_session("s1").title
    release_planned.func()

    assert timedelta(seconds=50) < pause <= timedelta(minutes=1)
    assert (failed_title, get_session("s1").title) == ("Oral session 1", "Released")
    assert DBTaskResult.objects.count() == 1


def test_no_release_is_planned_without_a_worker(plan: ReleasePlan, user: User) -> None:
    moment = timezone.now()
    with pytest.raises(RefusedError, match="No worker has reported"):
        releasing.plan_release(plan, user, moment + timedelta(days=1), moment)


# Switching


def test_changes_of_a_schedule_that_is_not_public_do_not_wait(user: User) -> None:
    edition = make.make_edition(2023, schedule_public_from=None)
    with pytest.raises(RefusedError):
        releasing.let_changes_wait(edition, user, timezone.now())


def test_switching_off_needs_that_nothing_waits(plan: ReleasePlan, user: User) -> None:
    change_title(user, "Mine")
    with pytest.raises(RefusedError):
        releasing.publish_at_once(plan)
    releasing.discard(plan)
    releasing.publish_at_once(plan)
    change_title(user, "At once")

    assert get_session("s1").title == "At once"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True)
def test_edit_under_way_while_waiting_is_switched_off_waits_and_is_shown(
    plan: ReleasePlan, user: User, admin_client: Client
) -> None:
    with transaction.atomic():
        change_title(user, "Under way")
        thread, failed = run_over_another_connection(lambda: releasing.publish_at_once(plan))
        thread.join(LOCK_TIMEOUT_SECONDS)
    change_title(user, "Later", "s2")
    page = admin_client.get("/admin/schedule/release/working-copy/").text

    assert failed == []
    assert [get_session(uid).title for uid in ("s1", "s2")] == ["Oral session 1", "Oral session 2"]
    assert "2 unreleased changes" in page
    release_all(plan, user)
    change_title(user, "At once")
    assert [get_session(uid).title for uid in ("s1", "s2")] == ["At once", "Later"]


# The history


def test_history_names_the_author_of_each_released_change(plan: ReleasePlan, user: User) -> None:
    author = User.objects.create_superuser("author")
    change_title(author, "New title")
    released = release_all(plan, user)
    assert released.change_set is not None
    rows = RowChange.objects.filter(change_set=released.change_set)

    assert released.change_set.user == user
    assert rows.get(model="schedule.session").values == {"title": ["Oral session 1", "New title"]}
    assert rows.get(model="schedule.unreleasedchange").values["by_name"] == "author"


# Cost


def move_talks(program: Edition, count: int, user: User) -> None:
    """Make talks of one more session, and move each of them without a release."""
    session = make.make_session(program, title=f"Long {count}", uid=f"long{count}", room=None)
    with publishing(), lock():
        papers = Paper.objects.bulk_create(
            Paper(edition=program, uid=f"x{count}-{number}", title=f"X {number}", status="published")
            for number in range(count)
        )
        rows: list[Any] = Presentation.objects.bulk_create(
            Presentation(
                edition=program, uid=f"x{count}-{number}", paper=paper, session=session, position=number
            )
            for number, paper in enumerate(papers, start=1)
        )

    def move() -> None:
        for number, talk in enumerate(rows):
            talk.start = session.start + timedelta(seconds=number)
            talk.board = f"B{number}"
        Presentation.objects.bulk_update(rows, ["start", "board"])

    edit_as(user, move)


def count_release_queries(plan: ReleasePlan, user: User) -> int:
    try:
        with transaction.atomic():
            release_all(plan, user)
            transaction.set_rollback(True)
        keys: list[str] = []
    except NewClashesError as error:
        keys = error.keys
    with CaptureQueriesContext(connection) as queries:
        release_all(plan, user, confirmed=keys)
    return len(queries)


def test_release_makes_a_fixed_number_of_queries_for_500_rows(
    program: Edition, plan: ReleasePlan, user: User
) -> None:
    # With each, a new session waits.
    counts = []
    for number in (1, 499, 999):
        move_talks(program, number, user)
        counts.append(count_release_queries(plan, user))

    assert counts[1] == counts[0]
    assert counts[2] - counts[1] <= 24


@pytest.mark.parametrize("name", ["role", "speaker"])
def test_release_of_one_added_person_reaches_caches(
    program: Edition, plan: ReleasePlan, user: User, name: str
) -> None:
    session = program.sessions.get(uid="s1")
    if name == "role":
        make.add_role(session, "Ada New", "panelist")
    else:
        ada = make.make_person("Ada New")
        session.presentations.order_by("pk")[0].speakers.create(person=ada, name=ada.name)
    program.refresh_from_db()
    before = program.revision
    release_all(plan, user)
    program.refresh_from_db()

    assert program.revision > before


def test_session_whose_chair_is_not_released_is_without_one(program: Edition, user: User) -> None:
    session = make.make_session(program, uid="s3", title="Led by nobody yet")
    plan = releasing.let_changes_wait(program, user, timezone.now())
    make.add_role(session, "Ada New", "chair")

    assert [row.uid for row in program.sessions.without_chair()] == ["s3"]
    with planned(program):
        assert [row.uid for row in program.sessions.without_chair()] == []
    release_all(plan, user)
    assert [row.uid for row in program.sessions.without_chair()] == []
