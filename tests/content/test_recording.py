"""Every way to write a row records the user, time, origin and changed fields in the history."""

from contextlib import suppress
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from conference.models import Edition
from content.actor import acting_as
from content.history import ChangeSet, Origin, RowChange
from content.history.recording import recording, single_change_set
from content.ordering import reorder
from papers.models import Authorship, Paper
from people.models import Institution, Person
from schedule.models import Presentation, Room, Session
from tests import factories as make
from tests.admin_forms import admin_url, formset, run_action

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> Any:
    return get_user_model().objects.create_superuser("chair", "chair@example.org", "secret")


@pytest.fixture
def chair(client: Client, user: Any) -> Client:
    client.force_login(user)
    return client


def clear_history() -> None:
    ChangeSet.objects.all().delete()


def recorded_changes() -> list[tuple[str, str, dict[str, Any]]]:
    """Return the changes recorded since the last `clear_history()`: kind, model, values."""
    rows = RowChange.objects.order_by("pk")
    return [(row.kind, row.model.partition(".")[2], row.values) for row in rows]


# Rows


def test_new_row_is_recorded_without_its_values(edition: Edition) -> None:
    clear_history()
    paper = make.make_paper(edition)

    row = RowChange.objects.get()
    assert (row.kind, row.model, row.object_id, row.values) == ("created", "papers.paper", paper.pk, {})
    assert (row.edition_key, row.change_set.origin) == (edition.pk, "code")


def test_saved_row_is_recorded_with_its_changed_fields(edition: Edition) -> None:
    paper = make.make_paper(edition, title="Old")
    clear_history()
    paper.title = "New"
    paper.save()

    assert recorded_changes() == [("changed", "paper", {"title": ["Old", "New"]})]


