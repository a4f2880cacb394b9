"""Every resource of the API with every role: who reads, creates, changes and deletes its rows."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from accounts.roles import Role
from api.resources import RESOURCES as API_RESOURCES
from api.urls import urlpatterns
from api.views import ReadOnlyViewSet
from tests.access.permission_table import (
    ADDABLE_BY_ALL,
    ALL,
    OTHER_API_URLS,
    READABLE_BY_ALL,
    RESOURCES,
    role_permissions,
)
from tests.access.world import USERNAMES, World
from tests.api.test_writing_resources import NEW
from tests.api.writing import WRITABLE, bearer, make_token

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

# Changes to try: of fields that session chairs may change too, if there are any.
CHANGES = {"sessions": {"abstract": "New."}, "presentations": {"recording_url": "https://example.org/v"}}
RENAMED_FIELDS = {
    "papers": "title",
    "pages": "title",
    "announcements": "title",
    "key_dates": "title",
    "materials": "label",
}
REFUSALS = {400, 401, 403, 404}
CONTENT_EDITORS = {"owner", "chair", "editor", "other", "superuser"}


def url_resources() -> Iterator[tuple[str, str]]:
    """Yield the name and resource of each URL of the API; the resource is "" for other URLs."""
    for pattern in urlpatterns:
        callback: Any = pattern.callback
        view = getattr(callback, "cls", None)
        is_resource = isinstance(view, type) and issubclass(view, ReadOnlyViewSet)
        yield str(pattern.name), callback.initkwargs["resource"].name if is_resource else ""


def test_permission_table_lists_every_api_resource() -> None:
    assert {resource for _name, resource in url_resources() if resource} == {*RESOURCES}
    assert {name for name, resource in url_resources() if not resource} == OTHER_API_URLS
    assert {name: resource.model._meta.label_lower for name, resource in API_RESOURCES.items()} == RESOURCES


def expected_permissions(username: str, name: str, *, is_other: bool, is_public: bool) -> set[str]:
    """Return the permissions for a row of a resource, of the other edition if `is_other` is true."""
    allowed: set[str] = set()
    if username == "superuser":
        allowed = {*ALL}
    elif not is_other and username in [*Role]:
        allowed = {*role_permissions(username, RESOURCES[name])}
    elif username in CONTENT_EDITORS and name in ADDABLE_BY_ALL:
        allowed = {"a"}
    if name not in WRITABLE:
        allowed &= {"v"}
    return allowed | ({"v"} if is_public or (name in READABLE_BY_ALL and not is_other) else set())


def resource_path(name: str, row: Any) -> str:
    resource, edition = API_RESOURCES[name], row
    for step in resource.edition.split("__") if resource.edition else ():
        edition = getattr(edition, step)
    url = resource.url(edition if resource.edition else None, getattr(row, resource.key))
    return url[url.index("/api/") :]


class ApiUser:
    """Client that tries to read and write rows of a resource, and rolls back its writes."""

    def __init__(self, world: World, username: str) -> None:
        self.client = Client()
        user = world.users.get(username)
        self.headers = bearer(make_token(user, name="walk")) if user else {}

    def request(self, method: str, path: str, body: Any = None, **headers: Any) -> Any:
        send, all_headers = getattr(self.client, method), {**self.headers, **headers}
        if method == "get":
            return send(path, **all_headers)
        with transaction.atomic():
            response = send(path, body, content_type="application/json", **all_headers)
            transaction.set_rollback(True)
        return response

    def permitted_methods(self, name: str, row: Any, new: dict[str, Any], version: str) -> set[str]:
        """Return the permitted methods, as the letters v, a, c and d."""
        path, list_path = resource_path(name, row), f"/api/v1/{name}/"
        changes = CHANGES.get(name, {RENAMED_FIELDS.get(name, "name"): "Renamed"})
        version_header = {"HTTP_IF_MATCH": version}
        responses = {"v": (self.request("get", path), 200), "a": (self.request("post", list_path, new), 201)}
        responses["c"] = (self.request("patch", path, changes, **version_header), 200)
        responses["d"] = (self.request("delete", path, None, **version_header), 204)
        statuses = {method: response.status_code for method, (response, _) in responses.items()}
        assert {*statuses.values()} <= {200, 201, 204, 405, 409, *REFUSALS}
        listed = self.request("get", f"{list_path}?page_size=100").json()["results"]
        assert any(row["url"].endswith(path) for row in listed) is (statuses["v"] == 200)
        # A 409 means that the account may delete the row, but that other rows refer to it.
        return {method for method, (_, success) in responses.items() if statuses[method] in (success, 409)}


def read_versions(rows: dict[str, Any], world: World) -> dict[str, str]:
    """Return the version of a row of each resource."""
    with transaction.atomic():
        root = ApiUser(world, "superuser")
        pages = {
            name: root.request("get", resource_path(name, rows[label])) for name, label in RESOURCES.items()
        }
        transaction.set_rollback(True)
    return {name: page.headers.get("ETag", "") for name, page in pages.items()}


@pytest.fixture(scope="module")
def versions(made_once: Callable[..., Any], module_world: World) -> Any:
    """Return the versions of our rows and of those of the other edition, while no test changes them."""
    all_rows = (module_world.rows, module_world.other_rows)
    return made_once(lambda: [read_versions(rows, module_world) for rows in all_rows])


def find_differences(
    world: World,
    username: str,
    versions: dict[str, str],
    *,
    is_other: bool = False,
    is_public: bool = False,
) -> list[str]:
    """Try all methods with every resource; return the results that differ from the table."""
    rows, edition = (world.other_rows, world.other_edition) if is_other else (world.rows, world.edition)
    api_user, differences = ApiUser(world, username), list[str]()
    for name, label in RESOURCES.items():
        row, version = rows[label], versions[name]
        new = {**NEW.get(name, {}), **({"edition": edition.slug} if "edition" in NEW.get(name, {}) else {})}
        if name == "materials":
            new["paper"] = f"{edition.slug}/{row.paper.uid}"
        permitted = api_user.permitted_methods(name, row, new, version)
        expected_methods = expected_permissions(username, name, is_other=is_other, is_public=is_public)
        if permitted != expected_methods:
            differences.append(f"{name}: {sorted(permitted)}, not {sorted(expected_methods)}")
    return differences


@pytest.mark.parametrize("username", USERNAMES)
def test_resources_open_as_in_the_permission_table(
    username: str, world: World, versions: list[dict[str, str]]
) -> None:
    assert find_differences(world, username, versions[0]) == []


@pytest.mark.parametrize("username", ["anonymous", "viewer", "other"])
def test_public_rows_are_readable_by_all_and_writable_only_with_permission(
    username: str, world: World
) -> None:
    for row in world.rows.values():
        if getattr(row, "status", "") == "draft":
            type(row).objects.filter(pk=row.pk).update(status="published")
    versions = read_versions(world.rows, world)

    assert find_differences(world, username, versions, is_public=True) == []


@pytest.mark.parametrize("username", [name for name in USERNAMES if name != "other"])
def test_drafts_of_another_edition_are_closed_in_the_api(
    username: str, world: World, versions: list[dict[str, str]]
) -> None:
    assert find_differences(world, username, versions[1], is_other=True) == []
