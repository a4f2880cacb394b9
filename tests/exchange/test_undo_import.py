"""Tests of undoing an import: later hand edits are preserved, and the same file can be imported again."""

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from conference.models import Edition
from content.history import ChangeSet, RowChange
from content.history.revert import CannotRevertError
from content.unreleased.plan import planned
from exchange.imports.load import load
from exchange.jobs.undo import plan_undo, summarize_undo, undo
from exchange.models import Conflict, ImportRun, Provenance
from exchange.records import (
    EditionRecord,
    InstitutionRecord,
    PaperRecord,
    PersonRecord,
    PersonRef,
    Program,
    RoleRecord,
    RoomRecord,
)
from papers.models import Authorship, Award, Paper, Topic
from people.models import Institution, Person
from schedule.models import Presentation, Room, Session, SessionRole, UnreleasedChange
from tests import factories as make
from tests.access.world import add_member
from tests.exchange.outputs import printed_authors
from tests.exchange.programs import START, author, complete_program, paper, program, session, talk
from tests.schedule.unreleased.waiting import open_plan

pytestmark = pytest.mark.django_db
MODELS = (Paper, Authorship, Person, Institution, Topic, Award, Room, Session, Presentation)


def import_program(imported: Program) -> ImportRun:
    run = load(imported, "2021", files=["papers.json"]).run
    assert run is not None
    return run


def import_papers(*papers: PaperRecord) -> ImportRun:
    return import_program(program(*papers))


def test_undo_removes_everything_but_the_edition() -> None:
    run = import_program(complete_program())
    undo(run)

    assert {model.__name__: model._default_manager.count() for model in MODELS} == {
        model.__name__: 0 for model in MODELS
    }
    assert Edition.objects.count() == 1
    assert ImportRun.objects.get().undone_at is not None
    assert import_program(complete_program()).created["paper"]


def test_undo_of_a_public_import_while_changes_wait_removes_its_rows_at_once(edition: Edition) -> None:
    run = import_program(complete_program())
    open_plan(edition)
    with planned(edition):
        planned_undo = plan_undo(run)
    result = undo(run)

    assert summarize_undo(planned_undo) == summarize_undo(result)
    assert {model.__name__: model._default_manager.count() for model in MODELS} == {
        model.__name__: 0 for model in MODELS
    }
    assert UnreleasedChange.objects.count() == 0


def test_undo_changes_values_back_with_the_release(edition: Edition) -> None:
    import_program(program(sessions=(session("s1", title="Before"),)))
    run = import_program(program(sessions=(session("s1", title="After"),)))
    open_plan(edition)
    undo(run)

    session_row = Session.objects.get()
    (change,) = UnreleasedChange.objects.all()
    assert (session_row.title, change.values["title"]) == ("After", "Before")


def test_author_added_by_hand_moves_up_after_undo(edition: Edition) -> None:
    import_papers(paper("p1", "Zed Zu"))
    second_run = import_papers(paper("p1", "Zed Zu", "New Nu"))
    make.add_author(Paper.objects.get(), "By Hand")
    undo(second_run)

    assert printed_authors() == [(1, "Zed Zu"), (2, "By Hand")]


def test_undo_removes_presentations_without_a_session(edition: Edition) -> None:
    run = import_program(program(paper("p1"), presentations=(talk("t1", paper="p1"),)))
    result = undo(run)

    assert (Paper.objects.count(), Presentation.objects.count(), result.kept) == (0, 0, [])


def test_undo_restores_previous_values(edition: Edition) -> None:
    import_papers(paper("p1", "Zed Zu", "Abe Ba", title="One"))
    second_run = import_papers(paper("p1", "Abe Ba", "New Nu", title="Two"))
    assert printed_authors() == [(1, "Abe Ba"), (2, "New Nu")]
    undo(second_run)

    assert (Paper.objects.get().title, printed_authors()) == ("One", [(1, "Zed Zu"), (2, "Abe Ba")])
    assert not Person.objects.filter(name="New Nu").exists()
    assert Provenance.objects.get(kind="paper").values["title"] == "One"
    assert load(program(paper("p1", "Zed Zu", "Abe Ba", title="One")), "2021").run is None


