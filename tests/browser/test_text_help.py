"""Help with texts while editing: formulas and sentences, with and without the script."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from papers.models import Paper
from tests.browser.axe import DESK_LOOKS, hindrances
from tests.factories import make_edition, make_paper
from tests.posted import address

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(open_desk: Callable[..., Page]) -> Callable[..., Page]:
    """Return a function that opens the form of a paper as a chair."""

    def form(**options: Any) -> Page:
        paper = make_paper(make_edition(), title="One", abstract="Two")
        page = open_desk(**options)
        page.goto(address(paper, "change"))
        return page

    return form


def test_preview_shows_formula_and_warning_while_one_writes(opened: Callable[..., Page]) -> None:
    page = opened()
    page.locator("summary[aria-label='Preview: Abstract']").click()
    page.fill("#id_abstract", r"The area is $\pi r^2$, and $\foo x$ is not.")
    help_of = page.locator(".text-help", has=page.locator("#id_abstract_advice"))

    expect(help_of.locator(".text-shown math msup")).to_be_visible()
    expect(page.locator("#id_abstract_advice li")).to_have_text([r"The formula “\foo x” cannot be rendered."])
    page.fill("#id_title", "ALL IN CAPITALS")
    expect(page.locator("#id_title_advice li")).to_have_text(["The title is in all caps."])
    assert hindrances(page, DESK_LOOKS) == []
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".messagelist .warning")).to_contain_text("Title: The title is in all caps.")
    assert Paper.objects.get().title == "ALL IN CAPITALS"


def test_all_texts_open_in_a_tab_of_their_own_without_the_script(opened: Callable[..., Page]) -> None:
    page = opened(java_script_enabled=False)
    page.fill("#id_title", "On $x^2$")
    with page.context.expect_page() as tab:
        page.get_by_role("button", name="Preview the texts in a new tab").click()
    shown = tab.value

    expect(shown.locator("h1")).to_have_text("Texts as readers see them")
    expect(shown.locator(".text-shown math msup")).to_be_visible()
    assert Paper.objects.get().title == "One"


def test_enter_in_a_title_saves_and_previews_nothing(opened: Callable[..., Page]) -> None:
    page = opened()
    page.fill("#id_title", "Two")
    page.press("#id_title", "Enter")

    expect(page.locator(".messagelist .success")).to_be_visible()
    assert Paper.objects.get().title == "Two"
