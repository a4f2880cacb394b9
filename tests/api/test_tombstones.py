"""Tombstones: what the API tells of rows that were public and are no longer."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from api.shapes import RESOURCES
from conference.models import Edition
from content.history import Origin
from content.history.recording import recording
from content.models import Content, Tombstone
from papers.models import Authorship, Material, Paper
from people.merging.merge import merge
from people.models import Institution, Person
from schedule.models import Presentation, Room, Session
from tests import factories as make
from tests.api.reading import get, ids, results
from tests.api.two_sets import make_two_sets
from tests.website.sample_program import MARKER_LOWER

pytestmark = pytest.mark.django_db
PAPER_RESOURCES = ("papers", "materials", "awards", "topics")
SCHEDULE_RESOURCES = ("sessions", "rooms")


@pytest.fixture
def edition(db: None) -> Edition:
    return make_two_sets()


def edit(row: Content, **fields: object) -> None:
    for name, value in fields.items():
        setattr(row, name, value)
    row.save()


def gone(client: Client, name: str, **parameters: Any) -> dict[str | None, str]:
    """Return the reasons of the rows that are no longer public, by id."""
    return {row["id"]: row["reason"] for row in results(client, name, deleted="true", **parameters)}


def all_gone(client: Client) -> dict[str, dict[str | None, str]]:
    return {name: rows for name in RESOURCES if (rows := gone(client, name))}


def test_deleted_and_withdrawn_rows_have_their_last_public_title(client: Client, edition: Edition) -> None:
    since = timezone.now().isoformat()
    first, second = Paper.objects.get(uid="one"), Paper.objects.get(uid="two")
    edit(first, title="Last Title")
    first.delete()
    between = timezone.now().isoformat()
    edit(second, title="Withdrawn Title")
    edit(second, status="withdrawn")
    edit(second, title="Never Public")

    rows = results(client, "papers", deleted="true")
    assert [(row["id"], row["title"], row["reason"]) for row in rows] == [
        ("one", "Last Title", "deleted"),
        ("two", "Withdrawn Title", "withdrawn"),
    ]
    assert [*rows[0]] == ["id", "url", "title", "deleted_at", "reason", "moved_to"]
    assert since < rows[0]["deleted_at"].replace("Z", "+00:00") < between
    assert [*gone(client, "papers", changed_since=since, edition="2021")] == ["one", "two"]
    assert [*gone(client, "papers", changed_since=between, conference="mlsys")] == ["two"]
    assert get(client, "papers/2021/one/", 410)["title"] == "Last Title"
    assert get(client, "papers/2021/two/", 410)["title"] == "Withdrawn Title"
    assert client.get("/2021/papers/two/").status_code == 410


def test_withdrawn_paper_takes_along_what_only_it_showed(client: Client, edition: Edition) -> None:
    paper = Paper.objects.get(uid="one")
    material = str(paper.materials.get().pk)
    edit(paper, status="withdrawn")

    assert all_gone(client) == {
        "papers": {"one": "withdrawn"},
        "topics": {"t-one": "hidden"},
        "materials": {material: "withdrawn"},
        "people": {"p-one": "hidden"},
        "institutions": {"i-one": "hidden"},
        "presentations": {"t-one": "withdrawn"},
    }
    edit(paper, status="published")
    assert all_gone(client) == {}
    assert Tombstone.objects.count() == 0


def test_deleted_session_takes_along_its_room_and_people(client: Client, edition: Edition) -> None:
    Session.objects.get(uid="s-one").delete()

    assert all_gone(client) == {
        "sessions": {"s-one": "deleted"},
        "people": {"c-one": "hidden"},
        "rooms": {"r-one": "hidden"},
    }


@pytest.mark.parametrize(
    "take_back",
    [
        lambda: Paper.objects.filter(uid="one").update(status="draft"),
        lambda: edit(Paper.objects.get(uid="one"), status="draft"),
        lambda: Paper.objects.bulk_update(
            [make_draft(paper) for paper in Paper.objects.filter(uid="one")], ["status"]
        ),
    ],
    ids=["update", "save", "bulk_update"],
)
def test_drafts_leave_their_id_and_time_alone(
    client: Client, edition: Edition, take_back: Callable[[], object]
) -> None:
    take_back()

    assert gone(client, "papers") == {"one": "hidden"}
    assert {row["title"] for row in results(client, "papers", deleted="true")} == {""}
    assert set(Tombstone.objects.values_list("title", flat=True)) == {""}
    get(client, "papers/2021/one/", 404)
    assert client.get("/2021/papers/one/").status_code == 404


def make_draft(paper: Paper) -> Paper:
    paper.status = "draft"
    return paper


def test_removed_author_and_institution_are_gone(client: Client, edition: Edition) -> None:
    author = Authorship.objects.get(paper__uid="one")
    author.institutions.clear()
    assert all_gone(client) == {"institutions": {"i-one": "hidden"}}
    author.institutions.add(Institution.objects.get(slug="i-one"))
    assert all_gone(client) == {}
    author.delete()
    assert all_gone(client) == {"institutions": {"i-one": "hidden"}, "people": {"p-one": "hidden"}}
    make.add_author(Paper.objects.get(uid="one"), Person.objects.get(uid="p-one"))
    assert all_gone(client) == {"institutions": {"i-one": "hidden"}}


def test_moved_session_leaves_its_room(client: Client, edition: Edition) -> None:
    session = Session.objects.get(uid="s-one")
    edit(session, room=Room.objects.get(slug="r-two"))
    assert all_gone(client) == {"rooms": {"r-one": "hidden"}}
    edit(session, room=Room.objects.get(slug="r-one"))
    assert all_gone(client) == {}


def test_changed_slug_leads_to_the_new_one(client: Client, edition: Edition) -> None:
    page = make.make_page(edition, slug="old", title="Venue")
    edit(page, slug="new")

    row = results(client, "pages", deleted="true")[0]
    assert (row["id"], row["reason"], row["title"]) == ("old", "moved", "")
    assert row["moved_to"].endswith("/pages/2021/new/")
    response = client.get(row["url"])
    assert (response.status_code, response["Location"]) == (301, row["moved_to"])


def test_merged_person_leads_to_the_one_that_stays(client: Client, edition: Edition) -> None:
    one, two = Person.objects.get(uid="p-one"), Person.objects.get(uid="p-two")
    merge(one, [two])

    row = results(client, "people", deleted="true")[0]
    assert (row["id"], row["name"], row["reason"]) == ("p-two", "", "merged")
    assert row["moved_to"].endswith("/people/p-one/")
    assert client.get("/api/v1/people/p-two/").status_code == 301


def test_rows_that_were_never_public_have_no_tombstone(client: Client, edition: Edition) -> None:
    closed = make.make_edition(2022, papers_public_from=timezone.now() + timedelta(days=1))
    for place, status in ((edition, "draft"), (closed, "published")):
        person = make.make_person(f"Unknown {place.year}")
        paper = make.make_paper(place, [person], uid="embargoed", status=status)
        paper.authorships.get().institutions.add(make.make_institution(slug=f"unknown-{place.year}"))
        make.make_material(paper)
        make.make_presentation(Session.objects.get(uid="s-one"), paper, uid=f"t-{place.year}")
        edit(paper, status="withdrawn")
        edit(paper, status=status)
        paper.delete()
    with recording(Origin.CODE):
        for paper in (make.make_paper(edition, uid="at-once"), make.make_paper(edition, status="draft")):
            edit(paper, status="published")
            edit(paper, status="draft")
        Paper.objects.get(uid="at-once").delete()

    assert Tombstone.objects.count() == 0


def test_closed_gate_leaves_one_tombstone_for_its_part(client: Client, edition: Edition) -> None:
    edit(edition, papers_public_from=None)

    for name in PAPER_RESOURCES:
        assert gone(client, name) == {None: "closed"}, name
    assert results(client, "papers", deleted="true")[0]["url"].endswith("/papers/?edition=2021")
    for name in SCHEDULE_RESOURCES:
        assert gone(client, name) == {}, name
    assert gone(client, "people") == {"p-one": "hidden", "p-two": "hidden"}
    Paper.objects.get(uid="one").presentations.get().delete()
    # Talks without papers stay, so that those of papers are named.
    assert gone(client, "presentations") == {"t-one": "hidden", "t-two": "hidden"}
    edit(edition, papers_public_from=make.PAST)
    # What was deleted meanwhile is not back; what was closed stays told, so that no copy misses it.
    assert gone(client, "presentations") == {"t-one": "hidden"}
    assert gone(client, "papers") == {None: "closed"}
    assert gone(client, "people") == {}


def test_closed_edition_hides_the_titles_of_its_deleted_rows(client: Client, edition: Edition) -> None:
    Paper.objects.get(uid="one").delete()
    assert "one" in gone(client, "papers")
    for gate in ("papers_public_from", "public_from"):
        edit(edition, **{gate: None})
        assert gone(client, "papers") == {None: "closed"}
        get(client, "papers/2021/one/", 404)
        edit(edition, **{gate: make.PAST})
    assert gone(client, "papers")["one"] == "deleted"
    assert gone(client, "editions") == {}


def test_closed_edition_is_gone_with_its_conference(client: Client, edition: Edition) -> None:
    edit(edition, public_from=None)

    assert gone(client, "editions") == {"2021": "hidden"}
    assert gone(client, "conferences") == {"mlsys": "hidden"}
    assert gone(client, "sessions") == {None: "closed"}


def test_postponed_announcement_is_gone_until_its_time(client: Client, edition: Edition) -> None:
    news = make.make_announcement(edition, uid="later", title="Secret")
    edit(news, published_at=timezone.now() + timedelta(days=1))
    assert gone(client, "announcements") == {"later": "hidden"}
    edit(news, published_at=make.PAST)
    assert gone(client, "announcements") == {}


def test_reused_id_is_not_gone(client: Client, edition: Edition) -> None:
    Paper.objects.get(uid="one").delete()
    make.make_paper(edition, uid="one", title="Again")

    assert gone(client, "papers") == {}
    assert get(client, "papers/2021/one/")["title"] == "Again"


def test_gone_rows_are_paginated(client: Client, edition: Edition) -> None:
    for uid in ("two", "one"):
        Paper.objects.get(uid=uid).delete()
    first = get(client, "papers/", deleted="true", page_size=1)
    second = client.get(first["next"]).json()

    uids = [row["id"] for row in (*first["results"], *second["results"])]
    assert (uids, second["next"]) == (["two", "one"], None)


@pytest.mark.parametrize(("name", "value"), [("fields", "id"), ("track", "Research"), ("format", "csv")])
def test_parameter_that_cannot_filter_gone_rows_is_refused(
    client: Client, edition: Edition, name: str, value: str
) -> None:
    Paper.objects.filter(uid="one").update(track="Research")

    assert get(client, "papers/", 400, deleted="true", **{name: value})["parameter"] == name
    assert get(client, "papers/", 400, deleted="maybe")["parameter"] == "deleted"


def test_hidden_rows_are_not_gone(client: Client, program: dict[str, Any]) -> None:
    for name in RESOURCES:
        content = client.get(f"/api/v1/{name}/?deleted=true").content.decode().lower()
        assert MARKER_LOWER not in content, name


@pytest.mark.parametrize("count", [1, 3])
def test_query_count_of_gone_rows_is_the_same_for_1_and_3_rows(
    client: Client, django_assert_num_queries: Any, count: int
) -> None:
    edition = make.make_edition()
    papers = [make.make_paper(edition) for _ in range(count)]
    for paper in papers:
        make.make_presentation(make.make_session(edition), paper)
    for paper in papers:
        paper.delete()

    with django_assert_num_queries(4 + (connection.vendor == "postgresql")):
        assert len(gone(client, "presentations")) == count


def test_what_is_public_or_gone_is_every_row_that_was_public(client: Client, edition: Edition) -> None:
    """A copy that follows changes and tombstones has the rows of a full read, after each of many edits."""
    copies = {name: {*ids(client, name)} for name in RESOURCES}
    hidden = make.make_material(Paper.objects.get(uid="two"))
    edits: list[Callable[[], object]] = [
        lambda: edit(hidden, visible=False),
        lambda: edit(Session.objects.get(uid="s-one"), status="draft"),
        lambda: Presentation.objects.filter(uid="t-two").delete(),
        lambda: edit(Session.objects.get(uid="s-one"), status="published"),
        lambda: Material.objects.all().delete(),
        lambda: Authorship.objects.filter(paper__uid="two").delete(),
        lambda: edit(edition, papers_public_from=None),
        lambda: edit(edition, papers_public_from=make.PAST),
        lambda: Paper.objects.all().delete(),
        lambda: edit(edition, schedule_public_from=None),
    ]
    for number, make_edit in enumerate(edits):
        since = timezone.now().isoformat()
        make_edit()
        for name, copy in copies.items():
            for row in results(client, name, deleted="true", changed_since=since):
                copy -= {row["id"]} if row["id"] else {*copy}
            full = {*ids(client, name)}
            assert copy <= full, (number, name)
            copies[name] = full
