"""Every URL of the site with every role: all may open public rows, and only previews show drafts."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from api.shapes import RESOURCES
from conference.art import art_hash
from conference.models import Edition
from tests import factories as make
from tests.access.permission_table import SEEING
from tests.access.site_url_table import SITE
from tests.access.world import EVERYBODY, World, rows_of

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

type Rows = dict[str, Any]
COLOR = "#0b6b62"
UPLOAD = "logos/pixel.png"
# Model and key field of the row after each part of a URL, and sample values of other parts.
THINGS = {
    "papers": ("papers.paper", "uid"), "sessions": ("schedule.session", "uid"),
    "presentations": ("schedule.presentation", "uid"), "people": ("people.person", "uid"),
    "institutions": ("people.institution", "slug"), "topics": ("papers.topic", "slug"),
    "rooms": ("schedule.room", "slug"), "pages": ("conference.page", "slug"),
    "<oldkind:kind>": ("papers.paper", "uid"),
}  # fmt: skip
PARTS = {
    "digest:digest": "0123456789", "str:day": "2021-04-06", "int:day": "6", "int:month": "4", "int:page": "1",
    "str:form": "program_json", "str:kind": "poster", "oldkind:kind": "poster", "path:page": "calendar",
    "path:name": UPLOAD, "str:ending": "ics", "str:section": "pages", "str:slug": "x", "str:token": "x" * 32,
}  # fmt: skip
THING = re.compile(r"([a-z]+|<oldkind:kind>)/<(?:uid:uid|key:slug)>")


def routes(
    patterns: list[URLPattern | URLResolver] | None = None, space: str = "", before: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield the names and routes of all URLs except those of the admin."""
    for one in get_resolver().url_patterns if patterns is None else patterns:
        route = before + str(one.pattern)
        if not isinstance(one, URLResolver):
            yield f"{space}{one.name}", route
        elif one.namespace != "admin":
            name = f"{space}{one.namespace}:" if one.namespace else space
            yield from routes(one.url_patterns, name, route)


def is_resource(name: str) -> bool:
    """Return whether it is the URL of a resource of the API. Resources have their own table."""
    return name.removeprefix("api:").removesuffix("_one").removesuffix("_of_site") in RESOURCES


ROUTES = {name: route for name, route in routes() if not is_resource(name)}


def thing_of(route: str) -> tuple[str, str] | None:
    """Return the model and the key field of the row that a route names; None if it names no row."""
    found = THING.search(route)
    return THINGS[found[1]] if found else None


def address(route: str, edition: Edition, rows: Rows) -> str:
    """Return the URL of a route, for an edition and its rows."""
    if "(?P<rest>" in route:
        return "/api/nothing"
    if thing := thing_of(route):
        key = getattr(rows[thing[0]], thing[1])
        route = re.sub(r"<(?:uid:uid|key:slug)>", str(key), route, count=1)
    parts = PARTS | {"key:edition": edition.slug, "year:year": str(edition.year)}
    parts["str:file"] = f"{edition.slug}.json"
    parts["uid:digest"] = art_hash(edition.name, edition.accent)
    return "/" + re.sub(r"<(\w+:\w+)>", lambda part: parts[part[1]], route)


def is_open(client: Client, path: str) -> bool:
    response = client.get(path)
    assert response.status_code in (200, 301, 302, 404, 405), (path, response.status_code)
    return response.status_code < 400


def wrong(client: Client, edition: Edition, rows: Rows, kinds: set[str], names: set[str]) -> list[str]:
    """Return the names of URLs that are open although not of these kinds, or closed although they are."""
    return [
        name
        for name in sorted(names)
        if is_open(client, address(ROUTES[name], edition, rows)) != (SITE[name] in kinds)
    ]


@pytest.fixture
def world(world: World) -> World:
    """Return a public edition with drafts, and an edition that is not public."""
    default_storage.save(UPLOAD, ContentFile(b"x"))
    world.edition.logo = UPLOAD
    for edition in (world.edition, world.other):
        edition.accent = COLOR
        edition.save()
    # Members of the committee would be public.
    world.edition.committee_roles.all().delete()
    return world


def named(*parts: str) -> set[str]:
    """Return the names of URLs whose route contains one of these parts."""
    return {name for name, route in ROUTES.items() if any(part in route for part in parts)}


WITH_THING = {name for name, route in ROUTES.items() if thing_of(route)}
# A page for all years belongs to no edition, so no preview shows its draft.
PREVIEWED = WITH_THING - {"conference:site_page"}
OF_EDITION = named("<key:edition>", "<year:year>") | PREVIEWED


def test_every_address_stands_in_the_table() -> None:
    assert {*ROUTES} == {*SITE}


@pytest.mark.parametrize("who", EVERYBODY)
def test_what_is_public_is_open_to_all_and_nothing_else(who: str, world: World) -> None:
    rows: Rows = rows_of(world.edition, "Shown", "published")
    rows["conference.page"] = make.make_page(None, slug="conduct")
    make.make_page(world.edition, slug="conduct")
    client = world.client(who)

    assert wrong(client, world.edition, rows, {"page", "file"}, {*SITE}) == []
    assert wrong(client, world.edition, world.rows, set(), WITH_THING) == []
    assert wrong(client, world.other, world.others, set(), OF_EDITION) == []


@pytest.mark.parametrize("who", [one for one in EVERYBODY if one not in ("anonymous", "other")])
def test_drafts_are_open_on_pages_to_who_may_preview_them(who: str, world: World) -> None:
    client = world.client(who)
    client.get(f"/admin/conference/edition/{world.edition.pk}/preview/")
    may = who in SEEING | {"superuser"}

    assert wrong(client, world.edition, world.rows, {"page"} if may else set(), PREVIEWED) == []
    assert wrong(client, world.other, world.others, set(), {"website:edition", "papers:detail"}) == []


def test_owner_previews_the_own_edition_alone(world: World) -> None:
    client = world.client("other")
    client.get(f"/admin/conference/edition/{world.other.pk}/preview/")

    assert wrong(client, world.other, world.others, {"page"}, OF_EDITION) == []
    assert wrong(client, world.edition, world.rows, set(), PREVIEWED) == []
