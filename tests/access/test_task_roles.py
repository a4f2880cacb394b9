"""Roles by task, in an edition or a series: one topic or track, awards, imports, private fields."""

import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client

from accounts.access_scope import access_of
from accounts.models import Membership
from accounts.role_table import role_line, role_table
from accounts.roles import Role, includes
from conference.models import Edition
from content.history import Origin
from content.history.recording import recording
from exchange.jobs.import_permissions import concealed_rows, protected_rows
from exchange.models import Conflict, ImportRun, Provenance
from papers.models import Authorship, Award, Paper
from people.models import Invitation, Person
from tests import factories as make
from tests.access.permission_table import MODELS, NOT_ADDED, READ_ONLY, of_role
from tests.access.test_members import MEMBERS, browser, new_account
from tests.access.world import add_member
from tests.api.writing import Writer, make_token

pytestmark = pytest.mark.django_db

DRAFTS = {"public_from": None, "papers_public_from": None, "schedule_public_from": None}


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(2021, **DRAFTS)


def fresh(user: User) -> User:
    """Return the account as the next request reads it."""
    return User.objects.get(pk=user.pk)


def limit(user: User, *parts: str) -> User:
    user.memberships.update(parts=list(parts))
    return user


# The page in words


@pytest.mark.parametrize("role", Role)
def test_page_says_what_the_access_table_says(role: Role) -> None:
    line, said = role_line(role), dict[str, str]()
    for labels, letters in ((line.edits, "vacd"), (line.changes, "vc"), (line.sees, "v")):
        said |= dict.fromkeys(labels, letters)
    # Tokens and rows written by imports are read-only, whatever the permissions.
    left_out = READ_ONLY | NOT_ADDED | {"exchange.importjob", "api.token"}
    expected = {label: of_role(role, label) for label in MODELS if label not in left_out}
    if role == Role.CHAIR:
        # The member in the table is an owner, whom a program chair may not change.
        expected["accounts.membership"] = "vacd"

    assert {label: said.get(label, "") for label in expected} == expected


def test_page_lists_members_with_edition_series_and_topics(edition: Edition) -> None:
    topic = make.make_topic(edition, "Compilers")
    limit(add_member("tina", edition, Role.TRACK_CHAIR), f"topic:{topic.pk}")
    olga = User.objects.create_user("olga", is_staff=True)
    Membership.objects.create(user=olga, conference=edition.conference, role=Role.OWNER)
    page = browser(olga).get(f"{MEMBERS}roles/?edition={edition.pk}")

    assert [line.role for line, _holders in page.context["lines"]] == [*Role]
    assert {line.role: holders for line, holders in page.context["lines"] if holders} == {
        "owner": ["olga (all editions)"], "track_chair": ["tina (Compilers)"],
    }  # fmt: skip
    assert "Edits sponsors. Sees the edition’s settings, and nothing else." in page.text


def test_page_is_for_those_who_manage_members(edition: Edition) -> None:
    answers = {
        role: browser(add_member(role, edition, role))
        .get(f"{MEMBERS}roles/?edition={edition.pk}")
        .status_code
        for role in Role.values
    }

    assert {role for role, status in answers.items() if status == 200} == {"owner", "chair"}


def test_table_has_a_line_for_each_role() -> None:
    assert [line.role for line in role_table()] == [*Role]
    assert all(apps.get_model(label) for line in role_table() for label in line.labels)


@pytest.mark.parametrize(
    ("role", "other", "expected"),
    [
        ("owner", "private_viewer", True),
        ("chair", "editor", True),
        ("editor", "importer", True),
        ("editor", "track_chair", True),
        ("viewer", "private_viewer", False),
        ("private_viewer", "viewer", True),
        ("awards", "sponsors", False),
        ("track_chair", "track_chair", False),
    ],
)
def test_role_includes_another(role: str, other: str, expected: bool) -> None:
    assert includes(role, other) is expected


# One topic or track


@pytest.fixture
def tina(edition: Edition) -> User:
    """Return the chair of the topic Compilers and its subtopics, and of the track Industry."""
    topic = make.make_topic(edition, "Compilers")
    below = make.make_topic(edition, "Parsers", parent=topic)
    make.make_paper(edition, ["Ada"], title="Own", topic=topic, status="draft", uid="own")
    make.make_paper(edition, ["Bob"], title="Below", topic=below, status="draft", uid="below")
    make.make_paper(edition, ["Cleo"], title="Industrial", track="Industry", status="draft", uid="industrial")
    make.make_paper(edition, ["Dan"], title="Foreign", status="draft", uid="foreign")
    return limit(add_member("tina", edition, Role.TRACK_CHAIR), f"topic:{topic.pk}", "track:Industry")


