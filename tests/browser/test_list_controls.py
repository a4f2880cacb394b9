"""Controls above lists: collapsed on a phone, open on a desktop, and a single search form."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Locator, expect

from tests import factories as make
from tests.browser.axe import DESKTOP, PHONE, display_issues
from tests.browser.visitor import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("demo")]

DAY = "/2021/schedule/2021-04-06/"
# Selector of the first content of each page, below its heading and controls.
CONTENT_SELECTORS = {
    DAY: ".block",
    f"{DAY}?view=grid": ".grid",
    f"{DAY}?kind=oral": ".block",
    "/2021/schedule/?view=list": ".day",
    "/2021/papers/": ".papers > li",
    "/2021/papers/?topic=compilers&view=detailed": ".papers > li",
    "/2021/search/?q=compiler": ".section",
}
MAX_PIXELS = 200


def bottom(locator: Locator) -> float:
    box = locator.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def test_content_begins_soon_after_the_heading_on_a_phone(open_page: OpenPage) -> None:
    page = open_page(viewport=PHONE, has_touch=True, is_mobile=True)
    pixels_by_path = {}
    for path, selector in CONTENT_SELECTORS.items():
        page.goto(path)
        content_box = page.locator("main").locator(selector).first.bounding_box()
        assert content_box is not None, path
        pixels_by_path[path] = content_box["y"] - bottom(page.locator("h1"))

    assert {path: pixels for path, pixels in pixels_by_path.items() if pixels > MAX_PIXELS} == {}


def test_posters_of_a_full_hall_begin_on_the_first_screen_of_a_phone(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedule.views.MAX_LISTED_TALKS", 1)
    edition = make.make_edition(2031)
    poster_session = make.make_session(
        edition, kind="poster", room=make.make_room(edition, "Exhibition Hall C")
    )
    topic = make.make_topic(edition)
    for board_row in "ABCDEFGHIJKL":
        make.make_presentation(
            poster_session,
            make.make_paper(edition, ["Ada"], topic=topic),
            kind="poster",
            board=f"{board_row}1",
        )
    page = open_page(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(poster_session.get_absolute_url())
    poster_box = page.locator(".board-row .talk").first.bounding_box()

    assert poster_box is not None
    assert poster_box["y"] - bottom(page.locator(".pagehead")) <= MAX_PIXELS
    assert page.evaluate("innerWidth") == PHONE["width"]
    expect(page.get_by_label("Go to board")).to_be_hidden()
    page.locator(".fold > summary").click()
    expect(page.get_by_label("Go to board")).to_be_visible()
    assert display_issues(page, [(PHONE, "light"), (PHONE, "dark")]) == []


def test_collapsed_controls_open_on_a_phone_without_javascript(open_page: OpenPage) -> None:
    page = open_page(viewport=PHONE, java_script_enabled=False)
    for path, name in ((f"{DAY}?view=grid", "Kind"), ("/2021/papers/", "Sort")):
        page.goto(path)
        control = page.locator("main").get_by_text(name, exact=True)
        expect(control).to_be_hidden()
        page.locator(".fold > summary", has_text="Options").click()
        expect(control).to_be_visible()


def test_open_controls_have_no_axe_violations(open_page: OpenPage) -> None:
    page = open_page(viewport=PHONE)
    issues: list[str] = []
    for path in (f"{DAY}?view=grid", "/2021/papers/", "/2021/search/?q=compiler"):
        page.goto(path)
        for summary in page.locator(".fold > summary").all():
            summary.click()
        issues += display_issues(page, [(PHONE, "light"), (PHONE, "dark")])

    assert issues == []


def test_controls_are_not_collapsed_on_a_desktop(open_page: OpenPage) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto(f"{DAY}?view=grid")
    expect(page.locator("summary", has_text="Options")).to_be_hidden()
    page.get_by_text("Filter", exact=True).click()
    expect(page.get_by_label("Kind")).to_be_visible()
    expect(page.locator(".zoom")).to_be_visible()

    page.goto("/2021/papers/")
    for name in ("Sort", "Group", "View"):
        expect(page.get_by_role("navigation", name=name, exact=True)).to_be_visible()


def test_search_page_has_one_search_form(open_page: OpenPage) -> None:
    page = open_page(viewport=DESKTOP)
    for path in ("/2021/search/?q=compiler", "/search/?q=compiler"):
        page.goto(path)
        expect(page.get_by_role("search")).to_have_count(1)


def test_header_search_on_the_papers_page_expands_on_click(open_page: OpenPage) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto("/2021/papers/")
    form = page.locator(".bar .search")
    collapsed_box = form.bounding_box()
    form.locator("input").click()
    page.keyboard.type("cortex")
    expanded_box = form.bounding_box()
    page.keyboard.press("Enter")

    assert collapsed_box is not None
    assert expanded_box is not None
    assert collapsed_box["width"] < 60 < 200 < expanded_box["width"]
    expect(page).to_have_url("/2021/search/?q=cortex")


def test_tab_bar_causes_no_target_size_violations(open_page: OpenPage) -> None:
    """Check the first screen with its sticky bars, as Lighthouse does; `display_issues` makes them static."""
    page = open_page(viewport={"width": 412, "height": 823}, has_touch=True, is_mobile=True)
    for path in ("/2021/search/?q=compiler", "/2021/papers/", DAY):
        page.goto(path)
        page.evaluate(AXE_SCRIPT)
        axe_results = page.evaluate("axe.run(document, { runOnly: ['target-size'] })")
        assert [node["html"] for rule in axe_results["violations"] for node in rule["nodes"]] == []


def test_footer_ends_above_the_tab_bar(open_page: OpenPage) -> None:
    page = open_page(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto("/2021/papers/")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    bar = page.locator(".tabbar").bounding_box()

    assert bar is not None
    assert bottom(page.locator(".foot")) <= bar["y"] + 1
    assert bottom(page.locator(".tabbar")) == PHONE["height"]
