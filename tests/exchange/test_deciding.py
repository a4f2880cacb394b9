"""Tests of decisions about conflicts: validation of the imported value, and the effect on the next import."""

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags
from pytest_django import DjangoAssertNumQueries

from content.history import ChangeSet, RowChange
from content.versions import value_mark
from exchange.imports.load import load
from exchange.jobs.conflicts import decide
from exchange.models import Conflict, ImportRun, Provenance
from exchange.records import MaterialRecord, PaperRecord, PersonRecord, PersonRef, RoomRecord, TopicRecord
from papers.models import Material, Paper
from people.models import Person
from schedule.models import Room, Session
from tests import factories as make
from tests.exchange.programs import START, author, paper, person, program, session
from tests.exchange.uploads import staff_client
from tests.pseudolocale import pseudolocale, untranslated

pytestmark = pytest.mark.django_db
LIST = "/admin/exchange/conflict/"


def bring(*papers: PaperRecord, **parts: Any) -> int:
    """Import the records and return the number of new conflicts."""
    return load(program(*papers, **parts), "2021", files=["f.json"]).total["conflicting"]


def page_of(conflict: Conflict) -> str:
    return reverse("admin:exchange_conflict_change", args=[conflict.pk])


def choose(client: Client, decision: str, conflict: Conflict | None = None, **sent: Any) -> Any:
    """Decide a conflict as a browser does, with the values that the page showed."""
    one = conflict or Conflict.objects.undecided().latest("pk")
    seen = client.get(page_of(one)).context["sides"]["seen"]
    return client.post(page_of(one), {"decision": decision, "seen": seen, **sent})


@pytest.fixture
def title() -> Conflict:
    """Create a conflict about a title that was changed on both sides."""
    bring(paper("p1", title="Old"))
    row = Paper.objects.get()
    row.title = "By hand"
    row.save()
    assert bring(paper("p1", title="New")) == 1
    return Conflict.objects.get()


@pytest.mark.parametrize(("decision", "stands"), [("ours", "By hand"), ("theirs", "New")])
def test_decided_title_is_no_conflict_again(
    admin_client: Client, title: Conflict, decision: str, stands: str
) -> None:
    response = choose(admin_client, decision)

    assert (response.status_code, Paper.objects.get().title) == (302, stands)
    decided = Conflict.objects.get()
    assert (decided.decision, str(decided.decided_by)) == (decision, "admin")
    assert bring(paper("p1", title="New")) == 0
    assert (Paper.objects.get().title, ImportRun.objects.count()) == (stands, 2)


@pytest.mark.parametrize(
    ("decision", "stands", "conflicts"), [("ours", "By hand", 1), ("theirs", "Newer", 0)]
)
def test_file_that_changes_once_more_is_followed_or_asked_about(
    admin_client: Client, title: Conflict, decision: str, stands: str, conflicts: int
) -> None:
    choose(admin_client, decision)

    assert bring(paper("p1", title="Newer")) == conflicts
    assert Paper.objects.get().title == stands


def test_taken_value_stands_in_the_history_under_the_chairs_name(
    admin_client: Client, title: Conflict
) -> None:
    choose(admin_client, "theirs")

    last = ChangeSet.objects.latest("pk")
    assert (last.origin, last.user_name) == ("action", "admin")
    assert RowChange.objects.get(change_set=last).values["title"] == ["By hand", "New"]


def test_edited_value_is_neither(admin_client: Client, title: Conflict) -> None:
    response = choose(admin_client, "edited", None, **{"edit-title": "Both"})

    assert (response.status_code, Paper.objects.get().title) == (302, "Both")
    assert Conflict.objects.get().decision == "edited"
    assert bring(paper("p1", title="New")) == 0
    assert Paper.objects.get().title == "Both"


def test_edited_value_must_be_one(admin_client: Client, title: Conflict) -> None:
    response = choose(admin_client, "edited", None, **{"edit-title": ""})

    assert response.status_code == 200
    assert "This field is required." in response.text
    assert (Paper.objects.get().title, Conflict.objects.undecided().count()) == ("By hand", 1)


