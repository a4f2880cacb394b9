"""Letters of invitation and reminders, mailed or shown for copying."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone

from conference.environment import is_email
from people.secret_links import MAIL_ERRORS, can_send, join_lines, send_mail
from schedule.invitations.models import OPEN_STATES, ProgramInvitation, State

if TYPE_CHECKING:
    from django.contrib.auth.models import User

INVITATION, REMINDER = "invitation", "reminder"
# The states in which an invitation, or a reminder, may be sent.
SENDABLE = {INVITATION: {State.NOT_SENT, State.WITHDRAWN}, REMINDER: {*OPEN_STATES}}


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter, mailed or to be copied. It is not stored, so its link is shown only once."""

    invitation: ProgramInvitation
    subject: str
    text: str
    link: str
    is_mailed: bool = False
    # The mail server refused it, or the invitation changed in the meantime; no row was changed.
    has_failed: bool = False


def can_mail(invitation: ProgramInvitation) -> bool:
    """Return whether it can be mailed: there is a mail server, and an address."""
    return can_send() and is_email(invitation.address)


def write_letter(invitation: ProgramInvitation, kind: str, link: str) -> Letter:
    """Return a letter with this link."""
    context = {"invitation": invitation, "edition": invitation.edition, "link": link}
    subject, text = (
        render_to_string(f"schedule/invitation/{kind}_{part}.txt", context) for part in ("subject", "body")
    )
    return Letter(invitation, join_lines(subject), f"{text.strip()}\n", link)


def send(invitation: ProgramInvitation, kind: str, sender: "User", at: datetime | None = None) -> Letter:
    """Send an invitation or reminder and store the time. Without a mail server, the letter is for copying."""
    at = at or timezone.now()
    try:
        with transaction.atomic():
            rows = ProgramInvitation.objects.select_for_update(of=("self",)).filter(pk=invitation.pk)
            if not rows.filter(state__in=SENDABLE[kind]).exists():
                return Letter(invitation, "", "", "", has_failed=True)
            letter = write_letter(invitation, kind, invitation.new_link())
            if kind == REMINDER:
                new_values = {"state": State.REMINDED, "reminded_at": at}
            else:
                new_values = {"state": State.SENT, "sent_at": at, "answered_at": None}
            for name, value in new_values.items():
                setattr(invitation, name, value)
            invitation.save(update_fields=[*new_values])
            if not can_mail(invitation):
                return letter
            send_mail(invitation.address, letter.subject, letter.text, sender)
    except MAIL_ERRORS:
        return Letter(invitation, "", "", "", has_failed=True)
    return replace(letter, is_mailed=True)
