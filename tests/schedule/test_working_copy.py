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
from tests import factories as make
from tests.connections import SECONDS, over_another_connection, until_somebody_waits

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
    for number in (1, 2):
        room = make.make_room(edition, f"Hall {number}", slug=f"hall-{number}")
        title = f"Oral session {number}"
        session = make.make_session(edition, uid=f"s{number}", title=title, room=room, status="published")
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


def change(user: User, act: Callable[[], object], **more: Any) -> None:
    """Call `act` in all working copies, recorded as changes by this user."""
    with edit_working_copy(open_copies(), **more), recording(Origin.FORM, user):
        act()


def public(client: Client, edition: Edition) -> dict[str, bytes]:
    found = {}
    for page in PAGES:
        answer = client.get(page)
        body = answer.getvalue() if answer.streaming else answer.content
        found[page] = body
    return found


def one(uid: str) -> Session:
    return Session.objects.get(uid=uid)


def everything() -> None:
    """Change, add and delete in all models of a working copy."""
    hall = Room.objects.get(slug="hall-1")
    hall.name = "Aula"
    hall.save()
    first = one("s1")
    new_room = make.make_room(first.edition, "Annex", slug="annex")
    first.title, first.room, first.status = "Oral session, $x^2$ first", new_room, "cancelled"
    first.save()
    added = make.make_session(first.edition, uid="s3", title="Late oral session", room=hall)
    make.add_role(added, "Late Chair", "chair")
    talk = Presentation.objects.get(uid="t11")
    talk.session, talk.position = added, 0
    talk.save()
    move_to(Presentation.objects.get(uid="t23"), 1)
    SessionRole.objects.filter(session__uid="s2").delete()
    Presentation.objects.get(uid="t22").delete()
    Paper.objects.filter(title="Paper 12").update(status="draft")


def test_changes_are_nowhere_public_until_released(
    client: Client, program: Edition, copy: WorkingCopy, user: User
) -> None:
    before = public(client, program)
    sets, revision = ChangeSet.objects.count(), program.revision
    change(user, everything)
    program.refresh_from_db()

    now = public(client, program)
    for page, body in before.items():
        assert now[page].decode().splitlines() == body.decode().splitlines(), page
    assert program.revision >= revision
    with show_working_copy(open_copies([program.pk])):
        working = state()
    assert working != state()
    assert WorkingCopy.objects.get().row_count == len(pending_rows(open_copies()))
    releasing.release(WorkingCopy.objects.get(), user, timezone.now())
    now_public = state()
    for model, rows in working.items():
        for mine, theirs in zip(rows, now_public[model], strict=True):
            assert theirs == mine
    assert public(client, program) != before
    assert ChangeSet.objects.filter(detail=releasing.RELEASE_DETAIL).count() == 1
    assert WorkingCopy.objects.get().row_count == 0
    assert sets < ChangeSet.objects.count()


def state() -> dict[str, list[Any]]:
    """Return all columns of all rows except `rescheduled_at`."""
    models = (Room, Session, Presentation, SessionRole, Paper)
    found = {}
    for model in models:
        names = [f.attname for f in model._meta.concrete_fields if f.name != "rescheduled_at"]
        found[model.__name__] = [
            dict(zip(names, row, strict=True)) for row in model.objects.order_by("pk").values_list(*names)
        ]
    return found


# Changes by others


def changed_title(user: User, title: str, uid: str = "s1") -> None:
    def act() -> None:
        session = one(uid)
        session.title = title
        session.save()

    change(user, act)


def test_two_chairs_write_field_by_field(copy: WorkingCopy, user: User) -> None:
    other = User.objects.create_superuser("other")
    changed_title(user, "New title")
    change(other, lambda: Session.objects.filter(uid="s1").update(room=Room.objects.get(slug="hall-2")))
    with show_working_copy(open_copies()):
        working = one("s1")
    (row,) = pending_rows(open_copies()).values()

    assert (working.title, working.room.slug if working.room else "") == ("New title", "hall-2")
    assert row.by == ["chair", "other"]
    assert one("s1").title == "Oral session 1"