def test_value_that_moved_on_meanwhile_is_shown_again(admin_client: Client, title: Conflict) -> None:
    Paper.objects.update(title="By somebody else")
    response = admin_client.post(page_of(title), {"decision": "theirs", "seen": value_mark("By hand")})

    assert "It was changed here in the meantime." in response.text
    assert Paper.objects.get().title == "By somebody else"


def test_nothing_is_decided_without_a_choice(admin_client: Client, title: Conflict) -> None:
    response = choose(admin_client, "nonsense")

    assert "Choose a value." in response.text
    assert Conflict.objects.undecided().count() == 1


def test_edited_place_moves_the_others(admin_client: Client) -> None:
    rooms = [RoomRecord(slug=slug, name=slug, position=place) for place, slug in enumerate("abc", start=1)]
    bring(rooms=tuple(rooms))
    Room.objects.filter(slug="b").update(position=9)
    bring(rooms=(replace(rooms[1], position=4),))
    choose(admin_client, "edited", None, **{"edit-position": "1"})

    assert list(Room.objects.order_by("position").values_list("slug", "position")) == [
        ("b", 1),
        ("a", 2),
        ("c", 3),
    ]


def take_back(client: Client) -> None:
    client.post(reverse("admin:take_back", args=[ChangeSet.objects.latest("pk").pk]))


def test_decision_taken_back_derives_its_text_anew(admin_client: Client, title: Conflict) -> None:
    Paper.objects.update(title="*By* hand", title_html="<em>By</em> hand", sort_title="by hand")
    decide([title], "theirs", {("paper", title.provenance.object_id): Paper.objects.get()}, None)
    taken = Paper.objects.get()
    take_back(admin_client)
    paper = Paper.objects.get()

    assert (taken.title_html, taken.sort_title) == ("New", "new")
    assert (paper.title, paper.title_html, paper.sort_title) == ("*By* hand", "<em>By</em> hand", "by hand")


# Lists and references


def in_order() -> list[str]:
    return [row.name for row in Paper.objects.get().authorships.order_by("position")]


def test_order_of_authors_is_taken(admin_client: Client) -> None:
    make.make_edition()
    bring(paper("p1", "Zed Zu", "Abe Al", author("Mia Mo", affiliations=("MIT",))))
    mine = Paper.objects.get()
    mine.authorships.get(name="Abe Al").delete()
    assert (
        bring(paper("p1", author("Mia Mo", affiliations=("MIT", "ETH")), "Zed Zu", "Abe Al", "New Nu")) == 1
    )
    shown = strip_tags(admin_client.get(page_of(Conflict.objects.get())).context["sides"]["there"])
    choose(admin_client, "theirs")

    assert "1. Mia Mo (MIT; ETH)" in shown
    assert in_order() == ["Mia Mo", "Zed Zu", "Abe Al", "New Nu"]
    assert [row.position for row in mine.authorships.order_by("position")] == [1, 2, 3, 4]
    assert (
        bring(paper("p1", author("Mia Mo", affiliations=("MIT", "ETH")), "Zed Zu", "Abe Al", "New Nu")) == 0
    )


def test_authors_who_were_merged_stand_under_the_one_who_stayed(admin_client: Client) -> None:
    make.make_edition()
    bring(paper("p1", "Zed Zu"))
    Paper.objects.get().authorships.all().delete()
    bring(paper("p1", "Zed Zu", "Abe Al"))
    kept = make.make_person("Abe Albert")
    Person.objects.filter(name="Abe Al").update(merged_into=kept)
    choose(admin_client, "theirs")

    assert [row.person.name for row in Paper.objects.get().authorships.order_by("position")] == [
        "Zed Zu",
        "Abe Albert",
    ]


def test_author_who_is_gone_keeps_the_list_as_it_is(admin_client: Client) -> None:
    make.make_edition()
    bring(paper("p1", "Zed Zu"))
    Paper.objects.get().authorships.all().delete()
    bring(paper("p1", "Zed Zu", "Abe Al"))
    Person.objects.filter(name="Abe Al").delete()
    response = choose(admin_client, "theirs")

    assert "There is no longer a person “abe-al” here." in response.text
    assert (in_order(), Conflict.objects.undecided().count()) == ([], 1)