def key(uid: str) -> int:
    return Paper.objects.get(uid=uid).pk


def test_track_chair_meets_own_papers_alone(tina: User) -> None:
    client = browser(tina)
    listed = client.get("/admin/papers/paper/").context["cl"].result_list
    authors = client.get("/admin/papers/authorship/").context["cl"].result_list
    exported = client.get("/admin/papers/paper/export/csv/")
    body = b"".join(exported.streaming_content) if exported.streaming else exported.content  # type: ignore[attr-defined]
    pages = {
        (uid, page): client.get(f"/admin/papers/paper/{key(uid)}/{page}/").status_code
        for uid in ("own", "foreign")
        for page in ("change", "history")
    }

    assert {str(row) for row in listed} == {"Own", "Below", "Industrial"}
    assert {row.name for row in authors} == {"Ada", "Bob", "Cleo"}
    assert (b"Industrial" in body, b"Foreign" in body) == (True, False)
    assert {page for page, status in pages.items() if status == 200} == {
        ("own", "change"),
        ("own", "history"),
    }


def test_track_chair_runs_actions_on_own_papers_alone(tina: User) -> None:
    chosen = {"_selected_action": [key("own"), key("foreign")], "index": "0", "action": "publish"}
    client = browser(tina)
    page = client.post("/admin/papers/paper/", chosen)
    assert page.status_code == 200
    client.post("/admin/papers/paper/", {**chosen, "_confirmed": confirmed(page)})

    assert {*Paper.objects.filter(status="published").values_list("uid", flat=True)} == {"own"}


def confirmed(page: Any) -> str:
    """Return the value that the button of a bulk action's page submits."""
    found = re.search(r'name="_confirmed" value="([^"]*)"', page.text)
    assert found, page.text
    return found[1]


def test_track_chair_writes_own_papers_alone_over_the_api(edition: Edition, tina: User) -> None:
    staff, admin = Writer(make_token(tina, "write")), Writer()
    answers = {}
    for uid in ("own", "foreign"):
        tag = {"HTTP_IF_MATCH": admin.get(f"papers/2021/{uid}/")["ETag"]}
        patch = staff.client.patch(
            f"/api/v1/papers/2021/{uid}/",
            {"title": "New"},
            content_type="application/json",
            **staff.headers,
            **tag,
        )
        answers[uid] = patch.status_code
    added = {
        uid: staff.client.post(
            "/api/v1/materials/",
            {"paper": f"2021/{uid}", "kind": "pdf", "href": "https://example.org/s.pdf"},
            content_type="application/json",
            **staff.headers,
        ).status_code
        for uid in ("own", "foreign")
    }
    listed = staff.client.get("/api/v1/papers/?edition=2021", **staff.headers).json()["results"]

    assert answers == {"own": 200, "foreign": 404}
    assert (added["own"], added["foreign"] in (400, 403, 404)) == (201, True)
    assert {one["id"] for one in listed} == {"own", "below", "industrial"}


def test_track_chair_orders_own_talks_and_sees_their_sessions(edition: Edition, tina: User) -> None:
    session, other = make.make_session(edition, title="Here"), make.make_session(edition, title="There")
    talk = make.make_presentation(session, Paper.objects.get(uid="own"))
    foreign = make.make_presentation(session, Paper.objects.get(uid="foreign"))
    access = access_of(fresh(tina))

    assert [access.may("view", type(one), one) for one in (session, other)] == [True, False]
    assert [access.may("change", type(one), one) for one in (talk, foreign, session)] == [True, False, False]
    assert access.fields(type(talk), talk) == frozenset({"position", "start", "end", "recording_url"})


def test_track_chair_takes_no_author_to_a_foreign_paper(tina: User) -> None:
    own = Authorship.objects.get(paper__uid="own")
    access = access_of(fresh(tina))
    moved = Authorship.objects.get(pk=own.pk)
    moved.paper = Paper.objects.get(uid="foreign")
    new = {uid: Authorship(paper=Paper.objects.get(uid=uid), person=own.person) for uid in ("own", "foreign")}

    assert (access.may("change", Authorship, own), access.may("change", Authorship, moved)) == (True, False)
    assert {uid: access.may("add", Authorship, row) for uid, row in new.items()} == {
        "own": True,
        "foreign": False,
    }


def test_topic_that_is_gone_opens_nothing(edition: Edition, tina: User) -> None:
    limit(tina, "topic:987654", "track:Nowhere", "nonsense")

    assert access_of(fresh(tina)).rows(Paper.objects.all()).count() == 0


