"""Accessibility checks with axe: its default rules, and the size of targets (WCAG 2.2, 2.5.8)."""

from pathlib import Path
from typing import Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize

type Look = tuple[ViewportSize, Literal["light", "dark"]]

PHONE, DESKTOP = ViewportSize(width=390, height=844), ViewportSize(width=1280, height=900)
# 1280 pixels at a zoom of 400 %, as in WCAG 1.4.10.
NARROW = ViewportSize(width=320, height=700)
# Both sizes, and each color scheme once. The wide one comes first, because elements that a script draws are
# hidden on a phone, and would be drawn too narrow there.
LOOKS: list[Look] = [(DESKTOP, "light"), (NARROW, "dark")]
DESK_LOOKS: list[Look] = [(DESKTOP, "light"), (PHONE, "dark")]

SCRIPT = (Path(__file__).parent / "look.js").read_text()
# Content below the first screen has no size until it is scrolled into view. Sticky bars may cover lines,
# which readers can scroll into view, but axe does not scroll.
LAID_OUT = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`* { content-visibility: visible !important }
    .bar, .tabbar, .submit-row { position: static !important }`);
  document.adoptedStyleSheets.push(sheet);
}"""
# A color scheme changes colors only, which these rules check. All other rules depend on the size alone.
COLORS = ["color-contrast", "link-in-text-block"]


def violations(page: Page) -> list[str]:
    """Return the violations on the page in its current look, each as a rule and an element."""
    return asked(page, rules=[], is_measured=False)


def hindrances(page: Page, looks: list[Look]) -> list[str]:
    """Return the violations in any of these looks, and the looks in which the page is wider than the window.

    The page is loaded once and shown in each look, and finally in the first one again.
    All rules run once for each size; a second scheme of a size runs the rules of colors alone.
    """
    found: list[str] = []
    sizes: list[ViewportSize] = []
    for size, scheme in looks:
        show(page, size, scheme)
        seen = asked(page, rules=COLORS if size in sizes else [], is_measured=True)
        found += [f"{size['width']} {scheme}: {one}" for one in seen]
        sizes.append(size)
    show(page, *looks[0])
    return found


def show(page: Page, size: ViewportSize, scheme: Literal["light", "dark"]) -> None:
    """Resize the window of an open page, and change its color scheme."""
    if page.viewport_size != size:
        page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)


def asked(page: Page, rules: list[str], is_measured: bool) -> list[str]:
    """Run axe on the page after it is loaded, with these rules, or with all rules if there are none."""
    page.wait_for_load_state()
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
        page.evaluate(LAID_OUT)
    return [f"{page.url}: {one}" for one in page.evaluate(SCRIPT, [rules, is_measured])]
