"""The link of an invitation as an e-mail, where there is a server that sends one."""

from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from conference.environment import is_email
from people.models import Invitation


class CannotSendError(Exception):
    """The e-mail did not leave; the link that was good before still is."""


def can_send() -> bool:
    """Tell whether e-mail can be sent at all."""
    return bool(settings.MAILERS)


def send(invitation: Invitation, sender: object) -> None:
    """Mail a new link to whom it is for; from then on the one before leads nowhere."""
    if not is_email(invitation.email):
        raise CannotSendError
    try:
        with transaction.atomic():
            held = Invitation.objects.select_for_update(of=("self",)).waiting().get(pk=invitation.pk)
            link = Invitation.address(held.renew())
            held.save(update_fields=["digest", "expires_at"])
            message(held, link, sender).send()
    except (OSError, ValueError, Invitation.DoesNotExist) as error:
        # Errors of SMTP are among the first; the second is said of headers with a line break in them.
        raise CannotSendError from error


def message(invitation: Invitation, link: str, sender: Any) -> EmailMessage:
    """Return the letter. What somebody chose freely in it are the names of who asks and of the edition."""
    said = {
        "edition": on_one_line(invitation.edition),
        "role": invitation.get_role_display(),
        "sender": on_one_line(sender.get_full_name() or sender.get_username()),
        "until": date_format(invitation.expires_at, "j F Y, H:i T"),
        "link": link,
    }
    paragraphs = [
        _("%(sender)s invites you to %(edition)s as %(role)s.") % said,
        _("Open this link, and make an account or sign in with the one you have:"),
        link,
        _("It works once, until %(until)s. Who did not expect it may forget it.") % said,
    ]
    return EmailMessage(
        _("Invitation to %(edition)s") % said,
        "\n\n".join(paragraphs) + "\n",
        to=[invitation.email],
        reply_to=[sender.email] if is_email(sender.email) else [],
    )


def on_one_line(words: Any) -> str:
    """Return words without the line breaks that would begin another header."""
    return " ".join(str(words).split())
