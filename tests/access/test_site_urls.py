"""Every URL of the site with every role: all may open public rows, and only previews show drafts."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from api.shapes import RESOURCES
from api.unreleased_bodies import NAME as UNRELEASED
from conference.art import art_hash
from conference.models import Edition
from operations.indexing.update import refresh
from tests import factories as make
from tests.access.permission_table import VIEWERS
from tests.access.site_url_table import URL_KINDS
from tests.access.world import USERNAMES, World, make_rows, unrendered_pages

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

type Rows = dict[str, Any]
COLOR = "#0b6b62"
UPLOAD = "logos/pixel.png"
# Model and key field of the row after each part of a URL, and sample values of other parts.
ROW_KEYS = {
    "papers": ("papers.paper", "uid"), "sessions": ("schedule.session", "uid"),
    "presentations": ("schedule.presentation", "uid"), "people": ("people.person", "uid"),
    "institutions": ("people.institution", "slug"), "topics": ("papers.topic", "slug"),
    "rooms": ("schedule.room", "slug"), "pages": ("conference.page", "slug"),
    "<oldkind:kind>": ("papers.paper", "uid"),
}  # fmt: skip
SAMPLE_VALUES = {
    "digest:digest": "0123456789", "str:day": "2021-04-06", "int:day": "6", "int:month": "4", "int:page": "1",
    "str:form": "program_json", "str:kind": "poster", "oldkind:kind": "poster", "path:page": "calendar",
    "path:name": UPLOAD, "str:ending": "ics", "str:section": "pages", "str:slug": "x", "str:token": "x" * 32,
}  # fmt: skip
ROW_PATTERN = re.compile(r"([a-z]+|<oldkind:kind>)/<(?:uid:uid|key:slug)>")


def routes(
    patterns: list[URLPattern | URLResolver] | None = None, namespace: str = "", prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield the names and routes of all URLs except those of the admin."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        route = prefix + str(pattern.pattern)
        if not isinstance(pattern, URLResolver):
            yield f"{namespace}{pattern.name}", route
        elif pattern.namespace != "admin":
            name = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from routes(pattern.url_patterns, name, route)


def is_resource(name: str) -> bool:
    """Return whether it is the URL of a resource of the API. Resources have their own table."""
    resource = name.removeprefix("api:").partition("_")[0] if "unreleased" in name else name
    resource = resource.removeprefix("api:").removesuffix("_one").removesuffix("_of_site")
    return resource in (*RESOURCES, UNRELEASED)


ROUTES = {name: route for name, route in routes() if not is_resource(name)}


def route_row(route: str) -> tuple[str, str] | None:
    """Return the model and the key field of the row that a route names; None if it names no row."""
    match = ROW_PATTERN.search(route)
    return ROW_KEYS[match[1]] if match else None


def site_url(route: str, edition: Edition, rows: Rows) -> str:
    """Return the URL of a route, for an edition and its rows."""
    if "(?P<rest>" in route:
        return "/api/nothing"
    if row_key := route_row(route):
        key = getattr(rows[row_key[0]], row_key[1])
        route = re.sub(r"<(?:uid:uid|key:slug)>", str(key), route, count=1)
    values = SAMPLE_VALUES | {"key:edition": edition.slug, "year:year": str(edition.year)}
    values["str:file"] = f"{edition.slug}.json"
    values["uid:digest"] = art_hash(edition.name, edition.accent)
    return "/" + re.sub(r"<(\w+:\w+)>", lambda match: values[match[1]], route)


def is_open(client: Client, path: str) -> bool:
    response = client.get(path)
    assert response.status_code in (200, 301, 302, 304, 404, 405), (path, response.status_code)
    return response.status_code < 400


def find_differences(
    client: Client, edition: Edition, rows: Rows, kinds: set[str], names: set[str]
) -> list[str]:
    """Return the names of URLs that are open although not of these kinds, or closed although they are."""
    return [
        name
        for name in sorted(names)
        if is_open(client, site_url(ROUTES[name], edition, rows)) != (URL_KINDS[name] in kinds)
    ]


@contextmanager
def rendered_for_some(username: str, client: Client) -> Iterator[None]:
    """Render pages and files for three kinds of users; look only at the status of responses to others."""
    with ExitStack() as stack:
        if username not in ("anonymous", "viewer", "superuser"):
            stack.enter_context(unrendered_pages())
            # Files are not modified for a client that has any version of them.
            client.defaults["HTTP_IF_NONE_MATCH"] = "*"
        yield


@pytest.fixture(scope="module")
def shown_rows(made_once: Callable[..., Any], module_world: World) -> Any:
    """Create a public row of each model beside the drafts, and the search index."""

    def make_shown_rows() -> Rows:
        module_world.edition.logo = UPLOAD
        for edition in (module_world.edition, module_world.other_edition):
            edition.accent = COLOR
            edition.save()
        # Members of the committee would be public.
        module_world.edition.committee_roles.all().delete()
        rows: Rows = make_rows(module_world.edition, "Shown", "published")
        rows["conference.page"] = make.make_page(None, slug="conduct")
        make.make_page(module_world.edition, slug="conduct")
        refresh()
        return rows

    return made_once(make_shown_rows)


@pytest.fixture
def world(world: World, shown_rows: Rows) -> World:
    """Return a public edition with drafts and public rows, and an edition that is not public."""
    default_storage.save(UPLOAD, ContentFile(b"x"))
    return world


def url_names_with(*parts: str) -> set[str]:
    """Return the names of URLs whose route contains one of these parts."""
    return {name for name, route in ROUTES.items() if any(part in route for part in parts)}


ROW_URLS = {name for name, route in ROUTES.items() if route_row(route)}
# A page for all years belongs to no edition, so no preview shows its draft.
PREVIEWED_URLS = ROW_URLS - {"conference:site_page"}
EDITION_URLS = url_names_with("<key:edition>", "<year:year>") | PREVIEWED_URLS


def test_site_url_table_lists_every_url() -> None:
    assert {*ROUTES} == {*URL_KINDS}


@pytest.mark.parametrize("username", USERNAMES)
def test_only_public_pages_and_files_are_open_to_every_user(
    username: str, world: World, shown_rows: Rows
) -> None:
    client = world.client(username)
    with rendered_for_some(username, client):
        assert find_differences(client, world.edition, shown_rows, {"page", "file"}, {*URL_KINDS}) == []
        assert find_differences(client, world.edition, world.rows, set(), ROW_URLS) == []
        assert find_differences(client, world.other_edition, world.other_rows, set(), EDITION_URLS) == []


@pytest.mark.parametrize("username", [name for name in USERNAMES if name not in ("anonymous", "other")])
def test_preview_opens_drafts_on_pages_to_users_with_permission(username: str, world: World) -> None:
    client = world.client(username)
    client.get(f"/admin/conference/edition/{world.edition.pk}/preview/")
    kinds = {"page"} if username in VIEWERS | {"superuser"} else set[str]()
    other_urls = {"website:edition", "papers:detail"}
    with rendered_for_some(username, client):
        assert find_differences(client, world.edition, world.rows, kinds, PREVIEWED_URLS) == []
        assert find_differences(client, world.other_edition, world.other_rows, set(), other_urls) == []


def test_owner_previews_only_the_own_edition(world: World) -> None:
    client = world.client("other")
    client.get(f"/admin/conference/edition/{world.other_edition.pk}/preview/")

    assert find_differences(client, world.other_edition, world.other_rows, {"page"}, EDITION_URLS) == []
    assert find_differences(client, world.edition, world.rows, set(), PREVIEWED_URLS) == []
