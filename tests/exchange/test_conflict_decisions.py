"""Tests of decisions about conflicts: validation of the imported value, and the effect on the next import."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags
from pytest_django import DjangoAssertNumQueries

from content.history import ChangeSet, RowChange
from content.unreleased.plan import publishing
from content.versions import value_mark
from exchange.imports.load import load
from exchange.jobs.conflicts import decide
from exchange.models import Conflict, ImportRun, Provenance
from exchange.records import (
    CommitteeRecord,
    MaterialRecord,
    PaperRecord,
    PersonRecord,
    PersonRef,
    RoomRecord,
    TopicRecord,
)
from papers.models import Material, Paper
from people.models import CommitteeRole, Person
from schedule.models import Room, Session, UnreleasedChange
from tests import factories as make
from tests.connections import LOCK_TIMEOUT_SECONDS, run_over_another_connection, wait_for_a_lock
from tests.exchange.programs import START, author, edition, paper, person, program, session
from tests.exchange.uploads import staff_client
from tests.pseudolocale import pseudolocale, untranslated
from tests.schedule.unreleased.waiting import open_plan

pytestmark = pytest.mark.django_db
LIST = "/admin/exchange/conflict/"


def import_records(*papers: PaperRecord, **parts: Any) -> int:
    """Import the records and return the number of new conflicts."""
    return load(program(*papers, **parts), "2021", files=["f.json"]).total["conflicting"]


def conflict_url(conflict: Conflict) -> str:
    return reverse("admin:exchange_conflict_change", args=[conflict.pk])


def decide_on_page(client: Client, decision: str, conflict: Conflict | None = None, **data: Any) -> Any:
    """Decide a conflict as a browser does; the default is the latest one."""
    target = conflict or Conflict.objects.undecided().latest("pk")
    shown_value = client.get(conflict_url(target)).context["sides"]["mark"]
    return client.post(conflict_url(target), {"decision": decision, "seen": shown_value, **data})


@pytest.fixture
def title_conflict() -> Conflict:
    """Create a conflict about a title that was changed on both sides."""
    import_records(paper("p1", title="Old"))
    row = Paper.objects.get()
    row.title = "By hand"
    row.save()
    assert import_records(paper("p1", title="New")) == 1
    return Conflict.objects.get()


@pytest.mark.parametrize("model", ["conflict", "provenance", "importrun"])
def test_lists_do_not_read_the_keys_and_notes_of_runs(
    admin_client: Client, title_conflict: Conflict, model: str, django_assert_num_queries: Any
) -> None:
    shown_texts = {
        "conflict": title_conflict.label, "provenance": str(title_conflict.provenance), "importrun": "f.json"
    }  # fmt: skip
    with django_assert_num_queries(9, exact=False) as queries:
        page = admin_client.get(f"/admin/exchange/{model}/")

    assert shown_texts[model] in page.text
    assert not [query for query in queries if '"exchange_importrun"."created"' in query["sql"]]
    assert not [query for query in queries if '"exchange_importrun"."notes"' in query["sql"]]


@pytest.mark.parametrize(("decision", "expected_title"), [("ours", "By hand"), ("theirs", "New")])
def test_decided_conflict_is_not_raised_again(
    admin_client: Client, title_conflict: Conflict, decision: str, expected_title: str
) -> None:
    response = decide_on_page(admin_client, decision)

    assert (response.status_code, Paper.objects.get().title) == (302, expected_title)
    decided = Conflict.objects.get()
    assert (decided.decision, str(decided.decided_by)) == (decision, "admin")
    assert import_records(paper("p1", title="New")) == 0
    assert (Paper.objects.get().title, ImportRun.objects.count()) == (expected_title, 2)


@pytest.mark.parametrize(
    ("decision", "expected_title", "conflicts"), [("ours", "By hand", 1), ("theirs", "Newer", 0)]
)
def test_newer_value_conflicts_after_ours_and_is_taken_after_theirs(
    admin_client: Client, title_conflict: Conflict, decision: str, expected_title: str, conflicts: int
) -> None:
    decide_on_page(admin_client, decision)

    assert import_records(paper("p1", title="Newer")) == conflicts
    assert Paper.objects.get().title == expected_title


@pytest.mark.parametrize("title_here", ["By hand", "Old"])
def test_conflict_is_settled_when_the_file_has_its_old_value_again(
    title_conflict: Conflict, title_here: str
) -> None:
    row = Paper.objects.get()
    row.title = title_here
    row.save()

    assert import_records(paper("p1", title="Old")) == 0
    assert not Conflict.objects.undecided().exists()
    assert Paper.objects.get().title == title_here
    assert ImportRun.objects.count() == 3
    import_records(paper("p1", title="Old"))
    assert ImportRun.objects.count() == 3


def test_taken_value_is_in_the_history_with_the_user(admin_client: Client, title_conflict: Conflict) -> None:
    decide_on_page(admin_client, "theirs")

    change_set = ChangeSet.objects.latest("pk")
    assert (change_set.origin, change_set.user_name) == ("action", "admin")
    assert RowChange.objects.get(change_set=change_set).values["title"] == ["By hand", "New"]


def test_edited_value_is_stored_and_raises_no_conflict_again(
    admin_client: Client, title_conflict: Conflict
) -> None:
    response = decide_on_page(admin_client, "edited", None, **{"edit-title": "Both"})

    assert (response.status_code, Paper.objects.get().title) == (302, "Both")
    assert Conflict.objects.get().decision == "edited"
    assert import_records(paper("p1", title="New")) == 0
    assert Paper.objects.get().title == "Both"


def test_empty_edited_title_is_refused(admin_client: Client, title_conflict: Conflict) -> None:
    response = decide_on_page(admin_client, "edited", None, **{"edit-title": ""})

    assert response.status_code == 200
    assert "This field is required." in response.text
    assert (Paper.objects.get().title, Conflict.objects.undecided().count()) == ("By hand", 1)


def test_decision_about_an_outdated_value_is_refused(admin_client: Client, title_conflict: Conflict) -> None:
    Paper.objects.update(title="By somebody else")
    response = admin_client.post(
        conflict_url(title_conflict), {"decision": "theirs", "seen": value_mark("By hand")}
    )

    assert "It was changed here in the meantime." in response.text
    assert Paper.objects.get().title == "By somebody else"


def test_unknown_decision_is_refused(admin_client: Client, title_conflict: Conflict) -> None:
    response = decide_on_page(admin_client, "nonsense")

    assert "Choose a value." in response.text
    assert Conflict.objects.undecided().count() == 1


def test_edited_position_moves_other_rooms(admin_client: Client) -> None:
    rooms = [
        RoomRecord(slug=slug, name=slug, position=position) for position, slug in enumerate("abc", start=1)
    ]
    import_records(rooms=tuple(rooms))
    Room.objects.filter(slug="b").update(position=9)
    import_records(rooms=(replace(rooms[1], position=4),))
    decide_on_page(admin_client, "edited", None, **{"edit-position": "1"})

    assert list(Room.objects.order_by("position").values_list("slug", "position")) == [
        ("b", 1),
        ("a", 2),
        ("c", 3),
    ]


def revert_last_change(client: Client) -> None:
    client.post(reverse("admin:take_back", args=[ChangeSet.objects.latest("pk").pk]))


def test_reverted_decision_restores_derived_fields(admin_client: Client, title_conflict: Conflict) -> None:
    Paper.objects.update(title="*By* hand", title_html="<em>By</em> hand", sort_title="by hand")
    decide(
        [title_conflict],
        "theirs",
        {("paper", title_conflict.provenance.object_id): Paper.objects.get()},
        None,
    )
    decided_paper = Paper.objects.get()
    revert_last_change(admin_client)
    reverted_paper = Paper.objects.get()

    assert (decided_paper.title_html, decided_paper.sort_title) == ("New", "new")
    assert (reverted_paper.title, reverted_paper.title_html, reverted_paper.sort_title) == (
        "*By* hand",
        "<em>By</em> hand",
        "by hand",
    )


# Lists and references


def author_names() -> list[str]:
    return [row.name for row in Paper.objects.get().authorships.order_by("position")]


def test_imported_author_order_is_taken(admin_client: Client) -> None:
    make.make_edition()
    import_records(paper("p1", "Zed Zu", "Abe Al", author("Mia Mo", affiliations=("MIT",))))
    stored_paper = Paper.objects.get()
    stored_paper.authorships.get(name="Abe Al").delete()
    assert (
        import_records(
            paper("p1", author("Mia Mo", affiliations=("MIT", "ETH")), "Zed Zu", "Abe Al", "New Nu")
        )
        == 1
    )
    imported_text = strip_tags(
        admin_client.get(conflict_url(Conflict.objects.get())).context["sides"]["theirs"]
    )
    decide_on_page(admin_client, "theirs")

    assert "1. Mia Mo (MIT; ETH)" in imported_text
    assert author_names() == ["Mia Mo", "Zed Zu", "Abe Al", "New Nu"]
    assert [row.position for row in stored_paper.authorships.order_by("position")] == [1, 2, 3, 4]
    assert (
        import_records(
            paper("p1", author("Mia Mo", affiliations=("MIT", "ETH")), "Zed Zu", "Abe Al", "New Nu")
        )
        == 0
    )


def test_merged_author_is_replaced_by_the_remaining_person(admin_client: Client) -> None:
    make.make_edition()
    import_records(paper("p1", "Zed Zu"))
    Paper.objects.get().authorships.all().delete()
    import_records(paper("p1", "Zed Zu", "Abe Al"))
    remaining = make.make_person("Abe Albert")
    Person.objects.filter(name="Abe Al").update(merged_into=remaining)
    decide_on_page(admin_client, "theirs")

    assert [row.person.name for row in Paper.objects.get().authorships.order_by("position")] == [
        "Zed Zu",
        "Abe Albert",
    ]


def test_author_list_with_a_deleted_person_is_refused(admin_client: Client) -> None:
    make.make_edition()
    import_records(paper("p1", "Zed Zu"))
    Paper.objects.get().authorships.all().delete()
    import_records(paper("p1", "Zed Zu", "Abe Al"))
    Person.objects.filter(name="Abe Al").delete()
    response = decide_on_page(admin_client, "theirs")

    assert "There is no longer a person “abe-al” here." in response.text
    assert (author_names(), Conflict.objects.undecided().count()) == ([], 1)


def test_imported_material_and_topic_are_taken(admin_client: Client) -> None:
    make.make_edition()
    topics = (
        TopicRecord(slug="a", name="A"),
        TopicRecord(slug="b", name="B"),
        TopicRecord(slug="c", name="C"),
    )
    materials = [(MaterialRecord(kind="pdf", url=f"https://example.org/{n}.pdf"),) for n in range(2)]
    import_records(paper("p1", topic="a", materials=materials[0]), topics=topics)
    Paper.objects.update(topic=Paper.objects.get().edition.topics.get(slug="b"))
    Material.objects.update(label="Ours")
    assert import_records(paper("p1", topic="c", materials=materials[1])) == 1
    for _ in range(2):
        decide_on_page(admin_client, "theirs")

    assert Paper.objects.get().topic.slug == "c"  # type: ignore[union-attr]  # it has one
    assert [row.url for row in Material.objects.all()] == ["https://example.org/1.pdf"]


def test_imported_names_of_a_person_are_taken(admin_client: Client) -> None:
    make.make_edition()
    ref = PersonRef(name="Ada King", uid="ada")
    import_records(people=(person(ref, other_names=("A. King",)),))
    row = Person.objects.get()
    row.name, row.given, row.family = "Ada Byron", "Ada", "Byron"
    row.save()
    row.names.all().delete()
    lovelace = PersonRecord(ref=PersonRef(name="Ada Lovelace", uid="ada"), other_names=("A. King", "A. L."))
    assert import_records(people=(lovelace,)) == 1
    for _ in range(2):
        decide_on_page(admin_client, "theirs")

    row = Person.objects.get()
    assert (row.name, row.given, row.family) == ("Ada Lovelace", "Ada", "Lovelace")
    assert sorted(row.names.values_list("name", flat=True)) == ["A. King", "A. L."]


@pytest.mark.parametrize(
    ("name", "reason"), [("A" * 201, "at most 200 characters"), ("Countess", "already exists")]
)
def test_too_long_or_hidden_name_is_refused(admin_client: Client, name: str, reason: str) -> None:
    make.make_edition()
    ref = PersonRef(name="Ada King", uid="ada")
    import_records(people=(person(ref, other_names=("A. King",)),))
    row = Person.objects.get()
    row.names.all().delete()
    assert import_records(people=(person(ref, other_names=("A. King", name)),)) == 1
    row.names.create(name="Countess", hidden=True)
    response = decide_on_page(admin_client, "theirs")

    assert reason in response.text
    assert list(row.names.values_list("name", flat=True)) == ["Countess"]
    assert Conflict.objects.undecided().count() == 1


def test_value_that_is_no_longer_valid_is_refused(admin_client: Client) -> None:
    make.make_edition()
    import_records(sessions=(session("s1"),))

    Session.objects.update(end=START.replace(hour=20))
    import_records(sessions=(session("s1", end=START.replace(hour=17)),))
    Session.objects.update(start=START.replace(hour=19))
    response = decide_on_page(admin_client, "theirs")

    assert response.status_code == 200
    assert Conflict.objects.undecided().count() == 1
    assert Session.objects.get().end == START.replace(hour=20)


def test_conflict_of_a_deleted_row_only_allows_ours(admin_client: Client, title_conflict: Conflict) -> None:
    Paper.objects.get().delete()
    response = decide_on_page(admin_client, "theirs")
    decide_on_page(admin_client, "ours")

    assert "The row no longer exists" in response.text
    assert Conflict.objects.undecided().count() == 0


# In bulk


@pytest.fixture
def three_conflicts() -> None:
    make.make_edition()
    import_records(*(paper(f"p{n}", title="Old") for n in range(3)))
    Paper.objects.update(title="By hand")
    assert import_records(*(paper(f"p{n}", title=f"New {n}") for n in range(3))) == 3


def post_bulk_action(client: Client, action: str, query: str = "?state=open", **data: Any) -> Any:
    keys = list(Conflict.objects.values_list("pk", flat=True))
    form_data = {"action": action, "_selected_action": keys, "index": 0, **data}
    return client.post(LIST + query, form_data)


@pytest.mark.parametrize(
    ("action", "titles"), [("keep_ours", ["By hand"] * 3), ("take_theirs", ["New 0", "New 1", "New 2"])]
)
@pytest.mark.usefixtures("three_conflicts")
def test_bulk_decision_is_applied_after_confirmation(
    admin_client: Client, action: str, titles: list[str]
) -> None:
    confirmation = post_bulk_action(admin_client, action, select_across=1)
    undecided_count = Conflict.objects.undecided().count()
    keys = [conflict.pk for conflict in confirmation.context["conflicts"]]
    admin_client.post(LIST, {"action": action, "_selected_action": keys, "confirmed": "yes"})

    assert (len(keys), undecided_count, Conflict.objects.undecided().count()) == (3, 3, 0)
    assert [row.title for row in Paper.objects.order_by("uid")] == titles
    assert import_records(*(paper(f"p{n}", title=f"New {n}") for n in range(3))) == 0


def test_bulk_decision_for_the_public_value_drops_the_waiting_one(admin_client: Client) -> None:
    # The file has the value that is public by now; another one waits for the release.
    import_records(sessions=[session("s1", title="Old")])
    open_plan(Session.objects.get().edition)
    with publishing():
        Session.objects.update(title="A")
    Session.objects.update(title="B")
    waiting = UnreleasedChange.objects.get().values
    assert import_records(sessions=[session("s1", title="A")]) == 1
    post_bulk_action(admin_client, "take_theirs", query="", confirmed="yes")

    assert waiting == {"title": "B"}
    assert not UnreleasedChange.objects.exists()
    assert Session.objects.get().title == "A"
    assert not Conflict.objects.undecided().exists()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("three_conflicts")
def test_bulk_decision_waits_for_another_one(admin_client: Client) -> None:
    with transaction.atomic():
        conflicts = [*Conflict.objects.undecided().select_for_update()]
        thread, failed = run_over_another_connection(
            lambda: post_bulk_action(admin_client, "take_theirs", query="", confirmed="yes")
        )
        wait_for_a_lock(thread)
        is_waiting = thread.is_alive()
        rows = {("paper", row.pk): row for row in Paper.objects.all()}
        decide([*Conflict.objects.select_related("provenance", "run__edition")], "ours", rows, None)
    thread.join(LOCK_TIMEOUT_SECONDS)

    assert (is_waiting, failed, len(conflicts)) == (True, [], 3)
    assert [*Conflict.objects.values_list("decision", flat=True)] == ["ours"] * 3
    assert {row.title for row in Paper.objects.all()} == {"By hand"}


@pytest.mark.usefixtures("three_conflicts")
def test_refused_conflict_does_not_block_the_others() -> None:
    conflicts = list(Conflict.objects.select_related("provenance", "run__edition"))
    rows = {("paper", row.pk): row for row in Paper.objects.all()}
    conflicts[0].theirs = ""
    outcome = decide(conflicts, "theirs", rows, None)

    assert (outcome.done, len(outcome.refused)) == (2, 1)
    assert sorted(row.title for row in Paper.objects.all()) == ["By hand", "New 0", "New 1"]
    assert ChangeSet.objects.latest("pk").rows.count() == 2


@pytest.mark.usefixtures("three_conflicts")
def test_query_count_is_the_same_for_1_and_2_decided_conflicts(
    admin_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for size in (1, 2):
        conflicts = list(Conflict.objects.undecided().select_related("provenance", "run__edition")[:size])
        with django_assert_num_queries(5):
            decide(conflicts, "ours", {}, None)


# Permissions and queries


def test_user_without_change_permission_on_the_paper_cannot_decide(title_conflict: Conflict) -> None:
    viewer = staff_client("view_conflict", "change_conflict", "view_paper")
    page = viewer.get(conflict_url(title_conflict))
    viewer.post(conflict_url(title_conflict), {"decision": "theirs", "seen": page.context["sides"]["mark"]})

    assert "or you can’t change it" in page.text
    assert post_bulk_action(viewer, "take_theirs").context["conflicts"] == []
    assert Paper.objects.get().title == "By hand"


def test_user_with_only_view_permission_cannot_decide(title_conflict: Conflict) -> None:
    viewer = staff_client("view_conflict", "change_paper")
    page = viewer.get(conflict_url(title_conflict))
    response = viewer.post(
        conflict_url(title_conflict), {"decision": "ours", "seen": page.context["sides"]["mark"]}
    )

    assert (page.status_code, response.status_code) == (200, 403)
    assert "Keep the current value" not in page.text


def test_page_query_count_is_the_same_for_1_and_3_authors(
    admin_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make.make_edition()
    for size in (1, 3):
        uid = f"p{size}"
        import_records(paper(uid, *(f"Ann {n}" for n in range(size))))
        Paper.objects.get(uid=uid).authorships.all().delete()
        import_records(paper(uid, *(f"Ann {n}" for n in range(size)), "New Nu"))
        with django_assert_num_queries(12):
            admin_client.get(conflict_url(Conflict.objects.latest("pk")))


def test_page_query_count_is_the_same_for_2_and_4_committee_members(
    admin_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    def import_committee(*names: str) -> None:
        refs = [PersonRef(name=name, uid=name.lower()) for name in names]
        members = tuple(CommitteeRecord(person=ref, role="Chair") for ref in refs)
        import_records(edition=edition(committee=members))

    import_committee("Ada")
    CommitteeRole.objects.all().delete()
    for names in (("Ada", "Bo"), ("Ada", "Bo", "Cy", "Di")):
        import_committee(*names)
        with django_assert_num_queries(13):
            page = admin_client.get(conflict_url(Conflict.objects.get()))
        lines = [f"{number}. Chair: {name}" for number, name in enumerate(names, start=1)]
        assert strip_tags(page.context["sides"]["theirs"]).splitlines() == lines


def test_pages_have_no_untranslated_text(admin_client: Client, title_conflict: Conflict) -> None:
    untranslatable = ["Plenary", "admin", "UTC", "MLSys 2021", "By hand", "New", "Old", "f.json"]
    with pseudolocale():
        pages = [
            admin_client.get(conflict_url(title_conflict)),
            post_bulk_action(admin_client, "take_theirs"),
        ]
        texts = [untranslated(page.text, untranslatable) for page in pages]

    assert texts == [[], []]


def test_page_of_a_conflict_resolved_by_a_later_file_says_so(
    admin_client: Client, title_conflict: Conflict
) -> None:
    import_records(paper("p1", title="By hand"))

    assert "both values are the same" in admin_client.get(conflict_url(title_conflict)).text
    assert Provenance.objects.get(kind="paper").values["title"] == "By hand"
