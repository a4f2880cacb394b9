"""Members, invitations and the own account in Chromium: checked by axe, narrow and wide."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route
from pytest_django.live_server_helper import LiveServer

from accounts.roles import Role
from tests import factories as make
from tests.access.world import add_member
from tests.browser.axe import DESKTOP, PHONE, hindrances
from tests.browser.visitor import invited, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


def test_pages_of_members_are_accessible(live_server: LiveServer, open_page: Callable[..., Page]) -> None:
    edition = make.make_edition(2021)
    owner = add_member("owner", edition, Role.OWNER)
    page = open_page(viewport=DESKTOP)
    found = {"invitation": seen(page, f"{live_server.url}{invited(edition)}")}
    sign_in(page, live_server.url, owner)
    paths = ["accounts/membership/", "accounts/membership/add/", "accounts/membership/roles/", "account/"]
    for path in paths:
        found[path] = seen(page, f"{live_server.url}/admin/{path}")

    assert {path: seen for path, seen in found.items() if seen} == {}


def seen(page: Page, address: str) -> list[str]:
    """Open a page; return the violations of axe, and whether the page is wider than the window."""
    page.goto(address)
    return hindrances(page, [(DESKTOP, "light"), (PHONE, "light")])


def test_invitation_sends_its_secret_to_no_other_site(
    live_server: LiveServer, open_page: Callable[..., Page]
) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto(f"{live_server.url}{invited(make.make_edition(2021))}")
    sent: list[str] = []

    def refuse(route: Route) -> None:
        sent.append(route.request.headers.get("referer", ""))
        route.abort()

    page.route("http://other.test/**", refuse)
    page.evaluate("() => { location.href = 'http://other.test/y' }")
    page.wait_for_timeout(500)

    assert sent
    assert {*sent} == {""}