def test_hand_edited_rows_are_kept_and_listed(edition: Edition) -> None:
    run = import_papers(paper("p1", "Zed Zu"), paper("p2", "Abe Ba"))
    edited_paper = Paper.objects.get(uid="p1")
    edited_paper.track = "By hand"
    edited_paper.save()
    result = undo(run)

    assert [row.uid for row in Paper.objects.all()] == ["p1"]
    assert printed_authors() == [(1, "Zed Zu")]
    assert [row.name for row in Person.objects.all()] == ["Zed Zu"]
    assert [str(row) for row in result.kept] == ["paper “On p1”", "person “Zed Zu”"]


def test_hand_edited_authorship_is_kept(edition: Edition) -> None:
    run = import_papers(paper("p1", "Zed Zu"))
    authorship = Authorship.objects.get()
    authorship.name = "Z. Zu"
    authorship.save()
    undo(run)

    assert printed_authors() == [(1, "Z. Zu")]


def test_hand_edited_field_is_kept_and_others_are_restored(edition: Edition) -> None:
    import_papers(paper("p1", title="One", track="A"))
    second_run = import_papers(paper("p1", title="Two", track="B"))
    Paper.objects.update(track="By hand")
    result = undo(second_run)

    assert (Paper.objects.get().title, Paper.objects.get().track) == ("One", "By hand")
    assert [str(row) for row in result.kept] == ["paper “Two”: track"]


def test_room_of_a_session_added_by_hand_is_kept(edition: Edition) -> None:
    run = import_program(complete_program())
    room = Room.objects.earliest("pk")
    make.make_session(Edition.objects.get(slug="2021"), room=room, title="By hand")
    undo(run)

    assert list(Room.objects.all()) == [room]
    assert Session.objects.get().room == room


ROOMS = (RoomRecord(slug="a", name="A"), RoomRecord(slug="b", name="B"))
CHAIR = (RoleRecord(person=PersonRef(name="Cy Dorn"), role="chair"),)
INSTITUTIONS = (InstitutionRecord(slug="mit", name="MIT"), InstitutionRecord(slug="eth", name="ETH"))
TALKS = (
    talk("t1", paper="p1", session="s1", room="b", start=START),
    talk("t2", paper="p2", session="s1"),
    talk("t3", kind="talk", title="Own talk", session="s2"),
)
SCHEDULE: dict[str, Any] = {
    "rooms": ROOMS,
    "institutions": INSTITUTIONS,
    "sessions": (session("s1", room="a", roles=CHAIR), session("s2", room="b")),
    "presentations": TALKS,
}


def test_undo_keeps_what_an_edited_paper_needs(edition: Edition) -> None:
    first = paper("p1", author("Zed Zu", institutions=("mit",)))
    second = paper("p2", author("Abe Ba", institutions=("eth",)))
    run = import_program(program(first, second, **SCHEDULE))
    edited_paper = Paper.objects.get(uid="p1")
    edited_paper.track = "By hand"
    edited_paper.save()
    undo(run)

    (presentation,) = Presentation.objects.all()
    assert presentation.session is not None
    assert presentation.room is not None
    assert (presentation.uid, presentation.session.uid, presentation.start) == ("t1", "s1", START)
    assert (presentation.room.slug, [room.slug for room in Room.objects.all()]) == ("b", ["a", "b"])
    assert [row.uid for row in Session.objects.all()] == ["s1"]
    assert [row.person.name for row in SessionRole.objects.all()] == ["Cy Dorn"]
    (authorship,) = Authorship.objects.all()
    assert [row.slug for row in authorship.institutions.all()] == ["mit"]
    assert [row.slug for row in Institution.objects.all()] == ["mit"]
    assert sorted(row.name for row in Person.objects.all()) == ["Cy Dorn", "Zed Zu"]


def test_undo_removes_presentations_of_new_sessions_only(edition: Edition) -> None:
    papers = (paper("p1", "Zed Zu"), paper("p2", "Abe Ba"))
    import_papers(*papers)
    run = import_program(program(*papers, **SCHEDULE))
    undo(run)

    assert [model._default_manager.count() for model in (Presentation, Session, Room)] == [0, 0, 0]
    assert [row.uid for row in Paper.objects.all()] == ["p1", "p2"]


