"""Invitations by e-mail: the right recipient, a link that works, and no header injection."""

import re
from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Membership
from accounts.roles import Role
from conference.models import Edition
from people import membership
from people.models import Invitation
from tests import factories as make
from tests.access.test_members import MEMBERS, browser, invite, invited, new_account
from tests.access.world import add_member

pytestmark = pytest.mark.django_db

BUTTON = "Send the link by e-mail"


@pytest.fixture
def post(settings: Settings) -> None:
    """Configure a mail backend that stores messages in memory."""
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}
    settings.DEFAULT_FROM_EMAIL = "program@example.org"


@pytest.fixture
def owner(edition: Edition) -> Client:
    return browser(add_member("owner", edition, Role.OWNER))


def sent(client: Client, invitation: Invitation) -> str:
    """Press the button; return the page that follows."""
    return client.post(f"{MEMBERS}invitations/{invitation.pk}/send/", follow=True).text


def test_link_is_mailed_and_works_once(edition: Edition, owner: Client, post: None) -> None:
    shown = invite(owner, edition)
    page = sent(owner, Invitation.objects.get())
    (letter,) = mail.outbox
    link = re.search(r"(/invitation/\S+)", str(letter.body))
    assert link
    Client().post(link[1], new_account())

    assert "A new link was sent to ada@example.org." in page
    assert (letter.to, letter.from_email, letter.reply_to) == (
        ["ada@example.org"], "program@example.org", ["owner@example.org"]
    )  # fmt: skip
    assert letter.subject == "Invitation to MLSys 2021"
    assert "owner invites you to MLSys 2021 as Editor." in letter.body
    assert [Client().get(path).status_code for path in (shown, link[1])] == [404, 404]
    assert Membership.objects.get(user__username="ada@example.org").role == "editor"


def test_mail_gives_the_expiry_in_the_zone_of_the_edition(edition: Edition) -> None:
    sender = User(username="owner")
    offers = {"edition": edition}, {"conference": edition.conference}

    with timezone.override("Asia/Tokyo"):
        texts = [
            membership.invitation_message(Invitation(expires_at=make.MORNING, **offer), "link", sender)[1]
            for offer in offers
        ]

    assert ["6 April 2021, 08:00 PDT" in texts[0], "6 April 2021, 15:00 UTC" in texts[1]] == [True, True]


def test_without_a_mail_server_the_link_is_copied(edition: Edition, owner: Client) -> None:
    page = invited(owner, edition, "viewer")
    kept = Invitation.objects.get().digest
    said = sent(owner, Invitation.objects.get())

    assert ("Copy it now" in page, BUTTON in page, "Send a new link" in said) == (True, False, False)
    assert Invitation.objects.get().digest == kept
    assert getattr(mail, "outbox", []) == []


def test_with_a_mail_server_there_are_buttons(edition: Edition, owner: Client, post: None) -> None:
    page = invited(owner, edition, "viewer")
    key = Invitation.objects.get().pk

    assert ("Copy it now" in page, BUTTON in page) == (True, True)
    for text in (page, owner.get(MEMBERS).text):
        assert f'action="{MEMBERS}invitations/{key}/send/"' in text
    owner.get(f"{MEMBERS}invitations/{key}/send/")
    assert mail.outbox == []


def test_no_header_is_smuggled_in(edition: Edition, owner: Client, post: None) -> None:
    invite(owner, edition)
    invitation = Invitation.objects.get()
    smuggled = "x\r\nBcc: all@example.org"
    Edition.objects.update(name=smuggled)
    User.objects.filter(username="owner").update(first_name=smuggled, email=f"a@example.org{smuggled}")
    sent(owner, invitation)
    (letter,) = mail.outbox
    Invitation.objects.update(email="ada@example.org\nBcc: all@example.org")

    assert letter.subject == "Invitation to x Bcc: all@example.org"
    assert [name for name in letter.message() if name in ("Bcc", "Reply-To")] == []
    assert letter.recipients() == ["ada@example.org"]
    assert "couldn’t be sent" in sent(owner, invitation)
    assert len(mail.outbox) == 1


@pytest.mark.parametrize("fault", [OSError("refused"), ValueError("line break")])
def test_link_stays_good_where_no_mail_leaves(
    edition: Edition, owner: Client, post: None, fault: Exception
) -> None:
    link = invite(owner, edition)
    with mock.patch.object(EmailBackend, "send_messages", side_effect=fault):
        page = sent(owner, Invitation.objects.get())

    assert "The e-mail to ada@example.org couldn’t be sent." in page
    assert Client().get(link).status_code == 200


def test_who_came_meanwhile_is_not_invited_again(edition: Edition, owner: Client, post: None) -> None:
    link = invite(owner, edition)
    stale = Invitation.objects.get()
    Client().post(link, new_account())
    with pytest.raises(membership.CannotSendError):
        membership.mail_invitation(stale, User.objects.get(username="owner"))

    assert Invitation.objects.waiting().count() == 0


@pytest.mark.parametrize(("role", "status"), [("viewer", 404), ("editor", 404), ("chair", 403)])
def test_who_may_not_invite_an_owner_mails_no_link_to_one(
    edition: Edition, owner: Client, post: None, role: str, status: int
) -> None:
    invite(owner, edition, "owner")
    path = f"{MEMBERS}invitations/{Invitation.objects.get().pk}/send/"
    elsewhere = browser(add_member("other", make.make_edition(2022), Role.OWNER))

    assert browser(add_member("asker", edition, role)).post(path).status_code == status
    assert elsewhere.post(path).status_code == 404
    assert mail.outbox == []
