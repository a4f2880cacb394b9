"""A paper and lists of papers in Chromium: the first screen of a phone, menus, keys."""

import re

import pytest
from playwright.sync_api import Route, expect
from pytest_django import Settings

from papers.models import Paper
from tests import factories as make
from tests.browser.axe import NARROW, display_issues
from tests.browser.visitor import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("demo")]


@pytest.fixture
def paper_path() -> str:
    paper: Paper = Paper.objects.published().get(title__startswith="Cortex")
    return paper.get_absolute_url()


def test_time_and_room_of_a_paper_are_on_the_first_screen_of_a_phone(
    open_page: OpenPage, paper_path: str
) -> None:
    page = open_page(viewport={"width": 390, "height": 844})
    page.goto(paper_path)

    box = page.locator(".appearances .card").first.bounding_box()

    assert box is not None
    assert box["y"] + box["height"] < 844 - 60


def test_star_menu_lists_the_presentations_of_a_paper(open_page: OpenPage, paper_path: str) -> None:
    page = open_page(viewport=NARROW)
    page.goto(paper_path)
    page.locator(".starring > summary").click()
    oral_button = page.locator(".starring").get_by_role("button", name="Star: Oral", exact=False)
    oral_button.click()

    expect(oral_button).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-count]").first).to_have_text(" · 1")


def test_open_menus_of_a_paper_have_no_axe_violations(open_page: OpenPage, paper_path: str) -> None:
    page = open_page(viewport=NARROW)
    page.goto(paper_path)
    for menu in page.locator(".actions summary").all():
        menu.click()
    assert display_issues(page, [(NARROW, "light"), (NARROW, "dark")]) == []
    expect(page.get_by_text("@inproceedings")).to_be_visible()


def test_keys_move_through_a_list_and_star_a_paper(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/2021/papers/")
    titles = page.locator(".papers > li .title a")
    for keys, index in (("j", 0), ("jj", 2), ("k", 1)):
        for key in keys:
            page.keyboard.press(key)
        expect(titles.nth(index)).to_be_focused()
    page.keyboard.press("s")

    expect(page.locator(".papers > li").nth(1).locator(".star")).to_have_attribute("aria-pressed", "true")
    box = page.get_by_role("searchbox", name="Search papers")
    box.press("j")
    expect(box).to_have_value("j")
    box.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_question_mark_opens_the_list_of_keyboard_shortcuts(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/2021/awards/")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    page.keyboard.press("j")

    expect(page.locator("main .title a").first).to_be_focused()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    expect(page.get_by_role("dialog")).to_be_visible()


@pytest.mark.parametrize("has_script", [True, False], ids=["with scripts", "without"])
def test_video_plays_after_a_click_in_the_page_or_without_script_on_its_site(
    open_page: OpenPage, settings: Settings, paper_path: str, has_script: bool
) -> None:
    settings.VIDEO_HOSTS = ["player.vimeo.com"]
    paper = Paper.objects.published().get(title__startswith="Cortex")
    make.make_material(paper, "video", url="https://vimeo.com/76979871")
    page = open_page(java_script_enabled=has_script)
    requested_urls: list[str] = []

    def serve_player(route: Route) -> None:
        requested_urls.append(route.request.url)
        route.fulfill(content_type="text/html", body="<h1>The player</h1>")

    page.route(re.compile("vimeo[.]com/"), serve_player)
    page.goto(paper_path)
    expect(page.locator("iframe")).to_have_count(0)
    assert requested_urls == []

    page.get_by_role("link", name="Video vimeo.com").click()

    if has_script:
        frame = page.frame_locator("iframe.player")
        expect(frame.get_by_role("heading", name="The player")).to_be_visible()
        assert page.url.endswith(paper_path)
        assert requested_urls == ["https://player.vimeo.com/video/76979871"]
        assert page.evaluate("document.featurePolicy.getAllowlistForFeature('fullscreen')") == [
            page.evaluate("location.origin"),
            "https://player.vimeo.com",
        ]
        assert display_issues(page, [(NARROW, "light"), (NARROW, "dark")]) == []
    else:
        page.wait_for_url("https://vimeo.com/76979871")
        assert requested_urls == ["https://vimeo.com/76979871"]


def test_frame_added_by_a_script_is_blocked_by_csp(
    open_page: OpenPage, settings: Settings, paper_path: str
) -> None:
    """Assert that the page's CSP applies to frames that a script adds."""
    settings.VIDEO_HOSTS = ["player.vimeo.com"]
    page = open_page()
    requested_urls: list[str] = []

    def abort_request(route: Route) -> None:
        requested_urls.append(route.request.url)
        route.abort()

    page.route(re.compile("vimeo[.]com/"), abort_request)
    page.goto(paper_path)
    with page.expect_console_message(lambda message: "Content Security Policy" in message.text):
        page.evaluate("""() => {
          const frame = document.createElement("iframe");
          frame.src = "https://player.vimeo.com/video/1";
          document.body.append(frame);
        }""")

    assert requested_urls == []


def test_formula_and_its_period_are_on_one_line(open_page: OpenPage, paper_path: str) -> None:
    paper = Paper.objects.get(title__startswith="Cortex")
    paper.abstract = "The rate of convergence is $x+y$."
    paper.save()
    page = open_page()
    page.goto(paper_path)
    bottoms_script = "formula => [formula, formula.lastChild].map(node => {\n"
    bottoms_script += "  const range = document.createRange(); range.selectNodeContents(node); \n"
    bottoms_script += "  return Math.round(range.getBoundingClientRect().bottom); })"
    formula = page.locator(".formula")
    for width in range(320, 480, 4):
        page.set_viewport_size({"width": width, "height": 700})
        formula_bottom, period_bottom = formula.evaluate(bottoms_script)
        assert formula_bottom - period_bottom < 10, width