def test_undo_keeps_an_institution_that_a_later_author_has(edition: Edition) -> None:
    run = import_program(program(paper("p1", "Zed Zu"), institutions=INSTITUTIONS))
    by_hand = make.add_author(make.make_paper(edition, uid="p9"), "By Hand")
    by_hand.institutions.set(Institution.objects.filter(slug="mit"))
    undo(run)

    assert [row.slug for row in Institution.objects.all()] == ["mit"]


def test_undo_returns_presentations_to_their_earlier_session(edition: Edition) -> None:
    import_program(
        program(paper("p1"), sessions=(session("s0"),), presentations=(talk("t1", paper="p1", session="s0"),))
    )
    run = import_program(
        program(sessions=(session("s1"),), presentations=(talk("t1", paper="p1", session="s1"),))
    )
    undo(run)

    assert [(row.uid, row.session and row.session.uid) for row in Presentation.objects.all()] == [
        ("t1", "s0")
    ]


def test_import_can_be_undone_only_once(edition: Edition) -> None:
    run = import_papers(paper("p1"))
    undo(run)

    with pytest.raises(CannotRevertError, match="already reverted"):
        plan_undo(ImportRun.objects.get())


def test_import_older_than_the_history_cannot_be_undone(edition: Edition) -> None:
    run = import_papers(paper("p1"))
    ChangeSet.objects.all().delete()

    with pytest.raises(CannotRevertError, match="older than the history"):
        undo(run)
    assert Paper.objects.count() == 1


def test_undo_removes_open_conflicts_of_the_run(edition: Edition) -> None:
    import_papers(paper("p1", title="One"))
    Paper.objects.update(title="Mine")
    second_run = import_papers(paper("p1", title="Two"))
    assert Conflict.objects.count() == 1
    undo(second_run)

    assert not Conflict.objects.exists()
    assert Paper.objects.get().title == "Mine"


# Import and hand edits: TRAP 19


def test_trap_19_import_does_not_overwrite_hand_edits(edition: Edition) -> None:
    import_papers(paper("p1", title="One", track="A"))
    Paper.objects.update(title="By hand")
    import_papers(paper("p1", title="One", track="B"))

    assert (Paper.objects.get().title, Paper.objects.get().track) == ("By hand", "B")
    change = RowChange.objects.get(model="papers.paper", kind="changed", change_set__origin="import")
    assert change.values == {"track": ["A", "B"]}


def test_imported_author_changes_are_in_the_history_of_the_paper(edition: Edition) -> None:
    import_papers(paper("p1", "Zed Zu", "Abe Ba"))
    second_run = import_papers(paper("p1", "Abe Ba", "New Nu"))
    changes = RowChange.objects.about(Paper, Paper.objects.get().pk).filter(
        change_set__reference=f"exchange.importrun:{second_run.pk}"
    )

    author_changes = sorted(
        (change.kind, change.label or change.values.get("position")) for change in changes if change.owner
    )
    assert author_changes == [("changed", [2, 1]), ("created", None), ("deleted", "Zed Zu")]


# Commands and pages


def test_command_undoes_an_import(edition: Edition) -> None:
    run = import_papers(paper("p1", "Zed Zu"))
    out = StringIO()
    call_command("undo_import", str(run.pk), "--dry-run", stdout=out)
    assert Paper.objects.count() == 1
    call_command("undo_import", str(run.pk), stdout=out)

    assert out.getvalue().splitlines() == [
        "1 paper removed",
        "1 person removed",
        "This was a preview: nothing was changed.",
        "1 paper removed",
        "1 person removed",
    ]
    with pytest.raises(CommandError, match="There is no import 999"):
        call_command("undo_import", "999")


def test_command_reports_kept_rows_and_a_repeated_undo(edition: Edition) -> None:
    import_papers(paper("p1", "Zed Zu", title="Old"), paper("p2", "Zed Zu"))
    second_run = import_papers(paper("p1", "Zed Zu", title="New"))
    Paper.objects.filter(uid="p1").update(title="By hand")
    out = StringIO()
    call_command("undo_import", str(second_run.pk), stdout=out)
    lines = out.getvalue().splitlines()

    assert any(line.startswith("kept, as it was edited or is needed: ") for line in lines), lines
    assert Paper.objects.get(uid="p1").title == "By hand"
    with pytest.raises(CommandError, match="already reverted"):
        call_command("undo_import", str(second_run.pk))
    call_command("undo_import", str(ImportRun.objects.create(edition=edition).pk), stdout=out)
    assert out.getvalue().splitlines()[len(lines) :] == ["Nothing to revert."]


