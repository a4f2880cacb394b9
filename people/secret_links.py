"""Links with a secret token, with which people without an account accept a role or a part in the program.

Only a digest of the token is stored.
"""

import secrets
from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.mail import EmailMessage
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from conference.environment import is_email

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# SMTP errors are subclasses of `OSError`. Headers with a line break raise `ValueError`.
MAIL_ERRORS = (OSError, ValueError)


def new_token() -> str:
    """Return a new random token."""
    return secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """Return the digest to store. It needs no salt, because tokens are long and random."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def link_to(view: str, token: str) -> str:
    """Return the link to send."""
    return f"{settings.SITE_URL}{reverse(view, args=[token])}"


def can_send() -> bool:
    """Return whether e-mail can be sent at all."""
    return bool(settings.MAILERS)


def send_mail(address: str, subject: str, text: str, sender: "User") -> None:
    """Mail a link, with the sender's address for replies. Raise one of `MAIL_ERRORS` if this fails."""
    reply_to = [sender.email] if is_email(sender.email) else []
    EmailMessage(join_lines(subject), text, to=[address], reply_to=reply_to).send()


def join_lines(text: object) -> str:
    """Return the text in one line. A line break would start another mail header."""
    return " ".join(str(text).split())


def secret_page(view: Callable[[HttpRequest, str], HttpResponse]) -> Callable[..., HttpResponse]:
    """Prevent caching and indexing of a view's responses, and sending its address to other sites."""

    @require_http_methods(["GET", "HEAD", "POST"])
    @wraps(view)
    def wrapped(request: HttpRequest, token: str) -> HttpResponse:
        response = view(request, token)
        response.headers["Cache-Control"] = "private, no-store"
        # With "no-referrer", browsers would post the form with `Origin: null`, which the CSRF check rejects.
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return wrapped
