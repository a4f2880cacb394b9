"""Members, invitations and one's own account in Chromium: read by axe, narrow and wide."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page, Route
from pytest_django.live_server_helper import LiveServer

from accounts.models import Membership
from accounts.roles import Role
from conference.models import Edition
from people.models import Invitation
from tests import factories as make
from tests.access.world import add_member
from tests.browser.axe import DESKTOP, PHONE, hindrances

pytestmark = pytest.mark.django_db(transaction=True)


def test_pages_of_members_are_accessible(live_server: LiveServer, open_page: Callable[..., Page]) -> None:
    edition = make.make_edition(2021)
    owner = add_member("owner", edition, Role.OWNER)
    invitation = Invitation(edition=edition, role="editor", name="Ada", email="ada@example.org")
    token = invitation.renew()
    invitation.save()
    page = open_page(viewport=DESKTOP)
    found = {"invitation": seen(page, f"{live_server.url}/invitation/{token}/")}
    sign_in(page, live_server, owner)
    for path in ("accounts/membership/", "accounts/membership/add/", "account/"):
        found[path] = seen(page, f"{live_server.url}/admin/{path}")

    assert {path: seen for path, seen in found.items() if seen} == {}


def seen(page: Page, address: str) -> list[str]:
    """Open a page; return what axe finds, and whether it is wider than the window."""
    page.goto(address)
    return hindrances(page, [(DESKTOP, "light"), (PHONE, "light")])


def sign_in(page: Page, server: LiveServer, user: User) -> None:
    client = Client()
    client.force_login(user)
    cookie = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": server.url}])


PASSWORD = "analytical-engine-1843"


def invited(edition: Edition, role: str = "editor") -> str:
    """Return the path of a new invitation."""
    invitation = Invitation(edition=edition, role=role, name="Ada Byron", email="ada@example.org")
    token = invitation.renew()
    invitation.save()
    return f"/invitation/{token}/"


def test_trap_32_a_new_account_accepts_an_invitation(
    live_server: LiveServer, open_page: Callable[..., Page]
) -> None:
    edition = make.make_edition(2021)
    page = open_page(viewport=DESKTOP)
    page.goto(f"{live_server.url}{invited(edition)}")
    page.get_by_label("Password", exact=False).nth(0).fill(PASSWORD)
    page.get_by_label("Password", exact=False).nth(1).fill(PASSWORD)
    page.locator("form[method=post] [type=submit]").last.click()
    page.wait_for_url("**/admin/?edition=*")

    membership = Membership.objects.get()
    assert (membership.user.get_username(), membership.role) == ("ada@example.org", "editor")
    assert membership.edition == edition


def test_trap_32_a_signed_in_account_accepts_an_invitation(
    live_server: LiveServer, open_page: Callable[..., Page]
) -> None:
    owner = add_member("owner", make.make_edition(2020), Role.OWNER)
    edition = make.make_edition(2021)
    page = open_page(viewport=DESKTOP)
    sign_in(page, live_server, owner)
    page.goto(f"{live_server.url}{invited(edition, 'chair')}")
    page.locator("#content form[method=post] [type=submit]").click()
    page.wait_for_url("**/admin/?edition=*")

    assert Membership.objects.get(edition=edition).user == owner


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
