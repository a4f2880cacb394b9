"""Searching in Chromium: suggestions while typing, the dialog of `/` and Ctrl-K, without JavaScript."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import DESKTOP, LOOKS, PHONE, hindrances

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("demo")]


@pytest.fixture
def page(open_page: Callable[..., Page]) -> Page:
    page = open_page(viewport=DESKTOP)
    page.goto("/2021/")
    return page


def header_box(page: Page) -> Locator:
    return page.locator(".bar form.search").get_by_role("combobox")


def dialog_box(page: Page) -> Locator:
    return page.get_by_role("dialog").get_by_role("combobox")


def options(page: Page) -> Locator:
    return page.locator("[role=option]:visible")


# In the box of the header


def test_typing_shows_what_is_found_and_arrows_and_enter_open_it(page: Page) -> None:
    box = header_box(page)
    box.press_sequentially("cortex comp", delay=20)
    expect(options(page)).to_have_count(2)
    option = options(page).first
    expect(box).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".bar form.search [role=status]")).to_have_text("Suggestions: 2")

    page.keyboard.press("ArrowDown")
    expect(option).to_have_attribute("aria-selected", "true")
    chosen = option.get_attribute("id")
    assert chosen
    expect(box).to_have_attribute("aria-activedescendant", chosen)
    page.keyboard.press("Enter")

    expect(page.locator("h1")).to_have_text("Cortex: A Compiler for Recursive Deep Learning Models")


def test_arrows_walk_round_by_way_of_what_was_typed(page: Page) -> None:
    box = header_box(page)
    box.press_sequentially("chen", delay=20)
    expect(options(page).first).to_be_visible()
    first, last = (getattr(options(page), which).get_attribute("id") for which in ("first", "last"))

    page.keyboard.press("ArrowUp")
    expect(box).to_have_attribute("aria-activedescendant", last)
    page.keyboard.press("ArrowDown")
    expect(box).not_to_have_attribute("aria-activedescendant", last)
    page.keyboard.press("ArrowDown")
    expect(box).to_have_attribute("aria-activedescendant", first)


def test_escape_closes_the_list_and_enter_asks_for_all(page: Page) -> None:
    box = header_box(page)
    box.press_sequentially("compiler", delay=20)
    expect(options(page).first).to_be_visible()

    page.keyboard.press("Escape")
    expect(options(page)).to_have_count(0)
    expect(box).to_have_value("compiler")
    page.keyboard.press("Enter")

    expect(page).to_have_url("/2021/search/?q=compiler")
    expect(page.locator("main .papers mark").first).to_be_visible()


def test_only_the_last_of_quick_letters_is_asked_for(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "suggest" in request.url else None)
    # Enter all letters at once, independent of the machine's speed.
    header_box(page).evaluate(
        """(box) => {
          for (let end = 1; end <= "compiler".length; end += 1) {
            box.value = "compiler".slice(0, end);
            box.dispatchEvent(new Event("input", { bubbles: true }));
          }
        }"""
    )
    expect(options(page).first).to_be_visible()

    assert [url.rpartition("/")[2] for url in asked] == ["suggest?q=compiler"]


def test_box_without_a_network_stays_a_form(page: Page) -> None:
    page.route("**/suggest?*", lambda route: route.abort())
    header_box(page).press_sequentially("compiler")
    page.wait_for_timeout(300)
    page.keyboard.press("Enter")

    expect(page).to_have_url("/2021/search/?q=compiler")


# In the dialog


def test_slash_opens_the_search_and_is_a_letter_in_it(page: Page) -> None:
    page.keyboard.press("/")
    expect(dialog_box(page)).to_be_focused()

    page.keyboard.type("a/b")
    expect(dialog_box(page)).to_have_value("a/b")


def test_empty_dialog_leads_to_the_pages_of_the_edition(page: Page) -> None:
    page.keyboard.press("Control+k")
    expect(options(page).filter(has_text="Schedule").first).to_be_visible()
    page.keyboard.type("agen", delay=20)
    expect(options(page).first).to_have_text("My agenda")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    expect(page).to_have_url("/2021/agenda/")


def test_day_is_reached_by_its_name(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("tuesday", delay=20)
    page.locator("a.jump:visible").filter(has_text="Tuesday 6 April 2021").click()

    expect(page).to_have_url("/2021/schedule/2021-04-06/")


def test_escape_closes_the_dialog_and_gives_the_focus_back(page: Page) -> None:
    link = page.locator(".bar .brand")
    link.focus()
    page.keyboard.press("Control+k")
    expect(dialog_box(page)).to_be_focused()
    page.keyboard.press("Escape")

    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(link).to_be_focused()


def test_press_beside_the_dialog_closes_it(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.mouse.click(20, 500)

    expect(page.get_by_role("dialog")).to_have_count(0)


def test_orals_of_a_day_are_two_steps_away(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("orals on compilers tuesday", delay=10)
    page.keyboard.press("Enter")

    expect(page.locator(".picked a")).to_have_count(3)
    expect(page.locator("main .papers > li").first).to_be_visible()


# Without the script, and accessibility


def test_form_works_without_javascript(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=PHONE, java_script_enabled=False)
    page.goto("/2021/search/")
    page.locator("#words").fill("cortex")
    page.locator("#words").press("Enter")

    expect(page).to_have_url("/2021/search/?q=cortex")
    expect(page.locator("main .title")).to_have_text("Cortex: A Compiler for Recursive Deep Learning Models")


def test_empty_search_page_has_the_focus(page: Page) -> None:
    page.goto("/2021/search/")

    expect(page.locator("#words")).to_be_focused()


def test_search_hinders_nobody(page: Page) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    addresses = ["learning", "posters+on+training", "orals+tuesday&kind=paper", "zzzz", "chen", ""]
    for address in [*(f"/2021/search/?q={words}" for words in addresses), "/search/?q=grpah"]:
        page.goto(address)
        complaints += hindrances(page, LOOKS)
    page.goto("/2021/search/?q=learning")
    page.locator("#words").fill("tensor")
    expect(options(page).first).to_be_visible()
    page.keyboard.press("ArrowDown")
    complaints += hindrances(page, LOOKS)
    page.goto("/2021/")
    page.keyboard.press("/")
    page.keyboard.type("orals on comp tue", delay=10)
    expect(options(page).first).to_be_visible()
    page.keyboard.press("ArrowDown")
    complaints += hindrances(page, LOOKS)
    assert complaints == []
