"""How a token is recognised: `Authorization: Bearer …`. What it may do: `permissions`."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed


class BearerToken(TokenAuthentication):  # type: ignore[misc]  # the package has no types
    """Tokens of staff that have not expired; one that has stays in the list until somebody deletes it."""

    def authenticate_credentials(self, token: bytes) -> Any:
        if not token.isascii():
            raise AuthenticationFailed(_("Invalid token."))
        return super().authenticate_credentials(token)

    def validate_user(self, auth_token: Any) -> Any:
        if not auth_token.user.is_staff:
            raise AuthenticationFailed(_("The owner of this token is no longer staff."))
        return super().validate_user(auth_token)

    def _cleanup_token(self, auth_token: Any) -> bool:
        return bool(auth_token.expiry <= timezone.now())