def test_unchanged_row_is_not_recorded(
    edition: Edition, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    paper = make.make_paper(edition)
    clear_history()
    with django_assert_num_queries(
        8
    ):  # whether changes wait, a savepoint and its release, the stored row, the row, revision, tags
        paper.save()

    assert recorded_changes() == []
    assert not ChangeSet.objects.exists()


def test_row_with_deferred_fields_is_recorded(edition: Edition) -> None:
    make.make_paper(edition, track="Old")
    clear_history()
    paper = Paper.objects.only("track").get()
    paper.track = "New"
    paper.save(update_fields=["track"])

    assert recorded_changes() == [("changed", "paper", {"track": ["Old", "New"]})]


def test_many_to_many_is_recorded_with_the_row(edition: Edition) -> None:
    author = make.add_author(make.make_paper(edition), "Ada")
    first, second = make.make_institution("One"), make.make_institution("Two")
    author.institutions.set([first])
    clear_history()
    author.institutions.set([second])

    assert recorded_changes() == [
        ("changed", "authorship", {"institutions": [[first.pk], []]}),
        ("changed", "authorship", {"institutions": [[], [second.pk]]}),
    ]
    clear_history()
    with single_change_set():
        author.institutions.set([first])

    assert recorded_changes() == [("changed", "authorship", {"institutions": [[second.pk], [first.pk]]})]


# Bulk operations


def test_update_and_bulk_update_are_recorded(edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada", "Bob"], track="A")
    clear_history()
    Paper.objects.filter(track="A").update(track="B")
    Paper.objects.update(track="B")
    authors = list(paper.authorships.all())
    authors[0].name = "Ada L."
    Authorship.objects.bulk_update(authors, ["name"])

    assert recorded_changes() == [
        ("changed", "paper", {"track": ["A", "B"]}),
        ("changed", "authorship", {"name": ["Ada", "Ada L."]}),
    ]


def test_update_records_foreign_keys_and_times(edition: Edition) -> None:
    room, other_room = make.make_room(edition), make.make_room(edition, "B")
    session = make.make_session(edition, room=room)
    clear_history()
    Session.objects.filter(pk=session.pk).update(room=other_room, start=make.PAST)
    Session.objects.filter(pk=session.pk).update(room_id=room.pk)

    assert recorded_changes() == [
        (
            "changed",
            "session",
            {"room": [room.pk, other_room.pk], "start": [make.MORNING.isoformat(), make.PAST.isoformat()]},
        ),
        ("changed", "session", {"room": [other_room.pk, room.pk]}),
    ]


def test_bulk_created_rows_are_recorded(edition: Edition) -> None:
    clear_history()
    Room.objects.bulk_create([Room(edition=edition, name=name, slug=name, position=1) for name in ("a", "b")])

    assert recorded_changes() == [("created", "room", {})] * 2
    assert ChangeSet.objects.count() == 1


def test_reorder_records_only_moved_rows(edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe", "Mia"])
    zed, abe, mia = paper.authorships.order_by("position").values_list("pk", flat=True)
    clear_history()
    reorder(paper.authorships.all(), [abe, zed, mia])

    rows = RowChange.objects.order_by("object_id")
    assert [(row.object_id, row.values) for row in rows] == [
        (zed, {"position": [1, 2]}),
        (abe, {"position": [2, 1]}),
    ]
    assert {row.owner for row in rows} == {f"papers.paper:{paper.pk}"}


# Deleting


def test_deleted_row_is_recorded_with_its_values_and_related_rows(edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada"], title="Gone")
    make.make_material(paper)
    poster = make.make_presentation(make.make_session(edition), paper, kind="poster")
    clear_history()
    paper.delete()

    rows = {row.model: row for row in RowChange.objects.all()}
    assert sorted(rows) == ["papers.authorship", "papers.material", "papers.paper", "schedule.presentation"]
    assert {model: row.dragged for model, row in rows.items() if not row.dragged} == {"papers.paper": False}
    assert (rows["papers.paper"].label, rows["papers.paper"].values["title"]) == ("Gone", "Gone")
    assert rows["schedule.presentation"].object_id == poster.pk
    assert rows["schedule.presentation"].owner.startswith("schedule.session:")


def test_deleted_queryset_is_recorded_with_the_values_of_each_row(edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada", "Bob"])
    clear_history()
    paper.authorships.all().delete()

    assert [(kind, model, values["name"]) for kind, model, values in recorded_changes()] == [
        ("deleted", "authorship", "Ada"),
        ("deleted", "authorship", "Bob"),
    ]
    assert list(RowChange.objects.deleted_directly().values_list("dragged", flat=True)) == [False, False]


def test_foreign_key_cleared_by_a_deletion_is_recorded(edition: Edition) -> None:
    room = make.make_room(edition)
    session = make.make_session(edition, room=room)
    key = room.pk
    clear_history()
    room.delete()

    assert [(kind, model) for kind, model, _ in recorded_changes()] == [
        ("deleted", "room"),
        ("changed", "session"),
    ]
    change = RowChange.objects.get(model="schedule.session")
    assert (change.object_id, change.values) == (session.pk, {"room": [key, None]})


def test_deletion_of_an_institution_records_its_authorships(edition: Edition) -> None:
    author = make.add_author(make.make_paper(edition), "Ada")
    author.institutions.add(make.make_institution())
    clear_history()
    Institution.objects.get().delete()

    assert RowChange.objects.get().values["authorships"] == [author.pk]


# Change sets


def test_block_is_one_change_set_with_net_changes(edition: Edition, user: Any) -> None:
    paper = make.make_paper(edition, title="One")
    clear_history()
    with recording(Origin.API, user, "Sync token"):
        for title in ("Two", "Three"):
            paper.title = title
            paper.save()
        paper.track, before = "x", paper.track
        paper.save()
        paper.track = before
        paper.save()

    assert recorded_changes() == [("changed", "paper", {"title": ["One", "Three"]})]
    change_set = ChangeSet.objects.get()
    assert (change_set.origin, change_set.user, change_set.user_name) == ("api", user, "chair")
    assert change_set.detail == "Sync token"


def test_row_created_and_changed_in_one_block_is_recorded_once(edition: Edition) -> None:
    clear_history()
    with single_change_set():
        paper = make.make_paper(edition, ["Ada"])
        paper.title = "Better"
        paper.save()
        paper.authorships.update(name="A. Lovelace")

    assert recorded_changes() == [("created", "paper", {}), ("created", "person", {})]


def test_failed_inner_block_is_not_recorded(edition: Edition) -> None:
    paper = make.make_paper(edition, title="One")
    clear_history()
    with single_change_set():
        paper.track = "Kept"
        paper.save()
        with suppress(LookupError), single_change_set():
            Paper.objects.update(title="Two", track="Lost")
            raise LookupError

    assert recorded_changes() == [("changed", "paper", {"track": ["", "Kept"]})]


def test_query_count_is_the_same_for_1_and_4_rows(
    edition: Edition, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for row_count in (1, 3):
        for _ in range(row_count):
            make.make_paper(edition)
        with django_assert_num_queries(11):
            Paper.objects.update(track=f"Track {row_count}")


# Origins


def test_form_with_inlines_is_one_change_set_of_its_user(chair: Client, edition: Edition, user: Any) -> None:
    paper = make.make_paper(edition, ["Ada", "Bob"], title="One")
    ada, bob = paper.authorships.order_by("position")
    clear_history()
    rows = [
        {"id": row.pk, "paper": paper.pk, "position": position, "person": row.person_id, "name": row.name}
        for position, row in ((2, ada), (1, bob))
    ]
    data = {"title": "Two", "status": "published", "abstract": paper.abstract}
    inlines = formset("authorships", rows) | formset("materials") | formset("presentations")
    response = chair.post(admin_url(paper, "change"), {**data, **inlines})

    assert response.status_code == 302
    change_set = ChangeSet.objects.get()
    assert (change_set.origin, change_set.user) == ("form", user)
    assert {(row.model, row.object_id): row.values for row in change_set.rows.all()} == {
        ("papers.paper", paper.pk): {"title": ["One", "Two"]},
        ("papers.authorship", ada.pk): {"position": [1, 2]},
        ("papers.authorship", bob.pk): {"position": [2, 1]},
    }


def test_action_is_recorded_with_its_name(chair: Client, edition: Edition, user: Any) -> None:
    paper = make.make_paper(edition)
    clear_history()
    run_action(chair, "withdraw", [paper])

    change_set = ChangeSet.objects.get()
    assert (change_set.origin, change_set.detail, change_set.user) == (
        "action",
        "Withdraw selected papers",
        user,
    )
    assert recorded_changes() == [("changed", "paper", {"status": ["published", "withdrawn"]})]


def test_deletion_in_the_admin_is_recorded_with_the_user(chair: Client, edition: Edition, user: Any) -> None:
    paper = make.make_paper(edition)
    clear_history()
    chair.post(admin_url(paper, "delete"), {"post": "yes"})

    assert (ChangeSet.objects.get().origin, ChangeSet.objects.get().user) == ("form", user)
    assert [(kind, model) for kind, model, _ in recorded_changes()] == [("deleted", "paper")]


def test_command_is_recorded_with_its_name() -> None:
    with acting_as("command", detail="tidy_up"):
        make.make_person("Ada")

    assert (ChangeSet.objects.get().origin, ChangeSet.objects.get().detail) == ("command", "tidy_up")


def test_agendas_are_not_recorded(edition: Edition) -> None:
    clear_history()
    edition.agendas.create(token_digest="x")
    Presentation.objects.none().delete()

    assert recorded_changes() == []


def test_user_name_stays_after_the_account_is_deleted(edition: Edition, user: Any) -> None:
    with recording(Origin.FORM, user):
        make.make_person("Ada")
    user.delete()

    assert (ChangeSet.objects.first().user, ChangeSet.objects.first().user_name) == (None, "chair")  # type: ignore[union-attr]


def test_import_is_one_change_set_that_references_its_run() -> None:
    call_command("import_program", "program_json", "demo/mlsys-2022.json", edition="2022", verbosity=0)

    change_sets = ChangeSet.objects.filter(origin="import")
    run = Edition.objects.get().import_runs.get()
    assert [(change_set.reference, change_set.detail) for change_set in change_sets] == [
        (f"exchange.importrun:{run.pk}", "mlsys-2022.json")
    ]
    changes = RowChange.objects.filter(change_set__origin="import")
    assert set(changes.values_list("kind", flat=True)) == {"created"}
    assert not changes.filter(model="papers.authorship").exists()
    assert changes.filter(model="papers.paper").count() == Paper.objects.count() > 0
    assert Person.objects.count() == changes.filter(model="people.person").count()
