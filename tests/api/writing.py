"""Helpers of tests that write over the API: tokens, and requests with the version that was read."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Permission, User
from django.test import Client

from api.models import Token
from api.resources import RESOURCES
from conference.models import Edition

# Conferences, editions and releases are written in the admin only.
WRITABLE = {name: resource for name, resource in RESOURCES.items() if resource.writable}


def make_staff(*permissions: str, name: str = "chair", **fields: Any) -> User:
    """Create a member of staff with these permissions, such as "change_paper"; without any, a superuser."""
    fields = {"is_staff": True, "is_superuser": not permissions, **fields}
    user = User.objects.create_user(name, password="a long password", **fields)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user


def make_token(
    user: User, scope: str = "write", edition: Edition | None = None, days: int = 1, name: str = "app"
) -> str:
    expiry = timedelta(days=days)
    _token, text = Token.objects.create(
        user, expiry=expiry, prefix="plenary_", scope=scope, edition=edition, name=name
    )
    return str(text)


def bearer(text: str) -> dict[str, Any]:
    return {"HTTP_AUTHORIZATION": f"Bearer {text}"}


class Writer:
    """Client that writes with a token, and reads the current version before each change."""

    def __init__(self, token: str = "") -> None:
        self.client = Client()
        self.headers = bearer(token or make_token(make_staff()))

    def get(self, path: str, status: int = 200) -> Any:
        response = self.client.get(f"/api/v1/{path}", **self.headers)
        assert response.status_code == status, response.content.decode()
        return response

    def request(self, method: str, path: str, body: Any = None, status: int = 200, **headers: Any) -> Any:
        send = getattr(self.client, method)
        response = send(f"/api/v1/{path}", body, content_type="application/json", **self.headers, **headers)
        assert response.status_code == status, (response.status_code, response.content.decode())
        return response

    def create(self, name: str, code: int = 201, /, **body: Any) -> Any:
        return self.request("post", f"{name}/", body, code).json()

    def patch(self, path: str, code: int = 200, /, **body: Any) -> Any:
        version = self.get(path)["ETag"]
        return self.request("patch", path, body, code, HTTP_IF_MATCH=version).json()

    def delete(self, path: str, code: int = 204, /) -> Any:
        version = self.get(path)["ETag"]
        return self.request("delete", path, None, code, HTTP_IF_MATCH=version)
