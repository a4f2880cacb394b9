"""Members of an edition: invited by a link that works once, changed, removed; the last owner stays."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from accounts.models import Membership
from accounts.roles import Role
from conference.models import Edition
from people.invitations import InvitationQuerySet
from people.merging import merge
from people.models import Invitation, Person, PersonAccount
from tests import factories as make
from tests.access.world import add_member, signed_in_client

pytestmark = pytest.mark.django_db

MEMBERS = "/admin/accounts/membership/"
PASSWORD = "seven small boats"
TASKS = ["private_viewer", "track_chair", "awards", "sponsors", "importer"]


def invite(client: Client, edition: Edition, role: str = "editor", person: Person | None = None) -> str:
    """Invite Ada; return the path of the link."""
    return link_of(post_invitation(client, edition, role=role, person=person.pk if person else ""))


def post_invitation(client: Client, edition: Edition, **values: Any) -> Any:
    """Post the form that invites Ada, with these values; return the response."""
    usual = {"name": "Ada Byron", "email": "ada@example.org", "edition": edition.pk, "person": ""}
    return client.post(f"{MEMBERS}add/?edition={edition.pk}", {**usual, **values})


def link_of(response: Any) -> str:
    """Return the path of the link that the page shows to copy."""
    match = re.search(r'value="[^"]*(/invitation/[^"]+)"', response.text)
    assert match, response.text
    return match[1]


def new_account(**other: str) -> dict[str, str]:
    values = {"full_name": "Ada Byron", "username": "ada@example.org"}
    return {**values, "password1": PASSWORD, "password2": PASSWORD, **other}


def test_link_creates_an_account_with_the_role(edition: Edition) -> None:
    link = invite(signed_in_client(add_member("owner", edition, Role.OWNER)), edition)
    guest = Client()
    form = guest.get(link)
    page = guest.post(link, new_account(), follow=True)
    membership = Membership.objects.get(user__username="ada@example.org")

    assert (form["Referrer-Policy"], "no-store" in form["Cache-Control"]) == ("same-origin", True)
    assert 'value="ada@example.org"' in form.text
    assert (membership.edition, membership.role, membership.user.is_staff) == (edition, "editor", True)
    assert membership.user.get_full_name() == "Ada Byron"
    assert membership.granted_by is not None
    assert membership.granted_by.username == "owner"
    assert page.redirect_chain == [(f"/admin/?edition={edition.pk}", 302)]
    assert "Welcome. You are Editor of MLSys 2021." in page.text


def test_link_works_once(edition: Edition) -> None:
    link = invite(signed_in_client(add_member("owner", edition, Role.OWNER)), edition)
    Client().post(link, new_account())
    responses = [Client().get(link), Client().post(link, new_account(username="b@example.org"))]

    assert [response.status_code for response in responses] == [404, 404]
    assert User.objects.filter(username="b@example.org").exists() is False


def test_expired_revoked_and_unknown_links_get_the_same_response(edition: Edition) -> None:
    owner = signed_in_client(add_member("owner", edition, Role.OWNER))
    expired, revoked = invite(owner, edition), invite(owner, edition)
    newer, older = Invitation.objects.all()
    Invitation.objects.filter(pk=older.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    owner.post(f"{MEMBERS}invitations/{newer.pk}/revoke/")
    pages = [Client().get(link) for link in (expired, revoked, f"/invitation/{'x' * 43}/")]

    assert [page.status_code for page in pages] == [404] * 3
    assert len({re.sub(r'nonce[^ >]*|value="[^"]*"', "", page.text) for page in pages}) == 1


@pytest.mark.parametrize("is_member", [False, True])
def test_link_used_by_another_during_the_request_creates_no_account(
    edition: Edition, is_member: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = add_member("owner", edition, Role.OWNER)
    link, guest = invite(signed_in_client(owner), edition), signed_in_client(owner) if is_member else Client()
    open_now = InvitationQuerySet.open
    calls: list[Any] = []

    def open_once(rows: Any, at: Any = None) -> Any:
        calls.append(rows)
        return open_now(rows, at) if len(calls) == 1 else rows.none()

    monkeypatch.setattr(InvitationQuerySet, "open", open_once)
    page = guest.post(link, new_account())

    assert (page.status_code, len(calls)) == (404, 2)
    assert "This invitation is no longer valid" in page.text
    assert [*User.objects.values_list("username", flat=True)] == ["owner"]


def test_only_a_digest_of_the_link_is_stored(edition: Edition) -> None:
    link = invite(signed_in_client(add_member("owner", edition, Role.OWNER)), edition)
    token = link.split("/")[2]
    stored = Invitation.objects.values().get()

    assert len(token) == 43
    assert [name for name, value in stored.items() if token in str(value)] == []
    assert token not in signed_in_client(User.objects.get(username="owner")).get(MEMBERS).text


@pytest.mark.parametrize(
    ("password", "message"),
    [
        ("short", "at least 12 characters"),
        ("ada@example.org", "too similar to the"),
        ("password1234", "too common"),
    ],
)
def test_weak_password_is_refused_with_a_message(edition: Edition, password: str, message: str) -> None:
    link = invite(signed_in_client(add_member("owner", edition, Role.OWNER)), edition)
    page = Client().post(link, new_account(password1=password, password2=password))

    assert message in page.text
    assert User.objects.count() == 1
    assert Client().get(link).status_code == 200


def test_signed_in_account_gets_the_role_and_keeps_a_stronger_one(edition: Edition) -> None:
    owner = signed_in_client(add_member("owner", edition, Role.OWNER))
    bob = add_member("bob", make.make_edition(2022), Role.VIEWER)
    signed_in_client(bob).post(invite(owner, edition, "chair"))
    signed_in_client(bob).post(invite(owner, edition, "viewer"))

    assert {*bob.memberships.values_list("edition__slug", "role")} == {("2021", "chair"), ("2022", "viewer")}


def test_session_chair_is_invited_with_a_person(edition: Edition) -> None:
    owner = signed_in_client(add_member("owner", edition, Role.OWNER))
    session, lea = make.make_session(edition), make.make_person("Lea Leader")
    make.add_role(session, lea, "chair")
    refused = post_invitation(owner, edition, role="session_chair")
    guest = Client()
    guest.post(invite(owner, edition, "session_chair", lea), new_account())
    sessions = guest.get("/admin/schedule/session/")

    assert "Choose the person whose sessions a session chair sees." in refused.text
    assert PersonAccount.objects.get().person == lea
    assert session.title in sessions.text


def test_session_chair_keeps_own_sessions_after_merges(edition: Edition) -> None:
    user, lea = add_member("lea", edition, Role.SESSION_CHAIR), make.make_person("L. Leader")
    session = make.make_session(edition, title="Engines")
    make.add_role(session, lea, "chair")
    PersonAccount.objects.create(user=user, person=lea)
    first, last = make.make_person("Lea Leader"), make.make_person("Lea M. Leader")
    merge.merge(first, [lea])
    merge.merge(last, [first])

    assert "Engines" in signed_in_client(user).get("/admin/schedule/session/").text
    assert signed_in_client(user).get(f"/admin/schedule/session/{session.pk}/change/").status_code == 200


@pytest.mark.parametrize(
    ("role", "offered"),
    [
        ("owner", ["owner", "chair", "editor", "session_chair", "viewer", *TASKS]),
        ("chair", ["chair", "editor", "session_chair", "viewer", *TASKS]),
    ],
)
def test_invitation_form_offers_the_roles_that_a_member_may_grant(
    edition: Edition, role: str, offered: list[str]
) -> None:
    client = signed_in_client(add_member("asker", edition, role))
    form = client.get(f"{MEMBERS}add/?edition={edition.pk}").context["form"]
    forged = client.post(f"{MEMBERS}add/", {"name": "A", "email": "a@example.org", "role": "god"})

    assert [value for value, _ in form.fields["role"].choices] == offered
    assert "god is not one of the available choices" in forged.text
    assert Invitation.objects.count() == 0


def test_program_chair_cannot_change_or_remove_an_owner(edition: Edition) -> None:
    chair = signed_in_client(add_member("chair", edition, Role.CHAIR))
    owner = add_member("owner", edition, Role.OWNER).memberships.get()
    page = chair.get(MEMBERS).text
    responses = [
        chair.post(f"{MEMBERS}{owner.pk}/{action}/", {"post": "yes", "role": "viewer"})
        for action in ("change", "delete")
    ]

    assert [response.status_code for response in responses] == [403, 403]
    assert f"{MEMBERS}{owner.pk}/delete/" not in page
    assert Membership.objects.get(pk=owner.pk).role == "owner"


def test_last_owner_cannot_be_changed_or_removed(edition: Edition) -> None:
    owner = add_member("owner", edition, Role.OWNER)
    membership = owner.memberships.get()
    client = signed_in_client(owner)
    changed = client.post(f"{MEMBERS}{membership.pk}/change/", {"role": "viewer"})
    removed = client.post(f"{MEMBERS}{membership.pk}/delete/", {"post": "yes"})

    assert "MLSys 2021 would have no owner." in changed.text
    assert "MLSys 2021 would have no owner." in removed.text
    assert Membership.objects.get().role == "owner"


def test_removal_returns_to_the_members_of_the_edition(admin_client: Client, edition: Edition) -> None:
    membership = add_member("viewer", edition, Role.VIEWER).memberships.get()
    make.make_edition(edition.year + 1)
    page = admin_client.post(f"{MEMBERS}{membership.pk}/delete/", {"post": "yes"}, follow=True)

    assert page.context["edition"] == edition
    assert " is no longer a member." in page.text


def test_owner_can_be_removed_by_another_and_loses_admin_access(edition: Edition) -> None:
    first, second = add_member("a", edition, Role.OWNER), add_member("b", edition, Role.OWNER)
    client = signed_in_client(first)
    signed_in_client(second).post(f"{MEMBERS}{first.memberships.get().pk}/delete/", {"post": "yes"})
    first.refresh_from_db()

    assert [*Membership.objects.values_list("user__username", flat=True)] == ["b"]
    assert first.is_staff is False
    assert client.get("/admin/").status_code == 302


def test_members_of_another_edition_are_not_shown(edition: Edition) -> None:
    owner = signed_in_client(add_member("owner", edition, Role.OWNER))
    other = add_member("stranger", make.make_edition(2022), Role.OWNER)
    membership = other.memberships.get()
    pages = [owner.get(MEMBERS), owner.get(f"{MEMBERS}?edition={membership.edition_id}")]

    assert ["stranger" in page.text for page in pages] == [False, False]
    assert owner.get(f"{MEMBERS}{membership.pk}/change/").headers["Location"] == "/admin/"


def test_query_count_of_members_page_does_not_grow_with_members(
    edition: Edition, django_assert_num_queries: Any
) -> None:
    owner = signed_in_client(add_member("owner", edition, Role.OWNER))
    for number in range(2):
        invite(owner, edition)
        add_member(f"more{number}", edition, Role.EDITOR)
        with django_assert_num_queries(12):
            owner.get(MEMBERS)