# Awards, sponsors, imports


def test_awards_editor_adds_an_award_and_sees_no_address(edition: Edition) -> None:
    person = make.make_person("Ada", email="ada@example.org")
    paper = make.make_paper(edition, [person], status="draft")
    client = browser(add_member("anna", edition, Role.AWARDS))
    form = client.get(f"/admin/papers/award/add/?edition={edition.pk}")
    sent = {"edition": edition.pk, "name": "Best paper", "status": "draft", "position": 0, "uid": "best"}
    sent |= {
        "grants-TOTAL_FORMS": 1,
        "grants-INITIAL_FORMS": 0,
        "grants-0-paper": paper.pk,
        "grants-0-position": 0,
    }
    saved = client.post("/admin/papers/award/add/", sent)
    assert saved.status_code == 302
    seen = client.get(f"/admin/people/person/{person.pk}/change/")

    assert form.status_code == 200
    assert Award.objects.get().grants.get().paper == paper
    assert (seen.status_code, "ada@example.org" in seen.text) == (200, False)


def test_importer_reaches_rows_through_files_alone(edition: Edition) -> None:
    with recording(Origin.IMPORT):
        person = make.make_person("Ada", email="ada@example.org")
        paper = make.make_paper(edition, [person], title="Old", status="draft")
    run = ImportRun.objects.create(edition=edition, files=["a.json"])
    memory = Provenance.objects.create(
        kind="paper", object_id=paper.pk, edition=edition, run=run, values={"title": "Old"}
    )
    conflict = Conflict.objects.create(
        provenance=memory, run=run, field="title", label="Old", base="Old", ours="Old", theirs="New"
    )
    user = add_member("ines", edition, Role.IMPORTER)
    client = browser(user)
    pages = [
        "papers/paper/",
        "people/person/",
        "exchange/importjob/",
        "exchange/importjob/add/",
        "exchange/conflict/",
    ]
    answers = [client.get(f"/admin/{page}").status_code == 200 for page in pages]
    page = client.get(f"/admin/exchange/conflict/{conflict.pk}/change/")

    assert answers == [False, False, True, True, True]
    assert [paper.pk in concealed_rows(user)["paper"], person.pk in protected_rows(user)["person"]] == [
        False,
        False,
    ]
    assert (page.status_code, page.context["may"], page.context["sides"]["seen"] != "") == (200, True, True)


# Private fields


@pytest.mark.parametrize(("role", "reads"), [(Role.VIEWER, False), (Role.PRIVATE_VIEWER, True)])
def test_private_fields_of_people(edition: Edition, role: Role, reads: bool) -> None:
    with recording(Origin.IMPORT):
        person = make.make_person("Ada", email="ada@example.org")
        make.make_paper(edition, [person], status="draft")
    person.names.create(name="Augusta Former", hidden=True)
    client = browser(add_member("val", edition, role))
    form = client.get(f"/admin/people/person/{person.pk}/change/")
    found = client.get("/admin/people/person/?q=ada@example.org").context["cl"].result_list
    former = client.get("/admin/people/person/?q=former").context["cl"].result_list
    history = client.get(f"/admin/people/person/{person.pk}/history/")
    post = client.post(f"/admin/people/person/{person.pk}/change/", {"name": "Taken"})

    assert ("ada@example.org" in form.text, "Augusta Former" in form.text) == (reads, reads)
    assert ([*found] == [person], [*former] == [person]) == (reads, reads)
    assert (history.status_code == 200) is reads
    assert (post.status_code, Person.objects.get(pk=person.pk).name) == (403, "Ada")


def test_private_viewer_reads_nothing_private_of_another_edition(edition: Edition) -> None:
    other = make.make_edition(2022, conference=make.make_conference(slug="other"), **DRAFTS)
    with recording(Origin.IMPORT):
        stranger = make.make_person("Zed", email="zed@example.org")
        make.make_paper(other, [stranger], status="draft")
    user = add_member("val", edition, Role.PRIVATE_VIEWER)

    assert access_of(user).may("private", Person, stranger) is False


# A series


def test_role_in_a_series_holds_in_all_its_editions(edition: Edition) -> None:
    user = User.objects.create_user("sam", is_staff=True)
    Membership.objects.create(user=user, conference=edition.conference, role=Role.SPONSORS)
    later = make.make_edition(2023, conference=edition.conference, **DRAFTS)
    beside = make.make_edition(2022, conference=make.make_conference(slug="other"), **DRAFTS)
    rows = [make.make_sponsor(one, "S", status="draft") for one in (edition, later, beside)]
    access = access_of(fresh(user))

    assert [access.may("change", type(row), row) for row in rows] == [True, True, False]


