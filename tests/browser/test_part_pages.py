"""Pages of inline rows in a browser: unsaved changes are not lost without a warning; places count on."""

import pytest
from playwright.sync_api import Dialog, Page, expect

from schedule.admin.sessions import RoleInline
from schedule.models import Session
from tests.admin_forms import admin_url
from tests.browser.axe import DESK_DISPLAYS, display_issues
from tests.factories import add_role, make_edition, make_person, make_session

pytestmark = pytest.mark.browser


@pytest.fixture
def panel(monkeypatch: pytest.MonkeyPatch) -> Session:
    """Create a session with five people, whose form shows two at a time."""
    monkeypatch.setattr(RoleInline, "rows_per_page", 2)
    session = make_session(make_edition())
    for name in ("Ada", "Bob", "Cleo", "Dan", "Eve"):
        add_role(session, make_person(name), "panelist")
    return session


def names(session: Session) -> list[str]:
    return [role.person.name for role in session.roles.order_by("position")]


def test_link_to_another_page_warns_of_unsaved_changes(page: Page, panel: Session) -> None:
    page.goto(admin_url(panel, "change"))
    expect(page.locator("nav.part-pages")).to_contain_text("Rows 1 to 2 of 5.")
    page.locator("nav.part-pages").get_by_role("link", name="2").click()
    expect(page.locator("nav.part-pages")).to_contain_text("Rows 3 to 4 of 5.")

    questions: list[str] = []

    def stay(dialog: Dialog) -> None:
        questions.append(dialog.message)
        dialog.dismiss()

    page.once("dialog", stay)
    page.locator("[name=roles-0-affiliation]").fill("Analytical Engines")
    page.locator("nav.part-pages").get_by_role("link", name="3").click()
    assert questions == ["Changes that aren’t saved will be lost. Show the other page?"]
    expect(page.locator("[name=roles-0-affiliation]")).to_have_value("Analytical Engines")

    page.get_by_role("button", name="Save and show next rows").click()
    expect(page.locator("nav.part-pages")).to_contain_text("Rows 5 to 5 of 5.")
    assert [role.affiliation for role in panel.roles.order_by("position")][2] == "Analytical Engines"


def test_moved_rows_of_a_page_keep_their_places_among_all(page: Page, panel: Session) -> None:
    page.goto(f"{admin_url(panel, 'change')}?roles-page=2")
    page.locator("#roles-1 .place-handle").press("ArrowUp")
    expect(page.locator("[name=roles-1-position]")).to_have_value("3")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".messagelist .success")).to_be_visible()

    assert names(panel) == ["Ada", "Bob", "Dan", "Cleo", "Eve"]


def test_pages_of_rows_look_right(page: Page, panel: Session) -> None:
    page.goto(f"{admin_url(panel, 'change')}?roles-page=2")

    assert display_issues(page, DESK_DISPLAYS) == []
