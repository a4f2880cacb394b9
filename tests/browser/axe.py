"""Accessibility checks with axe: its default rules, and the size of targets (WCAG 2.2, 2.5.8)."""

from pathlib import Path
from typing import Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize

# Size of the window, and color scheme.
type Display = tuple[ViewportSize, Literal["light", "dark"]]

PHONE, DESKTOP = ViewportSize(width=390, height=844), ViewportSize(width=1280, height=900)
# 1280 pixels at a zoom of 400 %, as in WCAG 1.4.10.
NARROW = ViewportSize(width=320, height=700)
# Both sizes, and each color scheme once. The wide one is first, because elements that a script draws are
# hidden on a phone, and would be drawn too narrow there.
DISPLAYS: list[Display] = [(DESKTOP, "light"), (NARROW, "dark")]
DESK_DISPLAYS: list[Display] = [(DESKTOP, "light"), (PHONE, "dark")]

RUN_SCRIPT = (Path(__file__).parent / "run_axe.js").read_text()
# Content below the first screen has no size until it is scrolled into view. Sticky bars may cover lines,
# which readers can scroll into view, but axe does not scroll.
SHOW_ALL_CONTENT = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`* { content-visibility: visible !important }
    .bar, .tabbar, .submit-row { position: static !important }`);
  document.adoptedStyleSheets.push(sheet);
}"""
# A color scheme changes colors only, which these rules check. All other rules depend on the size alone.
COLORS = ["color-contrast", "link-in-text-block"]


def violations(page: Page) -> list[str]:
    """Return the violations on the page in its current display, each as a rule and an element."""
    return run_axe(page, rules=[], is_measured=False)


def display_issues(page: Page, displays: list[Display]) -> list[str]:
    """Return the violations in any of these displays, and the displays in which the page is too wide.

    The page is loaded once and shown in each display, and finally in the first one again.
    All rules run once for each size; a second color scheme of a size only runs the rules of colors.
    """
    issues: list[str] = []
    checked_sizes: list[ViewportSize] = []
    for size, scheme in displays:
        set_display(page, size, scheme)
        messages = run_axe(page, rules=COLORS if size in checked_sizes else [], is_measured=True)
        issues += [f"{size['width']} {scheme}: {message}" for message in messages]
        checked_sizes.append(size)
    set_display(page, *displays[0])
    return issues


def set_display(page: Page, size: ViewportSize, scheme: Literal["light", "dark"]) -> None:
    """Resize the window of an open page, and change its color scheme."""
    if page.viewport_size != size:
        page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)


def run_axe(page: Page, rules: list[str], is_measured: bool) -> list[str]:
    """Run axe on the page after it is loaded, with these rules, or with all rules if there are none."""
    page.wait_for_load_state()
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
        page.evaluate(SHOW_ALL_CONTENT)
    return [f"{page.url}: {message}" for message in page.evaluate(RUN_SCRIPT, [rules, is_measured])]
