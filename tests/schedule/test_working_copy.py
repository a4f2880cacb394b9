"""Tests of working copies: changes are not public until they are released; then all of them are."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conference.models import Edition
from content.history import ChangeSet, Origin, RowChange
from content.history.recording import recording
from content.history.revert import undo
from content.ordering import move_to
from content.revision import lock
from papers.models import Paper
from people.models import Person
from schedule.following import Agenda, AgendaStar
from schedule.models import (
    PendingChanges,
    Presentation,
    ProgramInvitation,
    Release,
    Room,
    Session,
    SessionRole,
    Unavailability,
    WorkingCopy,
)
from schedule.working_copy import release as releasing
from schedule.working_copy.block import (
    edit_working_copy,
    open_copies,
    pending_rows,
    reserve_all_keys,
    show_working_copy,
)
from schedule.working_copy.release import MINE, THEIRS, RefusedError
from schedule.working_copy.statuses import StatusTiming
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
    """Create two rooms, two sessions with three talks each, and a chair."""
    with lock():
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
def copy(program: Edition, user: User) -> WorkingCopy:
    return releasing.open_copy(program, user, timezone.now())


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_superuser("chair")


def edit_copies(user: User, edit: Callable[[], object]) -> None:
    """Call `edit` in all working copies, recorded as changes by this user; what it hides waits too."""
    with edit_working_copy(open_copies(), timing=StatusTiming.RELEASE), recording(Origin.FORM, user):
        edit()


def public_pages(client: Client) -> dict[str, bytes]:
    responses = {page: client.get(page) for page in PAGES}
    return {
        page: response.getvalue() if response.streaming else response.content
        for page, response in responses.items()
    }


def get_session(uid: str) -> Session:
    return Session.objects.get(uid=uid)


def change_all_models() -> None:
    """Change, add and delete in all models of a working copy."""
    hall = Room.objects.get(slug="hall-1")
    hall.name = "Aula"
    hall.save()
    session = get_session("s1")
    new_room = make.make_room(session.edition, "Annex", slug="annex")
    session.title, session.room, session.status = "Oral session, $x^2$ first", new_room, "cancelled"
    session.save()
    added = make.make_session(session.edition, uid="s3", title="Late oral session", room=hall)
    make.add_role(added, "Late Chair", "chair")
    talk = Presentation.objects.get(uid="t11")
    talk.session, talk.position = added, 0
    talk.save()
    move_to(Presentation.objects.get(uid="t23"), 1)
    SessionRole.objects.filter(session__uid="s2").delete()
    Presentation.objects.get(uid="t22").delete()
    Paper.objects.filter(title="Paper 12").update(status="draft")


def test_changes_are_not_public_until_released(
    client: Client, program: Edition, copy: WorkingCopy, user: User
) -> None:
    before = public_pages(client)
    change_set_count, revision = ChangeSet.objects.count(), program.revision
    edit_copies(user, change_all_models)
    program.refresh_from_db()

    pages_while_pending = public_pages(client)
    for page, body in before.items():
        assert pages_while_pending[page].decode().splitlines() == body.decode().splitlines(), page
    assert program.revision >= revision
    with show_working_copy(open_copies([program.pk])):
        working = stored_rows()
    assert working != stored_rows()
    assert WorkingCopy.objects.get().row_count == len(pending_rows(open_copies()))
    releasing.release(WorkingCopy.objects.get(), user, timezone.now())
    released = stored_rows()
    for model, rows in working.items():
        assert released[model] == rows
    assert public_pages(client) != before
    assert ChangeSet.objects.filter(detail=releasing.RELEASE_DETAIL).count() == 1
    assert WorkingCopy.objects.get().row_count == 0
    assert change_set_count < ChangeSet.objects.count()


def stored_rows() -> dict[str, list[Any]]:
    """Return all columns of all rows except `rescheduled_at`."""
    models = (Room, Session, Presentation, SessionRole, Paper)
    rows_by_model = {}
    for model in models:
        names = [f.attname for f in model._meta.concrete_fields if f.name != "rescheduled_at"]
        rows_by_model[model.__name__] = [
            dict(zip(names, row, strict=True)) for row in model.objects.order_by("pk").values_list(*names)
        ]
    return rows_by_model


# Changes by others


def change_title(user: User, title: str, uid: str = "s1") -> None:
    def edit() -> None:
        session = get_session(uid)
        session.title = title
        session.save()

    edit_copies(user, edit)


def test_changes_of_two_chairs_are_merged_by_field(copy: WorkingCopy, user: User) -> None:
    other = User.objects.create_superuser("other")
    change_title(user, "New title")
    edit_copies(other, lambda: Session.objects.filter(uid="s1").update(room=Room.objects.get(slug="hall-2")))
    with show_working_copy(open_copies()):
        working = get_session("s1")
    (row,) = pending_rows(open_copies()).values()

    assert (working.title, working.room.slug if working.room else "") == ("New title", "hall-2")
    assert row.by == ["chair", "other"]
    assert get_session("s1").title == "Oral session 1"


def test_second_release_is_refused_and_names_the_first(copy: WorkingCopy, user: User) -> None:
    change_title(user, "New title")
    seen = WorkingCopy.objects.get().version
    releasing.release(copy, user, timezone.now(), seen=seen)
    with pytest.raises(RefusedError) as error:
        releasing.release(copy, user, timezone.now(), seen=seen)

    assert "Already released by chair at" in error.value.reasons[0]
    assert Session.objects.get(uid="s1").title == "New title"
    assert ChangeSet.objects.filter(detail=releasing.RELEASE_DETAIL).count() == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True)
def test_one_of_two_concurrent_releases_is_refused(copy: WorkingCopy, user: User) -> None:
    change_title(user, "New title")
    seen = WorkingCopy.objects.get().version
    with transaction.atomic():
        releasing.release(copy, user, timezone.now(), seen=seen)
        thread, failed = run_over_another_connection(
            lambda: releasing.release(copy, user, timezone.now(), seen=seen)
        )
        wait_for_a_lock(thread)
    thread.join(LOCK_TIMEOUT_SECONDS)

    assert [type(error) for error in failed] == [RefusedError]
    assert "Already released by chair at" in str(failed[0])
    assert Session.objects.get(uid="s1").title == "New title"
    assert ChangeSet.objects.filter(detail=releasing.RELEASE_DETAIL).count() == 1


@pytest.mark.parametrize(("choice", "title"), [(MINE, "Mine"), (THEIRS, "Theirs")])
def test_concurrent_public_change_needs_a_choice(
    copy: WorkingCopy, user: User, choice: str, title: str
) -> None:
    change_title(user, "Mine")
    Session.objects.filter(uid="s1").update(title="Theirs")
    rows = pending_rows(open_copies())
    (conflict,) = releasing.find_conflicts(rows, releasing.public_rows(rows))
    with pytest.raises(RefusedError):
        releasing.release(copy, user, timezone.now())
    title_after_refusal = get_session("s1").title
    releasing.release(copy, user, timezone.now(), choices={conflict.line: choice})

    assert (conflict.public, conflict.mine, title_after_refusal) == ("Theirs", "Mine", "Theirs")
    assert get_session("s1").title == title
    assert pending_rows(open_copies()) == {}


def test_change_of_a_deleted_row_is_dropped_by_choice(copy: WorkingCopy, user: User) -> None:
    change_title(user, "Mine")
    change_title(user, "Second", "s2")
    get_session("s1").delete()
    rows = pending_rows(open_copies())
    conflicts = releasing.find_conflicts(rows, releasing.public_rows(rows))
    with show_working_copy(open_copies()):
        titles = [*Session.objects.values_list("title", flat=True)]
    releasing.release(copy, user, timezone.now(), choices={conflict.line: THEIRS for conflict in conflicts})

    assert titles == ["Second"]
    assert ["deleted" in conflict.reason for conflict in conflicts] == [True]
    assert [*Session.objects.values_list("title", flat=True)] == ["Second"]


def test_new_row_of_a_deleted_paper_is_hidden_and_a_conflict(
    copy: WorkingCopy, program: Edition, user: User
) -> None:
    paper = make.make_paper(program)
    edit_copies(user, lambda: make.make_presentation(get_session("s1"), paper=paper, uid="new"))
    with show_working_copy(open_copies()):
        existed_before = Presentation.objects.filter(uid="new").exists()
    paper.delete()
    with show_working_copy(open_copies()):
        exists_after = Presentation.objects.filter(uid="new").exists()
    rows = pending_rows(open_copies())
    (conflict,) = releasing.find_conflicts(rows, releasing.public_rows(rows))

    assert (existed_before, exists_after) == (True, False)
    assert "paper" in conflict.reason


def test_chosen_change_is_released_with_its_dependencies(copy: WorkingCopy, user: User) -> None:
    def add() -> None:
        session = make.make_session(get_session("s1").edition, uid="s3", title="Late", status="published")
        make.make_presentation(session, title="Late talk", uid="late")

    edit_copies(user, add)
    change_title(user, "Not yet", "s2")
    key = next(name for name, row in pending_rows(open_copies()).items() if row.label == "Late talk")
    releasing.release(copy, user, timezone.now(), chosen=[key])

    assert Presentation.objects.get(uid="late").session == get_session("s3")
    assert get_session("s2").title == "Oral session 2"
    assert [row.label for row in pending_rows(open_copies()).values()] == ["Not yet"]


def test_undo_of_a_release_restores_all_rows(copy: WorkingCopy, program: Edition, user: User) -> None:
    before = stored_rows()
    edit_copies(user, change_all_models)
    released = releasing.release(copy, user, timezone.now())
    assert released.change_set is not None
    undo(released.change_set, user)
    after = stored_rows()

    for model, rows in before.items():
        assert after[model] == rows


def test_new_rows_keep_their_primary_keys(copy: WorkingCopy, program: Edition, user: User) -> None:
    edit_copies(user, lambda: make.make_room(program, "Annex", slug="annex"))
    live = make.make_room(program, "Live", slug="live")
    with show_working_copy(open_copies()):
        keys = {room.slug: room.pk for room in Room.objects.all()}
    releasing.release(copy, user, timezone.now())

    assert keys["annex"] != keys["live"] == live.pk
    assert Room.objects.get(slug="annex").pk == keys["annex"]


def test_changes_that_others_depend_on_cannot_be_dropped_first(
    copy: WorkingCopy, program: Edition, user: User
) -> None:
    edit_copies(user, lambda: make.make_room(program, "Annex", slug="annex"))
    edit_copies(user, lambda: Session.objects.filter(uid="s1").update(room=Room.objects.get(slug="annex")))
    first, second = PendingChanges.objects.order_by("pk")
    with pytest.raises(RefusedError) as error:
        releasing.drop_changes(first)
    releasing.drop_changes(second)
    releasing.drop_changes(first)

    assert "build on these" in error.value.reasons[0]
    assert PendingChanges.objects.count() == 0
    assert WorkingCopy.objects.get().row_count == 0


def test_discarding_new_rows_discards_dependent_changes(
    copy: WorkingCopy, program: Edition, user: User
) -> None:
    edit_copies(user, lambda: make.make_room(program, "Annex", slug="annex"))
    edit_copies(user, lambda: Session.objects.filter(uid="s1").update(room=Room.objects.get(slug="annex")))
    change_title(user, "Stays", "s2")
    key = next(name for name, row in pending_rows(open_copies()).items() if row.label == "Annex")
    count = releasing.discard(copy, chosen=[key])

    assert count == 2
    assert [row.label for row in pending_rows(open_copies()).values()] == ["Stays"]


def test_refused_release_changes_nothing(copy: WorkingCopy, program: Edition, user: User) -> None:
    edit_copies(user, lambda: make.make_room(program, "Annex", slug="annex"))
    change_title(user, "Mine")
    make.make_room(program, "Other", slug="annex")
    with pytest.raises(RefusedError) as error:
        releasing.release(copy, user, timezone.now())

    assert "Annex" in error.value.reasons[0]
    assert get_session("s1").title == "Oral session 1"
    assert len(pending_rows(open_copies())) == 2


def test_rooms_can_swap_slugs(copy: WorkingCopy, user: User) -> None:
    def swap() -> None:
        for old, new in (("hall-1", "x"), ("hall-2", "hall-1"), ("x", "hall-2")):
            Room.objects.filter(slug=old).update(slug=new)

    edit_copies(user, swap)
    with show_working_copy(open_copies()):
        working = [*Room.objects.order_by("pk").values_list("slug", flat=True)]

    assert working == ["hall-2", "hall-1"]
    assert [*Room.objects.order_by("pk").values_list("slug", flat=True)] == ["hall-1", "hall-2"]


def test_paper_title_is_public_at_once_and_its_status_is_pending(
    copy: WorkingCopy, program: Edition, user: User
) -> None:
    paper = Paper.objects.get(title="Paper 11")

    def edit() -> None:
        paper.title, paper.status = "Retitled", "draft"
        paper.save()
        Session.objects.filter(uid="s1").update(title="Pending")

    edit_copies(user, edit)
    paper.refresh_from_db()
    row_change = RowChange.objects.filter(model="papers.paper", object_id=paper.pk).order_by("pk").last()
    assert row_change is not None

    assert (paper.title, paper.status, get_session("s1").title) == ("Retitled", "published", "Oral session 1")
    assert row_change.values.keys() == {"title"}
    assert not RowChange.objects.filter(
        model="schedule.session", values__has_key="title", kind="changed"
    ).exists()
    assert {row.model for row in pending_rows(open_copies()).values()} == {"papers.paper", "schedule.session"}


def test_pending_deletion_keeps_stars_and_invitations(
    copy: WorkingCopy, program: Edition, user: User
) -> None:
    talk, hall = Presentation.objects.get(uid="t11"), Room.objects.get(slug="hall-2")
    agenda = Agenda.objects.create(edition=program, token_digest="x")
    agenda.stars.create(presentation=talk, seen_room=hall)
    deleted = Presentation.objects.get(uid="t12")
    agenda.stars.create(presentation=deleted)
    ProgramInvitation.objects.create(edition=program, person=make.make_person("Asked"), presentation=talk)
    Unavailability.objects.create(
        edition=program, room=hall, start=timezone.now(), end=timezone.now() + timedelta(hours=1)
    )
    models = (AgendaStar, ProgramInvitation, Unavailability)
    before = [[*model._default_manager.exclude(presentation=deleted).values()] for model in models[:2]]
    before.append([*Unavailability.objects.values()])

    def delete() -> None:
        talk.delete()
        hall.delete()
        # The deletion of a paper is public immediately, and deletes its stars.
        assert deleted.paper is not None
        deleted.paper.delete()

    edit_copies(user, delete)

    assert [[*model._default_manager.values()] for model in models] == before
    releasing.release(WorkingCopy.objects.get(), user, timezone.now())
    assert [model._default_manager.count() for model in models] == [0, 0, 0]


def test_changes_of_other_editions_are_public_at_once(copy: WorkingCopy, user: User) -> None:
    other = make.make_edition(2022)
    change_title(user, "Pending")
    edit_copies(user, lambda: make.make_room(other, "Elsewhere", slug="elsewhere"))

    assert Room.objects.filter(slug="elsewhere").exists()
    assert get_session("s1").title == "Oral session 1"
    assert len(pending_rows(open_copies())) == 1


def test_planned_release_is_made_at_its_time(copy: WorkingCopy, user: User) -> None:
    change_title(user, "Planned")
    moment = timezone.now()
    releasing.plan_release(copy, user, moment, announcement=releasing.Announcement("News"))
    assert releasing.release_due(moment.replace(year=moment.year - 1)) == []
    released = releasing.release_due(moment)

    assert [working_copy.pk for working_copy in released] == [copy.pk]
    assert get_session("s1").title == "Planned"
    assert Release.objects.get().title == "News"
    assert WorkingCopy.objects.get().release_at is None


def test_planned_release_is_made_once(copy: WorkingCopy, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    change_title(user, "Planned")
    moment = timezone.now()
    releasing.plan_release(copy, user, moment, announcement=releasing.Announcement("News"))
    lock_current = releasing.lock_current

    def lock_late(locked: WorkingCopy, seen: int | None) -> WorkingCopy:
        monkeypatch.setattr(releasing, "lock_current", lock_current)
        # Another process releases the copy while this one waits for the lock.
        assert [released.pk for released in releasing.release_due(moment)] == [copy.pk]
        return lock_current(locked, seen)

    monkeypatch.setattr(releasing, "lock_current", lock_late)

    assert releasing.release_due(moment) == []
    assert Release.objects.get().title == "News"


def test_refused_planned_release_stores_the_reason(copy: WorkingCopy, user: User) -> None:
    change_title(user, "Mine")
    Session.objects.filter(uid="s1").update(title="Theirs")
    releasing.plan_release(copy, user, timezone.now())
    released = releasing.release_due(timezone.now())

    assert released == []
    assert "changed meanwhile" in WorkingCopy.objects.get().refusal
    assert get_session("s1").title == "Theirs"


def test_schedule_that_is_not_public_has_no_working_copy(user: User) -> None:
    edition = make.make_edition(2023, schedule_public_from=None)
    with pytest.raises(RefusedError):
        releasing.open_copy(edition, user, timezone.now())


def test_working_copy_with_pending_changes_cannot_be_closed(copy: WorkingCopy, user: User) -> None:
    change_title(user, "Mine")
    with pytest.raises(RefusedError):
        releasing.close_copy(copy)
    releasing.discard(copy)
    releasing.close_copy(copy)

    assert open_copies() == []


def test_pending_role_of_a_merged_person_is_of_the_remaining_one(copy: WorkingCopy, user: User) -> None:
    old, new = make.make_person("Old Name"), make.make_person("New Name")
    edit_copies(user, lambda: make.add_role(get_session("s1"), old, "speaker"))
    Person.objects.filter(pk=old.pk).update(merged_into=new)
    with show_working_copy(open_copies()):
        (person,) = SessionRole.objects.filter(role="speaker").values_list("person", flat=True)
    releasing.release(copy, user, timezone.now())

    assert person == new.pk
    assert SessionRole.objects.get(role="speaker").person == new


def test_role_in_place_of_one_that_a_merge_duplicated_is_hidden(copy: WorkingCopy, user: User) -> None:
    ann, bob, cy = (make.make_person(name) for name in ("Ann", "Bob", "Cy"))
    role = make.add_role(get_session("s1"), ann, "speaker")
    make.add_role(get_session("s1"), bob, "speaker")

    def replace_ann() -> None:
        changed = SessionRole.objects.get(pk=role.pk)
        changed.person = cy
        changed.save()
        make.add_role(get_session("s1"), ann, "speaker")

    edit_copies(user, replace_ann)
    Person.objects.filter(pk=cy.pk).update(merged_into=bob)
    with show_working_copy(open_copies()):
        people = {*SessionRole.objects.filter(role="speaker").values_list("person", flat=True)}

    assert people == {ann.pk, bob.pk}


@pytest.mark.parametrize("is_pending", [False, True])
def test_role_that_a_merge_duplicated_is_hidden_and_cannot_be_released(
    copy: WorkingCopy, user: User, is_pending: bool
) -> None:
    old, new = make.make_person("Old Name"), make.make_person("New Name")
    if is_pending:
        edit_copies(user, lambda: make.add_role(get_session("s1"), new, "speaker"))
    else:
        make.add_role(get_session("s1"), new, "speaker")
    edit_copies(user, lambda: make.add_role(get_session("s1"), old, "speaker"))
    Person.objects.filter(pk=old.pk).update(merged_into=new)
    with show_working_copy(open_copies()):
        people = [*SessionRole.objects.filter(role="speaker").values_list("person", flat=True)]
    with pytest.raises(RefusedError, match="This person already has that role"):
        releasing.release(copy, user, timezone.now())
    *_, duplicate = pending_rows(open_copies())
    releasing.discard(copy, chosen={duplicate})
    if is_pending:
        releasing.release(copy, user, timezone.now())

    assert people == [new.pk]
    assert SessionRole.objects.get(role="speaker").person == new


def test_restored_database_reserves_the_primary_keys_of_new_rows(
    copy: WorkingCopy, program: Edition, user: User
) -> None:
    edit_copies(user, lambda: make.make_room(program, "Annex", slug="annex"))
    ((_label, key),) = pending_rows(open_copies())
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            table, last = Room._meta.db_table, Room.objects.order_by("-pk").values_list("pk", flat=True)[0]
            cursor.execute("UPDATE sqlite_sequence SET seq = %s WHERE name = %s", [last, table])
        else:
            for statement in connection.ops.sequence_reset_sql(no_style(), [Room]):
                cursor.execute(statement)
    reserve_all_keys()

    assert make.make_room(program, "Live", slug="live").pk > key


def test_command_makes_planned_releases(copy: WorkingCopy, user: User) -> None:
    change_title(user, "Planned")
    releasing.plan_release(copy, user, timezone.now())
    call_command("release_working_copies")

    assert get_session("s1").title == "Planned"


def test_reading_query_count_is_the_same_for_2_and_6_rows(copy: WorkingCopy, user: User) -> None:
    def move(number: int) -> None:
        for talk in Presentation.objects.order_by("pk")[:number]:
            talk.board = f"{number}{talk.pk}"
            talk.save()

    query_counts = []
    for number in (2, 6):
        edit_copies(user, lambda number=number: move(number))  # type: ignore[misc]
        copies = open_copies()
        with CaptureQueriesContext(connection) as queries, show_working_copy(copies):
            pass
        query_counts.append(len(queries))

    assert query_counts[0] == query_counts[1] <= 14


def test_release_query_count_is_the_same_for_3_and_12_rows(
    program: Edition, copy: WorkingCopy, user: User
) -> None:
    first, query_counts = get_session("s1"), []
    for count in (3, 12):
        papers = [make.make_paper(program, title=f"Extra {count} {number}") for number in range(count)]
        talks = [make.make_presentation(first, paper=paper) for paper in papers]
        sessions = [
            make.make_session(program, title=f"Old {count} {number}", room=None) for number in range(count)
        ]

        def move(talks: list[Presentation] = talks, sessions: list[Session] = sessions) -> None:
            for number, (talk, session) in enumerate(zip(talks, sessions, strict=True), start=1):
                talk.start = talk.session.start + timedelta(minutes=number)  # type: ignore[union-attr]
                talk.save()
                session.title = f"New {len(talks)} {number}"
                session.start -= timedelta(minutes=number)
                session.save()
                make.make_presentation(first, paper=talk.paper, kind="poster", uid=f"p{len(talks)}-{number}")
                make.add_role(first, f"Chair {len(talks)} {number}", "chair")

        edit_copies(user, move)
        with CaptureQueriesContext(connection) as queries:
            releasing.release(WorkingCopy.objects.get(), user, timezone.now())
        query_counts.append(len(queries))
        for number, (talk, session) in enumerate(zip(talks, sessions, strict=True), start=1):
            before = talk.start, session.start
            talk.refresh_from_db()
            session.refresh_from_db()
            assert (talk.start, session.start) == before
            assert session.title_html == f"New {count} {number}"
            assert talk.rescheduled_at
            assert session.rescheduled_at
        posters = first.presentations.filter(uid__startswith=f"p{count}-").order_by("position")
        assert [row.uid for row in posters] == [f"p{count}-{number}" for number in range(1, count + 1)]
        for rows in (first.presentations, first.roles):
            positions = [row.position for row in rows.order_by("position")]
            assert positions == [*range(1, len(positions) + 1)]

    assert query_counts[0] == query_counts[1]


def test_release_clears_reasons_only_of_reinstated_sessions(
    program: Edition, copy: WorkingCopy, user: User
) -> None:
    for uid, status in (("s1", "cancelled"), ("s2", "cancelled")):
        Session.objects.filter(uid=uid).update(status=status, cancellation_reason=f"Storm {uid}")

    def reinstate() -> None:
        for session, status in ((get_session("s1"), "published"), (get_session("s2"), "cancelled")):
            session.status, session.cancellation_reason = status, "Flood"
            session.start -= timedelta(minutes=int(session.uid[1:]))
            session.save()

    edit_copies(user, reinstate)
    releasing.release(WorkingCopy.objects.get(), user, timezone.now())

    assert [get_session(uid).cancellation_reason for uid in ("s1", "s2")] == ["", "Flood"]
