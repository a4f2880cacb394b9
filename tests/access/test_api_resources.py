"""Every resource of the API with every role: who reads, creates, changes and deletes its rows."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from accounts.roles import Role
from api.resources import RESOURCES as KINDS
from api.resources import WRITABLE
from api.urls import urlpatterns
from api.views import ReadOnlyViewSet
from tests.access.permission_table import ADDED_BY_ALL, ALL, BESIDE_RESOURCES, READ_BY_ALL, RESOURCES, of_role
from tests.access.world import EVERYBODY, World
from tests.api.test_writing_resources import NEW
from tests.api.writing import bearer, make_token

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

# Changes to try: of fields that session chairs may change too, if there are any.
CHANGES = {"sessions": {"abstract": "New."}, "presentations": {"recording_url": "https://example.org/v"}}
NAMES = {
    "papers": "title",
    "pages": "title",
    "announcements": "title",
    "key_dates": "title",
    "materials": "label",
}
REFUSED = {400, 401, 403, 404}
ADDING = {"owner", "chair", "editor", "other", "superuser"}


def resources() -> Iterator[tuple[str, str]]:
    """Yield the name and resource of each URL of the API; the resource is "" for other URLs."""
    for pattern in urlpatterns:
        callback: Any = pattern.callback
        view = getattr(callback, "cls", None)
        is_resource = isinstance(view, type) and issubclass(view, ReadOnlyViewSet)
        yield str(pattern.name), callback.initkwargs["resource"].name if is_resource else ""


def test_every_resource_stands_in_the_table() -> None:
    assert {resource for _name, resource in resources() if resource} == {*RESOURCES}
    assert {name for name, resource in resources() if not resource} == BESIDE_RESOURCES
    assert {name: one.model._meta.label_lower for name, one in KINDS.items()} == RESOURCES


def expected(who: str, name: str, *, theirs: bool, is_public: bool) -> set[str]:
    """Return the permissions for a row of a resource; the row is of the other edition if `theirs` is true."""
    allowed: set[str] = set()
    if who == "superuser":
        allowed = {*ALL}
    elif not theirs and who in [*Role]:
        allowed = {*of_role(who, RESOURCES[name])}
    elif who in ADDING and name in ADDED_BY_ALL:
        allowed = {"a"}
    if name not in WRITABLE:
        allowed &= {"v"}
    return allowed | ({"v"} if is_public or (name in READ_BY_ALL and not theirs) else set())


def path_of(name: str, row: Any) -> str:
    resource, edition = KINDS[name], row
    for step in resource.edition.split("__") if resource.edition else ():
        edition = getattr(edition, step)
    url = resource.url(edition if resource.edition else None, getattr(row, resource.key))
    return url[url.index("/api/") :]


class Visitor:
    """Client that tries to read and write rows of a resource, and rolls back its writes."""

    def __init__(self, world: World, who: str) -> None:
        self.client = Client()
        self.headers = bearer(make_token(world.users[who], name="walk")) if who != "anonymous" else {}

    def ask(self, method: str, path: str, body: Any = None, **headers: Any) -> Any:
        send, sent = getattr(self.client, method), {**self.headers, **headers}
        if method == "get":
            return send(path, **sent)
        with transaction.atomic():
            answer = send(path, body, content_type="application/json", **sent)
            transaction.set_rollback(True)
        return answer

    def can(self, name: str, row: Any, new: dict[str, Any], version: str) -> set[str]:
        """Return the permitted methods, as the letters v, a, c and d."""
        path, listed = path_of(name, row), f"/api/v1/{name}/"
        changes = CHANGES.get(name, {NAMES.get(name, "name"): "Renamed"})
        seen = {"HTTP_IF_MATCH": version}
        answers = {"v": (self.ask("get", path), 200), "a": (self.ask("post", listed, new), 201)}
        answers["c"] = (self.ask("patch", path, changes, **seen), 200)
        answers["d"] = (self.ask("delete", path, None, **seen), 204)
        assert {one.status_code for one, good in answers.values()} <= {200, 201, 204, 405, 409, *REFUSED}
        urls = [one["url"] for one in self.ask("get", f"{listed}?page_size=100").json()["results"]]
        assert any(url.endswith(path) for url in urls) is (answers["v"][0].status_code == 200)
        # A 409 means that the account may delete the row, but that other rows refer to it.
        return {what for what, (one, good) in answers.items() if one.status_code in (good, 409)}


def wrong(world: World, who: str, *, theirs: bool = False, is_public: bool = False) -> list[str]:
    """Try all methods with every resource; return the results that differ from the table."""
    rows, edition = (world.others, world.other) if theirs else (world.rows, world.edition)
    visitor, found = Visitor(world, who), list[str]()
    root = visitor if who == "superuser" else Visitor(world, "superuser")
    for name, label in RESOURCES.items():
        row = rows[label]
        version = root.ask("get", path_of(name, row)).headers.get("ETag", "")
        new = {**NEW.get(name, {}), **({"edition": edition.slug} if "edition" in NEW.get(name, {}) else {})}
        if name == "materials":
            new["paper"] = f"{edition.slug}/{row.paper.uid}"
        can = visitor.can(name, row, new, version)
        should = expected(who, name, theirs=theirs, is_public=is_public)
        if can != should:
            found.append(f"{name}: {sorted(can)}, not {sorted(should)}")
    return found


@pytest.mark.parametrize("who", EVERYBODY)
def test_every_resource_opens_as_the_table_says(who: str, world: World) -> None:
    assert wrong(world, who) == []


@pytest.mark.parametrize("who", ["anonymous", "viewer", "other"])
def test_what_is_public_is_read_by_all_and_changed_by_nobody_from_beside(who: str, world: World) -> None:
    for row in world.rows.values():
        if getattr(row, "status", "") == "draft":
            type(row).objects.filter(pk=row.pk).update(status="published")

    assert wrong(world, who, is_public=True) == []


@pytest.mark.parametrize("who", [one for one in EVERYBODY if one != "other"])
def test_no_resource_opens_what_is_of_the_other_edition(who: str, world: World) -> None:
    assert wrong(world, who, theirs=True) == []
