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
from tests.access.permission_table import MODELS, NOT_ADDABLE, READ_ONLY, role_permissions
from tests.access.test_members import MEMBERS, link_of, new_account, post_invitation
from tests.access.world import add_member, signed_in_client
from tests.api.writing import Writer, make_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(2021, **make.CLOSED)


def reloaded(user: User) -> User:
    """Return the account as the next request reads it."""
    return User.objects.get(pk=user.pk)


def limit_to_parts(user: User, *parts: str) -> User:
    user.memberships.update(parts=list(parts))
    return user


# The page that describes the roles


@pytest.mark.parametrize("role", Role)
def test_role_description_matches_the_permission_table(role: Role) -> None:
    line, described = role_line(role), dict[str, str]()
    for labels, letters in ((line.edits, "vacd"), (line.changes, "vc"), (line.sees, "v")):
        described |= dict.fromkeys(labels, letters)
    # Tokens and rows written by imports are read-only, whatever the permissions.
    excluded = READ_ONLY | NOT_ADDABLE | {"exchange.importjob", "api.token"}
    expected = {label: role_permissions(role, label) for label in MODELS if label not in excluded}
    if role == Role.CHAIR:
        # The member in the table is an owner, whom a program chair may not change.
        expected["accounts.membership"] = "vacd"

    assert {label: described.get(label, "") for label in expected} == expected


def test_roles_page_lists_members_with_their_scope(edition: Edition) -> None:
    topic = make.make_topic(edition, "Compilers")
    limit_to_parts(add_member("tina", edition, Role.TRACK_CHAIR), f"topic:{topic.pk}")
    olga = User.objects.create_user("olga", is_staff=True)
    Membership.objects.create(user=olga, conference=edition.conference, role=Role.OWNER)
    page = signed_in_client(olga).get(f"{MEMBERS}roles/?edition={edition.pk}")

    assert [line.role for line, _holders in page.context["lines"]] == [*Role]
    assert {line.role: holders for line, holders in page.context["lines"] if holders} == {
        "owner": ["olga (all editions)"], "track_chair": ["tina (Compilers)"],
    }  # fmt: skip
    assert "Edits sponsors. Sees the edition’s settings, and nothing else." in page.text


def test_roles_page_is_open_to_owners_and_chairs_only(edition: Edition) -> None:
    statuses = {
        role: signed_in_client(add_member(role, edition, role))
        .get(f"{MEMBERS}roles/?edition={edition.pk}")
        .status_code
        for role in Role.values
    }

    assert {role for role, status in statuses.items() if status == 200} == {"owner", "chair"}


def test_role_table_has_a_line_for_each_role() -> None:
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
def track_chair(edition: Edition) -> User:
    """Return the chair of the topic Compilers and its subtopics, and of the track Industry."""
    topic = make.make_topic(edition, "Compilers")
    subtopic = make.make_topic(edition, "Parsers", parent=topic)
    make.make_paper(edition, ["Ada"], title="Own", topic=topic, status="draft", uid="own")
    make.make_paper(edition, ["Bob"], title="Below", topic=subtopic, status="draft", uid="below")
    make.make_paper(edition, ["Cleo"], title="Industrial", track="Industry", status="draft", uid="industrial")
    make.make_paper(edition, ["Dan"], title="Foreign", status="draft", uid="foreign")
    user = add_member("tina", edition, Role.TRACK_CHAIR)
    return limit_to_parts(user, f"topic:{topic.pk}", "track:Industry")


def paper_key(uid: str) -> int:
    return Paper.objects.get(uid=uid).pk


def test_track_chair_sees_only_own_papers(track_chair: User) -> None:
    client = signed_in_client(track_chair)
    papers = client.get("/admin/papers/paper/").context["cl"].result_list
    authors = client.get("/admin/papers/authorship/").context["cl"].result_list
    exported = client.get("/admin/papers/paper/export/csv/")
    body = b"".join(exported.streaming_content) if exported.streaming else exported.content  # type: ignore[attr-defined]
    pages = {
        (uid, page): client.get(f"/admin/papers/paper/{paper_key(uid)}/{page}/").status_code
        for uid in ("own", "foreign")
        for page in ("change", "history")
    }

    assert {str(row) for row in papers} == {"Own", "Below", "Industrial"}
    assert {row.name for row in authors} == {"Ada", "Bob", "Cleo"}
    assert (b"Industrial" in body, b"Foreign" in body) == (True, False)
    assert {page for page, status in pages.items() if status == 200} == {
        ("own", "change"),
        ("own", "history"),
    }