def test_roles_add_up(edition: Edition) -> None:
    user = add_member("anna", edition, Role.AWARDS)
    Membership.objects.create(user=user, conference=edition.conference, role=Role.SPONSORS)
    access = access_of(fresh(user))

    assert access.roles == {edition.pk: frozenset({"awards", "sponsors"})}
    assert [access.may("add", model) for model in (Award, type(make.make_sponsor(edition, "S")), Paper)] == [
        True, True, False,
    ]  # fmt: skip


def invitation(client: Client, edition: Edition, **values: Any) -> Any:
    sent = {"name": "Ada", "email": "ada@example.org", "edition": edition.pk, "person": "", **values}
    return client.post(f"{MEMBERS}add/?edition={edition.pk}", sent)


def link_of(page: Any) -> str:
    return (
        str(page.context["link"]).partition("testserver")[2]
        or "/" + str(page.context["link"]).split("/", 3)[3]
    )


def test_owner_of_a_series_invites_to_it(edition: Edition) -> None:
    owner = browser(add_member("olga", edition, Role.OWNER))
    link = link_of(invitation(owner, edition, role="sponsors", where="series"))
    page = Client().post(link, new_account(), follow=True)
    member = Membership.objects.get(role="sponsors")

    assert (member.edition, member.conference) == (None, edition.conference)
    assert "Welcome. You are Sponsors editor of MLSys." in page.text
    assert "(all editions)" in owner.get(MEMBERS).text


def test_owner_of_one_edition_invites_to_that_one_alone(edition: Edition) -> None:
    make.make_edition(2022, conference=edition.conference)
    owner = browser(add_member("olga", edition, Role.OWNER))
    form = owner.get(f"{MEMBERS}add/?edition={edition.pk}").context["form"]
    invitation(owner, edition, role="sponsors", where="series")

    assert "where" not in form.fields
    assert Invitation.objects.get().edition == edition


def test_track_chair_is_invited_with_topics(edition: Edition) -> None:
    topic = make.make_topic(edition, "Compilers")
    owner = browser(add_member("olga", edition, Role.OWNER))
    refused = invitation(owner, edition, role="track_chair")
    in_series = invitation(owner, edition, role="track_chair", where="series", parts=[f"topic:{topic.pk}"])
    link = link_of(invitation(owner, edition, role="track_chair", parts=[f"topic:{topic.pk}"]))
    Client().post(link, new_account())
    member = Membership.objects.get(role="track_chair")

    assert "Choose at least one topic or track." in refused.text
    assert "Nobody has this role in a series. Choose the edition." in in_series.text
    assert (member.edition, member.parts) == (edition, [f"topic:{topic.pk}"])
    assert "(Compilers)" in owner.get(MEMBERS).text


def test_second_task_is_added_and_a_lesser_role_is_replaced(edition: Edition) -> None:
    owner = browser(add_member("olga", edition, Role.OWNER))
    user = User.objects.create_user("bob", is_staff=True)
    for role in ("awards", "sponsors"):
        browser(user).post(link_of(invitation(owner, edition, role=role)))
    both = {*user.memberships.values_list("role", flat=True)}
    browser(user).post(link_of(invitation(owner, edition, role="editor")))

    assert both == {"awards", "sponsors"}
    assert [*user.memberships.values_list("role", flat=True)] == ["editor"]


def test_membership_is_changed_to_a_topic(edition: Edition) -> None:
    topic = make.make_topic(edition, "Compilers")
    owner = browser(add_member("olga", edition, Role.OWNER))
    member = add_member("tina", edition, Role.VIEWER).memberships.get()
    page = owner.get(f"{MEMBERS}{member.pk}/change/")
    owner.post(f"{MEMBERS}{member.pk}/change/", {"role": "track_chair", "parts": [f"topic:{topic.pk}"]})
    member.refresh_from_db()

    assert "Edits sponsors. Sees the edition’s settings, and nothing else." in page.text
    assert (member.role, member.parts) == ("track_chair", [f"topic:{topic.pk}"])


def test_series_keeps_the_last_owner_of_an_edition(edition: Edition) -> None:
    user = User.objects.create_user("olga", is_staff=True)
    member = Membership.objects.create(user=user, conference=edition.conference, role=Role.OWNER)
    page = browser(user).post(f"{MEMBERS}{member.pk}/delete/", {"post": "yes"})

    assert "would have no owner." in page.text
    assert Membership.objects.filter(pk=member.pk).exists()
