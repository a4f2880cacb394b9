"""The session engine: Django's own in the database, with the account in a column, so that it can be ended."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.db import SessionStore as DBStore
from django.dispatch import receiver
from django.utils import timezone

from accounts.client_address import client_address

if TYPE_CHECKING:
    from django.db.models import Model
    from django.http import HttpRequest

# What a session remembers of the sign-in.
SIGNED_IN = "_signed_in"
BROWSERS = ("Edg", "OPR", "Firefox", "Chrome", "Safari")
CALLED = {"Edg": "Edge", "OPR": "Opera"}
SYSTEMS = ("Android", "iPhone", "iPad", "Windows", "Mac OS X", "Linux")


class SessionStore(DBStore):
    """Sessions that know whose they are."""

    @classmethod
    def get_model_class(cls) -> Any:
        from accounts.account_sessions import AccountSession

        return AccountSession

    def create_model_instance(self, data: Any) -> Any:
        row: Any = super().create_model_instance(data)
        row.user_id = data.get(SESSION_KEY)
        told = data.get(SIGNED_IN) or {}
        row.since = datetime.fromisoformat(told["at"]) if told else None
        row.browser, row.address = told.get("browser", ""), told.get("address", "")
        return row


def browser_of(agent: str) -> str:
    """Return "Firefox, Linux" of what a browser says of itself; nothing more is kept."""
    names = [next((name for name in known if name in agent), "") for known in (BROWSERS, SYSTEMS)]
    return ", ".join(CALLED.get(name, name) for name in names if name)


@receiver(user_logged_in)
def note(sender: "type[Model]", request: "HttpRequest", **kwargs: object) -> None:
    """Let the session say when and from where its account signed in."""
    request.session[SIGNED_IN] = {
        "at": timezone.now().isoformat(),
        "browser": browser_of(request.META.get("HTTP_USER_AGENT", "")),
        "address": client_address(request),
    }
