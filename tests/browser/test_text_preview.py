"""Previews of texts and advice about them while editing, with and without JavaScript."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from papers.models import Paper
from tests.admin_forms import admin_url
from tests.browser.axe import DESK_DISPLAYS, display_issues
from tests.browser.visitor import OpenPage
from tests.factories import make_edition, make_paper

pytestmark = pytest.mark.browser


@pytest.fixture
def open_paper_form(open_desk: OpenPage) -> OpenPage:
    """Return a function that opens the form of a paper as a chair."""

    def open_form(**options: Any) -> Page:
        paper = make_paper(make_edition(), title="One", abstract="Two")
        page = open_desk(**options)
        page.goto(admin_url(paper, "change"))
        return page

    return open_form


def test_preview_shows_formulas_and_warnings_while_typing(open_paper_form: OpenPage) -> None:
    page = open_paper_form()
    page.locator("summary[aria-label='Preview: Abstract']").click()
    page.fill("#id_abstract", r"The area is $\pi r^2$, and $\foo x$ is not.")
    abstract_help = page.locator(".text-help", has=page.locator("#id_abstract_advice"))

    expect(abstract_help.locator(".text-shown math msup")).to_be_visible()
    expect(page.locator("#id_abstract_advice li")).to_have_text([r"The formula “\foo x” cannot be rendered."])
    page.fill("#id_title", "ALL IN CAPITALS")
    expect(page.locator("#id_title_advice li")).to_have_text(["The title is in all caps."])
    assert display_issues(page, DESK_DISPLAYS) == []
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".messagelist .warning")).to_contain_text("Title: The title is in all caps.")
    assert Paper.objects.get().title == "ALL IN CAPITALS"


def test_preview_opens_in_a_new_tab_without_javascript(open_paper_form: OpenPage) -> None:
    page = open_paper_form(java_script_enabled=False)
    page.fill("#id_title", "On $x^2$")
    with page.context.expect_page() as tab_info:
        page.get_by_role("button", name="Preview the texts in a new tab").click()
    preview = tab_info.value

    expect(preview.locator("h1")).to_have_text("Texts as readers see them")
    expect(preview.locator(".text-shown math msup")).to_be_visible()
    assert Paper.objects.get().title == "One"


def test_enter_in_the_title_saves_the_form(open_paper_form: OpenPage) -> None:
    page = open_paper_form()
    page.fill("#id_title", "Two")
    page.press("#id_title", "Enter")

    expect(page.locator(".messagelist .success")).to_be_visible()
    assert Paper.objects.get().title == "Two"
