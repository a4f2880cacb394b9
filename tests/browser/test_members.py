"""Members, invitations and one's own account in Chromium: read by axe, narrow and wide."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from accounts.roles import Role
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