def test_material_topic_and_role_are_taken(admin_client: Client) -> None:
    make.make_edition()
    topics = (
        TopicRecord(slug="a", name="A"),
        TopicRecord(slug="b", name="B"),
        TopicRecord(slug="c", name="C"),
    )
    pdf = [(MaterialRecord(kind="pdf", url=f"https://example.org/{n}.pdf"),) for n in range(2)]
    bring(paper("p1", topic="a", materials=pdf[0]), topics=topics)
    Paper.objects.update(topic=Paper.objects.get().edition.topics.get(slug="b"))
    Material.objects.update(label="Ours")
    assert bring(paper("p1", topic="c", materials=pdf[1])) == 1
    for _ in range(2):
        choose(admin_client, "theirs")

    assert Paper.objects.get().topic.slug == "c"  # type: ignore[union-attr]  # it has one
    assert [row.url for row in Material.objects.all()] == ["https://example.org/1.pdf"]


def test_names_of_people_are_taken(admin_client: Client) -> None:
    make.make_edition()
    ref = PersonRef(name="Ada King", uid="ada")
    bring(people=(person(ref, other_names=("A. King",)),))
    row = Person.objects.get()
    row.name, row.given, row.family = "Ada Byron", "Ada", "Byron"
    row.save()
    row.names.all().delete()
    lovelace = PersonRecord(ref=PersonRef(name="Ada Lovelace", uid="ada"), other_names=("A. King", "A. L."))
    assert bring(people=(lovelace,)) == 1
    for _ in range(2):
        choose(admin_client, "theirs")

    row = Person.objects.get()
    assert (row.name, row.given, row.family) == ("Ada Lovelace", "Ada", "Lovelace")
    assert sorted(row.names.values_list("name", flat=True)) == ["A. King", "A. L."]


@pytest.mark.parametrize(
    ("name", "reason"), [("A" * 201, "at most 200 characters"), ("Countess", "already exists")]
)
def test_name_that_is_too_long_or_hidden_by_now_is_refused(
    admin_client: Client, name: str, reason: str
) -> None:
    make.make_edition()
    ref = PersonRef(name="Ada King", uid="ada")
    bring(people=(person(ref, other_names=("A. King",)),))
    row = Person.objects.get()
    row.names.all().delete()
    assert bring(people=(person(ref, other_names=("A. King", name)),)) == 1
    row.names.create(name="Countess", hidden=True)
    response = choose(admin_client, "theirs")

    assert reason in response.text
    assert list(row.names.values_list("name", flat=True)) == ["Countess"]
    assert Conflict.objects.undecided().count() == 1


def test_value_that_breaks_a_rule_by_now_is_refused_with_the_reason(admin_client: Client) -> None:
    make.make_edition()
    bring(sessions=(session("s1"),))

    Session.objects.update(end=START.replace(hour=20))
    bring(sessions=(session("s1", end=START.replace(hour=17)),))
    Session.objects.update(start=START.replace(hour=19))
    response = choose(admin_client, "theirs")

    assert response.status_code == 200
    assert Conflict.objects.undecided().count() == 1
    assert Session.objects.get().end == START.replace(hour=20)


def test_row_that_is_gone_can_only_be_let_go(admin_client: Client, title: Conflict) -> None:
    Paper.objects.get().delete()
    refused = choose(admin_client, "theirs")
    choose(admin_client, "ours")

    assert "The row no longer exists" in refused.text
    assert Conflict.objects.undecided().count() == 0


# In bulk


@pytest.fixture
def several() -> None:
    make.make_edition()
    bring(*(paper(f"p{n}", title="Old") for n in range(3)))
    Paper.objects.update(title="By hand")
    assert bring(*(paper(f"p{n}", title=f"New {n}") for n in range(3))) == 3


