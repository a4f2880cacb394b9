"""Papers assigned to sessions in a browser: by dragging and by keyboard, saved and reverted."""

import pytest
from playwright.sync_api import expect

from schedule.models import Session
from tests import factories as make
from tests.browser.axe import PHONE, Display, display_issues
from tests.browser.visitor import OpenPage

pytestmark = pytest.mark.browser
DISPLAYS: list[Display] = [({"width": 1440, "height": 900}, "light"), (PHONE, "dark")]


def test_papers_are_assigned_by_dragging_by_keyboard_and_by_suggestion(
    transactional_db: None, open_desk: OpenPage
) -> None:
    edition = make.make_edition()
    topic = make.make_topic(edition, "Vision")
    oral = make.make_session(edition, title="Vision talks", minutes=30)
    hall = make.make_session(
        edition, kind="poster", title="Posters", room=make.make_room(edition, poster_boards="1-2")
    )
    for name in "ABCD":
        make.make_paper(edition, title=f"Paper {name}", topic=topic)
    page = open_desk()
    page.goto("/admin/schedule/session/assign/")
    talks, posters = (page.get_by_role("article", name=name) for name in ("Vision talks", "Posters"))

    # Dragging a selected paper moves all selected papers.
    for name in "AB":
        page.get_by_label(f"Paper {name}", exact=True).check()
    page.locator(".as-what label").filter(has_text="Paper A").drag_to(posters)
    expect(page.get_by_role("status")).to_have_text("2 papers planned, not saved yet")
    expect(posters).to_contain_text("2 of 2 boards used")

    # M opens the select of the row and Enter schedules the paper; then the next paper has the focus.
    page.get_by_label("Paper C", exact=True).focus()
    page.keyboard.press("m")
    expect(page.get_by_label("Session for Paper C")).to_be_focused()
    page.get_by_label("Session for Paper C").select_option(str(oral.pk))
    page.keyboard.press("Escape")
    page.get_by_label("Session for Paper C").press("Enter")
    expect(page.get_by_role("status")).to_have_text("3 papers planned, not saved yet")
    expect(page.get_by_label("Paper D", exact=True)).to_be_focused()

    page.get_by_role("button", name="Suggest sessions").click()
    expect(page.get_by_label("Paper D → Vision talks")).to_be_checked()
    assert display_issues(page, DISPLAYS) == []
    page.get_by_label("Minutes per talk").fill("20")
    page.locator(".as-what label").filter(has_text="Paper D").drag_to(talks)
    expect(page.get_by_text("Over-full by 10 minutes")).to_be_visible()
    page.get_by_label("Save “Vision talks” although it is over-full").check()
    page.get_by_role("button", name="Save sessions").click()
    expect(page.locator(".messagelist .success")).to_have_text("4 papers are in their sessions.")
    assert [session.presentations.count() for session in (oral, hall)] == [2, 2]
    page.get_by_role("button", name="Revert all moves").click()
    expect(page.locator(".messagelist")).to_be_visible()
    assert [session.presentations.count() for session in Session.objects.all()] == [0, 0]
