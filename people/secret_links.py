"""Links that somebody is mailed and answers without an account, to take a role or part in the program.

Whoever has the link may answer. Only a digest of its secret is stored.
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

# SMTP errors are of the first kind; the second is raised for headers with a line break.
MAIL_ERRORS = (OSError, ValueError)


def new_token() -> str:
    """Return a new secret: it cannot be read later."""
    return secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """Return what is stored of a secret. It is long and random, so it needs no salt."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def link_to(view: str, token: str) -> str:
    """Return the link to send."""
    return f"{settings.SITE_URL}{reverse(view, args=[token])}"


def can_send() -> bool:
    """Return whether e-mail can be sent at all."""
    return bool(settings.MAILERS)


def send_mail(address: str, subject: str, text: str, sender: "User") -> None:
    """Mail a letter with a link; answers go to who sends it. Raises one of `MAIL_ERRORS`."""
    reply_to = [sender.email] if is_email(sender.email) else []
    EmailMessage(join_lines(subject), text, to=[address], reply_to=reply_to).send()


def join_lines(words: object) -> str:
    """Return words without the line breaks that would begin another header."""
    return " ".join(str(words).split())


def secret_page(view: Callable[[HttpRequest, str], HttpResponse]) -> Callable[..., HttpResponse]:
    """Keep a reply out of caches and search engines; the address goes nowhere from here."""

    @require_http_methods(["GET", "HEAD", "POST"])
    @wraps(view)
    def wrapped(request: HttpRequest, token: str) -> HttpResponse:
        response = view(request, token)
        response.headers["Cache-Control"] = "private, no-store"
        # Not "no-referrer": browsers then post the form with `Origin: null`, which the CSRF check refuses.
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return wrapped
