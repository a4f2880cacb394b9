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
from tests.posted import address, formset, run_action

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> Any:
    return get_user_model().objects.create_superuser("chair", "chair@example.org", "secret")


@pytest.fixture
def chair(client: Client, user: Any) -> Client:
    client.force_login(user)
    return client


def forget() -> None:
    ChangeSet.objects.all().delete()


def told() -> list[tuple[str, str, dict[str, Any]]]:
    """Return the changes recorded since the last `forget()`: kind, model, values."""
    rows = RowChange.objects.order_by("pk")
    return [(row.kind, row.model.partition(".")[2], row.values) for row in rows]


# Rows


def test_new_row_is_recorded_without_its_values(edition: Edition) -> None:
    forget()
    paper = make.make_paper(edition)

    row = RowChange.objects.get()
    assert (row.kind, row.model, row.object_id, row.values) == ("created", "papers.paper", paper.pk, {})
    assert (row.edition_key, row.change_set.origin) == (edition.pk, "code")


def test_saved_row_tells_the_fields_that_differ(edition: Edition) -> None:
    paper = make.make_paper(edition, title="Old")
    forget()
    paper.title = "New"
    paper.save()

    assert told() == [("changed", "paper", {"title": ["Old", "New"]})]


def test_unchanged_row_is_not_recorded(
    edition: Edition, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    paper = make.make_paper(edition)
    forget()
    with django_assert_num_queries(7):  # a savepoint and its release, the stored row, the row, revision, tags
        paper.save()

    assert told() == []
    assert not ChangeSet.objects.exists()


def test_row_read_in_part_is_recorded_as_far_as_it_is_written(edition: Edition) -> None:
    make.make_paper(edition, track="Old")
    forget()
    paper = Paper.objects.only("track").get()
    paper.track = "New"
    paper.save(update_fields=["track"])

    assert told() == [("changed", "paper", {"track": ["Old", "New"]})]


def test_many_to_many_is_recorded_with_the_row(edition: Edition) -> None:
    author = make.add_author(make.make_paper(edition), "Ada")
    one, two = make.make_institution("One"), make.make_institution("Two")
    author.institutions.set([one])
    forget()
    author.institutions.set([two])

    assert told() == [
        ("changed", "authorship", {"institutions": [[one.pk], []]}),
        ("changed", "authorship", {"institutions": [[], [two.pk]]}),
    ]
    forget()
    with single_change_set():
        author.institutions.set([one])

    assert told() == [("changed", "authorship", {"institutions": [[two.pk], [one.pk]]})]


# Bulk


def test_bulk_update_by_value_and_by_expression_is_recorded(edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada", "Bob"], track="A")
    forget()
    Paper.objects.filter(track="A").update(track="B")
    Paper.objects.update(track="B")
    authors = list(paper.authorships.all())
    authors[0].name = "Ada L."
    Authorship.objects.bulk_update(authors, ["name"])

    assert told() == [
        ("changed", "paper", {"track": ["A", "B"]}),
        ("changed", "authorship", {"name": ["Ada", "Ada L."]}),
    ]


def test_update_records_references_and_times(edition: Edition) -> None:
    room, other = make.make_room(edition), make.make_room(edition, "B")
    session = make.make_session(edition, room=room)
    forget()
    Session.objects.filter(pk=session.pk).update(room=other, start=make.PAST)
    Session.objects.filter(pk=session.pk).update(room_id=room.pk)

    assert told() == [
        (
            "changed",
            "session",
            {"room": [room.pk, other.pk], "start": [make.MORNING.isoformat(), make.PAST.isoformat()]},
        ),
        ("changed", "session", {"room": [other.pk, room.pk]}),
    ]


def test_rows_created_at_once_are_recorded(edition: Edition) -> None:
    forget()
    Room.objects.bulk_create([Room(edition=edition, name=n, slug=n, position=1) for n in ("a", "b")])

    assert told() == [("created", "room", {})] * 2
    assert ChangeSet.objects.count() == 1


def test_reorder_tells_only_who_moved(edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe", "Mia"])
    zed, abe, mia = paper.authorships.order_by("position").values_list("pk", flat=True)
    forget()
    reorder(paper.authorships.all(), [abe, zed, mia])

    rows = RowChange.objects.order_by("object_id")
    assert [(row.object_id, row.values) for row in rows] == [
        (zed, {"position": [1, 2]}),
        (abe, {"position": [2, 1]}),
    ]
    assert {row.owner for row in rows} == {f"papers.paper:{paper.pk}"}


# Deleting


def test_deleted_row_is_kept_whole_with_all_that_hung_on_it(edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada"], title="Gone")
    make.make_material(paper)
    poster = make.make_presentation(make.make_session(edition), paper, kind="poster")
    forget()
    paper.delete()

    rows = {row.model: row for row in RowChange.objects.all()}
    assert sorted(rows) == ["papers.authorship", "papers.material", "papers.paper", "schedule.presentation"]
    assert {model: row.dragged for model, row in rows.items() if not row.dragged} == {"papers.paper": False}
    assert (rows["papers.paper"].label, rows["papers.paper"].values["title"]) == ("Gone", "Gone")
    assert rows["schedule.presentation"].object_id == poster.pk
    assert rows["schedule.presentation"].owner.startswith("schedule.session:")


def test_deleted_queryset_is_kept_whole(edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada", "Bob"])
    forget()
    paper.authorships.all().delete()

    assert [(kind, model, values["name"]) for kind, model, values in told()] == [
        ("deleted", "authorship", "Ada"),
        ("deleted", "authorship", "Bob"),
    ]
    assert list(RowChange.objects.deleted_directly().values_list("dragged", flat=True)) == [False, False]


def test_row_that_loses_its_room_is_recorded(edition: Edition) -> None:
    room = make.make_room(edition)
    session = make.make_session(edition, room=room)
    key = room.pk
    forget()
    room.delete()

    assert [(k, m) for k, m, _ in told()] == [("deleted", "room"), ("changed", "session")]
    change = RowChange.objects.get(model="schedule.session")
    assert (change.object_id, change.values) == (session.pk, {"room": [key, None]})


def test_deleted_institution_remembers_its_authors(edition: Edition) -> None:
    author = make.add_author(make.make_paper(edition), "Ada")
    author.institutions.add(make.make_institution())
    forget()
    Institution.objects.get().delete()

    assert RowChange.objects.get().values["authorships"] == [author.pk]


# Change sets


def test_one_act_is_one_set_with_net_changes(edition: Edition, user: Any) -> None:
    paper = make.make_paper(edition, title="One")
    forget()
    with recording(Origin.API, user, "Sync token"):
        for title in ("Two", "Three"):
            paper.title = title
            paper.save()
        paper.track, before = "x", paper.track
        paper.save()
        paper.track = before
        paper.save()

    assert told() == [("changed", "paper", {"title": ["One", "Three"]})]
    change_set = ChangeSet.objects.get()
    assert (change_set.origin, change_set.user, change_set.user_name) == ("api", user, "chair")
    assert change_set.detail == "Sync token"


def test_row_made_and_changed_in_one_act_is_one_line(edition: Edition) -> None:
    forget()
    with single_change_set():
        paper = make.make_paper(edition, ["Ada"])
        paper.title = "Better"
        paper.save()
        paper.authorships.update(name="A. Lovelace")

    assert told() == [("created", "paper", {}), ("created", "person", {})]


def test_part_that_fails_leaves_no_trace(edition: Edition) -> None:
    paper = make.make_paper(edition, title="One")
    forget()
    with single_change_set():
        paper.track = "Kept"
        paper.save()
        with suppress(LookupError), single_change_set():
            Paper.objects.update(title="Two", track="Lost")
            raise LookupError

    assert told() == [("changed", "paper", {"track": ["", "Kept"]})]


def test_act_costs_two_queries_more_however_many_rows(
    edition: Edition, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for rows in (1, 3):
        for _ in range(rows):
            make.make_paper(edition)
        with django_assert_num_queries(10):
            Paper.objects.update(track=f"Track {rows}")


# Origins


def test_form_with_inlines_is_one_act_of_its_user(chair: Client, edition: Edition, user: Any) -> None:
    paper = make.make_paper(edition, ["Ada", "Bob"], title="One")
    ada, bob = paper.authorships.order_by("position")
    forget()
    rows = [
        {"id": row.pk, "paper": paper.pk, "position": place, "person": row.person_id, "name": row.name}
        for place, row in ((2, ada), (1, bob))
    ]
    sent = {"title": "Two", "status": "published", "abstract": paper.abstract}
    inlines = formset("authorships", rows) | formset("materials") | formset("presentations")
    answer = chair.post(address(paper, "change"), {**sent, **inlines})

    assert answer.status_code == 302
    change_set = ChangeSet.objects.get()
    assert (change_set.origin, change_set.user) == ("form", user)
    assert {(row.model, row.object_id): row.values for row in change_set.rows.all()} == {
        ("papers.paper", paper.pk): {"title": ["One", "Two"]},
        ("papers.authorship", ada.pk): {"position": [1, 2]},
        ("papers.authorship", bob.pk): {"position": [2, 1]},
    }


def test_action_is_named(chair: Client, edition: Edition, user: Any) -> None:
    paper = make.make_paper(edition)
    forget()
    run_action(chair, "withdraw", [paper])

    change_set = ChangeSet.objects.get()
    assert (change_set.origin, change_set.detail, change_set.user) == (
        "action",
        "Withdraw selected papers",
        user,
    )
    assert told() == [("changed", "paper", {"status": ["published", "withdrawn"]})]


def test_deleting_in_the_admin_has_an_author(chair: Client, edition: Edition, user: Any) -> None:
    paper = make.make_paper(edition)
    forget()
    chair.post(address(paper, "delete"), {"post": "yes"})

    assert (ChangeSet.objects.get().origin, ChangeSet.objects.get().user) == ("form", user)
    assert [(kind, model) for kind, model, _ in told()] == [("deleted", "paper")]


def test_command_is_named() -> None:
    with acting_as("command", detail="tidy_up"):
        make.make_person("Ada")

    assert (ChangeSet.objects.get().origin, ChangeSet.objects.get().detail) == ("command", "tidy_up")


def test_agendas_are_no_content_and_no_history(edition: Edition) -> None:
    forget()
    edition.agendas.create(token_digest="x")
    Presentation.objects.none().delete()

    assert told() == []


def test_name_stays_when_the_account_goes(edition: Edition, user: Any) -> None:
    with recording(Origin.FORM, user):
        make.make_person("Ada")
    user.delete()

    assert (ChangeSet.objects.first().user, ChangeSet.objects.first().user_name) == (None, "chair")  # type: ignore[union-attr]


def test_import_is_one_act_that_leads_to_its_run() -> None:
    call_command("import_program", "program_json", "demo/mlsys-2022.json", edition="2022", verbosity=0)

    imports = ChangeSet.objects.filter(origin="import")
    run = Edition.objects.get().import_runs.get()
    assert [(one.reference, one.detail) for one in imports] == [
        (f"exchange.importrun:{run.pk}", "mlsys-2022.json")
    ]
    lines = RowChange.objects.filter(change_set__origin="import")
    assert set(lines.values_list("kind", flat=True)) == {"created"}
    assert not lines.filter(model="papers.authorship").exists()
    assert lines.filter(model="papers.paper").count() == Paper.objects.count() > 0
    assert Person.objects.count() == lines.filter(model="people.person").count()
