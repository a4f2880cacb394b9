"""A paper and lists of papers in Chromium: the first screen of a phone, menus, keys."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect
from pytest_django import Settings

from papers.models import Paper
from tests import factories as make
from tests.browser.axe import NARROW, hindrances

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("demo")]


@pytest.fixture
def address() -> str:
    paper: Paper = Paper.objects.published().get(title__startswith="Cortex")
    return paper.get_absolute_url()


def test_first_screen_of_a_phone_says_when_and_where(open_page: Callable[..., Page], address: str) -> None:
    page = open_page(viewport={"width": 390, "height": 844})
    page.goto(address)

    box = page.locator(".appearances .card").first.bounding_box()

    assert box is not None
    assert box["y"] + box["height"] < 844 - 60


def test_one_star_offers_each_appearance(open_page: Callable[..., Page], address: str) -> None:
    page = open_page(viewport=NARROW)
    page.goto(address)
    page.locator(".starring > summary").click()
    oral = page.locator(".starring").get_by_role("button", name="Star: Oral", exact=False)
    oral.click()

    expect(oral).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-count]").first).to_have_text(" · 1")


def test_menus_hinder_nobody(open_page: Callable[..., Page], address: str) -> None:
    page = open_page(viewport=NARROW)
    page.goto(address)
    for menu in page.locator(".actions summary").all():
        menu.click()
    assert hindrances(page, [(NARROW, "light"), (NARROW, "dark")]) == []
    expect(page.get_by_text("@inproceedings")).to_be_visible()


def test_keys_move_through_a_list_and_star(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.goto("/2021/papers/")
    titles = page.locator(".papers > li .title a")
    for keys, place in (("j", 0), ("jj", 2), ("k", 1)):
        for key in keys:
            page.keyboard.press(key)
        expect(titles.nth(place)).to_be_focused()
    page.keyboard.press("s")

    expect(page.locator(".papers > li").nth(1).locator(".star")).to_have_attribute("aria-pressed", "true")
    box = page.get_by_role("searchbox", name="Search papers")
    box.press("j")
    expect(box).to_have_value("j")
    box.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_question_mark_lists_the_keys_of_every_page(open_page: Callable[..., Page]) -> None:
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


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_video_plays_in_the_page_after_a_click(
    open_page: Callable[..., Page], settings: Settings, address: str, scripts: bool
) -> None:
    settings.VIDEO_HOSTS = ["player.vimeo.com"]
    paper = Paper.objects.published().get(title__startswith="Cortex")
    make.make_material(paper, "video", url="https://vimeo.com/76979871")
    page = open_page(java_script_enabled=scripts)
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(content_type="text/html", body="<h1>The player</h1>")

    page.route(re.compile("vimeo[.]com/"), answer)
    page.goto(address)
    expect(page.locator("iframe")).to_have_count(0)
    assert asked == []

    page.get_by_role("link", name="Video vimeo.com").click()

    if scripts:
        frame = page.frame_locator("iframe.player")
        expect(frame.get_by_role("heading", name="The player")).to_be_visible()
        assert page.url.endswith(address)
        assert asked == ["https://player.vimeo.com/video/76979871"]
        assert page.evaluate("document.featurePolicy.getAllowlistForFeature('fullscreen')") == [
            page.evaluate("location.origin"),
            "https://player.vimeo.com",
        ]
        assert hindrances(page, [(NARROW, "light"), (NARROW, "dark")]) == []
    else:
        page.wait_for_url("https://vimeo.com/76979871")
        assert asked == ["https://vimeo.com/76979871"]


def test_frame_of_another_host_is_refused(
    open_page: Callable[..., Page], settings: Settings, address: str
) -> None:
    """Assert that the page's CSP applies to frames that a script adds."""
    settings.VIDEO_HOSTS = ["player.vimeo.com"]
    page = open_page()
    asked: list[str] = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.abort()

    page.route(re.compile("vimeo[.]com/"), refuse)
    page.goto(address)
    with page.expect_console_message(lambda line: "Content Security Policy" in line.text):
        page.evaluate("""() => {
          const frame = document.createElement("iframe");
          frame.src = "https://player.vimeo.com/video/1";
          document.body.append(frame);
        }""")

    assert asked == []


def test_formula_and_its_full_stop_stay_on_one_line(open_page: Callable[..., Page], address: str) -> None:
    paper = Paper.objects.get(title__startswith="Cortex")
    paper.abstract = "The rate of convergence is $x+y$."
    paper.save()
    page = open_page()
    page.goto(address)
    ends = "formula => [formula, formula.lastChild].map(one => {\n"
    ends += "  const range = document.createRange(); range.selectNodeContents(one); \n"
    ends += "  return Math.round(range.getBoundingClientRect().bottom); })"
    formula = page.locator(".formula")
    for width in range(320, 480, 4):
        page.set_viewport_size({"width": width, "height": 700})
        whole, stop = formula.evaluate(ends)
        assert whole - stop < 10, width
