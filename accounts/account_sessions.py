"""Where somebody is signed in: the rows of sessions, with the account that each belongs to.

How they are read and written: `accounts.sessions`.
"""

from hashlib import sha256
from typing import Any, ClassVar

from django.contrib.sessions.base_session import AbstractBaseSession, BaseSessionManager
from django.db import models
from django.utils.translation import gettext_lazy as _


class AccountSession(AbstractBaseSession):
    """A session, with what its account needs to know it again."""

    user_id = models.BigIntegerField(_("account"), null=True, db_index=True, editable=False)
    since = models.DateTimeField(_("since"), null=True, editable=False)
    browser = models.CharField(_("browser"), max_length=80, blank=True, editable=False)
    address = models.CharField(_("address"), max_length=45, blank=True, editable=False)

    objects: ClassVar[BaseSessionManager[Any]] = BaseSessionManager()

    class Meta(AbstractBaseSession.Meta):
        abstract = False

    @classmethod
    def get_session_store_class(cls) -> Any:
        from accounts.sessions import SessionStore

        return SessionStore

    @property
    def handle(self) -> str:
        """What a page calls the session by: its key opens it, and stands on no page."""
        return sha256(self.session_key.encode()).hexdigest()[:24]
