"""No page of the admin links to a page that its reader may not open: all links are followed, by each role."""

import re
from collections import Counter
from html import unescape
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
from django.test import Client

from accounts.models import Membership
from accounts.roles import Role
from tests.access.world import World
from tests.factories import make_edition

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

LINK = re.compile(r'<a\b[^>]*?\shref="([^"#]+)', re.DOTALL)
# Parameters that only sort, narrow or page a list.
LIST_PARAMETERS = re.compile(r"^(o|p|q|all|_.*|.*__.*|todo|letter|state|next)$")

# The most rows of which one page is followed.
MAX_ROWS = 3


def local_links(address: str, markup: str) -> set[str]:
    """Return the addresses of this site to which a page links."""
    links = {urlsplit(urljoin(address, unescape(link))) for link in LINK.findall(markup)}
    return {link._replace(fragment="").geturl() for link in links if not link.scheme and not link.netloc}


def page_key(address: str) -> tuple[str, frozenset[str]]:
    """Return what makes a page another one: its path and the names of its parameters."""
    parts = urlsplit(address)
    names = (name for name, _value in parse_qsl(parts.query))
    return parts.path, frozenset(name for name in names if not LIST_PARAMETERS.match(name))


def refused_links(client: Client, start: str = "/admin/") -> tuple[int, list[tuple[int, str, str]]]:
    """Follow all links of the admin; return the number of pages and those that refused, with their origin."""
    waiting, seen, refused = [(start, "")], {page_key(start)}, list[tuple[int, str, str]]()
    counts = Counter[object]()
    while waiting:
        address, origin = waiting.pop()
        response = client.get(address, follow=True)
        if response.status_code >= 400:
            refused.append((response.status_code, address, origin))
        is_page = response["Content-Type"].startswith("text/html") and not response.streaming
        if not (is_page and response.request["PATH_INFO"].startswith("/admin/")):
            continue
        for link in local_links(address, response.text):
            path, names = key = page_key(link)
            kind = re.sub(r"\d+", "N", path), names
            if key not in seen and counts[kind] < MAX_ROWS:
                counts[kind] += 1
                seen.add(key)
                waiting.append((link, address))
    return len(seen), refused


@pytest.mark.parametrize("username", [*Role.values, "other", "superuser"])
def test_no_link_of_the_admin_is_refused(world: World, username: str) -> None:
    count, refused = refused_links(world.client(username))

    assert (refused, count > 15) == ([], True)


@pytest.mark.parametrize("role", ["chair", "viewer", "session_chair", "track_chair", "awards", "importer"])
def test_no_link_of_an_empty_edition_is_refused(role: str, world: World) -> None:
    user = world.users["superuser"]
    user.is_superuser = False
    user.save()
    Membership.objects.create(user=user, edition=make_edition(2030), role=role)

    count, refused = refused_links(world.client("superuser"))

    assert (refused, count > 15) == ([], True)
