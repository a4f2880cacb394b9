"""A live notice in Chromium: published from the session's form, and checked by axe on public pages."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from accounts.roles import Role
from tests import factories as make
from tests.access.world import add_member
from tests.browser.axe import DESK_DISPLAYS, DESKTOP, display_issues
from tests.browser.visitor import OpenPage, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_room_change_is_announced_and_shown_on_public_pages(
    live_server: LiveServer, open_page: OpenPage
) -> None:
    edition = make.make_edition(2021)
    start = timezone.now() + timedelta(hours=1)
    old, new = make.make_room(edition, "Hall A"), make.make_room(edition, "Hall B")
    times: dict[str, Any] = {"start": start, "end": start + timedelta(hours=1)}
    session = make.make_session(edition, title="Compilers", room=old, **times)
    paper = make.make_paper(edition)
    make.make_presentation(session, paper)
    page = open_page(viewport=DESKTOP)
    sign_in(page, live_server.url, add_member("chair", edition, Role.CHAIR))
    page.goto(f"{live_server.url}/admin/schedule/session/{session.pk}/change/")
    page.get_by_role("link", name="Announce a change").click()
    issues_by_page = {"change": display_issues(page, DESK_DISPLAYS)}
    page.get_by_label("New room").select_option(label=new.name)
    page.get_by_role("button", name="Show the notice").click()
    issues_by_page["notice"] = display_issues(page, DESK_DISPLAYS)
    expect(page.get_by_label("Title")).to_have_value("“Compilers” moves to Hall B")
    page.get_by_label("Text").fill("Follow the signs.")
    page.get_by_role("button", name="Publish now").click()
    expect(page.get_by_text("The notice is public")).to_be_visible()
    for name, row in (("home", edition), ("session", session), ("paper", paper)):
        page.goto(f"{live_server.url}{row.get_absolute_url()}")
        expect(page.get_by_role("status").get_by_text("Follow the signs.")).to_be_visible()
        issues_by_page[name] = display_issues(page, DESK_DISPLAYS)
    session.refresh_from_db()

    assert session.room == new
    assert {name: issues for name, issues in issues_by_page.items() if issues} == {}
