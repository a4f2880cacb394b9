"""Database sessions with the account as a column, so that an account's sessions can be listed and ended."""

from datetime import datetime
from hashlib import sha256
from typing import Any, ClassVar, Self, cast

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.db import SessionStore as DBStore
from django.contrib.sessions.base_session import AbstractBaseSession, BaseSessionManager
from django.db import models
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.client_address import client_address

# The key in the session of the time, browser and address of the sign-in.
SIGNED_IN = "_signed_in"
BROWSERS = ("Edg", "OPR", "Firefox", "Chrome", "Safari")
BROWSER_NAMES = {"Edg": "Edge", "OPR": "Opera"}
SYSTEMS = ("Android", "iPhone", "iPad", "Windows", "Mac OS X", "Linux")


class SessionStore(DBStore):
    """Stores account, browser and address of a session in columns."""

    @classmethod
    def get_model_class(cls) -> "type[AccountSession]":
        return AccountSession

    def create_model_instance(self, data: "dict[str, Any]") -> "AccountSession":
        row = cast(AccountSession, super().create_model_instance(data))
        row.user_id = data.get(SESSION_KEY)
        sign_in = data.get(SIGNED_IN) or {}
        row.since = datetime.fromisoformat(sign_in["at"]) if sign_in else None
        row.browser, row.address = sign_in.get("browser", ""), sign_in.get("address", "")
        return row


class AccountSession(AbstractBaseSession):
    """A session, with the data by which its user recognizes it."""

    personal_fields: ClassVar[tuple[str, ...]] = ("session_key", "session_data", "browser", "address")

    user_id = models.BigIntegerField(_("account"), null=True, db_index=True, editable=False)
    since = models.DateTimeField(_("since"), null=True, editable=False)
    browser = models.CharField(_("browser"), max_length=80, blank=True, editable=False)
    address = models.CharField(_("address"), max_length=45, blank=True, editable=False)

    objects: ClassVar[BaseSessionManager[Self]] = BaseSessionManager()

    class Meta(AbstractBaseSession.Meta):
        abstract = False

    @classmethod
    def get_session_store_class(cls) -> type[SessionStore]:
        return SessionStore

    @property
    def handle(self) -> str:
        """The public identifier of the session, as its key grants access and must never be shown."""
        return sha256(self.session_key.encode()).hexdigest()[:24]


def browser_of(agent: str) -> str:
    """Return "Firefox, Linux" from a User-Agent header; no other part of it is stored."""
    names = [next((name for name in candidates if name in agent), "") for candidates in (BROWSERS, SYSTEMS)]
    return ", ".join(BROWSER_NAMES.get(name, name) for name in names if name)


@receiver(user_logged_in)
def record_sign_in(sender: type[models.Model], request: HttpRequest, **kwargs: object) -> None:
    """Store in the session when and from where its account signed in."""
    request.session[SIGNED_IN] = {
        "at": timezone.now().isoformat(),
        "browser": browser_of(request.META.get("HTTP_USER_AGENT", "")),
        "address": client_address(request),
    }