def bulk(client: Client, action: str, query: str = "?state=open", **sent: Any) -> Any:
    keys = list(Conflict.objects.values_list("pk", flat=True))
    data = {"action": action, "_selected_action": keys, "index": 0, **sent}
    return client.post(LIST + query, data)


@pytest.mark.parametrize(
    ("action", "titles"), [("keep_ours", ["By hand"] * 3), ("take_theirs", ["New 0", "New 1", "New 2"])]
)
@pytest.mark.usefixtures("several")
def test_all_of_a_list_are_decided_after_a_confirmation(
    admin_client: Client, action: str, titles: list[str]
) -> None:
    asked = bulk(admin_client, action, select_across=1)
    before = Conflict.objects.undecided().count()
    keys = [one.pk for one in asked.context["conflicts"]]
    admin_client.post(LIST, {"action": action, "_selected_action": keys, "confirmed": "yes"})

    assert (len(keys), before, Conflict.objects.undecided().count()) == (3, 3, 0)
    assert [row.title for row in Paper.objects.order_by("uid")] == titles
    assert bring(*(paper(f"p{n}", title=f"New {n}") for n in range(3))) == 0


@pytest.mark.usefixtures("several")
def test_one_that_cannot_be_taken_leaves_the_others() -> None:
    conflicts = list(Conflict.objects.select_related("provenance", "run__edition"))
    rows = {("paper", row.pk): row for row in Paper.objects.all()}
    conflicts[0].theirs = ""
    outcome = decide(conflicts, "theirs", rows, None)

    assert (outcome.done, len(outcome.refused)) == (2, 1)
    assert sorted(row.title for row in Paper.objects.all()) == ["By hand", "New 0", "New 1"]
    assert ChangeSet.objects.latest("pk").rows.count() == 2


@pytest.mark.usefixtures("several")
def test_keeping_many_costs_as_much_as_keeping_one(
    admin_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for size in (1, 2):
        conflicts = list(Conflict.objects.undecided().select_related("provenance", "run__edition")[:size])
        with django_assert_num_queries(5):
            decide(conflicts, "ours", {}, None)


# Permissions and queries


def test_who_may_not_change_the_paper_decides_nothing(title: Conflict) -> None:
    viewer = staff_client("view_conflict", "change_conflict", "view_paper")
    page = viewer.get(page_of(title))
    viewer.post(page_of(title), {"decision": "theirs", "seen": page.context["sides"]["seen"]})

    assert "or you can’t change it" in page.text
    assert bulk(viewer, "take_theirs").context["conflicts"] == []
    assert Paper.objects.get().title == "By hand"


def test_who_may_only_look_decides_nothing(title: Conflict) -> None:
    viewer = staff_client("view_conflict", "change_paper")
    page = viewer.get(page_of(title))
    posted = viewer.post(page_of(title), {"decision": "ours", "seen": page.context["sides"]["seen"]})

    assert (page.status_code, posted.status_code) == (200, 403)
    assert "Keep the current value" not in page.text


def test_page_costs_the_same_for_one_author_and_three(
    admin_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make.make_edition()
    for size in (1, 3):
        uid = f"p{size}"
        bring(paper(uid, *(f"Ann {n}" for n in range(size))))
        Paper.objects.get(uid=uid).authorships.all().delete()
        bring(paper(uid, *(f"Ann {n}" for n in range(size)), "New Nu"))
        with django_assert_num_queries(COST):
            admin_client.get(page_of(Conflict.objects.latest("pk")))


COST = 11


def test_pages_say_nothing_untranslated(admin_client: Client, title: Conflict) -> None:
    known = ["Plenary", "admin", "UTC", "MLSys 2021", "By hand", "New", "Old", "f.json"]
    with pseudolocale():
        pages = [admin_client.get(page_of(title)), bulk(admin_client, "take_theirs")]
        said = [untranslated(page.text, known) for page in pages]

    assert said == [[], []]


def test_conflict_closed_by_a_later_file_says_so(admin_client: Client, title: Conflict) -> None:
    bring(paper("p1", title="By hand"))

    assert "both values are the same" in admin_client.get(page_of(title)).text
    assert Provenance.objects.get(kind="paper").values["title"] == "By hand"