def test_admin_asks_for_confirmation_before_undo(admin_client: Client, edition: Edition) -> None:
    run = import_papers(paper("p1", "Zed Zu"))
    address = reverse("admin:exchange_importrun_undo", args=[run.pk])
    page = admin_client.get(reverse("admin:exchange_importrun_change", args=[run.pk])).content.decode()
    assert address in page
    assert "1 paper removed" in admin_client.get(address).content.decode()
    assert Paper.objects.count() == 1
    assert admin_client.post(address).status_code == 302

    assert Paper.objects.count() == 0
    assert ChangeSet.objects.filter(origin="undo").get().user_name == "admin"
    assert "already reverted" in admin_client.post(address).content.decode()


def test_undo_requires_permission(client: Client, edition: Edition, django_user_model: Any) -> None:
    run = import_papers(paper("p1"))
    client.force_login(django_user_model.objects.create_user("guest", is_staff=True))

    assert client.post(reverse("admin:exchange_importrun_undo", args=[run.pk])).status_code in (403, 404)
    assert Paper.objects.count() == 1


def test_editor_cannot_undo_changes_of_the_edition(client: Client, edition: Edition) -> None:
    program_with_venue = replace(program(paper("p1")), edition=EditionRecord(slug="2021", venue="Elsewhere"))
    run = import_program(program_with_venue)
    address = reverse("admin:exchange_importrun_undo", args=[run.pk])
    client.force_login(add_member("mia", edition, "editor"))
    reasons = [method(address).context["reasons"] for method in (client.get, client.post)]
    assert (Edition.objects.get().venue, Paper.objects.count()) == ("Elsewhere", 1)
    client.force_login(add_member("ada", edition, "chair"))
    client.post(address)

    message = f"The import changed this of {edition}, which your role may not: venue."
    assert reasons == [[message], [message]]
    assert (Edition.objects.get().venue, Paper.objects.count()) == (edition.venue, 0)


def change_title(title: str) -> None:
    row = Paper.objects.get()
    row.title = title
    row.save()


def test_edit_that_the_undone_file_repeated_still_counts_as_an_edit(edition: Edition) -> None:
    import_papers(paper("p1", title="Old"))
    change_title("By hand")
    undo(import_papers(paper("p1", title="By hand")))

    assert load(program(paper("p1", title="Old")), "2021").total["kept"] == 1
    assert Paper.objects.get().title == "By hand"


def test_row_that_only_an_undone_file_had_counts_as_never_imported(edition: Edition) -> None:
    make.make_paper(edition, uid="p1", title="By hand")
    undo(import_papers(paper("p1", title="By hand")))

    assert load(program(paper("p1", title="Other")), "2021").total["conflicting"] == 1
    assert Paper.objects.get().title == "By hand"


def test_undo_of_an_older_import_keeps_what_a_newer_one_stored(edition: Edition) -> None:
    make.make_paper(edition, uid="p1", title="Old", lay_summary="By hand")
    older_run = import_papers(paper("p1", title="Old"))
    import_papers(paper("p1", title="New", lay_summary="From the file"))
    undo(older_run)

    assert Conflict.objects.undecided().count() == 1
    assert load(program(paper("p1", title="Newest")), "2021").total["changed"] == 1


def test_undone_values_of_a_person_are_gone_after_erasure(edition: Edition) -> None:
    make.make_person("Ann Abe", uid="ann")
    record = PersonRecord(ref=PersonRef(name="Ann Abe", uid="ann"), biography="Likes oolong.")
    undo(import_program(program(paper("p1"), people=(record,))))
    call_command("erase_personal_data", person="ann", yes=True, stdout=StringIO())

    assert not RowChange.objects.filter(values__icontains="oolong").exists()


def test_row_that_only_an_undone_file_had_is_not_missing_in_the_next_one(edition: Edition) -> None:
    make.make_paper(edition, uid="p1", title="By hand")
    make.make_paper(edition, uid="p2", title="On p2")
    undo(import_papers(paper("p1", title="By hand")))

    assert load(program(paper("p2")), "2021").notes == ()
