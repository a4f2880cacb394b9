"""Members, invitations and the account page in Chromium: checked by axe on a desktop and a phone."""

import pytest
from playwright.sync_api import Page, Route
from pytest_django.live_server_helper import LiveServer

from accounts.roles import Role
from tests import factories as make
from tests.access.world import add_member
from tests.browser.axe import DESKTOP, PHONE, display_issues
from tests.browser.visitor import OpenPage, create_invitation, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_membership_pages_have_no_axe_violations(live_server: LiveServer, open_page: OpenPage) -> None:
    edition = make.make_edition(2021)
    owner = add_member("owner", edition, Role.OWNER)
    page = open_page(viewport=DESKTOP)
    issues_by_path = {"invitation": page_issues(page, f"{live_server.url}{create_invitation(edition)}")}
    sign_in(page, live_server.url, owner)
    paths = ["accounts/membership/", "accounts/membership/add/", "accounts/membership/roles/", "account/"]
    for path in paths:
        issues_by_path[path] = page_issues(page, f"{live_server.url}/admin/{path}")

    assert {path: issues for path, issues in issues_by_path.items() if issues} == {}


def page_issues(page: Page, url: str) -> list[str]:
    """Open a page; return the violations of axe, and whether the page is wider than the window."""
    page.goto(url)
    return display_issues(page, [(DESKTOP, "light"), (PHONE, "light")])


def test_invitation_page_sends_no_referrer_to_other_sites(
    live_server: LiveServer, open_page: OpenPage
) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto(f"{live_server.url}{create_invitation(make.make_edition(2021))}")
    referrers: list[str] = []

    def abort_request(route: Route) -> None:
        referrers.append(route.request.headers.get("referer", ""))
        route.abort()

    page.route("http://other.test/**", abort_request)
    page.evaluate("() => { location.href = 'http://other.test/y' }")
    page.wait_for_timeout(500)

    assert referrers
    assert {*referrers} == {""}