def test_second_release_hears_who_released(copy: WorkingCopy, user: User) -> None:
    changed_title(user, "New title")
    seen = WorkingCopy.objects.get().version
    releasing.release(copy, user, timezone.now(), seen=seen)
    with pytest.raises(RefusedError) as error:
        releasing.release(copy, user, timezone.now(), seen=seen)

    assert "Already released by chair at" in error.value.reasons[0]
    assert Session.objects.get(uid="s1").title == "New title"
    assert ChangeSet.objects.filter(detail=releasing.RELEASE_DETAIL).count() == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True)
def test_one_of_two_releases_at_once_wins(copy: WorkingCopy, user: User) -> None:
    changed_title(user, "New title")
    seen = WorkingCopy.objects.get().version
    with transaction.atomic():
        releasing.release(copy, user, timezone.now(), seen=seen)
        thread, failed = over_another_connection(
            lambda: releasing.release(copy, user, timezone.now(), seen=seen)
        )
        until_somebody_waits(thread)
    thread.join(SECONDS)

    assert [type(error) for error in failed] == [RefusedError]
    assert "Already released by chair at" in str(failed[0])
    assert Session.objects.get(uid="s1").title == "New title"
    assert ChangeSet.objects.filter(detail=releasing.RELEASE_DETAIL).count() == 1


@pytest.mark.parametrize(("choice", "title"), [(MINE, "Mine"), (THEIRS, "Theirs")])
def test_what_was_changed_in_public_meanwhile_is_a_choice(
    copy: WorkingCopy, user: User, choice: str, title: str
) -> None:
    changed_title(user, "Mine")
    Session.objects.filter(uid="s1").update(title="Theirs")
    rows = pending_rows(open_copies())
    (found,) = releasing.find_conflicts(rows, releasing.public_rows(rows))
    with pytest.raises(RefusedError):
        releasing.release(copy, user, timezone.now())
    untouched = one("s1").title
    releasing.release(copy, user, timezone.now(), choices={found.line: choice})

    assert (found.public, found.mine, untouched) == ("Theirs", "Mine", "Theirs")
    assert one("s1").title == title
    assert pending_rows(open_copies()) == {}


def test_row_that_went_meanwhile_is_dropped_by_choice(copy: WorkingCopy, user: User) -> None:
    changed_title(user, "Mine")
    changed_title(user, "Second", "s2")
    one("s1").delete()
    rows = pending_rows(open_copies())
    found = releasing.find_conflicts(rows, releasing.public_rows(rows))
    with show_working_copy(open_copies()):
        titles = [*Session.objects.values_list("title", flat=True)]
    releasing.release(copy, user, timezone.now(), choices={one.line: THEIRS for one in found})

    assert titles == ["Second"]
    assert ["deleted" in row.reason for row in found] == [True]
    assert [*Session.objects.values_list("title", flat=True)] == ["Second"]


def test_new_row_whose_paper_went_does_not_show(copy: WorkingCopy, program: Edition, user: User) -> None:
    paper = make.make_paper(program)
    change(user, lambda: make.make_presentation(one("s1"), paper=paper, uid="new"))
    with show_working_copy(open_copies()):
        there = Presentation.objects.filter(uid="new").exists()
    paper.delete()
    with show_working_copy(open_copies()):
        gone = Presentation.objects.filter(uid="new").exists()
    rows = pending_rows(open_copies())
    (found,) = releasing.find_conflicts(rows, releasing.public_rows(rows))

    assert (there, gone) == (True, False)
    assert "paper" in found.reason


def test_urgent_change_goes_out_alone_with_what_it_needs(copy: WorkingCopy, user: User) -> None:
    def add() -> None:
        session = make.make_session(one("s1").edition, uid="s3", title="Late", status="published")
        make.make_presentation(session, title="Late talk", uid="late")

    change(user, add)
    changed_title(user, "Not yet", "s2")
    key = next(name for name, row in pending_rows(open_copies()).items() if row.label == "Late talk")
    releasing.release(copy, user, timezone.now(), chosen=[key])

    assert Presentation.objects.get(uid="late").session == one("s3")
    assert one("s2").title == "Oral session 2"
    assert [row.label for row in pending_rows(open_copies()).values()] == ["Not yet"]