def test_track_chair_runs_actions_only_on_own_papers(track_chair: User) -> None:
    action = {"_selected_action": [paper_key("own"), paper_key("foreign")], "index": "0", "action": "publish"}
    client = signed_in_client(track_chair)
    page = client.post("/admin/papers/paper/", action)
    assert page.status_code == 200
    client.post("/admin/papers/paper/", {**action, "_confirmed": confirmation_digest(page)})

    assert {*Paper.objects.filter(status="published").values_list("uid", flat=True)} == {"own"}


def confirmation_digest(page: Any) -> str:
    """Return the value that the button of a bulk action's page submits."""
    match = re.search(r'name="_confirmed" value="([^"]*)"', page.text)
    assert match, page.text
    return match[1]


def test_track_chair_writes_only_own_papers_over_the_api(edition: Edition, track_chair: User) -> None:
    writer, admin = Writer(make_token(track_chair, "write")), Writer()
    for uid, status, material_status in (("own", 200, 201), ("foreign", 404, 400)):
        version = admin.get(f"papers/2021/{uid}/")["ETag"]
        writer.request("patch", f"papers/2021/{uid}/", {"title": "New"}, status, HTTP_IF_MATCH=version)
        material = {"paper": f"2021/{uid}", "kind": "pdf", "href": "https://example.org/s.pdf"}
        writer.create("materials", material_status, **material)
    papers = writer.get("papers/?edition=2021").json()["results"]

    assert {paper["id"] for paper in papers} == {"own", "below", "industrial"}


def test_track_chair_orders_own_talks_and_sees_their_sessions(edition: Edition, track_chair: User) -> None:
    session, other = make.make_session(edition, title="Here"), make.make_session(edition, title="There")
    talk = make.make_presentation(session, Paper.objects.get(uid="own"))
    foreign = make.make_presentation(session, Paper.objects.get(uid="foreign"))
    access = access_of(reloaded(track_chair))

    assert [access.may("view", type(row), row) for row in (session, other)] == [True, False]
    assert [access.may("change", type(row), row) for row in (talk, foreign, session)] == [True, False, False]
    assert access.fields(type(talk), talk) == frozenset({"position", "start", "end", "recording_url"})


def test_track_chair_cannot_move_an_author_to_a_foreign_paper(track_chair: User) -> None:
    authorship = Authorship.objects.get(paper__uid="own")
    access = access_of(reloaded(track_chair))
    moved_authorship = Authorship.objects.get(pk=authorship.pk)
    moved_authorship.paper = Paper.objects.get(uid="foreign")
    new_authorships = {
        uid: Authorship(paper=Paper.objects.get(uid=uid), person=authorship.person)
        for uid in ("own", "foreign")
    }

    may_change = [access.may("change", Authorship, row) for row in (authorship, moved_authorship)]
    assert may_change == [True, False]
    may_add = {uid: access.may("add", Authorship, row) for uid, row in new_authorships.items()}
    assert may_add == {"own": True, "foreign": False}


def test_unknown_topics_and_tracks_give_no_access(edition: Edition, track_chair: User) -> None:
    limit_to_parts(track_chair, "topic:987654", "track:Nowhere", "nonsense")

    assert access_of(reloaded(track_chair)).rows(Paper.objects.all()).count() == 0


# Awards, sponsors, imports


def test_awards_editor_adds_an_award_and_sees_no_email(edition: Edition) -> None:
    person = make.make_person("Ada", email="ada@example.org")
    paper = make.make_paper(edition, [person], status="draft")
    client = signed_in_client(add_member("anna", edition, Role.AWARDS))
    form = client.get(f"/admin/papers/award/add/?edition={edition.pk}")
    values = {"edition": edition.pk, "name": "Best paper", "status": "draft", "position": 0, "uid": "best"}
    values |= {
        "grants-TOTAL_FORMS": 1,
        "grants-INITIAL_FORMS": 0,
        "grants-0-paper": paper.pk,
        "grants-0-position": 0,
    }
    saved = client.post("/admin/papers/award/add/", values)
    assert saved.status_code == 302
    person_page = client.get(f"/admin/people/person/{person.pk}/change/")

    assert form.status_code == 200
    assert Award.objects.get().grants.get().paper == paper
    assert (person_page.status_code, "ada@example.org" in person_page.text) == (200, False)


