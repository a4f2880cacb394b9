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
from tests.access.test_members import MEMBERS, invite, new_account, post_invitation
from tests.access.world import add_member, signed_in_client

pytestmark = pytest.mark.django_db

BUTTON = "Send the link by e-mail"


@pytest.fixture
def mail_backend(settings: Settings) -> None:
    """Configure a mail backend that stores messages in memory."""
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}
    settings.DEFAULT_FROM_EMAIL = "program@example.org"


@pytest.fixture
def owner(edition: Edition) -> Client:
    return signed_in_client(add_member("owner", edition, Role.OWNER))


def mail_link(client: Client, invitation: Invitation) -> str:
    """Press the button; return the page that follows."""
    return client.post(f"{MEMBERS}invitations/{invitation.pk}/send/", follow=True).text


def test_link_is_mailed_and_works_once(edition: Edition, owner: Client, mail_backend: None) -> None:
    copied_link = invite(owner, edition)
    page = mail_link(owner, Invitation.objects.get())
    (message,) = mail.outbox
    link = re.search(r"(/invitation/\S+)", str(message.body))
    assert link
    Client().post(link[1], new_account())

    assert "A new link was sent to ada@example.org." in page
    assert (message.to, message.from_email, message.reply_to) == (
        ["ada@example.org"], "program@example.org", ["owner@example.org"]
    )  # fmt: skip
    assert message.subject == "Invitation to MLSys 2021"
    assert "owner invites you to MLSys 2021 as Editor." in message.body
    assert [Client().get(path).status_code for path in (copied_link, link[1])] == [404, 404]
    assert Membership.objects.get(user__username="ada@example.org").role == "editor"


def test_mail_shows_the_expiry_in_the_time_zone_of_the_edition(edition: Edition) -> None:
    sender = User(username="owner")
    scopes = {"edition": edition}, {"conference": edition.conference}

    with timezone.override("Asia/Tokyo"):
        texts = [
            membership.invitation_message(Invitation(expires_at=make.MORNING, **scope), "link", sender)[1]
            for scope in scopes
        ]

    assert ["6 April 2021, 08:00 PDT" in texts[0], "6 April 2021, 15:00 UTC" in texts[1]] == [True, True]


def test_without_mail_server_the_link_is_shown_to_copy(edition: Edition, owner: Client) -> None:
    page = post_invitation(owner, edition, role="viewer").text
    digest = Invitation.objects.get().digest
    next_page = mail_link(owner, Invitation.objects.get())

    assert ("Copy it now" in page, BUTTON in page, "Send a new link" in next_page) == (True, False, False)
    assert Invitation.objects.get().digest == digest
    assert getattr(mail, "outbox", []) == []


def test_with_mail_server_the_link_is_mailed_only_by_its_button(
    edition: Edition, owner: Client, mail_backend: None
) -> None:
    page = post_invitation(owner, edition, role="viewer").text
    key = Invitation.objects.get().pk

    assert ("Copy it now" in page, BUTTON in page) == (True, True)
    for text in (page, owner.get(MEMBERS).text):
        assert f'action="{MEMBERS}invitations/{key}/send/"' in text
    owner.get(f"{MEMBERS}invitations/{key}/send/")
    assert mail.outbox == []


def test_line_breaks_inject_no_mail_header(edition: Edition, owner: Client, mail_backend: None) -> None:
    invite(owner, edition)
    invitation = Invitation.objects.get()
    injection = "x\r\nBcc: all@example.org"
    Edition.objects.update(name=injection)
    User.objects.filter(username="owner").update(first_name=injection, email=f"a@example.org{injection}")
    mail_link(owner, invitation)
    (message,) = mail.outbox
    Invitation.objects.update(email="ada@example.org\nBcc: all@example.org")

    assert message.subject == "Invitation to x Bcc: all@example.org"
    assert [name for name in message.message() if name in ("Bcc", "Reply-To")] == []
    assert message.recipients() == ["ada@example.org"]
    assert "couldn’t be sent" in mail_link(owner, invitation)
    assert len(mail.outbox) == 1


@pytest.mark.parametrize("fault", [OSError("refused"), ValueError("line break")])
def test_failed_mail_is_reported_and_its_link_stays_valid(
    edition: Edition, owner: Client, mail_backend: None, fault: Exception
) -> None:
    link = invite(owner, edition)
    with mock.patch.object(EmailBackend, "send_messages", side_effect=fault):
        page = mail_link(owner, Invitation.objects.get())

    assert "The e-mail to ada@example.org couldn’t be sent." in page
    assert Client().get(link).status_code == 200


def test_accepted_invitation_is_not_mailed_again(edition: Edition, owner: Client, mail_backend: None) -> None:
    link = invite(owner, edition)
    stale = Invitation.objects.get()
    Client().post(link, new_account())
    with pytest.raises(membership.CannotSendError):
        membership.mail_invitation(stale, User.objects.get(username="owner"))

    assert Invitation.objects.waiting().count() == 0


@pytest.mark.parametrize(("role", "status"), [("viewer", 404), ("editor", 404), ("chair", 403)])
def test_mail_to_an_invited_owner_requires_the_owner_role(
    edition: Edition, owner: Client, mail_backend: None, role: str, status: int
) -> None:
    invite(owner, edition, "owner")
    path = f"{MEMBERS}invitations/{Invitation.objects.get().pk}/send/"
    other_owner = signed_in_client(add_member("other", make.make_edition(2022), Role.OWNER))

    assert signed_in_client(add_member("asker", edition, role)).post(path).status_code == status
    assert other_owner.post(path).status_code == 404
    assert mail.outbox == []