def test_release_is_reverted_as_any_act(copy: WorkingCopy, program: Edition, user: User) -> None:
    before = state()
    change(user, everything)
    released = releasing.release(copy, user, timezone.now())
    assert released.change_set is not None
    undo(released.change_set, user)
    after = state()

    for model, rows in before.items():
        assert after[model] == rows


def test_new_rows_keep_their_keys(copy: WorkingCopy, program: Edition, user: User) -> None:
    change(user, lambda: make.make_room(program, "Annex", slug="annex"))
    live = make.make_room(program, "Live", slug="live")
    with show_working_copy(open_copies()):
        keys = {room.slug: room.pk for room in Room.objects.all()}
    releasing.release(copy, user, timezone.now())

    assert keys["annex"] != keys["live"] == live.pk
    assert Room.objects.get(slug="annex").pk == keys["annex"]


def test_set_is_taken_back_unless_others_build_on_it(copy: WorkingCopy, program: Edition, user: User) -> None:
    change(user, lambda: make.make_room(program, "Annex", slug="annex"))
    change(user, lambda: Session.objects.filter(uid="s1").update(room=Room.objects.get(slug="annex")))
    first, second = PendingChanges.objects.order_by("pk")
    with pytest.raises(RefusedError) as error:
        releasing.drop_changes(first)
    releasing.drop_changes(second)
    releasing.drop_changes(first)

    assert "build on these" in error.value.reasons[0]
    assert PendingChanges.objects.count() == 0
    assert WorkingCopy.objects.get().row_count == 0


def test_discarding_new_rows_discards_what_needs_them(
    copy: WorkingCopy, program: Edition, user: User
) -> None:
    change(user, lambda: make.make_room(program, "Annex", slug="annex"))
    change(user, lambda: Session.objects.filter(uid="s1").update(room=Room.objects.get(slug="annex")))
    changed_title(user, "Stays", "s2")
    key = next(name for name, row in pending_rows(open_copies()).items() if row.label == "Annex")
    count = releasing.discard(copy, chosen=[key])

    assert count == 2
    assert [row.label for row in pending_rows(open_copies()).values()] == ["Stays"]


def test_refused_release_changes_nothing(copy: WorkingCopy, program: Edition, user: User) -> None:
    change(user, lambda: make.make_room(program, "Annex", slug="annex"))
    changed_title(user, "Mine")
    make.make_room(program, "Other", slug="annex")
    with pytest.raises(RefusedError) as error:
        releasing.release(copy, user, timezone.now())

    assert "Annex" in error.value.reasons[0]
    assert one("s1").title == "Oral session 1"
    assert len(pending_rows(open_copies())) == 2


def test_rooms_change_slugs(copy: WorkingCopy, user: User) -> None:
    def swap() -> None:
        for old, new in (("hall-1", "x"), ("hall-2", "hall-1"), ("x", "hall-2")):
            Room.objects.filter(slug=old).update(slug=new)

    change(user, swap)
    with show_working_copy(open_copies()):
        working = [*Room.objects.order_by("pk").values_list("slug", flat=True)]

    assert working == ["hall-2", "hall-1"]
    assert [*Room.objects.order_by("pk").values_list("slug", flat=True)] == ["hall-1", "hall-2"]


def test_other_content_is_public_at_once(copy: WorkingCopy, program: Edition, user: User) -> None:
    paper = Paper.objects.get(title="Paper 11")

    def act() -> None:
        paper.title, paper.status = "Retitled", "draft"
        paper.save()
        Session.objects.filter(uid="s1").update(title="Pending")

    change(user, act)
    paper.refresh_from_db()
    changes = RowChange.objects.filter(model="papers.paper", object_id=paper.pk).order_by("pk").last()
    assert changes is not None

    assert (paper.title, paper.status, one("s1").title) == ("Retitled", "published", "Oral session 1")
    assert changes.values.keys() == {"title"}
    assert not RowChange.objects.filter(
        model="schedule.session", values__has_key="title", kind="changed"
    ).exists()
    assert {row.model for row in pending_rows(open_copies()).values()} == {"papers.paper", "schedule.session"}