def test_importer_accesses_rows_only_through_imports(edition: Edition) -> None:
    with recording(Origin.IMPORT):
        person = make.make_person("Ada", email="ada@example.org")
        paper = make.make_paper(edition, [person], title="Old", status="draft")
    run = ImportRun.objects.create(edition=edition, files=["a.json"])
    provenance = Provenance.objects.create(
        kind="paper", object_id=paper.pk, edition=edition, run=run, values={"title": "Old"}
    )
    conflict = Conflict.objects.create(
        provenance=provenance, run=run, field="title", label="Old", base="Old", ours="Old", theirs="New"
    )
    user = add_member("ines", edition, Role.IMPORTER)
    client = signed_in_client(user)
    pages = [
        "papers/paper/",
        "people/person/",
        "exchange/importjob/",
        "exchange/importjob/add/",
        "exchange/conflict/",
    ]
    are_open = [client.get(f"/admin/{page}").status_code == 200 for page in pages]
    page = client.get(f"/admin/exchange/conflict/{conflict.pk}/change/")

    assert are_open == [False, False, True, True, True]
    assert paper.pk not in concealed_rows(user)["paper"]
    assert person.pk not in protected_rows(user)["person"]
    assert (page.status_code, page.context["may"], page.context["sides"]["mark"] != "") == (200, True, True)


# Private fields


@pytest.mark.parametrize(("role", "may_read"), [(Role.VIEWER, False), (Role.PRIVATE_VIEWER, True)])
def test_private_fields_are_shown_to_private_viewers_only(
    edition: Edition, role: Role, may_read: bool
) -> None:
    with recording(Origin.IMPORT):
        person = make.make_person("Ada", email="ada@example.org")
        make.make_paper(edition, [person], status="draft")
    person.names.create(name="Augusta Former", hidden=True)
    client = signed_in_client(add_member("val", edition, role))
    form = client.get(f"/admin/people/person/{person.pk}/change/")
    found_by_email = client.get("/admin/people/person/?q=ada@example.org").context["cl"].result_list
    found_by_former_name = client.get("/admin/people/person/?q=former").context["cl"].result_list
    history = client.get(f"/admin/people/person/{person.pk}/history/")
    response = client.post(f"/admin/people/person/{person.pk}/change/", {"name": "Taken"})

    assert ("ada@example.org" in form.text, "Augusta Former" in form.text) == (may_read, may_read)
    assert ([*found_by_email] == [person], [*found_by_former_name] == [person]) == (may_read, may_read)
    assert (history.status_code == 200) is may_read
    assert (response.status_code, Person.objects.get(pk=person.pk).name) == (403, "Ada")


def test_private_viewer_reads_no_private_fields_of_another_edition(edition: Edition) -> None:
    other = make.make_edition(2022, conference=make.make_conference(slug="other"), **make.CLOSED)
    with recording(Origin.IMPORT):
        stranger = make.make_person("Zed", email="zed@example.org")
        make.make_paper(other, [stranger], status="draft")
    user = add_member("val", edition, Role.PRIVATE_VIEWER)

    assert access_of(user).may("private", Person, stranger) is False


# A series


def test_role_in_a_series_applies_to_all_its_editions(edition: Edition) -> None:
    user = User.objects.create_user("sam", is_staff=True)
    Membership.objects.create(user=user, conference=edition.conference, role=Role.SPONSORS)
    next_edition = make.make_edition(2023, conference=edition.conference, **make.CLOSED)
    unrelated = make.make_edition(2022, conference=make.make_conference(slug="other"), **make.CLOSED)
    editions = (edition, next_edition, unrelated)
    rows = [make.make_sponsor(sponsored, "S", status="draft") for sponsored in editions]
    access = access_of(reloaded(user))

    assert [access.may("change", type(row), row) for row in rows] == [True, True, False]


