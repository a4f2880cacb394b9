"""Choices of the admin's forms in a browser without JavaScript, where a name is typed, and with it."""

import pytest

from schedule.models import Session
from tests.admin_forms import admin_url
from tests.browser.visitor import OpenPage
from tests.factories import make_edition, make_room, make_session

pytestmark = pytest.mark.browser


def test_room_is_typed_without_javascript_and_the_input_is_absent_with_it(open_desk: OpenPage) -> None:
    edition = make_edition()
    room, session = make_room(edition, "Hall A"), make_session(edition)
    page = open_desk(java_script_enabled=False)
    page.goto(admin_url(session, "change"))
    page.fill("[name=room-typed]", "hall")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/session/**")
    other = open_desk()
    other.goto(admin_url(session, "change"))

    assert Session.objects.get().room == room
    assert other.locator("[name=room-typed]").count() == 0
