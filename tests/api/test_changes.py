"""Times of creation and change, and rows changed since a time."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from api.permissions import ANONYMOUS
from api.reader import Reader
from api.shapes import RESOURCES
from conference.models import Edition
from content.history.recording import single_change_set
from content.models import Content
from papers.models import Award, Material, Paper
from people.models import Institution, Person
from schedule.models import Session
from schedule.releases import announce
from schedule.session_kinds import SessionKind
from tests import factories as make
from tests.api.reading import ids, results
from tests.api.two_sets import make_two_sets

pytestmark = pytest.mark.django_db
RESOURCE_NAMES = (
    "papers", "people", "sessions", "presentations", "materials", "awards", "topics", "rooms", "institutions",
)  # fmt: skip


@pytest.fixture
def edition(db: None) -> Edition:
    return make_two_sets()


def changed_ids(client: Client, action: Callable[[], object]) -> dict[str, list[str]]:
    """Return the ids of the rows that an action changed, by resource; check `changed_at` against them."""
    since = timezone.now()
    action()
    ids_by_resource = {}
    for name in RESOURCE_NAMES:
        rows = results(client, name, fields="id,changed_at")
        changed = [row["id"] for row in rows if datetime.fromisoformat(row["changed_at"]) >= since]
        assert ids(client, name, changed_since=since.isoformat()) == changed, name
        if changed:
            ids_by_resource[name] = changed
    return ids_by_resource


def edit(row: Content, **fields: object) -> None:
    for name, value in fields.items():
        setattr(row, name, value)
    row.save()


def changed_by_edit(client: Client, row: Content, **fields: object) -> dict[str, list[str]]:
    return changed_ids(client, lambda: edit(row, **fields))


def test_summary_edit_changes_only_its_paper(client: Client, edition: Edition) -> None:
    paper = Paper.objects.get(uid="one")

    assert changed_by_edit(client, paper, lay_summary="New.") == {"papers": ["one"]}


def test_title_edit_changes_paper_presentation_and_material(client: Client, edition: Edition) -> None:
    paper = Paper.objects.get(uid="one")
    material = str(paper.materials.get().pk)

    assert changed_by_edit(client, paper, title="New") == {
        "papers": ["one"],
        "presentations": ["t-one"],
        "materials": [material],
    }


def test_person_name_edit_changes_the_rows_that_show_it(client: Client, edition: Edition) -> None:
    author, chair = Person.objects.get(uid="p-one"), Person.objects.get(uid="c-one")

    assert changed_by_edit(client, author, name="New Name") == {"papers": ["one"], "people": ["p-one"]}
    assert changed_by_edit(client, chair, name="New Chair") == {"sessions": ["s-one"], "people": ["c-one"]}
    hidden_name_changes = changed_ids(client, lambda: author.names.create(name="Former", hidden=True))
    assert hidden_name_changes == {"papers": ["one"], "people": ["p-one"]}


def test_edit_of_a_field_outside_the_api_changes_nothing(client: Client, edition: Edition) -> None:
    person, paper = Person.objects.get(uid="p-one"), Paper.objects.get(uid="one")

    assert changed_by_edit(client, person, email="one@example.org") == {}
    assert changed_by_edit(client, paper, announced_at=timezone.now()) == {}


def test_removed_author_changes_the_paper(client: Client, edition: Edition) -> None:
    paper = Paper.objects.get(uid="one")
    make.add_author(paper, "Zoe")

    assert changed_ids(client, lambda: paper.authorships.get(name="Zoe").delete()) == {"papers": ["one"]}


def test_award_edit_changes_the_award_and_its_name_the_winner(client: Client, edition: Edition) -> None:
    award = Award.objects.get(uid="a-two")

    assert changed_by_edit(client, award, citation="New") == {"awards": ["a-two"]}
    assert changed_by_edit(client, award, name="New") == {"awards": ["a-two"], "papers": ["two"]}


def test_moved_session_changes_its_presentations(client: Client, edition: Edition) -> None:
    session = Session.objects.get(uid="s-one")
    new_end = session.end + timedelta(hours=1)

    assert changed_by_edit(client, session, start=session.end, end=new_end) == {
        "sessions": ["s-one"],
        "presentations": ["t-one"],
    }
    ids_by_resource = changed_by_edit(client, edition, timezone="Europe/Berlin")
    assert (ids_by_resource["sessions"], ids_by_resource["presentations"]) == (
        ["s-one", "s-two"],
        ["t-one", "t-two"],
    )
    assert "papers" not in ids_by_resource


def test_publishing_a_paper_also_changes_its_talk_and_new_people(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, [make.make_person("Zoe", uid="zoe")], uid="new", status="draft")
    make.make_presentation(Session.objects.get(uid="s-one"), paper, uid="t-new")

    assert changed_by_edit(client, paper, status="published") == {
        "papers": ["new"],
        "people": ["zoe"],
        "presentations": ["t-new"],
    }


def test_paper_that_comes_or_goes_changes_the_count_of_its_topics(client: Client, edition: Edition) -> None:
    topic = edition.topics.get(slug="t-one")
    below = make.make_topic(edition, slug="below", parent=topic)
    make.make_paper(edition, uid="p-below", topic=below)
    make.make_paper(edition, uid="p-two", topic=edition.topics.get(slug="t-two"))
    other = Paper.objects.get(uid="two")
    draft = make.make_paper(edition, uid="draft", topic=below, status="draft")

    moved = changed_by_edit(client, other, topic=below)
    assert moved == {"papers": ["two"], "topics": ["t-one", "t-two", "below"]}
    assert changed_by_edit(client, draft, title="Draft") == {}
    assert changed_by_edit(client, draft, status="published")["topics"] == ["t-one", "below"]
    assert changed_ids(client, draft.delete)["topics"] == ["t-one", "below"]


def make_drafts(edition: Edition) -> None:
    """Create drafts and embargoed rows of every model that refer to the public rows."""
    person, topic = Person.objects.get(uid="p-one"), edition.topics.get(slug="t-one")
    paper, session = Paper.objects.get(uid="one"), Session.objects.get(uid="s-one")
    institution, room = Institution.objects.get(slug="i-one"), edition.rooms.get(slug="r-one")
    closed = make.make_edition(2022, license="CC0-1.0", **make.CLOSED)
    for draft_edition, status in ((edition, "draft"), (closed, "published")):
        own_topic = topic if draft_edition == edition else None
        draft = make.make_paper(draft_edition, [person], uid="draft", status=status, topic=own_topic)
        draft.authorships.get().institutions.add(institution)
        make.make_material(draft)
        make.make_award(draft_edition, [paper, person], uid="draft", status=status)
        hidden = make.make_session(draft_edition, uid="draft", status=status, room=room)
        make.add_role(hidden, person)
        talk = make.make_presentation(hidden, paper, uid="in-draft")
        talk.speakers.create(person=person, name=person.name)
        make.make_presentation(session, draft, uid=f"of-draft-{draft_edition.year}", room=room)
        make.make_presentation(session, paper, uid=f"draft-{draft_edition.year}", room=room, status="draft")
        make.make_page(draft_edition, slug="draft", status=status)
        make.make_sponsor(draft_edition, slug="draft", status=status)
        make.make_announcement(draft_edition, uid="draft", status=status)
        make.make_key_date(draft_edition, uid="draft", status=status)
        Award.objects.get(uid="a-one").grants.create(paper=draft)
        draft.delete()
    make.make_material(paper, visible=False, label="Hidden")
    make.make_announcement(edition, uid="planned", published_at=timezone.now() + timedelta(days=1))
    make.make_committee_role(closed, person)
    SessionKind.objects.create(conference=edition.conference, slug="hack", name="Hack", applies_to="session")
    closed.license = "CC-BY-4.0"
    closed.papers_public_from = timezone.now() + timedelta(days=1)
    closed.save()


def test_drafts_and_embargoed_rows_change_nothing(client: Client, edition: Edition) -> None:
    make.make_page(edition, slug="guide")
    make.make_sponsor(edition)
    make.make_announcement(edition)
    make.make_key_date(edition)
    make.make_committee_role(edition, Person.objects.get(uid="c-one"))
    announce(edition, make.PAST)
    before = {name: results(client, name, fields="id,changed_at") for name in RESOURCES}
    since = timezone.now().isoformat()
    make_drafts(edition)

    assert all(before.values())
    assert {name: results(client, name, fields="id,changed_at") for name in RESOURCES} == before
    for name in RESOURCES:
        assert ids(client, name, changed_since=since) == [], name


def test_license_edit_changes_the_rows_it_applies_to(client: Client, edition: Edition) -> None:
    paper = Paper.objects.get(uid="one")
    first, second = (str(key) for key in Material.objects.order_by("pk").values_list("pk", flat=True))

    assert changed_by_edit(client, edition, license="CC-BY-4.0") == {
        "papers": ["one", "two"],
        "materials": [first, second],
    }
    assert changed_by_edit(client, paper, license="CC0-1.0") == {"papers": ["one"], "materials": [first]}


def test_gate_opened_with_a_past_time_changes_its_rows(client: Client, edition: Edition) -> None:
    edit(edition, papers_public_from=None)
    ids_by_resource = changed_by_edit(client, edition, papers_public_from=make.PAST)

    rows_of_papers = {"papers", "materials", "awards", "topics", "presentations"}
    assert ids_by_resource.keys() == {*rows_of_papers, "people", "institutions"}
    assert ids_by_resource["papers"] == ["one", "two"]


def test_gate_that_opens_at_its_time_changes_its_rows(client: Client) -> None:
    now = timezone.now()
    closed = make.make_edition(papers_public_from=now + timedelta(days=1))
    make.make_paper(closed, ["Ada"], uid="p")
    since, later = now + timedelta(hours=23), now + timedelta(hours=25)
    resource = RESOURCES["papers"]
    filters = resource.filters
    assert filters is not None

    def changed_uids(since: datetime) -> list[str]:
        query = QueryDict(mutable=True)
        query["changed_since"] = since.isoformat()
        rows = filters(query, resource, Reader(later, ANONYMOUS)).filtered_rows()
        return [row.uid for row in rows]

    assert (changed_uids(since), changed_uids(later)) == (["p"], [])


def test_rows_created_together_have_the_created_at_of_their_paper(client: Client, edition: Edition) -> None:
    with single_change_set():
        paper = make.make_paper(edition, uid="new")
        make.make_material(paper)
        make.make_presentation(None, paper, uid="t-new")
    for name in (*RESOURCE_NAMES, "editions", "conferences"):
        for row in results(client, name):
            assert row["created_at"] is not None, name
            assert row["created_at"] <= row["changed_at"]
    created_at_by_id = {row["id"]: row["created_at"] for row in results(client, "papers")}
    assert {row["created_at"] for row in results(client, "presentations", paper="new")} == {
        created_at_by_id["new"]
    }
    assert {row["created_at"] for row in results(client, "materials", paper="new")} == {
        created_at_by_id["new"]
    }
