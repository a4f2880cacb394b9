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
from tests.access.world import add_member

pytestmark = pytest.mark.django_db

MEMBERS = "/admin/accounts/membership/"
PASSWORD = "seven small boats"
TASKS = ["private_viewer", "track_chair", "awards", "sponsors", "importer"]


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def invite(client: Client, edition: Edition, role: str = "editor", person: Person | None = None) -> str:
    """Invite Ada; return the path of the link."""
    page = invited(client, edition, role, person)
    found = re.search(r'value="[^"]*(/invitation/[^"]+)"', page)
    assert found, page
    return found[1]


def invited(client: Client, edition: Edition, role: str, person: Person | None = None) -> str:
    """Invite Ada; return the text of the response."""
    values = {"name": "Ada Byron", "email": "ada@example.org", "role": role}
    values["person"] = str(person.pk) if person else ""
    return client.post(f"{MEMBERS}add/?edition={edition.pk}", {**values, "edition": edition.pk}).text


def new_account(**other: str) -> dict[str, str]:
    values = {"full_name": "Ada Byron", "username": "ada@example.org"}
    return {**values, "password1": PASSWORD, "password2": PASSWORD, **other}


def test_link_makes_an_account_with_the_role(edition: Edition) -> None:
    link = invite(browser(add_member("owner", edition, Role.OWNER)), edition)
    guest = Client()
    begun = guest.get(link)
    page = guest.post(link, new_account(), follow=True)
    membership = Membership.objects.get(user__username="ada@example.org")

    assert (begun["Referrer-Policy"], "no-store" in begun["Cache-Control"]) == ("same-origin", True)
    assert 'value="ada@example.org"' in begun.text
    assert (membership.edition, membership.role, membership.user.is_staff) == (edition, "editor", True)
    assert membership.user.get_full_name() == "Ada Byron"
    assert membership.granted_by is not None
    assert membership.granted_by.username == "owner"
    assert page.redirect_chain == [(f"/admin/?edition={edition.pk}", 302)]
    assert "Welcome. You are Editor of MLSys 2021." in page.text


def test_link_works_once(edition: Edition) -> None:
    link = invite(browser(add_member("owner", edition, Role.OWNER)), edition)
    Client().post(link, new_account())
    again = [Client().get(link), Client().post(link, new_account(username="b@example.org"))]

    assert [one.status_code for one in again] == [404, 404]
    assert User.objects.filter(username="b@example.org").exists() is False