def test_pending_deletion_leaves_stars_and_invitations(
    copy: WorkingCopy, program: Edition, user: User
) -> None:
    talk, hall = Presentation.objects.get(uid="t11"), Room.objects.get(slug="hall-2")
    agenda = Agenda.objects.create(edition=program, token_digest="x")
    agenda.stars.create(presentation=talk, seen_room=hall)
    going = Presentation.objects.get(uid="t12")
    agenda.stars.create(presentation=going)
    ProgramInvitation.objects.create(edition=program, person=make.make_person("Asked"), presentation=talk)
    Unavailability.objects.create(
        edition=program, room=hall, start=timezone.now(), end=timezone.now() + timedelta(hours=1)
    )
    models = (AgendaStar, ProgramInvitation, Unavailability)
    before = [[*model._default_manager.exclude(presentation=going).values()] for model in models[:2]]
    before.append([*Unavailability.objects.values()])

    def act() -> None:
        talk.delete()
        hall.delete()
        # The deletion of a paper is public immediately, and deletes its stars.
        assert going.paper is not None
        going.paper.delete()

    change(user, act)

    assert [[*model._default_manager.values()] for model in models] == before
    releasing.release(WorkingCopy.objects.get(), user, timezone.now())
    assert [model._default_manager.count() for model in models] == [0, 0, 0]


def test_changes_of_other_editions_are_public_at_once(copy: WorkingCopy, user: User) -> None:
    other = make.make_edition(2022)
    changed_title(user, "Pending")
    change(user, lambda: make.make_room(other, "Elsewhere", slug="elsewhere"))

    assert Room.objects.filter(slug="elsewhere").exists()
    assert one("s1").title == "Oral session 1"
    assert len(pending_rows(open_copies())) == 1


def test_planned_release_is_made_when_its_moment_has_come(copy: WorkingCopy, user: User) -> None:
    changed_title(user, "Planned")
    moment = timezone.now()
    releasing.plan_release(copy, user, moment, announcement=releasing.Announcement("News"))
    assert releasing.release_due(moment.replace(year=moment.year - 1)) == []
    done = releasing.release_due(moment)

    assert [one.pk for one in done] == [copy.pk]
    assert one("s1").title == "Planned"
    assert Release.objects.get().title == "News"
    assert WorkingCopy.objects.get().release_at is None


