"""Permissions of roles over the API: the same as in the admin, and never more with a token."""

from typing import Any

import pytest

from accounts.roles import Role
from conference.models import Edition
from content.history import Origin
from content.history.recording import recording
from people.models import PersonAccount
from tests import factories as make
from tests.access.world import add_member, signed_in_client
from tests.admin_forms import admin_url
from tests.api.writing import Writer, make_staff, make_token

pytestmark = pytest.mark.django_db

# Status codes of reading a draft, and of adding, changing and deleting a paper of the edition.
EXPECTED_STATUSES = {
    "owner": (200, 201, 200, 204),
    "chair": (200, 201, 200, 204),
    "editor": (200, 201, 200, 204),
    "session_chair": (404, 403, 404, 404),
    "viewer": (200, 403, 403, 403),
    "other": (404, 400, 404, 404),
}


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(2021, **make.CLOSED)


def make_writer(role: str, edition: Edition, scope: str = "write") -> Writer:
    """Return a writer with a role in the edition; "other" is the owner of another edition."""
    member_edition = make.make_edition(2022, **make.CLOSED) if role == "other" else edition
    user = add_member("asker", member_edition, Role.OWNER if role == "other" else role)
    return Writer(make_token(user, scope))


def status_of(asker: Writer, method: str, path: str, body: Any = None, **headers: Any) -> int:
    send = getattr(asker.client, method)
    options = {"content_type": "application/json"} if method != "get" else {}
    return int(send(f"/api/v1/{path}", body, **options, **asker.headers, **headers).status_code)


@pytest.mark.parametrize("role", EXPECTED_STATUSES)
def test_permissions_on_papers_by_role(role: str, edition: Edition) -> None:
    paper = make.make_paper(edition, uid="p1", status="draft")
    asker, path = make_writer(role, edition), "papers/2021/p1/"
    version = {"HTTP_IF_MATCH": Writer().get(path)["ETag"]}
    read = status_of(asker, "get", path)
    added = status_of(asker, "post", "papers/", {"edition": "2021", "id": "new", "title": "New"})
    changed = status_of(asker, "patch", path, {"title": "Changed"}, **version)
    version = {"HTTP_IF_MATCH": Writer(make_token(make_staff(name="second"))).get(path)["ETag"]}
    deleted = status_of(asker, "delete", path, **version)

    assert (read, added, changed, deleted) == EXPECTED_STATUSES[role]
    assert type(paper).objects.filter(pk=paper.pk).exists() is (deleted != 204)


def test_session_chair_changes_only_permitted_fields_of_own_sessions(edition: Edition) -> None:
    lea = make.make_person("Lea")
    own, foreign = (make.make_session(edition, uid=uid, status="draft") for uid in ("own", "foreign"))
    make.add_role(own, lea, "chair")
    user = add_member("lea", edition, Role.SESSION_CHAIR)
    PersonAccount.objects.create(user=user, person=lea)
    asker = Writer(make_token(user))
    refused = asker.patch("sessions/2021/own/", 400, title="Taken")
    asker.patch("sessions/2021/own/", abstract="New text.")
    own.refresh_from_db()

    assert refused["errors"] == {"title": ["You don’t have permission to change this field."]}
    assert asker.get("sessions/2021/foreign/", 404).status_code == 404
    assert (own.abstract, foreign.abstract) == ("New text.", "")


@pytest.mark.parametrize(("role", "is_shown"), [("viewer", False), ("editor", True)])
def test_email_is_shown_to_editors_and_not_to_viewers(role: str, is_shown: bool, edition: Edition) -> None:
    with recording(Origin.IMPORT):
        person = make.make_person("Ada", uid="ada", email="ada@example.org")
        make.make_paper(edition, [person], status="draft")

    assert ("ada@example.org" in make_writer(role, edition, "read").get("people/ada/").text) is is_shown


@pytest.mark.parametrize(
    ("permissions", "is_shown"),
    [
        (["view_person"], False),
        (["view_person", "view_personname", "view_personidentifier"], False),
        (["view_person", "change_personname"], False),
        (["change_person"], True),
        (["view_person", "change_person", "view_personname"], True),
    ],
)
def test_admin_and_api_show_private_fields_to_the_same_accounts(
    permissions: list[str], is_shown: bool, edition: Edition
) -> None:
    person = make.make_person("Ada Lovelace", uid="ada", email="ada@example.org")
    person.names.create(name="Ada Formerly", hidden=True)
    user = make_staff(*permissions)
    writer, client = Writer(make_token(user)), signed_in_client(user)
    page = client.get(admin_url(person, "change")).text
    answer = writer.get("people/ada/").text

    assert ("ada@example.org" in page, "ada@example.org" in answer) == (is_shown, is_shown)
    assert "Ada Formerly" in answer if is_shown else "Formerly" not in page + answer
    words = ("lovelace", "ada@example.org", "formerly")
    found = ["Ada Lovelace" in client.get(f"/admin/people/person/?q={word}").text for word in words]
    assert found == [True, is_shown, is_shown]