def test_expired_revoked_and_unknown_links_say_the_same(edition: Edition) -> None:
    owner = browser(add_member("owner", edition, Role.OWNER))
    old, revoked = invite(owner, edition), invite(owner, edition)
    newer, older = Invitation.objects.all()
    Invitation.objects.filter(pk=older.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    owner.post(f"{MEMBERS}invitations/{newer.pk}/revoke/")
    pages = [Client().get(link) for link in (old, revoked, f"/invitation/{'x' * 43}/")]

    assert [page.status_code for page in pages] == [404] * 3
    assert len({re.sub(r'nonce[^ >]*|value="[^"]*"', "", page.text) for page in pages}) == 1


@pytest.mark.parametrize("is_member", [False, True])
def test_link_that_somebody_else_takes_meanwhile_makes_no_account(
    edition: Edition, is_member: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = add_member("owner", edition, Role.OWNER)
    link, guest = invite(browser(owner), edition), browser(owner) if is_member else Client()
    open_now = InvitationQuerySet.open
    asked: list[Any] = []

    def taken_by_another(rows: Any, at: Any = None) -> Any:
        asked.append(rows)
        return open_now(rows, at) if len(asked) == 1 else rows.none()

    monkeypatch.setattr(InvitationQuerySet, "open", taken_by_another)
    page = guest.post(link, new_account())

    assert (page.status_code, len(asked)) == (404, 2)
    assert "This invitation is no longer valid" in page.text
    assert [*User.objects.values_list("username", flat=True)] == ["owner"]


def test_only_a_digest_of_the_link_is_stored(edition: Edition) -> None:
    link = invite(browser(add_member("owner", edition, Role.OWNER)), edition)
    token = link.split("/")[2]
    stored = Invitation.objects.values().get()

    assert len(token) == 43
    assert [name for name, value in stored.items() if token in str(value)] == []
    assert token not in browser(User.objects.get(username="owner")).get(MEMBERS).text


@pytest.mark.parametrize(
    ("password", "said"),
    [
        ("short", "at least 12 characters"),
        ("ada@example.org", "too similar to the"),
        ("password1234", "too common"),
    ],
)
def test_passwords_follow_the_rules(edition: Edition, password: str, said: str) -> None:
    link = invite(browser(add_member("owner", edition, Role.OWNER)), edition)
    page = Client().post(link, new_account(password1=password, password2=password))

    assert said in page.text
    assert User.objects.count() == 1
    assert Client().get(link).status_code == 200


def test_account_that_is_signed_in_takes_the_role_and_keeps_a_stronger_one(edition: Edition) -> None:
    owner = browser(add_member("owner", edition, Role.OWNER))
    bob = add_member("bob", make.make_edition(2022), Role.VIEWER)
    browser(bob).post(invite(owner, edition, "chair"))
    browser(bob).post(invite(owner, edition, "viewer"))

    assert {*bob.memberships.values_list("edition__slug", "role")} == {("2021", "chair"), ("2022", "viewer")}


def test_session_chair_is_invited_as_a_person(edition: Edition) -> None:
    owner = browser(add_member("owner", edition, Role.OWNER))
    session, lea = make.make_session(edition), make.make_person("Lea Leader")
    make.add_role(session, lea, "chair")
    values = {"name": "Lea", "email": "lea@example.org", "role": "session_chair", "person": ""}
    refused = owner.post(f"{MEMBERS}add/?edition={edition.pk}", values)
    lost = Client()
    lost.post(invite(owner, edition, "session_chair", lea), new_account())
    mine = lost.get("/admin/schedule/session/")

    assert "Choose the person whose sessions a session chair sees." in refused.text
    assert PersonAccount.objects.get().person == lea
    assert session.title in mine.text


def test_session_chair_who_is_merged_keeps_the_own_sessions(edition: Edition) -> None:
    user, lea = add_member("lea", edition, Role.SESSION_CHAIR), make.make_person("L. Leader")
    session = make.make_session(edition, title="Engines")
    make.add_role(session, lea, "chair")
    PersonAccount.objects.create(user=user, person=lea)
    first, last = make.make_person("Lea Leader"), make.make_person("Lea M. Leader")
    merge.merge(first, [lea])
    merge.merge(last, [first])

    assert "Engines" in browser(user).get("/admin/schedule/session/").text
    assert browser(user).get(f"/admin/schedule/session/{session.pk}/change/").status_code == 200


@pytest.mark.parametrize(
    ("role", "given"),
    [
        ("owner", ["owner", "chair", "editor", "session_chair", "viewer", *TASKS]),
        ("chair", ["chair", "editor", "session_chair", "viewer", *TASKS]),
    ],
)
def test_roles_that_one_may_give(edition: Edition, role: str, given: list[str]) -> None:
    client = browser(add_member("asker", edition, role))
    form = client.get(f"{MEMBERS}add/?edition={edition.pk}").context["form"]
    forged = client.post(f"{MEMBERS}add/", {"name": "A", "email": "a@example.org", "role": "god"})

    assert [value for value, _ in form.fields["role"].choices] == given
    assert "god is not one of the available choices" in forged.text
    assert Invitation.objects.count() == 0


def test_program_chair_cannot_touch_an_owner(edition: Edition) -> None:
    chair = browser(add_member("chair", edition, Role.CHAIR))
    owner = add_member("owner", edition, Role.OWNER).memberships.get()
    page = chair.get(MEMBERS).text
    answers = [
        chair.post(f"{MEMBERS}{owner.pk}/{way}/", {"post": "yes", "role": "viewer"})
        for way in ("change", "delete")
    ]

    assert [one.status_code for one in answers] == [403, 403]
    assert f"{MEMBERS}{owner.pk}/delete/" not in page
    assert Membership.objects.get(pk=owner.pk).role == "owner"


def test_edition_keeps_its_last_owner(edition: Edition) -> None:
    owner = add_member("owner", edition, Role.OWNER)
    one = owner.memberships.get()
    client = browser(owner)
    changed = client.post(f"{MEMBERS}{one.pk}/change/", {"role": "viewer"})
    removed = client.post(f"{MEMBERS}{one.pk}/delete/", {"post": "yes"})

    assert "MLSys 2021 would have no owner." in changed.text
    assert "MLSys 2021 would have no owner." in removed.text
    assert Membership.objects.get().role == "owner"


def test_members_of_the_edition_follow_a_removal(admin_client: Client, edition: Edition) -> None:
    one = add_member("viewer", edition, Role.VIEWER).memberships.get()
    make.make_edition(edition.year + 1)
    page = admin_client.post(f"{MEMBERS}{one.pk}/delete/", {"post": "yes"}, follow=True)

    assert page.context["edition"] == edition
    assert " is no longer a member." in page.text


def test_owner_goes_when_another_is_there_and_leaves_the_admin(edition: Edition) -> None:
    first, second = add_member("a", edition, Role.OWNER), add_member("b", edition, Role.OWNER)
    client = browser(first)
    browser(second).post(f"{MEMBERS}{first.memberships.get().pk}/delete/", {"post": "yes"})
    first.refresh_from_db()

    assert [*Membership.objects.values_list("user__username", flat=True)] == ["b"]
    assert first.is_staff is False
    assert client.get("/admin/").status_code == 302


def test_members_of_another_edition_are_not_told(edition: Edition) -> None:
    owner = browser(add_member("owner", edition, Role.OWNER))
    other = add_member("stranger", make.make_edition(2022), Role.OWNER)
    page, asked = owner.get(MEMBERS), owner.get(f"{MEMBERS}?edition={other.memberships.get().edition_id}")

    assert ["stranger" in one.text for one in (page, asked)] == [False, False]
    assert owner.get(f"{MEMBERS}{other.memberships.get().pk}/change/").headers["Location"] == "/admin/"


def test_members_page_asks_as_much_for_three_as_for_one(
    edition: Edition, django_assert_num_queries: Any
) -> None:
    owner = browser(add_member("owner", edition, Role.OWNER))
    for more in range(2):
        invite(owner, edition)
        add_member(f"more{more}", edition, Role.EDITOR)
        with django_assert_num_queries(11):
            owner.get(MEMBERS)
