"""The search box in Chromium: results while typing, by keyboard alone, without JavaScript."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import DESKTOP, Look, hindrances
from tests.browser.axe import NARROW as PHONE

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("demo")]

LOOKS: list[Look] = [(size, scheme) for size in (DESKTOP, PHONE) for scheme in ("light", "dark")]


@pytest.fixture
def page(open_page: Callable[..., Page]) -> Page:
    page = open_page(viewport=DESKTOP)
    page.goto("/2021/")
    return page


def test_slash_comes_to_the_box_and_is_a_letter_in_it(page: Page) -> None:
    page.keyboard.press("/")
    box = page.get_by_role("combobox")
    expect(box).to_be_focused()

    page.keyboard.type("a/b")
    expect(box).to_have_value("a/b")


def test_typing_shows_what_is_found_and_arrows_and_enter_open_it(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("cortex comp", delay=20)
    box, option = page.get_by_role("combobox"), page.get_by_role("option")
    expect(option).to_have_count(1)
    expect(box).to_have_attribute("aria-expanded", "true")
    expect(page.locator("form.search [role=status]")).to_have_text("Suggestions: 1")

    page.keyboard.press("ArrowDown")
    expect(option).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", "search-option-1")
    page.keyboard.press("Enter")

    expect(page.locator("h1")).to_have_text("Cortex: A Compiler for Recursive Deep Learning Models")


def test_arrows_walk_round_by_way_of_what_was_typed(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("chen", delay=20)
    expect(page.get_by_role("option").first).to_be_visible()
    number = page.get_by_role("option").count()
    box = page.get_by_role("combobox")

    page.keyboard.press("ArrowUp")
    expect(box).to_have_attribute("aria-activedescendant", f"search-option-{number}")
    page.keyboard.press("ArrowDown")
    expect(box).not_to_have_attribute("aria-activedescendant", f"search-option-{number}")
    page.keyboard.press("ArrowDown")
    expect(box).to_have_attribute("aria-activedescendant", "search-option-1")


def test_escape_closes_the_list_and_enter_asks_for_all(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("compiler", delay=20)
    expect(page.get_by_role("option").first).to_be_visible()

    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)
    expect(page.get_by_role("combobox")).to_have_value("compiler")
    page.keyboard.press("Enter")

    expect(page).to_have_url("/2021/search/?q=compiler")
    expect(page.locator("main .papers mark").first).to_be_visible()


def test_only_the_last_of_quick_letters_is_asked_for(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "suggest" in request.url else None)
    page.keyboard.press("/")
    page.keyboard.type("compiler", delay=10)
    expect(page.get_by_role("option").first).to_be_visible()

    assert [url.rpartition("/")[2] for url in asked] == ["suggest?q=compiler"]


def test_box_without_a_network_stays_a_form(page: Page) -> None:
    page.route("**/suggest?*", lambda route: route.abort())
    page.keyboard.press("/")
    page.keyboard.type("compiler")
    page.wait_for_timeout(300)
    page.keyboard.press("Enter")

    expect(page).to_have_url("/2021/search/?q=compiler")


def test_form_works_without_javascript(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=PHONE, java_script_enabled=False)
    page.goto("/people/")
    page.get_by_role("searchbox").fill("cortex")
    page.get_by_role("searchbox").press("Enter")

    expect(page).to_have_url("/search/?q=cortex")
    expect(page.locator("main .title")).to_have_text("Cortex: A Compiler for Recursive Deep Learning Models")


def test_search_hinders_nobody(page: Page) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    for address in ("/2021/search/?q=learning", "/search/?q=grpah", "/2021/search/", "/2021/search/?q=zzzz"):
        page.goto(address)
        page.get_by_role("combobox").fill("tensor")
        expect(page.get_by_role("option").first).to_be_visible()
        page.keyboard.press("ArrowDown")
        complaints += hindrances(page, LOOKS)
    assert complaints == []