def test_planned_release_is_made_once(copy: WorkingCopy, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    changed_title(user, "Planned")
    moment = timezone.now()
    releasing.plan_release(copy, user, moment, announcement=releasing.Announcement("News"))
    lock = releasing.lock_current

    def late(one: WorkingCopy, seen: int | None) -> WorkingCopy:
        monkeypatch.setattr(releasing, "lock_current", lock)
        # Another process releases the copy while this one waits for the lock.
        assert [other.pk for other in releasing.release_due(moment)] == [copy.pk]
        return lock(one, seen)

    monkeypatch.setattr(releasing, "lock_current", late)

    assert releasing.release_due(moment) == []
    assert Release.objects.get().title == "News"


def test_planned_release_that_is_refused_says_why(copy: WorkingCopy, user: User) -> None:
    changed_title(user, "Mine")
    Session.objects.filter(uid="s1").update(title="Theirs")
    releasing.plan_release(copy, user, timezone.now())
    done = releasing.release_due(timezone.now())

    assert done == []
    assert "changed meanwhile" in WorkingCopy.objects.get().refusal
    assert one("s1").title == "Theirs"


def test_schedule_that_is_not_public_has_no_working_copy(user: User) -> None:
    edition = make.make_edition(2023, schedule_public_from=None)
    with pytest.raises(RefusedError):
        releasing.open_copy(edition, user, timezone.now())


def test_it_is_switched_off_when_nothing_is_pending(copy: WorkingCopy, user: User) -> None:
    changed_title(user, "Mine")
    with pytest.raises(RefusedError):
        releasing.close_copy(copy)
    releasing.discard(copy)
    releasing.close_copy(copy)

    assert open_copies() == []


def test_people_that_were_merged_are_the_one_that_stays(copy: WorkingCopy, user: User) -> None:
    old, new = make.make_person("Old Name"), make.make_person("New Name")
    change(user, lambda: make.add_role(one("s1"), old, "speaker"))
    Person.objects.filter(pk=old.pk).update(merged_into=new)
    with show_working_copy(open_copies()):
        (shown,) = SessionRole.objects.filter(role="speaker").values_list("person", flat=True)
    releasing.release(copy, user, timezone.now())

    assert shown == new.pk
    assert SessionRole.objects.get(role="speaker").person == new


def test_restored_database_reserves_the_keys_of_new_rows(
    copy: WorkingCopy, program: Edition, user: User
) -> None:
    change(user, lambda: make.make_room(program, "Annex", slug="annex"))
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
    changed_title(user, "Planned")
    releasing.plan_release(copy, user, timezone.now())
    call_command("release_working_copies")

    assert one("s1").title == "Planned"


def test_reading_takes_a_few_queries(copy: WorkingCopy, user: User) -> None:
    def move(number: int) -> None:
        for talk in Presentation.objects.order_by("pk")[:number]:
            talk.board = f"{number}{talk.pk}"
            talk.save()

    found = []
    for number in (2, 6):
        change(user, lambda number=number: move(number))  # type: ignore[misc]
        copies = open_copies()
        with CaptureQueriesContext(connection) as queries, show_working_copy(copies):
            pass
        found.append(len(queries))

    assert found[0] == found[1] <= 14


def test_release_takes_the_same_queries_for_many_rows(
    program: Edition, copy: WorkingCopy, user: User
) -> None:
    first, found = one("s1"), []
    for count in (3, 12):
        papers = [make.make_paper(program, title=f"Extra {count} {number}") for number in range(count)]
        talks = [make.make_presentation(first, paper=paper) for paper in papers]
        sessions = [make.make_session(program, title=f"Old {count} {one}", room=None) for one in range(count)]

        def move(talks: list[Presentation] = talks, sessions: list[Session] = sessions) -> None:
            for number, (talk, session) in enumerate(zip(talks, sessions, strict=True), start=1):
                talk.start = talk.session.start + timedelta(minutes=number)  # type: ignore[union-attr]
                talk.save()
                session.title = f"New {len(talks)} {number}"
                session.start -= timedelta(minutes=number)
                session.save()
                make.make_presentation(first, paper=talk.paper, kind="poster", uid=f"p{len(talks)}-{number}")
                make.add_role(first, f"Chair {len(talks)} {number}", "chair")

        change(user, move)
        with CaptureQueriesContext(connection) as queries:
            releasing.release(WorkingCopy.objects.get(), user, timezone.now())
        found.append(len(queries))
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
            places = [row.position for row in rows.order_by("position")]
            assert places == [*range(1, len(places) + 1)]

    assert found[0] == found[1]


def test_bulk_changes_keep_reasons_of_what_is_called_off_alone(
    program: Edition, copy: WorkingCopy, user: User
) -> None:
    for uid, status in (("s1", "cancelled"), ("s2", "cancelled")):
        Session.objects.filter(uid=uid).update(status=status, cancellation_reason=f"Storm {uid}")

    def call_back() -> None:
        for session, status in ((one("s1"), "published"), (one("s2"), "cancelled")):
            session.status, session.cancellation_reason = status, "Flood"
            session.start -= timedelta(minutes=int(session.uid[1:]))
            session.save()

    change(user, call_back)
    releasing.release(WorkingCopy.objects.get(), user, timezone.now())

    assert [one(uid).cancellation_reason for uid in ("s1", "s2")] == ["", "Flood"]