def test_roles_of_a_user_add_up(edition: Edition) -> None:
    user = add_member("anna", edition, Role.AWARDS)
    Membership.objects.create(user=user, conference=edition.conference, role=Role.SPONSORS)
    access = access_of(reloaded(user))

    assert access.roles == {edition.pk: frozenset({"awards", "sponsors"})}
    assert [access.may("add", model) for model in (Award, type(make.make_sponsor(edition, "S")), Paper)] == [
        True, True, False,
    ]  # fmt: skip


def test_owner_of_a_series_invites_to_it(edition: Edition) -> None:
    owner = signed_in_client(add_member("olga", edition, Role.OWNER))
    link = link_of(post_invitation(owner, edition, role="sponsors", where="series"))
    page = Client().post(link, new_account(), follow=True)
    member = Membership.objects.get(role="sponsors")

    assert (member.edition, member.conference) == (None, edition.conference)
    assert "Welcome. You are Sponsors editor of MLSys." in page.text
    assert "(all editions)" in owner.get(MEMBERS).text


def test_owner_of_one_edition_cannot_invite_to_the_series(edition: Edition) -> None:
    make.make_edition(2022, conference=edition.conference)
    owner = signed_in_client(add_member("olga", edition, Role.OWNER))
    form = owner.get(f"{MEMBERS}add/?edition={edition.pk}").context["form"]
    post_invitation(owner, edition, role="sponsors", where="series")

    assert "where" not in form.fields
    assert Invitation.objects.get().edition == edition


def test_track_chair_is_invited_with_topics(edition: Edition) -> None:
    topic = make.make_topic(edition, "Compilers")
    owner = signed_in_client(add_member("olga", edition, Role.OWNER))
    values = {"role": "track_chair", "parts": [f"topic:{topic.pk}"]}
    refused = post_invitation(owner, edition, role="track_chair")
    in_series = post_invitation(owner, edition, where="series", **values)
    link = link_of(post_invitation(owner, edition, **values))
    Client().post(link, new_account())
    member = Membership.objects.get(role="track_chair")

    assert "Choose at least one topic or track." in refused.text
    assert "Nobody has this role in a series. Choose the edition." in in_series.text
    assert (member.edition, member.parts) == (edition, [f"topic:{topic.pk}"])
    assert "(Compilers)" in owner.get(MEMBERS).text


def test_second_task_role_is_added_and_an_included_role_is_replaced(edition: Edition) -> None:
    owner = signed_in_client(add_member("olga", edition, Role.OWNER))
    user = User.objects.create_user("bob", is_staff=True)
    for role in ("awards", "sponsors"):
        signed_in_client(user).post(link_of(post_invitation(owner, edition, role=role)))
    both = {*user.memberships.values_list("role", flat=True)}
    signed_in_client(user).post(link_of(post_invitation(owner, edition, role="editor")))

    assert both == {"awards", "sponsors"}
    assert [*user.memberships.values_list("role", flat=True)] == ["editor"]


def test_membership_can_be_limited_to_a_topic(edition: Edition) -> None:
    topic = make.make_topic(edition, "Compilers")
    owner = signed_in_client(add_member("olga", edition, Role.OWNER))
    member = add_member("tina", edition, Role.VIEWER).memberships.get()
    page = owner.get(f"{MEMBERS}{member.pk}/change/")
    owner.post(f"{MEMBERS}{member.pk}/change/", {"role": "track_chair", "parts": [f"topic:{topic.pk}"]})
    member.refresh_from_db()

    assert "Edits sponsors. Sees the edition’s settings, and nothing else." in page.text
    assert (member.role, member.parts) == ("track_chair", [f"topic:{topic.pk}"])


def test_last_owner_through_a_series_cannot_be_removed(edition: Edition) -> None:
    user = User.objects.create_user("olga", is_staff=True)
    member = Membership.objects.create(user=user, conference=edition.conference, role=Role.OWNER)
    page = signed_in_client(user).post(f"{MEMBERS}{member.pk}/delete/", {"post": "yes"})

    assert "would have no owner." in page.text
    assert Membership.objects.filter(pk=member.pk).exists()
