"""Searching in Chromium: suggestions while typing, the dialog of `/` and Ctrl-K, without JavaScript."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import DESKTOP, DISPLAYS, PHONE, display_issues
from tests.browser.visitor import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("demo")]


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    page = open_page(viewport=DESKTOP)
    page.goto("/2021/")
    return page


def header_box(page: Page) -> Locator:
    return page.locator(".bar form.search").get_by_role("combobox")


def dialog_box(page: Page) -> Locator:
    return page.get_by_role("dialog").get_by_role("combobox")


def options(page: Page) -> Locator:
    return page.locator("[role=option]:visible")


# The search box of the header


def test_suggestion_is_selected_with_arrow_key_and_opened_with_enter(page: Page) -> None:
    box = header_box(page)
    box.press_sequentially("cortex comp", delay=20)
    expect(options(page)).to_have_count(2)
    option = options(page).first
    expect(box).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".bar form.search [role=status]")).to_have_text("Suggestions: 2")

    page.keyboard.press("ArrowDown")
    expect(option).to_have_attribute("aria-selected", "true")
    option_id = option.get_attribute("id")
    assert option_id
    expect(box).to_have_attribute("aria-activedescendant", option_id)
    page.keyboard.press("Enter")

    expect(page.locator("h1")).to_have_text("Cortex: A Compiler for Recursive Deep Learning Models")


def test_arrow_keys_cycle_through_suggestions_and_the_search_box(page: Page) -> None:
    box = header_box(page)
    box.press_sequentially("chen", delay=20)
    expect(options(page).first).to_be_visible()
    first_id, last_id = (getattr(options(page), end).get_attribute("id") for end in ("first", "last"))

    page.keyboard.press("ArrowUp")
    expect(box).to_have_attribute("aria-activedescendant", last_id)
    page.keyboard.press("ArrowDown")
    expect(box).not_to_have_attribute("aria-activedescendant", last_id)
    page.keyboard.press("ArrowDown")
    expect(box).to_have_attribute("aria-activedescendant", first_id)


def test_escape_closes_the_suggestions_and_enter_opens_all_results(page: Page) -> None:
    box = header_box(page)
    box.press_sequentially("compiler", delay=20)
    expect(options(page).first).to_be_visible()

    page.keyboard.press("Escape")
    expect(options(page)).to_have_count(0)
    expect(box).to_have_value("compiler")
    page.keyboard.press("Enter")

    expect(page).to_have_url("/2021/search/?q=compiler")
    expect(page.locator("main .papers mark").first).to_be_visible()


def test_only_the_last_of_several_quick_inputs_is_requested(page: Page) -> None:
    requested_urls: list[str] = []
    page.on(
        "request", lambda request: requested_urls.append(request.url) if "suggest" in request.url else None
    )
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

    assert [url.rpartition("/")[2] for url in requested_urls] == ["suggest?q=compiler"]


def test_search_box_submits_its_form_if_suggestions_fail(page: Page) -> None:
    page.route("**/suggest?*", lambda route: route.abort())
    header_box(page).press_sequentially("compiler")
    page.wait_for_timeout(300)
    page.keyboard.press("Enter")

    expect(page).to_have_url("/2021/search/?q=compiler")


# The dialog


def test_slash_opens_the_search_dialog_and_can_be_typed_in_it(page: Page) -> None:
    page.keyboard.press("/")
    expect(dialog_box(page)).to_be_focused()

    page.keyboard.type("a/b")
    expect(dialog_box(page)).to_have_value("a/b")


def test_dialog_suggests_pages_of_the_edition(page: Page) -> None:
    page.keyboard.press("Control+k")
    expect(options(page).filter(has_text="Schedule").first).to_be_visible()
    page.keyboard.type("agen", delay=20)
    expect(options(page).first).to_have_text("My agenda")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    expect(page).to_have_url("/2021/agenda/")


def test_dialog_links_to_a_day_by_its_name(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("tuesday", delay=20)
    page.locator("a.jump:visible").filter(has_text="Tuesday 6 April 2021").click()

    expect(page).to_have_url("/2021/schedule/2021-04-06/")


def test_escape_closes_the_dialog_and_restores_the_focus(page: Page) -> None:
    link = page.locator(".bar .brand")
    link.focus()
    page.keyboard.press("Control+k")
    expect(dialog_box(page)).to_be_focused()
    page.keyboard.press("Escape")

    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(link).to_be_focused()


def test_click_outside_of_the_dialog_closes_it(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.mouse.click(20, 500)

    expect(page.get_by_role("dialog")).to_have_count(0)


def test_query_in_words_filters_by_kind_topic_and_day(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("orals on compilers tuesday", delay=10)
    page.keyboard.press("Enter")

    expect(page.locator(".picked a")).to_have_count(3)
    expect(page.locator("main .papers > li").first).to_be_visible()


# Without JavaScript, and accessibility


def test_search_form_works_without_javascript(open_page: OpenPage) -> None:
    page = open_page(viewport=PHONE, java_script_enabled=False)
    page.goto("/2021/search/")
    page.locator("#words").fill("cortex")
    page.locator("#words").press("Enter")

    expect(page).to_have_url("/2021/search/?q=cortex")
    expect(page.locator("main .title")).to_have_text("Cortex: A Compiler for Recursive Deep Learning Models")


def test_empty_search_page_focuses_its_search_box(page: Page) -> None:
    page.goto("/2021/search/")

    expect(page.locator("#words")).to_be_focused()


def test_search_pages_and_suggestions_have_no_axe_violations(page: Page) -> None:
    issues: list[str] = []
    page.on("console", lambda message: issues.append(message.text))
    queries = ["learning", "posters+on+training", "orals+tuesday&kind=paper", "zzzz", "chen", ""]
    for url in [*(f"/2021/search/?q={query}" for query in queries), "/search/?q=grpah"]:
        page.goto(url)
        issues += display_issues(page, DISPLAYS)
    page.goto("/2021/search/?q=learning")
    page.locator("#words").fill("tensor")
    expect(options(page).first).to_be_visible()
    page.keyboard.press("ArrowDown")
    issues += display_issues(page, DISPLAYS)
    page.goto("/2021/")
    page.keyboard.press("/")
    page.keyboard.type("orals on comp tue", delay=10)
    expect(options(page).first).to_be_visible()
    page.keyboard.press("ArrowDown")
    issues += display_issues(page, DISPLAYS)
    assert issues == []
